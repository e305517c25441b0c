// What every command that starts or watches a run does: progress, Ctrl-C, time-out, result, exit
// code.
#pragma once

#include <functional>
#include <string>

#include "client/commands/options.h"
#include "client/lib/run_watch.h"

namespace tinyprof::client {

// Turns a finished run into text for people.
using RunRenderer = std::function<std::string(const v1::Run&, const Layout&)>;

// Starts the run and prints its result as JSON, CSV or with `render`.
Result<ExitCode> StartAndPrint(Session& session, const RunOptions& options, int top,
                               const RunRenderer& render);

// Follows run `id` and prints its result in the same way; Ctrl-C and time-out leave it running.
Result<ExitCode> WatchAndPrint(Session& session, const std::string& id, const RunRenderer& render);

// Prints the run in the asked format; the exit code its state stands for.
Result<ExitCode> PrintRun(Session& session, const v1::Run& run, const Layout& layout,
                          const RunRenderer& render);

}  // namespace tinyprof::client
