#include "daemon/store/store.h"

#include <utility>

#include "daemon/store/schema.h"

namespace tinyprof {

Store::Store(std::unique_ptr<Database> database, const StoreOptions& options)
    : database_(std::move(database)),
      runs_(*database_, options.max_run_count),
      rooflines_(*database_),
      counter_reports_(*database_) {}

Result<std::unique_ptr<Store>> Store::Open(const std::string& path, const StoreOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(std::unique_ptr<Database> database, Database::Open(path));
  TINYPROF_RETURN_IF_ERROR(MigrateSchema(*database));
  return std::unique_ptr<Store>(new Store(std::move(database), options));
}

}  // namespace tinyprof
