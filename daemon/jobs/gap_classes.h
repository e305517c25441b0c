// Why the hardware counted another number of FLOPs than the formulas give.
#pragma once

#include <string_view>

#include "tinyprof/v1/run.pb.h"

namespace tinyprof {

// Splits measured - analytic FLOPs of each layer into classes, and those of the
// model into the sums of its layers' classes. Layers whose FLOPs were not measured, or which have
// no cost, get none.
//
//   minmax          AMD's event does not count maxima and minima, Intel's does
//   padding         fewer: the kernel skips taps that fall on padding or a mask, never more than
//                   2 * (mac - valid taps)
//   folded          fewer: what went into the weights before the pass (folded_flop_count)
//   transcendental  more: what the hardware executes for exp, tanh and the like, never more than
//                   kFlopsPerTranscendental - 1 for each
//   algorithm       fewer: Winograd's convolution does other sums than those that are counted,
//   never
//                   more than 2 * mac fewer
//   residual        what is left, when it is more than kNoticeableShare of the analytic FLOPs
//                   (less is noise)
//
// Notes of a stand-in's counts begin with "simulated: ".
//
// `vendor` is that of v1::Host.
void AddGapClasses(std::string_view vendor, v1::RunReport& report);

// A polynomial of single precision takes 13 to 30.
inline constexpr double kFlopsPerTranscendental = 30;
inline constexpr double kNoticeableShare = 1e-3;

}  // namespace tinyprof
