// How a run goes, on stderr: one line that is rewritten on a terminal, one line a phase elsewhere.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "tinyprof/v1/run.pb.h"
#include "tinyprof/v1/service.pb.h"

namespace tinyprof::client {

// What a job waits for, at place `position` (1 is the next) of the queue: "behind run r-1
// (resnet18), which is being measured, and 1 job that waits before it". `waits_for` as in v1::Run.
std::string WaitingText(int32_t position, const std::string& waits_for);

// "queued: it is next", "timing: 120 passes, ±1.8 % of ±1.0 % wanted", ...
std::string ProgressText(const v1::Run& run);
// "calibrating: 5 of 16 inputs", ...
std::string ProgressText(const v1::QuantizationProgress& progress);

class ProgressPrinter {
 public:
  // `columns` is the width of the terminal, 0 when it is not known. A quiet printer prints nothing
  // but notices.
  ProgressPrinter(std::ostream& err, bool is_terminal, int columns, bool quiet);
  ~ProgressPrinter();
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;

  void Show(const v1::Run& run);
  void Show(const v1::QuantizationProgress& progress);
  // A sentence on a line of its own.
  void Notice(const std::string& sentence);

 private:
  // `text` on the line of a terminal; elsewhere `first` once for each `phase`.
  void ShowText(const std::string& text, const std::string& phase, const std::string& first);
  void ClearLine();

  std::ostream& err_;
  const bool is_terminal_;
  const int columns_;
  const bool quiet_;
  bool line_open_ = false;
  std::string last_phase_;
};

}  // namespace tinyprof::client
