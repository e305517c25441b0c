// Measured rooflines, by the fingerprint of the host that they hold for. Thread-safe.
#pragma once

#include <optional>
#include <string_view>

#include "daemon/store/database.h"
#include "kernels/base/error.h"
#include "tinyprof/v1/host.pb.h"

namespace tinyprof {

class RooflineStore {
 public:
  // `database` must outlive the store.
  explicit RooflineStore(Database& database) : database_(database) {}

  // Keeps `roofline` under roofline.host().fingerprint().
  Status Put(const v1::Roofline& roofline);
  // The newest one of that fingerprint, or nothing.
  Result<std::optional<v1::Roofline>> Newest(std::string_view fingerprint);

 private:
  Database& database_;
};

}  // namespace tinyprof
