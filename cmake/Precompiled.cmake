# l4_precompile(TARGET...): these targets use the standard headers precompiled. Without arguments: every
# target made so far. Called last.
# ccache compares a checksum beside the precompiled file, which is the same in every checkout; the
# file itself differs, because it holds absolute paths.
function(l4_targets_below folder result)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below ${folders})
    l4_targets_below(${below} more)
    list(APPEND targets ${more})
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

function(l4_precompile)
  set(targets ${ARGN})
  if(NOT targets)
    l4_targets_below(${PROJECT_SOURCE_DIR} targets)
  endif()
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cc "")
  add_library(l4_precompiled OBJECT ${PROJECT_BINARY_DIR}/precompiled.cc)
  target_link_libraries(l4_precompiled PRIVATE l4_options fmt::fmt Threads::Threads)
  target_precompile_headers(l4_precompiled PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)
  set(folders ${PROJECT_BINARY_DIR}/CMakeFiles/l4_precompiled.dir)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(target STREQUAL "l4_tests" AND CMAKE_BUILD_TYPE STREQUAL "Debug")  # with other options
      target_precompile_headers(l4_tests PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)
      list(APPEND folders ${PROJECT_BINARY_DIR}/tests/CMakeFiles/l4_tests.dir)
    elseif(type MATCHES "^(STATIC_LIBRARY|EXECUTABLE)$" AND NOT target STREQUAL "l4_schemas")
      target_precompile_headers(${target} REUSE_FROM l4_precompiled)
      # gcc also requires the same definitions, including those of fmt.
      target_compile_definitions(${target} PRIVATE
                                 $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
    endif()
  endforeach()
  file(SHA256 ${PROJECT_SOURCE_DIR}/cmake/precompiled.h headers)
  file(SHA256 ${PROJECT_SOURCE_DIR}/cmake/capnp_clang.h forced)  # Warnings.cmake puts it before all
  foreach(folder ${folders})
    foreach(ending pch gch)  # as clang and gcc name it
      file(WRITE ${folder}/cmake_pch.hxx.${ending}.sum
           "${headers} ${forced} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} "
           "${fmt_VERSION} ${CMAKE_BUILD_TYPE} ${CMAKE_CXX_FLAGS} ${L4_SANITIZE}")
    endforeach()
  endforeach()
endfunction()
