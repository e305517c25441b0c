#include "daemon/jobs/sound_roofline.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>

namespace tinyprof {
namespace {

// Wide of any machine, so that only nonsense is refused.
constexpr double kLowestClockHz = 1e6;
constexpr double kHighestClockHz = 1e11;
constexpr double kLowestFlopsPerCycle = 1e-3;
constexpr double kHighestFlopsPerCycle = 1e6;  // of all threads
constexpr double kLowestRate = 1e6;
constexpr double kHighestRate = 1e18;  // FLOP/s or bytes/s

bool IsWithin(double value, double low, double high) {
  return std::isfinite(value) && value >= low && value <= high;
}

bool IsRate(double per_second) { return IsWithin(per_second, kLowestRate, kHighestRate); }

bool IsSound(const v1::PeakCeiling& peak) {
  return !peak.name().empty() && peak.threads() >= 1 && IsRate(peak.peak_flops_per_second()) &&
         IsWithin(peak.flops_per_cycle(), kLowestFlopsPerCycle, kHighestFlopsPerCycle);
}

bool IsSound(const v1::BandwidthCeiling& bandwidth) {
  return bandwidth.threads() >= 1 && IsRate(bandwidth.bytes_per_second()) &&
         bandwidth.working_set_bytes() > 0;
}

bool IsSound(const v1::StreamPoint& point) {
  return point.threads() >= 1 && IsRate(point.bytes_per_second()) && point.set_bytes() > 0;
}

// Which set follows which is what a rate between two is made of.
bool AscendForEachThreadCount(const v1::Roofline& roofline) {
  std::map<int, int64_t> largest;
  for (const v1::StreamPoint& point : roofline.streams()) {
    int64_t& last = largest[point.threads()];
    if (point.set_bytes() <= last) return false;
    last = point.set_bytes();
  }
  return true;
}

// What was measured of bandwidth has streams for the same numbers of threads.
bool StreamsGoWithBandwidth(const v1::Roofline& roofline) {
  std::set<int> of_bandwidth;
  std::set<int> of_streams;
  for (const auto& bandwidth : roofline.bandwidth()) of_bandwidth.insert(bandwidth.threads());
  for (const auto& point : roofline.streams()) of_streams.insert(point.threads());
  return of_bandwidth == of_streams;
}

template <class Messages>
bool AllSound(const Messages& messages) {
  return std::all_of(messages.begin(), messages.end(),
                     [](const auto& message) { return IsSound(message); });
}

bool IsTime(const google::protobuf::Timestamp& time) {
  using google::protobuf::util::TimeUtil;
  return time.seconds() >= 0 && time.seconds() <= TimeUtil::kTimestampMaxSeconds &&
         time.nanos() >= 0 && time.nanos() < 1'000'000'000;
}

}  // namespace

bool IsSound(const v1::Roofline& roofline) {
  return roofline.has_measure_time() && IsTime(roofline.measure_time()) &&
         IsWithin(roofline.clock_hz(), kLowestClockHz, kHighestClockHz) &&
         roofline.isa_size() > 0 && AllSound(roofline.isa()) && AllSound(roofline.bandwidth()) &&
         AllSound(roofline.streams()) && AscendForEachThreadCount(roofline) &&
         StreamsGoWithBandwidth(roofline) &&
         (!roofline.has_ping_pong_ns() || IsWithin(roofline.ping_pong_ns(), 0, 1e9));
}

}  // namespace tinyprof
