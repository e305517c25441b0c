#include "daemon/convert/roofline.h"
#include "daemon/roofline/measure_roofline.h"
#include "daemon/worker/tasks.h"

namespace tinyprof {

Result<worker::WorkerEvent> RunRooflineTask(const worker::WorkerRequest& request,
                                            EventSender& sender) {
  RooflineOptions options{.cpus = {request.cpus().begin(), request.cpus().end()},
                          .max_threads = request.roofline().max_threads(),
                          .memory_limit_bytes = request.memory_limit_bytes()};
  options.progress = [&](std::string_view /*step*/, int done, int total) {
    v1::Progress progress;
    progress.set_phase("roofline");
    progress.set_done(done);
    progress.set_total(total);
    sender.Progress(progress);
    return true;
  };
  TINYPROF_ASSIGN_OR_RETURN(const Roofline roofline, MeasureRoofline(options));
  worker::WorkerEvent event;
  *event.mutable_roofline() = ToProto(roofline);
  return event;
}

}  // namespace tinyprof
