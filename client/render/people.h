// What a person reads: tables and lines for each result.
#pragma once

#include <string>
#include <vector>

#include "client/render/text.h"
#include "tinyprof/v1/service.pb.h"

namespace tinyprof::client {

// How text is laid out.
struct Layout {
  int columns = 0;  // width of the terminal; 0: no limit
  Palette palette;
  int top = 0;  // rows of the slowest (or costliest) layers only; 0: all, in order
};

// "resnet18 (zoo)  input 1x3x224x224 float32 ..." and what else is known without running it.
std::string ModelLines(const v1::ModelAnalysis& analysis);

std::string AnalysisText(const v1::ModelAnalysis& analysis, const Layout& layout);
// The table of a run's layers with all that is said below it.
std::string RunText(const v1::Run& run, const Layout& layout);
// One layer, every figure on a line of its own; a run of several layers gives RunText.
std::string LayerText(const v1::Run& run, const Layout& layout);
std::string LatencyText(const v1::Run& run, const Layout& layout);
std::string MemoryText(const v1::Run& run, const Layout& layout);
// A run that has no report.
std::string RunStateText(const v1::Run& run, const Layout& layout);

std::string RunListText(const std::vector<v1::Run>& runs, const Layout& layout);
std::string HostText(const v1::Host& host, const Layout& layout);
std::string RooflineText(const v1::Roofline& roofline, const Layout& layout);
std::string CountersText(const v1::ListCountersResponse& response, const Layout& layout);
std::string DoctorText(const v1::DiagnoseResponse& response, const Layout& layout);
std::string ModelsText(const std::vector<v1::Model>& models, const Layout& layout);
std::string VerifyText(const v1::VerifyModelResponse& response, const Layout& layout);

}  // namespace tinyprof::client
