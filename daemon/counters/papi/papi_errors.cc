#include "daemon/counters/papi/papi_errors.h"

#include <fmt/format.h>
#include <papi.h>

#include <algorithm>
#include <cerrno>

namespace tinyprof {
namespace {

struct CodeRow {
  int papi_code;
  ErrorCode code;
  std::string_view reason;
  std::string_view sentence;  // {} is the event
};

constexpr CodeRow kCodes[] = {
    {PAPI_EINVAL, ErrorCode::kResourceExhausted, "GROUP_FULL",
     "the CPU has too few counters for {} beside the others of its group"},
    {PAPI_ECNFLCT, ErrorCode::kResourceExhausted, "COUNTER_BUSY",
     "no counter is free for {}: the group is too large, or the NMI watchdog or another profiler "
     "holds one (sudo sysctl kernel.nmi_watchdog=0)"},
    {PAPI_ECOUNT, ErrorCode::kResourceExhausted, "TOO_MANY_FILES",
     "the limit of open files is reached at {} (ulimit -n 4096)"},
    {PAPI_ENOEVNT, ErrorCode::kFailedPrecondition, "EVENT_NOT_ON_CPU",
     "this CPU or kernel cannot count {}"},
    {PAPI_ENOSUPP, ErrorCode::kFailedPrecondition, "EVENT_UNKNOWN",
     "this version of libpfm4 has no {} for this CPU"},
    {PAPI_ENOTPRESET, ErrorCode::kFailedPrecondition, "EVENT_UNKNOWN",
     "this version of PAPI has no {}"},
    {PAPI_EPERM, ErrorCode::kFailedPrecondition, "PERMISSION",
     "the kernel does not let this user count {} (sudo sysctl kernel.perf_event_paranoid=1)"},
    {PAPI_ECMP, ErrorCode::kFailedPrecondition, "PAPI_DISABLED",
     "PAPI has switched its counters off and does not count {}"},
    {PAPI_ECMP_DISABLED, ErrorCode::kFailedPrecondition, "PAPI_DISABLED",
     "PAPI has switched its counters off and does not count {}"},
    {PAPI_ESYS, ErrorCode::kAborted, "COUNTERS_LOST",
     "the kernel took the counters of {} away while they counted"},
    {PAPI_ECLOST, ErrorCode::kAborted, "COUNTERS_LOST",
     "access to the counters of {} was lost while they counted"},
};

// The raw probe tells what PAPI's code does not, when the kernel refuses every hardware event.
bool KernelDecides(int papi_code) {
  return papi_code == PAPI_ENOEVNT || papi_code == PAPI_EPERM || papi_code == PAPI_ENOSUPP ||
         papi_code == PAPI_ECMP || papi_code == PAPI_ECMP_DISABLED;
}

bool IsSoftware(std::string_view event) {
  return event.find("FAULTS") != std::string_view::npos ||
         event.find("TASK-CLOCK") != std::string_view::npos ||
         event.find("CONTEXT-SWITCHES") != std::string_view::npos ||
         event.find("MIGRATIONS") != std::string_view::npos;
}

}  // namespace

Error PapiError(int papi_code, std::string_view event, const RefusalContext& context) {
  const std::string name = event.empty() ? "the event group" : std::string(event);
  if (context.hardware_event_errno != 0 && KernelDecides(papi_code) && !IsSoftware(event)) {
    const Refusal refusal = ExplainErrno(context.hardware_event_errno, context);
    return {ErrorCode::kFailedPrecondition, refusal.reason, refusal.sentence, {{"event", name}}};
  }
  const auto row = std::find_if(std::begin(kCodes), std::end(kCodes),
                                [&](const CodeRow& r) { return r.papi_code == papi_code; });
  if (row == std::end(kCodes)) {
    return {ErrorCode::kInternal,
            "COUNTER_ERROR",
            fmt::format("PAPI answers {} for {}", papi_code, name),
            {{"event", name}, {"papi_code", std::to_string(papi_code)}}};
  }
  return {row->code,
          std::string(row->reason),
          fmt::format(fmt::runtime(row->sentence), name),
          {{"event", name}, {"papi_code", std::to_string(papi_code)}}};
}

}  // namespace tinyprof
