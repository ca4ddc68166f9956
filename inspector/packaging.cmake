# What is installed beside the program, and the Debian package, which has the same: cpack -G DEB --config
# build/release/CPackConfig.cmake
include(GNUInstallDirs)

# Debian wants these compressed, and without a time in them.
find_program(GZIP gzip REQUIRED)
set(man_pages ${CMAKE_CURRENT_BINARY_DIR}/man)
set(changelog ${CMAKE_CURRENT_BINARY_DIR}/changelog)
# The man pages are what the program says about itself: one a command, one a topic.
add_custom_command(OUTPUT ${man_pages}.made
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${man_pages}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${man_pages}/man1 ${man_pages}/man7
  COMMAND schedscope --man ${man_pages}
  COMMAND ${GZIP} -9nr ${man_pages}
  COMMAND ${CMAKE_COMMAND} -E touch ${man_pages}.made
  DEPENDS schedscope VERBATIM)
add_custom_command(OUTPUT ${changelog}.gz
  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/changelog ${changelog}
  COMMAND ${GZIP} -9nf ${changelog}
  DEPENDS changelog VERBATIM)
add_custom_target(manual ALL DEPENDS ${man_pages}.made ${changelog}.gz)
install(DIRECTORY ${man_pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${changelog}.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(completions ${CMAKE_CURRENT_SOURCE_DIR}/completions)
install(FILES ${completions}/schedscope.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME schedscope)
# Debian's zsh looks in one folder for what packages bring, and in another one below /usr/local.
install(CODE "set(zsh_completion \"${completions}/_schedscope\")")
install(CODE [[
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(zsh_folder vendor-completions)
  else()
    set(zsh_folder site-functions)
  endif()
  file(INSTALL ${zsh_completion} DESTINATION "${CMAKE_INSTALL_PREFIX}/share/zsh/${zsh_folder}")
]])
install(FILES ${completions}/schedscope.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

file(GLOB samples ${PROJECT_SOURCE_DIR}/traces/samples/*.trace)
install(FILES ${samples} DESTINATION ${CMAKE_INSTALL_DATADIR}/schedscope/samples)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/traces/SCHEMA.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME schedscope)
set(CPACK_PACKAGE_VENDOR schedscope)
set(CPACK_PACKAGE_CONTACT "schedscope maintainers <maintainers@schedscope.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "shows why a tensor program runs where it runs")
set(CPACK_PACKAGE_DESCRIPTION "A complete inference runtime for GGUF models (CPU, BLAS, Vulkan) whose
backend scheduler records every decision that it makes, with a terminal
inspector that steps through them forward and backward, pictures of the
splits, timelines, and traces that can be replayed without the devices.")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
  WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# Both are looked for when the program runs; without them there are no such devices.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libopenblas0, libvulkan1, mesa-vulkan-drivers | vulkan-icd")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "sqlite3, graphviz, vulkan-tools")
include(CPack)
