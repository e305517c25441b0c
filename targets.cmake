# What every target of ours has in common; also of the emulated guest's (tests/guest), a project of its own.
# Wants fmt, tl::expected and Threads found.

# Every target of ours gets the warnings; what comes from packages is a system header.
add_library(tinyprof_options INTERFACE)
target_include_directories(tinyprof_options INTERFACE ${CMAKE_CURRENT_LIST_DIR})
target_compile_options(tinyprof_options INTERFACE -Wall -Wextra -Wconversion -Wshadow -Werror
                       # Designated initializers leave members at their defaults on purpose.
                       -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees uninitialized strings in every tl::expected that it inlines far enough, and overlapping
  # copies in sums of strings (its bug 105651).
  target_compile_options(tinyprof_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict)
endif()
target_link_libraries(tinyprof_options INTERFACE tl::expected fmt::fmt Threads::Threads)
if(TINYPROF_SANITIZE)
  target_compile_options(tinyprof_options INTERFACE -fsanitize=${TINYPROF_SANITIZE}
                                                    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(tinyprof_options INTERFACE -fsanitize=${TINYPROF_SANITIZE})
  string(TOUPPER ${TINYPROF_SANITIZE} sanitizers)
  string(REPLACE "," ";" sanitizers ${sanitizers})
  list(TRANSFORM sanitizers PREPEND TINYPROF_SANITIZE_)
  target_compile_definitions(tinyprof_options INTERFACE ${sanitizers})
endif()
if(TINYPROF_FUZZERS)
  # libFuzzer is guided by what an input reaches in the libraries, not in its target alone.
  target_compile_options(tinyprof_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(TINYPROF_COVERAGE)
  target_compile_options(tinyprof_options INTERFACE --coverage)
  target_link_options(tinyprof_options INTERFACE --coverage)
endif()

# tinyprof_library(NAME SOURCES a.cc ... DEPS lib ...)
# One static library a layer; DEPS are public and are what the layering rests on.
function(tinyprof_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC tinyprof_options ${ARG_DEPS})
endfunction()

# tinyprof_test(NAME LABEL label ... SOURCES a.cc ... DEPS lib ... [TIMEOUT seconds])
# A GoogleTest program; ctest sees it as one test so that its skips are printed with their reasons.
function(tinyprof_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "LABEL;SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tinyprof_options ${ARG_DEPS} GTest::gtest GTest::gmock
                                        GTest::gtest_main)
  if(threads IN_LIST ARG_LABEL)
    add_dependencies(threads_tests ${name})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT ${ARG_TIMEOUT})
endfunction()
