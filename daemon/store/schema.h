// The schema of the store, as a list of migrations that user_version counts.
#pragma once

#include "daemon/store/database.h"
#include "kernels/base/error.h"

namespace tinyprof {

// Applies, in one transaction, the migrations that the file lacks. FAILED_PRECONDITION /
// "STORE_TOO_NEW" when it has more than this version knows.
Status MigrateSchema(Database& database);

}  // namespace tinyprof
