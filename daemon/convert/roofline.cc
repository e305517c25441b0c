#include "daemon/convert/roofline.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "daemon/convert/host.h"

namespace tinyprof {
namespace {

using google::protobuf::util::TimeUtil;
using std::chrono::duration_cast;
using std::chrono::nanoseconds;
using std::chrono::system_clock;

constexpr MemoryLevel kLevels[] = {MemoryLevel::kL1, MemoryLevel::kL2, MemoryLevel::kL3,
                                   MemoryLevel::kDram};
constexpr MemoryOp kOps[] = {MemoryOp::kLoad, MemoryOp::kCopy, MemoryOp::kTriad,
                             MemoryOp::kCopyNonTemporal, MemoryOp::kTriadNonTemporal};

template <class Enum, size_t count>
std::optional<Enum> FindByName(const Enum (&values)[count], std::string_view name) {
  for (const Enum value : values) {
    if (Name(value) == name) return value;
  }
  return std::nullopt;
}

v1::PeakCeiling ToProto(const PeakCeiling& peak) {
  v1::PeakCeiling message;
  message.set_name(peak.name);
  message.set_flops_per_cycle(peak.flops_per_cycle);
  message.set_peak_flops_per_second(peak.peak_flops_per_second);
  message.set_threads(peak.threads);
  message.set_dtype(std::string(Name(peak.dtype)));
  return message;
}

v1::BandwidthCeiling ToProto(const BandwidthCeiling& bandwidth) {
  v1::BandwidthCeiling message;
  message.set_level(std::string(Name(bandwidth.level)));
  message.set_op(std::string(Name(bandwidth.op)));
  message.set_threads(bandwidth.threads);
  message.set_bytes_per_second(bandwidth.bytes_per_second);
  message.set_working_set_bytes(bandwidth.working_set_bytes);
  return message;
}

v1::StreamPoint ToProto(const StreamPoint& point) {
  v1::StreamPoint message;
  message.set_threads(point.threads);
  message.set_set_bytes(point.set_bytes);
  message.set_bytes_per_second(point.bytes_per_second);
  return message;
}

v1::Ridge ToProto(const Ridge& ridge) {
  v1::Ridge message;
  message.set_isa(ridge.isa);
  message.set_level(std::string(Name(ridge.level)));
  message.set_flop_per_byte(ridge.flop_per_byte);
  message.set_threads(ridge.threads);
  return message;
}

// The contract tells how many CPUs share a cache and not which, and no bound depends on which.
Cache FromProto(const v1::Cache& message) {
  Cache cache{.level = message.level(), .byte_size = message.size_bytes()};
  cache.cpus.resize(static_cast<size_t>(std::max(message.shared_by_cpus(), 0)));
  std::iota(cache.cpus.begin(), cache.cpus.end(), 0);
  return cache;
}

}  // namespace

v1::Roofline ToProto(const Roofline& roofline) {
  v1::Roofline message;
  *message.mutable_host() = ToProto(roofline.host);
  message.mutable_host()->set_fingerprint(roofline.fingerprint);
  *message.mutable_measure_time() = TimeUtil::NanosecondsToTimestamp(
      duration_cast<nanoseconds>(roofline.measured.time_since_epoch()).count());
  for (const PeakCeiling& peak : roofline.isa) *message.add_isa() = ToProto(peak);
  message.set_clock_hz(roofline.clock_hz);
  for (const BandwidthCeiling& bandwidth : roofline.bandwidth) {
    *message.add_bandwidth() = ToProto(bandwidth);
  }
  for (const StreamPoint& point : roofline.streams) *message.add_streams() = ToProto(point);
  for (const Ridge& ridge : roofline.ridge) *message.add_ridge() = ToProto(ridge);
  if (roofline.ping_pong_ns) message.set_ping_pong_ns(*roofline.ping_pong_ns);
  message.mutable_warnings()->Assign(roofline.warnings.begin(), roofline.warnings.end());
  return message;
}

Roofline FromProto(const v1::Roofline& message) {
  Roofline roofline;
  roofline.fingerprint = message.host().fingerprint();
  roofline.measured = system_clock::time_point(duration_cast<system_clock::duration>(
      nanoseconds(TimeUtil::TimestampToNanoseconds(message.measure_time()))));
  roofline.clock_hz = message.clock_hz();
  for (const v1::Cache& cache : message.host().caches()) {
    roofline.host.caches.push_back(FromProto(cache));
  }
  for (const v1::PeakCeiling& peak : message.isa()) {
    const std::optional<DType> dtype = DTypeFromName(peak.dtype());
    if (!dtype) continue;
    roofline.isa.push_back({.name = peak.name(),
                            .dtype = *dtype,
                            .threads = peak.threads(),
                            .flops_per_cycle = peak.flops_per_cycle(),
                            .peak_flops_per_second = peak.peak_flops_per_second()});
  }
  for (const v1::BandwidthCeiling& bandwidth : message.bandwidth()) {
    const std::optional<MemoryLevel> level = FindByName(kLevels, bandwidth.level());
    const std::optional<MemoryOp> op = FindByName(kOps, bandwidth.op());
    if (!level || !op) continue;
    roofline.bandwidth.push_back({.level = *level,
                                  .op = *op,
                                  .threads = bandwidth.threads(),
                                  .bytes_per_second = bandwidth.bytes_per_second(),
                                  .working_set_bytes = bandwidth.working_set_bytes()});
  }
  for (const v1::StreamPoint& point : message.streams()) {
    roofline.streams.push_back({point.threads(), point.set_bytes(), point.bytes_per_second()});
  }
  roofline.ridge = RidgesOf(roofline);
  if (message.has_ping_pong_ns()) roofline.ping_pong_ns = message.ping_pong_ns();
  roofline.warnings.assign(message.warnings().begin(), message.warnings().end());
  return roofline;
}

}  // namespace tinyprof
