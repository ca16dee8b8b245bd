# L4_PROFILE: what clang knows of the paths that hot loops take (ADR 15).
#   USE    optimize by cmake/release.profdata
#   MAKE   count them while the programs run, for tools/profile, which writes that file
# The profile is that of clang 19: another compiler, or an older one, builds without it. A function
# that has changed since the profile was made is optimized as if there were none.
set(L4_PROFILE OFF CACHE STRING "profile of hot loops: OFF, USE, MAKE (clang 19)")

if(L4_PROFILE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 19)
  # Functions of one file are named without its folder, so that the profile holds in any checkout.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-mllvm -static-func-full-module-prefix=false>")
  if(L4_PROFILE STREQUAL "MAKE")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fprofile-generate>)
    add_link_options(-fprofile-generate)
  else()
    # By its content in the name: who changes the profile compiles anew.
    set(profile ${PROJECT_SOURCE_DIR}/cmake/release.profdata)
    file(SHA256 ${profile} content)
    string(SUBSTRING ${content} 0 16 content)
    set(copy ${PROJECT_BINARY_DIR}/${content}.profdata)
    configure_file(${profile} ${copy} COPYONLY)
    add_compile_options(
      $<$<COMPILE_LANGUAGE:CXX>:-fprofile-use=${copy}>
      # Functions that have changed since are told as warnings.
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-backend-plugin>
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-profile-instr-out-of-date>
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-profile-instr-unprofiled>)
  endif()
endif()
