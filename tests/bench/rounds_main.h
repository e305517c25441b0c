// The main program of a benchmark whose one argument is how many rounds it makes.
#pragma once

#include <fmt/format.h>

#include <cstdlib>

#include "kernels/base/error.h"

namespace tinyprof::bench {

// Calls `run` with the first argument, or with `rounds` where there is none. Returns what main()
// does: 2 for what is no number of rounds, 1 with the message where `run` fails.
inline int RoundsMain(int argc, char** argv, int rounds, Status (*run)(int rounds)) {
  if (argc > 1) rounds = std::atoi(argv[1]);
  if (rounds < 1) {
    fmt::print(stderr, "usage: {} [rounds of at least 1]\n", argv[0]);
    return 2;
  }
  const Status done = run(rounds);
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().message);
  return 1;
}

}  // namespace tinyprof::bench
