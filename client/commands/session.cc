#include "client/commands/session.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

#include "client/lib/output_file.h"
#include "client/lib/parse.h"

namespace tinyprof::client {
namespace {

constexpr const char* kStdout = "standard output";

}  // namespace

Session::Session(const GlobalOptions& options, Io& io, std::string command)
    : options_(options), io_(io), command_(std::move(command)) {}

Result<std::optional<std::chrono::nanoseconds>> Session::Timeout() const {
  if (options_.timeout.empty()) return std::nullopt;
  TINYPROF_ASSIGN_OR_RETURN(const auto timeout, ParseDuration(options_.timeout));
  return timeout;
}

Result<Connection*> Session::Connect(std::chrono::nanoseconds default_timeout) {
  if (connection_ == nullptr) {
    TINYPROF_ASSIGN_OR_RETURN(const auto timeout, Timeout());
    TINYPROF_ASSIGN_OR_RETURN(Address address,
                              ResolveAddress(options_.address, io_.env, io_.is_root));
    connection_ = std::make_unique<Connection>(std::move(address),
                                               timeout.value_or(default_timeout), timeout);
  }
  return connection_.get();
}

Status Session::CheckOutput() const {
  if (ToStdout()) return {};
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path path(options_.output);
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (fs::is_directory(path, ignored)) return CannotWrite(options_.output, EISDIR);
  const fs::path& target = fs::exists(path, ignored) ? path : parent;
  if (access(target.c_str(), W_OK) != 0) return CannotWrite(options_.output, errno);
  return {};
}

Status Session::Print(const std::string& text) {
  errno = 0;
  if (ToStdout()) {
    io_.out << text << std::flush;
    // Whoever closed the pipe has read enough.
    if (io_.out || errno == EPIPE) return {};
    return ResultNotWritten(kStdout, errno == 0 ? EIO : errno);
  }
  std::ofstream file(options_.output, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return ResultNotWritten(options_.output, errno == 0 ? EIO : errno);
  return {};
}

bool Session::IsOutputFailure(const Error& error) const {
  const auto path = error.metadata.find("path");
  return error.reason == "FILE_NOT_WRITABLE" && path != error.metadata.end() &&
         path->second == (ToStdout() ? kStdout : options_.output);
}

Layout Session::MakeLayout(int top) const {
  const auto no_color = io_.env("NO_COLOR");
  const bool terminal = ToStdout() && io_.out_is_terminal;
  const bool automatic = terminal && !(no_color && !no_color->empty());
  const bool color = options_.color == "always" || (options_.color == "auto" && automatic);
  return {terminal ? io_.out_columns : 0, Palette{color}, top};
}

void Session::Note(const std::string& sentence) {
  if (options_.quiet) return;
  io_.err << "tinyprof-client: " << Printable(sentence) << std::endl;
}

}  // namespace tinyprof::client
