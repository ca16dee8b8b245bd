# Warnings for our own code, sanitizers for everything.
add_library(l4_options INTERFACE)
target_compile_options(l4_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                                            -Wold-style-cast -Wcast-qual -Wimplicit-fallthrough)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Checks that members are used under their mutex: common/base/mutex.h.
  target_compile_options(l4_options INTERFACE -Wthread-safety)
endif()
if(L4_WERROR)
  target_compile_options(l4_options INTERFACE -Werror)
endif()
target_include_directories(l4_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})

if(L4_SANITIZE)
  string(REPLACE ";" "," l4_sanitizers "${L4_SANITIZE}")
  add_compile_options(-fsanitize=${l4_sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${l4_sanitizers})
  # A use of null ends in a fault that the address sanitizer reports; these checks of each access
  # take a quarter of the compiler's time.
  if(L4_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr)
  endif()
  # The programs are large: lld links them in a tenth of the time.
  find_program(L4_LLD ld.lld-19)
  if(L4_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_link_options(-fuse-ld=lld)
  endif()
  if(L4_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(l4_options INTERFACE -Wno-error=tsan -Wno-error=maybe-uninitialized)
  endif()
endif()

if(L4_PRECOMPILE)
  # Precompiled headers serve only sources that are compiled with the same options, so all sources
  # get this one.
  add_compile_options(-pthread)
endif()

# capnp 0.9 compares a C string with a StringPtr in an order that C++20's rewritten candidates
# make ambiguous for clang; the overload in this header settles it.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12's stable_sort calls get_temporary_buffer, which it declares deprecated itself.
  target_compile_options(l4_options INTERFACE -Wno-deprecated-declarations)
  add_compile_options("SHELL:-include ${PROJECT_SOURCE_DIR}/cmake/capnp_clang.h")
endif()

# If rooms are joined, names of one room hide those of another in the same namespace.
if(L4_JOIN)
  target_compile_options(l4_options INTERFACE -Wno-shadow)
endif()

# In a unity build gcc treats joined sources as headers, so it warns of anonymous namespaces in them
# and of names that hide each other. The other builds check for both.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(l4_options INTERFACE -Wno-subobject-linkage -Wno-shadow)
endif()

# gcc 12 wrongly warns of overlapping parts of a joined std::string (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(l4_options INTERFACE -Wno-restrict)
  # Precompiled headers no longer count as system headers, so gcc warns about std::string's own
  # code.
  if(L4_PRECOMPILE)
    target_compile_options(l4_options INTERFACE -Wno-array-bounds -Wno-stringop-overflow
                                                -Wno-stringop-overread)
  endif()
endif()
