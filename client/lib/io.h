// What a command may touch of the outside: its streams, its terminal, its environment.
// Tests put string streams and a map in their place.
#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <string>

namespace tinyprof::client {

class Interrupts;

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

struct Io {
  std::ostream& out;
  std::ostream& err;
  Interrupts& interrupts;
  Environment env;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  int out_columns = 0;  // width of the terminal; 0 when there is none: nothing is shortened
  int err_columns = 0;  // likewise
  bool is_root = false;
};

}  // namespace tinyprof::client
