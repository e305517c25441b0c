// Tells a service manager how the daemon stands, by the datagrams of sd_notify(3).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/base/error.h"

namespace tinyprof {

class Notifier {
 public:
  // `address` as in $NOTIFY_SOCKET: a path, or "@name" in the abstract namespace. Without one,
  // nobody is told and nothing fails.
  explicit Notifier(std::optional<std::string> address) : address_(std::move(address)) {}

  // `state` holds lines such as "READY=1" and "STATUS=...". UNAVAILABLE / "NOTIFY" when nobody
  // listens at the address.
  Status Send(std::string_view state) const;

 private:
  std::optional<std::string> address_;
};

}  // namespace tinyprof
