// Runs and their reports, kept across restarts of the daemon.
//
// Every change is on disk when its call returns: a run whose Finish returned keeps its report
// through a kill -9. Thread-safe. All errors of the database are FAILED_PRECONDITION /
// "STORE_CORRUPT" or UNAVAILABLE / "STORE_UNAVAILABLE".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/store/database.h"
#include "kernels/base/error.h"
#include "tinyprof/v1/run.pb.h"

namespace tinyprof {

struct RunPage {
  std::vector<v1::Run> runs;    // newest first, without reports
  std::string next_page_token;  // empty on the last page
};

class RunStore {
 public:
  // `database` must outlive the store. Ended runs beyond `max_run_count`, oldest first, are
  // forgotten when a run is created.
  RunStore(Database& database, int64_t max_run_count);

  // Adds a new run. `request_id` is empty for a run that nobody can repeat. ALREADY_EXISTS /
  // "RUN_EXISTS" when the id or the request id is taken.
  Status Create(const v1::Run& run, std::string_view request_id);
  // Writes state, times and error of a run that has not ended. NOT_FOUND / "RUN_NOT_FOUND".
  Status Update(const v1::Run& run);
  // Writes state, times, error and report at once. NOT_FOUND / "RUN_NOT_FOUND".
  Status Finish(const v1::Run& run);

  // The run with its report. NOT_FOUND / "RUN_NOT_FOUND"; FAILED_PRECONDITION / "STORE_CORRUPT"
  // names a run whose bytes were damaged.
  Result<v1::Run> Get(std::string_view id);
  Result<std::optional<v1::Run>> FindByRequestId(std::string_view request_id);
  // Up to `page_size` runs that come after `page_token` (empty: from the newest). A damaged one is
  // FAILED / STORE_CORRUPT there, without what was asked.
  // INVALID_ARGUMENT / "BAD_PAGE_TOKEN".
  Result<RunPage> List(int32_t page_size, std::string_view page_token);
  // NOT_FOUND / "RUN_NOT_FOUND"; FAILED_PRECONDITION / "RUN_NOT_ENDED" for a run that goes on.
  Status Delete(std::string_view id);

  // Marks every QUEUED or RUNNING run FAILED / DAEMON_RESTARTED; for the start of the daemon.
  // Returns how many there were.
  Result<int64_t> FailInterrupted();

 private:
  Status Write(const v1::Run& run, bool with_report);
  Status ForgetOldest();

  Database& database_;
  int64_t max_run_count_;
};

}  // namespace tinyprof
