# l4_room(NAME [APART] [LIBRARIES ...] [DEFINITIONS ...]): one folder of the tree is one static library, made
# of every source that stands in it but main.cc. tests/layers.py holds which room may use which.
# With L4_JOIN, in the build of shipped programs, the sources of all rooms below one top folder
# become one library, and unity builds join them across rooms: templates that many rooms instantiate
# are then compiled once or twice instead of once for each room. A room that is APART stays a library
# of its own, so that a program that does not use it is free of it and of its libraries.
function(l4_room name)
  cmake_parse_arguments(ARG "APART" "" "LIBRARIES;DEFINITIONS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  if(sources AND L4_JOIN AND NOT ARG_APART)
    file(RELATIVE_PATH top ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    string(REGEX REPLACE "/.*" "" top ${top})
    if(NOT TARGET l4_joined_${top})
      add_library(l4_joined_${top} STATIC)
    endif()
    target_sources(l4_joined_${top} PRIVATE ${sources})
    target_link_libraries(l4_joined_${top} PUBLIC l4_options ${ARG_LIBRARIES})
    target_compile_definitions(l4_joined_${top} PUBLIC ${ARG_DEFINITIONS})
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE l4_joined_${top})
  elseif(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC l4_options ${ARG_LIBRARIES})
    target_compile_definitions(${name} PUBLIC ${ARG_DEFINITIONS})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE l4_options ${ARG_LIBRARIES})
  endif()
endfunction()

# l4_balance_rooms(): joined sources in parts of equal size, so that no short part is left over while
# a long one is compiled alone. Called once all rooms are known.
function(l4_balance_rooms)
  foreach(top common agent aggregator offline tools)
    if(TARGET l4_joined_${top} AND CMAKE_UNITY_BUILD_BATCH_SIZE)
      get_target_property(sources l4_joined_${top} SOURCES)
      list(LENGTH sources count)
      math(EXPR parts "(${count} + ${CMAKE_UNITY_BUILD_BATCH_SIZE} - 1) / ${CMAKE_UNITY_BUILD_BATCH_SIZE}")
      math(EXPR size "(${count} + ${parts} - 1) / ${parts}")
      set_target_properties(l4_joined_${top} PROPERTIES UNITY_BUILD_BATCH_SIZE ${size})
    endif()
  endforeach()
endfunction()
