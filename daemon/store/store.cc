#include "daemon/store/store.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "daemon/store/schema.h"

namespace tinyprof {
namespace {

// More than a page, so that a full disk is noticed.
constexpr size_t kTrialBytes = 8192;

Status TryTables(Database& database) {
  const std::lock_guard lock(database.mutex());
  for (const std::string_view table : {"runs", "rooflines", "counter_reports"}) {
    TINYPROF_ASSIGN_OR_RETURN(Statement query,
                              database.Prepare(fmt::format("SELECT 1 FROM {} LIMIT 1", table)));
    TINYPROF_RETURN_IF_ERROR(query.Step());
  }
  TINYPROF_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database));
  TINYPROF_ASSIGN_OR_RETURN(
      Statement insert,
      database.Prepare("INSERT INTO counter_reports (fingerprint, report) VALUES ('trial', ?1)"));
  TINYPROF_RETURN_IF_ERROR(insert.BindBlob(1, std::string(kTrialBytes, '\0')).Run());
  TINYPROF_ASSIGN_OR_RETURN(
      Statement forget,
      database.Prepare("DELETE FROM counter_reports WHERE fingerprint = 'trial'"));
  TINYPROF_RETURN_IF_ERROR(forget.Run());
  return transaction.Commit();
}

}  // namespace

Store::Store(std::unique_ptr<Database> database, const StoreOptions& options)
    : database_(std::move(database)),
      runs_(*database_, options.max_run_count),
      rooflines_(*database_),
      counter_reports_(*database_) {}

Status Store::Check() {
  Status checked = TryTables(*database_);
  // Every table was made when the store was opened.
  if (!checked.has_value() && checked.error().metadata["detail"].starts_with("no such")) {
    checked.error().reason = "STORE_CORRUPT";
    checked.error().code = ErrorCode::kFailedPrecondition;
  }
  return checked;
}

Result<std::unique_ptr<Store>> Store::Open(const std::string& path, const StoreOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(std::unique_ptr<Database> database, Database::Open(path));
  TINYPROF_RETURN_IF_ERROR(MigrateSchema(*database));
  return std::unique_ptr<Store>(new Store(std::move(database), options));
}

}  // namespace tinyprof
