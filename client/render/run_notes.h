// The lines around a run's table: how it was measured, what bounds it, what is missing and why,
// what to change first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/render/text.h"
#include "tinyprof/v1/run.pb.h"

namespace tinyprof::client {

// "eigen, avx2, 1 thread (CPU 1), warm cache, 52 passes (precision reached); run r-1"; what was
// asked beside the defaults follows the backend: "onednn, winograd convolutions, fused layers".
std::string SettingLine(const v1::Run& run);

// Half of the median's confidence interval, in percent of the median: "0.8", "<0.1".
std::string HalfWidthText(const v1::TimeStats& time);

// Why a bound has no label.
std::string NoBoundReason(const v1::Bound& bound);

// What bounds a layer that has bytes and no FLOPs, of which `byte_count` have to be moved; nothing
// for another, whose bound is in FLOP/s or not known.
std::optional<double> BoundBytesPerSecond(const v1::Bound& bound, int64_t byte_count);

// "memory (DRAM)", "compute".
std::string BoundText(const v1::Bound& bound);

// "62 % of the pass in memory-bound layers, 36 % in compute-bound layers, 2 % in no layer".
std::string BoundSummary(const v1::RunReport& report);

// The value with its unit, or "n/a (reason)".
std::string QuantityText(const v1::Quantity& quantity);

// What the kernel saw of a pass, on a line.
std::string SoftwareLine(const v1::SoftwareEvents& software);

// A line for each warning of the run.
std::string WarningLines(const v1::RunReport& report, const Palette& palette);

// All lines below the table.
std::string RunNotes(const v1::RunReport& report, const Palette& palette);

}  // namespace tinyprof::client
