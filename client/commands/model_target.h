// Where a command writes a model, beside its report.
#pragma once

#include <string>

#include "client/commands/session.h"
#include "kernels/base/error.h"

namespace tinyprof::client {

// INVALID_ARGUMENT / "OUTPUT_TAKEN" when the model would go where a report goes, to standard output
// ("-") or to the file of -o, "SOURCE_TAKEN" when it would replace the file that it is made of.
// `source` is what was given as the model.
Status CheckModelTarget(const Session& session, const std::string& source, const std::string& file,
                        bool prints_report);

}  // namespace tinyprof::client
