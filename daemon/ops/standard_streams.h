// Standard input, output and error as whoever started the process left them: maybe closed, maybe
// full. One thread at a time.
#pragma once

#include <string_view>

#include "kernels/base/error.h"

namespace tinyprof {

// Opens what is closed of descriptors 0 to 2 on /dev/null, for reading only, so that no socket or
// file gets their numbers and a write still fails. Call before anything else is opened.
void OpenStandardStreams();

// Writes all of `text`. UNAVAILABLE / "NOT_WRITTEN".
Status WriteToStdout(std::string_view text);

// Writes as much of `text` as can be: where standard error is closed or full, nobody can be told.
void WriteToStderr(std::string_view text);

}  // namespace tinyprof
