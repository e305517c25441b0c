// CSV after RFC 4180 with plain line feeds: one header line, one line a layer, cells that hold a
// comma, a quote or a line break quoted. An absent value is an empty cell; its reason has a column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tinyprof/v1/service.pb.h"

namespace tinyprof::client {

// One cell, quoted where needed; bytes that are no UTF-8 become U+FFFD.
std::string CsvCell(std::string_view text);

// One line a layer, and the whole model as a last line with the name "total".
std::string AnalysisCsv(const v1::ModelAnalysis& analysis);
// The same with what was measured; the run has a report.
std::string RunCsv(const v1::Run& run);

}  // namespace tinyprof::client
