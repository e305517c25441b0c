// What a command works with: the options that every command has, the streams, the connection, and
// one way to print a result.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "client/lib/connection.h"
#include "client/lib/exit_code.h"
#include "client/lib/io.h"
#include "client/render/json.h"
#include "client/render/people.h"
#include "client/render/progress.h"
#include "kernels/base/error.h"

namespace tinyprof::client {

struct GlobalOptions {
  std::string address;
  std::string timeout;
  std::string color = "auto";
  std::string output;  // file of -o; empty or "-" is stdout
  bool json = false;
  bool csv = false;
  bool quiet = false;
};

class Session {
 public:
  Session(const GlobalOptions& options, Io& io, std::string command);

  const GlobalOptions& options() const { return options_; }
  Io& io() { return io_; }
  const std::string& command() const { return command_; }

  // The connection, made at the first call; `default_timeout` bounds unary calls unless --timeout
  // does.
  Result<Connection*> Connect(std::chrono::nanoseconds default_timeout = std::chrono::seconds(60));

  // --timeout, or nullopt.
  Result<std::optional<std::chrono::nanoseconds>> Timeout() const;

  // Whether results go to stdout rather than to a file.
  bool ToStdout() const { return options_.output.empty() || options_.output == "-"; }

  // Whether -o can be written, so that nobody measures for minutes in vain.
  Status CheckOutput() const;

  // Prints the result to stdout or to the file of -o. A pipe that was closed is no error.
  Status Print(const std::string& text);
  Status Print(const Json& document) { return Print(Dump(document)); }

  // Whether `error` says that Print cannot write where it should.
  bool IsOutputFailure(const Error& error) const;

  // How tables are laid out where they are going.
  Layout MakeLayout(int top = 0) const;

  // A sentence on stderr, unless --quiet.
  void Note(const std::string& sentence);

 private:
  const GlobalOptions& options_;
  Io& io_;
  const std::string command_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace tinyprof::client
