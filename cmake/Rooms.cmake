# l4_room(NAME [LIBRARIES ...]): one folder of the tree is one static library, made of every
# source that stands in it. Which rooms may use which is written in tests/layers.py.
function(l4_room name)
  cmake_parse_arguments(ARG "" "" "LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC l4_options ${ARG_LIBRARIES})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE l4_options ${ARG_LIBRARIES})
  endif()
endfunction()
