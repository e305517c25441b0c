#include <unistd.h>

#include "daemon/convert/counters.h"
#include "daemon/counters/diagnosis.h"
#include "daemon/counters/host_backend.h"
#include "daemon/counters/papi/papi_backend.h"
#include "daemon/worker/tasks.h"

namespace tinyprof {

Result<worker::WorkerEvent> RunDiagnosisTask(const worker::DiagnosisTask& task) {
  const auto& cpus = task.measurement_cpus();
  // Before PAPI is initialised, which writes over variables that name files.
  SystemFacts facts = GatherFacts({.measurement_cpus = {cpus.begin(), cpus.end()},
                                   .daemon_pid = ::getppid(),
                                   .thorough = true});
  facts.backend = MakePapiBackend(1)->info();
  worker::WorkerEvent event;
  worker::DiagnosisResult& result = *event.mutable_diagnosis();
  for (const DiagnosticCheck& check : Judge(facts)) *result.add_checks() = ToProto(check);
  result.set_unusable_reason(MakeHostBackend(1)->info().unusable_reason);
  return event;
}

}  // namespace tinyprof
