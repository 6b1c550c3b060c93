# limpid::limpid, the library: the same name in a project that adds this one as a subdirectory and in one that finds it
# installed (find_package(limpid), or pkg-config limpid). Installed are the headers that src/limpid.h leads to, under
# <limpid/…>, and all folders but server/ and app/ as one shared and one static library (limpid::limpid_static).
set(library_folders ${LIMPID_LIBRARIES})
list(REMOVE_ITEM library_folders limpid_app limpid_first_app limpid_server)
add_library(limpid_library INTERFACE)
target_link_libraries(limpid_library INTERFACE ${library_folders} limpid_options)
target_compile_features(limpid_library INTERFACE cxx_std_20)
add_library(limpid::limpid ALIAS limpid_library)

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(objects)
foreach(folder IN LISTS library_folders)
  list(APPEND objects $<TARGET_OBJECTS:${folder}>)
endforeach()
foreach(kind IN ITEMS shared static)
  string(TOUPPER ${kind} type)
  add_library(limpid_${kind} ${type} ${objects})
  set_target_properties(limpid_${kind} PROPERTIES OUTPUT_NAME limpid LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  # What public headers show is public; the rest concerns the linker alone.
  target_link_libraries(limpid_${kind} PUBLIC fmt::fmt nlohmann_json::nlohmann_json PRIVATE ${LIMPID_PRIVATE_LIBRARIES})
  target_include_directories(limpid_${kind} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(limpid_${kind} INTERFACE cxx_std_20)
endforeach()
set_target_properties(limpid_shared PROPERTIES EXPORT_NAME limpid)

if(LIMPID_THIS_PROCESSOR)
  install(CODE "message(WARNING \"The library is compiled for this processor only: configure with -DLIMPID_THIS_PROCESSOR=OFF for others\")")
endif()
install(TARGETS limpid RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS limpid_shared limpid_static EXPORT limpid_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# The page, where it has been built (./limpid serve does).
install(DIRECTORY ${PROJECT_SOURCE_DIR}/page/dist/ DESTINATION ${CMAKE_INSTALL_DATADIR}/limpid/page OPTIONAL)
install(CODE "
  if(NOT EXISTS \"${PROJECT_SOURCE_DIR}/page/dist/index.html\")
    message(WARNING \"The page of limpid serve has not been built and is not installed: cd page && npm ci && npm run build, then install again\")
  endif()")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.h.in ${PROJECT_BINARY_DIR}/version.h @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/limpid)
install(CODE "
  set(source \"${PROJECT_SOURCE_DIR}/src\")
  set(destination \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/limpid\")
  include(\"${CMAKE_CURRENT_LIST_DIR}/install_headers.cmake\")")

set(config ${CMAKE_INSTALL_LIBDIR}/cmake/limpid)
install(EXPORT limpid_targets NAMESPACE limpid:: DESTINATION ${config})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/limpid-config.cmake.in ${PROJECT_BINARY_DIR}/limpid-config.cmake
  INSTALL_DESTINATION ${config})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/limpid-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/limpid-config.cmake ${PROJECT_BINARY_DIR}/limpid-config-version.cmake
  DESTINATION ${config})
file(RELATIVE_PATH prefix_from_pkgconfig ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/limpid.pc.in ${PROJECT_BINARY_DIR}/limpid.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/limpid.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
