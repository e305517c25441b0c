// TINYPROF_CHECK aborts on a broken invariant of our own code. Never use it on input.
#pragma once

#include <cstdio>
#include <cstdlib>

#define TINYPROF_CHECK(condition)                                                            \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      std::fprintf(stderr, "%s:%d: broken invariant: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)
