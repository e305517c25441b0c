// Runs the client in this process, with its streams caught.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "client/commands/app.h"
#include "client/lib/interrupts.h"

namespace tinyprof::client {

struct Caught {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// `environment` is all the client sees; `interrupts` may be triggered from another thread.
inline Caught RunCaught(const std::vector<std::string>& args, Interrupts& interrupts,
                        const std::map<std::string, std::string>& environment = {}) {
  std::ostringstream out;
  std::ostringstream err;
  Io io{out, err, interrupts, [&environment](const std::string& name) {
          const auto it = environment.find(name);
          return it == environment.end() ? std::nullopt : std::optional(it->second);
        }};
  const int code = static_cast<int>(RunClient(args, io));
  return {code, out.str(), err.str()};
}

inline Caught RunCaught(const std::vector<std::string>& args) {
  Interrupts interrupts([] {});
  return RunCaught(args, interrupts);
}

}  // namespace tinyprof::client
