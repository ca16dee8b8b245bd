# l4_shipped(PROGRAM): a program that users install. It allocates with jemalloc (a sixth less time on
# thousands of nodes). In a release its debug information stands beside it, in bin/.debug/, where
# debuggers look for it by themselves, and the program itself is stripped.
function(l4_shipped program)
  if(NOT L4_SANITIZE)
    target_link_libraries(${program} PRIVATE PkgConfig::JEMALLOC)
  endif()
  install(TARGETS ${program} RUNTIME DESTINATION bin)
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_OBJCOPY AND CMAKE_STRIP)
    set(folder ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/.debug)
    add_custom_command(TARGET ${program} POST_BUILD VERBATIM
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND ${CMAKE_OBJCOPY} --only-keep-debug $<TARGET_FILE:${program}> ${folder}/${program}.debug
      COMMAND ${CMAKE_STRIP} --strip-all $<TARGET_FILE:${program}>
      COMMAND ${CMAKE_OBJCOPY} --add-gnu-debuglink=${folder}/${program}.debug $<TARGET_FILE:${program}>)
    install(FILES ${folder}/${program}.debug DESTINATION bin/.debug COMPONENT debug)
  endif()
endfunction()
