#include "daemon/counters/papi/papi_errors.h"

#include <fmt/format.h>
#include <papi.h>

#include <cerrno>

namespace tinyprof {
namespace {

bool IsSoftware(std::string_view event) {
  return event.find("FAULTS") != std::string_view::npos ||
         event.find("TASK-CLOCK") != std::string_view::npos ||
         event.find("CONTEXT-SWITCHES") != std::string_view::npos ||
         event.find("MIGRATIONS") != std::string_view::npos;
}

// These codes all stand for "PAPI's component is off", beside their own meaning.
bool MayMeanDisabled(int papi_code) {
  return papi_code == PAPI_ENOEVNT || papi_code == PAPI_ENOSUPP || papi_code == PAPI_ECMP ||
         papi_code == PAPI_ECMP_DISABLED;
}

Refusal Disabled(const RefusalContext& context) {
  if (context.disabled_reason.find("not detected") != std::string::npos &&
      !context.perf_event_paranoid.has_value()) {
    return {"NO_PERF_EVENTS",
            fmt::format("there is no /proc/sys/kernel/perf_event_paranoid: the kernel is built "
                        "without perf events, or a container masks /proc (PAPI: {})",
                        context.disabled_reason),
            ""};
  }
  const bool paranoid = context.perf_event_paranoid.value_or(0) > 2;
  return {"PAPI_DISABLED",
          fmt::format("PAPI has switched its counters off: {}", context.disabled_reason.empty()
                                                                    ? "it does not say why"
                                                                    : context.disabled_reason),
          paranoid ? "sudo sysctl kernel.perf_event_paranoid=2" : ""};
}

Refusal Unknown(std::string_view name, const RefusalContext& context) {
  // Presets are PAPI's own table; all other names are looked up in libpfm4's.
  const bool preset = name.starts_with("PAPI_");
  return {"EVENT_UNKNOWN",
          fmt::format("{}PAPI {} knows no {} {} for {}", preset ? "" : "the libpfm4 of ",
                      context.papi_version.empty() ? "(unknown version)" : context.papi_version,
                      preset ? "preset" : "event", name,
                      context.pmu.empty() ? "this CPU, whose PMU it does not know" : context.pmu),
          ""};
}

// PAPI answers one code for EBUSY, EAGAIN, ENOSYS and ESRCH; the kernel, asked anew, tells more.
Refusal SystemError(PapiCall call, const RefusedEvent& event, const RefusalContext& context) {
  if (call == PapiCall::kAdd || call == PapiCall::kStart) {
    return ExplainEventErrno(
        context.hardware_event_errno != 0 ? context.hardware_event_errno : EBUSY, event, context);
  }
  return {"COUNTERS_LOST",
          "the kernel took the counters away while they counted; the pass does not count", ""};
}

Refusal Explain(int papi_code, PapiCall call, const RefusedEvent& event,
                const RefusalContext& context) {
  const std::string name = event.name.empty() ? "the event group" : std::string(event.name);
  const bool kernel_refuses_all = context.hardware_event_errno != 0 && !IsSoftware(event.name);
  if (MayMeanDisabled(papi_code) && !context.disabled_reason.empty()) {
    return kernel_refuses_all ? ExplainErrno(context.hardware_event_errno, context)
                              : Disabled(context);
  }
  if (call == PapiCall::kLookUp && (papi_code == PAPI_ENOEVNT || papi_code == PAPI_ENOSUPP ||
                                    papi_code == PAPI_ENOTPRESET || papi_code == PAPI_EINVAL)) {
    return Unknown(name, context);
  }
  switch (papi_code) {
    case PAPI_ENOEVNT:
      return ExplainEventErrno(kernel_refuses_all ? context.hardware_event_errno : ENOENT, event,
                               kernel_refuses_all ? context : RefusalContext{});
    case PAPI_ENOTPRESET:
      return Unknown(name, context);
    case PAPI_ENOSUPP:
      return ExplainEventErrno(kernel_refuses_all ? context.hardware_event_errno : ENODEV, event,
                               kernel_refuses_all ? context : RefusalContext{});
    case PAPI_EPERM:
      return ExplainErrno(kernel_refuses_all ? context.hardware_event_errno : EACCES, context);
    case PAPI_ECMP:
    case PAPI_ECMP_DISABLED:
      return kernel_refuses_all ? ExplainErrno(context.hardware_event_errno, context)
                                : Disabled(context);
    case PAPI_EINVAL:
      return ExplainEventErrno(EINVAL, event, context);
    case PAPI_ECNFLCT:
      return ExplainStarvedGroup(event, context);
    case PAPI_ECOUNT:
      return ExplainEventErrno(EMFILE, event, context);
    case PAPI_ESYS:
      return SystemError(call, event, context);
    case PAPI_ECLOST:
      return {"COUNTERS_LOST",
              "access to the counters was lost while they counted; the pass does not count", ""};
    case PAPI_EISRUN:
      return {"PROFILER_DEFECT",
              "two groups of events were started on one thread: this is a defect of tinyprof, "
              "please report it",
              ""};
    default:
      return {"COUNTER_ERROR", fmt::format("PAPI answers {} for {}", papi_code, name), ""};
  }
}

}  // namespace

Error PapiError(int papi_code, PapiCall call, const RefusedEvent& event,
                const RefusalContext& context) {
  Error error = ToError(Explain(papi_code, call, event, context), event.name);
  error.metadata["papi_code"] = std::to_string(papi_code);
  return error;
}

Error PapiInitError(int answer, int installed_version) {
  const bool mismatch = installed_version != 0 && installed_version != PAPI_VERSION;
  return {ErrorCode::kFailedPrecondition,
          "PAPI_INIT",
          mismatch ? fmt::format("tinyprof was built for PAPI {}, the installed one is {}",
                                 PapiVersionText(PAPI_VERSION), PapiVersionText(installed_version))
                   : fmt::format("PAPI {} cannot be initialised: it answers {}",
                                 PapiVersionText(PAPI_VERSION), answer),
          {{"papi_code", std::to_string(answer)}}};
}

std::string PapiVersionText(int version) {
  return fmt::format("{}.{}.{}.{}", PAPI_VERSION_MAJOR(version), PAPI_VERSION_MINOR(version),
                     PAPI_VERSION_REVISION(version), PAPI_VERSION_INCREMENT(version));
}

}  // namespace tinyprof
