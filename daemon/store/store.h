// The daemon's one database file and what is kept in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "daemon/store/database.h"
#include "daemon/store/host_record_store.h"
#include "daemon/store/run_store.h"
#include "kernels/base/error.h"

namespace tinyprof {

struct StoreOptions {
  int64_t max_run_count = 1000;  // ended runs that are kept, at least 1
};

class Store {
 public:
  // Opens or creates the file and brings its schema up to date. FAILED_PRECONDITION /
  // "STORE_TOO_NEW" for a file that a later version wrote, "STORE_CORRUPT" for one that is damaged;
  // UNAVAILABLE / "STORE_UNAVAILABLE" when it cannot be opened or written.
  static Result<std::unique_ptr<Store>> Open(const std::string& path,
                                             const StoreOptions& options = {});

  // Whether it can be read and written just now, by doing so. "STORE_CORRUPT" or
  // "STORE_UNAVAILABLE", with the file in metadata["file"]. Thread-safe.
  Status Check();

  RunStore& runs() { return runs_; }
  RooflineStore& rooflines() { return rooflines_; }
  CounterReportStore& counter_reports() { return counter_reports_; }

 private:
  Store(std::unique_ptr<Database> database, const StoreOptions& options);

  std::unique_ptr<Database> database_;
  RunStore runs_;
  RooflineStore rooflines_;
  CounterReportStore counter_reports_;
};

}  // namespace tinyprof
