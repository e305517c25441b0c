#include "daemon/counters/papi/papi_library.h"

#include <fmt/format.h>
#include <papi.h>
#include <pthread.h>

#include "daemon/counters/papi/papi_errors.h"
#include "daemon/counters/simulated_pmu.h"
#include "daemon/counters/system_facts.h"

namespace tinyprof {
namespace {

std::string VersionText(int version) {
  return fmt::format("{}.{}.{}.{}", PAPI_VERSION_MAJOR(version), PAPI_VERSION_MINOR(version),
                     PAPI_VERSION_REVISION(version), PAPI_VERSION_INCREMENT(version));
}

// PAPI wants an unsigned long; pthread_t is one on Linux.
unsigned long ThreadId() { return static_cast<unsigned long>(pthread_self()); }

bool IsGenericPmu(std::string_view name) {
  return name == "perf" || name == "perf_raw" || name == "ix86arch";
}

}  // namespace

PapiLibrary& PapiLibrary::Get() {
  static PapiLibrary library;
  return library;
}

PapiLibrary::PapiLibrary() {
  info_.name = PmuIsSimulated() ? kSimulatedBackend : "papi";
  const SystemFacts facts = GatherFacts(SystemProbe{});
  context_ = {.hardware_event_errno = facts.hardware_event_errno,
              .perf_event_paranoid = facts.perf_event_paranoid,
              .seccomp_mode = facts.seccomp_mode};
  ready_ = Initialize();
  if (ready_.has_value()) {
    ready_ = FindComponent();
  }
  if (context_.hardware_event_errno != 0) {
    info_.unusable_reason = ExplainErrno(context_.hardware_event_errno, context_).ToString();
  } else if (!ready_.has_value()) {
    info_.unusable_reason = ReasonOf(ready_.error());
  }
}

Status PapiLibrary::Initialize() {
  const int version = PAPI_library_init(PAPI_VER_CURRENT);
  if (version != PAPI_VER_CURRENT) {
    return Fail(ErrorCode::kFailedPrecondition, "PAPI_INIT",
                version > 0 ? fmt::format("tinyprof was built for PAPI {}, the installed one is {}",
                                          VersionText(PAPI_VER_CURRENT), VersionText(version))
                            : fmt::format("PAPI cannot be initialised: it answers {}", version));
  }
  info_.version = VersionText(version);
  if (const int code = PAPI_thread_init(ThreadId); code != PAPI_OK) {
    return Fail(ErrorCode::kInternal, "PAPI_INIT",
                fmt::format("PAPI does not take threads: it answers {}", code));
  }
  return {};
}

Status PapiLibrary::FindComponent() {
  const int index = PAPI_get_component_index("perf_event");
  const PAPI_component_info_t* component = index < 0 ? nullptr : PAPI_get_component_info(index);
  if (component == nullptr) {
    return Fail(ErrorCode::kFailedPrecondition, "PAPI_DISABLED",
                "the installed PAPI is built without its perf_event component");
  }
  for (const char* pmu : component->pmu_names) {
    if (pmu != nullptr && !IsGenericPmu(pmu)) {
      info_.pmu = pmu;
      break;
    }
  }
  if (component->disabled != PAPI_OK && component->disabled != PAPI_EDELAY_INIT) {
    return Fail(ErrorCode::kFailedPrecondition, "PAPI_DISABLED",
                fmt::format("PAPI has switched its counters off: {}", component->disabled_reason));
  }
  return {};
}

Status PapiLibrary::RegisterThread() {
  TINYPROF_RETURN_IF_ERROR(ready_);
  if (const int code = PAPI_register_thread(); code != PAPI_OK) {
    return tl::unexpected<Error>(PapiError(code, "", context_));
  }
  return {};
}

Result<int> PapiLibrary::EventCode(const std::string& event) {
  const std::lock_guard lock(names_mutex_);
  if (const auto known = codes_.find(event); known != codes_.end()) {
    return known->second;
  }
  int code = 0;
  if (int status = PAPI_event_name_to_code(event.c_str(), &code); status != PAPI_OK) {
    // While its component works, PAPI answers so for a name that none of its tables has.
    status = status == PAPI_ECMP && ready_.has_value() ? PAPI_ENOSUPP : status;
    return tl::unexpected<Error>(PapiError(status, event, context_));
  }
  codes_.emplace(event, code);
  return code;
}

}  // namespace tinyprof
