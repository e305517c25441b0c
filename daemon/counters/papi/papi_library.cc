#include "daemon/counters/papi/papi_library.h"

#include <fmt/format.h>
#include <papi.h>
#include <pthread.h>

#include <cstdlib>

#include "daemon/counters/papi/papi_errors.h"
#include "daemon/counters/simulated_pmu.h"
#include "daemon/counters/system_facts.h"

namespace tinyprof {
namespace {

// PAPI wants an unsigned long; pthread_t is one on Linux.
unsigned long ThreadId() { return static_cast<unsigned long>(pthread_self()); }

bool IsGenericPmu(std::string_view name) {
  return name == "perf" || name == "perf_raw" || name == "ix86arch";
}

// PAPI 7.0 opens what its variables name, though that may wait for ever, and where it cannot, it
// writes another name over the value, past its end, into the variables that follow.
Status GuardFiles(const SystemFacts& facts) {
  for (const EnvironmentFact& variable : facts.environment) {
    if (!NamesFile(variable) || variable.file_text.has_value()) {
      continue;
    }
    if (variable.name == "PAPI_CSV_EVENT_FILE") {
      return Fail(
          ErrorCode::kFailedPrecondition, "PAPI_DISABLED",
          fmt::format("PAPI is not used: {}=\"{}\" is {} that cannot be read", variable.name,
                      variable.value, variable.file_kind.empty() ? "a file" : variable.file_kind));
    }
    // Nothing could be taken from it, so PAPI loses nothing by not knowing of it.
    unsetenv(variable.name.c_str());
  }
  return {};
}

}  // namespace

PapiLibrary& PapiLibrary::Get() {
  static PapiLibrary library;
  return library;
}

PapiLibrary::PapiLibrary() {
  info_.name = PmuIsSimulated() ? kSimulatedBackend : "papi";
  const SystemFacts facts = GatherFacts(SystemProbe{});
  context_ = ContextOf(facts);
  ready_ = Initialize(facts);
  if (ready_.has_value()) {
    ready_ = FindComponent();
  }
  if (context_.hardware_event_errno != 0) {
    info_.unusable_reason = ExplainErrno(context_.hardware_event_errno, context_).ToString();
  } else if (!ready_.has_value()) {
    info_.unusable_reason = ReasonOf(ready_.error());
  }
}

Status PapiLibrary::Initialize(const SystemFacts& facts) {
  if (facts.events_off.has_value()) {
    return tl::unexpected<Error>(ToError(*facts.events_off, ""));
  }
  TINYPROF_RETURN_IF_ERROR(GuardFiles(facts));
  const int version = PAPI_library_init(PAPI_VER_CURRENT);
  if (version != PAPI_VER_CURRENT) {
    // The one option that a library answers which is not initialised.
    return tl::unexpected<Error>(PapiInitError(version, PAPI_get_opt(PAPI_LIB_VERSION, nullptr)));
  }
  info_.version = PapiVersionText(version);
  context_.papi_version = info_.version;
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
      context_.pmu = pmu;
      break;
    }
  }
  if (component->disabled != PAPI_OK && component->disabled != PAPI_EDELAY_INIT) {
    context_.disabled_reason = component->disabled_reason;
    if (context_.disabled_reason.empty()) {
      context_.disabled_reason = fmt::format("code {}", component->disabled);
    }
    // PAPI's own reason: software events, too, are off because of it.
    RefusalContext papi_alone = context_;
    papi_alone.hardware_event_errno = 0;
    return tl::unexpected<Error>(PapiError(PAPI_ECMP_DISABLED, PapiCall::kOther, {}, papi_alone));
  }
  return {};
}

Status PapiLibrary::RegisterThread() {
  TINYPROF_RETURN_IF_ERROR(ready_);
  if (const int code = PAPI_register_thread(); code != PAPI_OK) {
    return tl::unexpected<Error>(PapiError(code, PapiCall::kOther, {}, context_));
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
    return tl::unexpected<Error>(PapiError(status, PapiCall::kLookUp, {.name = event}, context_));
  }
  // Every preset has a code; whether this CPU has the preset is another question.
  if (IS_PRESET(code) && PAPI_query_event(code) != PAPI_OK) {
    return tl::unexpected<Error>(
        PapiError(PAPI_ENOTPRESET, PapiCall::kLookUp, {.name = event}, context_));
  }
  codes_.emplace(event, code);
  return code;
}

}  // namespace tinyprof
