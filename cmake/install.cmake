# limpid::limpid, all folders but app/ in one target: the same name in a project that adds this one as a subdirectory and
# in one that finds it installed (find_package(limpid)).
set(installed ${LIMPID_LIBRARIES})
list(REMOVE_ITEM installed limpid_app)
add_library(limpid_library INTERFACE)
target_link_libraries(limpid_library INTERFACE ${installed} limpid_options)
target_compile_features(limpid_library INTERFACE cxx_std_20)
add_library(limpid::limpid ALIAS limpid_library)

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set_target_properties(limpid_library PROPERTIES EXPORT_NAME limpid)
install(TARGETS limpid RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS limpid_library limpid_options ${installed} EXPORT limpid_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/ DESTINATION include/limpid
  FILES_MATCHING PATTERN "*.h" PATTERN "app" EXCLUDE)
# The page, where it has been built (./limpid serve does).
install(DIRECTORY ${PROJECT_SOURCE_DIR}/page/dist/ DESTINATION ${CMAKE_INSTALL_DATADIR}/limpid/page OPTIONAL)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(config ${CMAKE_INSTALL_LIBDIR}/cmake/limpid)
install(EXPORT limpid_targets NAMESPACE limpid:: DESTINATION ${config})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/limpid-config.cmake.in ${PROJECT_BINARY_DIR}/limpid-config.cmake
  INSTALL_DESTINATION ${config})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/limpid-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/limpid-config.cmake ${PROJECT_BINARY_DIR}/limpid-config-version.cmake
  DESTINATION ${config})
