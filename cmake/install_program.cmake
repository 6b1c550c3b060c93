# What belongs to the program besides itself: recipes (found beside it, app/recipe_file.cpp), and man pages and completions
# made from its own help.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
include(GNUInstallDirs)
set(manual ${PROJECT_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual}/man1/limpid.1
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/make-manual $<TARGET_FILE:limpid> ${manual}
  DEPENDS limpid ${PROJECT_SOURCE_DIR}/scripts/make-manual VERBATIM)
add_custom_target(manual DEPENDS ${manual}/man1/limpid.1)
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${PROJECT_BINARY_DIR}\" --target manual
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/recipes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/limpid/recipes)
install(DIRECTORY ${manual}/man1/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${manual}/completions/bash/limpid DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${manual}/completions/zsh/_limpid DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${manual}/completions/fish/limpid.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
