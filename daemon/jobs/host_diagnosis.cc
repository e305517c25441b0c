#include "daemon/jobs/host_diagnosis.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "daemon/convert/counters.h"
#include "daemon/jobs/outcome.h"

namespace tinyprof {
namespace {

// It takes a few tenths of a second.
constexpr std::chrono::seconds kWorkerTimeout{10};

// What was not tried is told last.
int Gravity(const v1::Check& check) {
  return check.state() == v1::CHECK_STATE_SKIP ? 0 : static_cast<int>(check.state());
}

}  // namespace

Result<worker::DiagnosisResult> HostDiagnosis::AskWorker() {
  if (stop_.stop_requested()) return tl::unexpected(ShuttingDown());
  WorkerTask task{.deadline = std::chrono::steady_clock::now() + kWorkerTimeout};
  task.request.set_memory_limit_bytes(memory_limit_bytes_);
  task.request.mutable_diagnosis()->mutable_measurement_cpus()->Assign(measurement_cpus_.begin(),
                                                                       measurement_cpus_.end());
  TINYPROF_ASSIGN_OR_RETURN(worker::WorkerEvent event, runner_.Run(task, {}, stop_.get_token()));
  if (!event.has_diagnosis()) return WrongOutcome("diagnosis");
  return std::move(*event.mutable_diagnosis());
}

std::vector<v1::Check> HostDiagnosis::Run(const LastCalibration& last) {
  const std::lock_guard lock(running_);
  Result<worker::DiagnosisResult> told = AskWorker();
  SystemProbe probe;
  probe.events_off = Refusal{};
  probe.measurement_cpus = measurement_cpus_;
  probe.daemon_pid = ::getpid();
  probe.thorough = !told.has_value();
  SystemFacts facts = GatherFacts(probe);
  std::vector<v1::Check> checks;
  std::optional<Error> failure;
  std::optional<std::string> unusable_now;
  if (told.has_value()) {
    checks.assign(told->checks().begin(), told->checks().end());
    unusable_now = told->unusable_reason();
  } else {
    failure = std::move(told).error();
    facts.events_off = WhyNotTried(*failure, facts);
    for (const DiagnosticCheck& check : Judge(facts)) checks.push_back(ToProto(check));
  }
  checks.push_back(ToProto(CheckWorker(failure, facts)));
  checks.push_back(ToProto(CheckCalibration(last, unusable_now)));
  if (last.found) {
    checks.push_back(ToProto(CheckEventsThatCount(FromProto(last.found->counters()))));
  }
  checks.push_back(ToProto(CheckStore(store_.Check())));
  std::stable_sort(checks.begin(), checks.end(),
                   [](const v1::Check& a, const v1::Check& b) { return Gravity(a) > Gravity(b); });
  return checks;
}

}  // namespace tinyprof
