// Any configuration file must either give every key a value or say in a sentence what is wrong.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "daemon/ops/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tinyprof::ConfigKeys;
  const int fd = ::memfd_create("config", MFD_CLOEXEC);
  if (fd < 0 || ::write(fd, data, size) != static_cast<ssize_t>(size)) __builtin_trap();
  const tinyprof::Environment environment{
      .uid = 1000, .variable = [](const std::string&) { return std::optional<std::string>(); }};
  const auto loaded = tinyprof::LoadConfig(
      {.file = "/proc/self/fd/" + std::to_string(fd), .texts = {}}, environment);
  ::close(fd);
  for (const std::string& error : loaded.errors) {
    if (error.empty()) __builtin_trap();
  }
  if (loaded.errors.empty() && loaded.values.size() != ConfigKeys().size()) __builtin_trap();
  if (loaded.errors.empty()) (void)tinyprof::PrintConfig(loaded);
  return 0;
}
