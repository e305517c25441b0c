#include "daemon/jobs/run_state.h"

#include <google/protobuf/util/time_util.h>

#include <utility>

namespace tinyprof {
namespace {

google::protobuf::Timestamp Now() { return google::protobuf::util::TimeUtil::GetCurrentTime(); }

void SetEnded(v1::Run& run, v1::RunState state) {
  run.set_state(state);
  run.clear_queue_position();
  run.clear_waits_for();
  run.clear_progress();
  *run.mutable_end_time() = Now();
}

}  // namespace

bool IsEnded(v1::RunState state) {
  return state == v1::RUN_STATE_SUCCEEDED || state == v1::RUN_STATE_FAILED ||
         state == v1::RUN_STATE_CANCELLED;
}

v1::Run NewRun(std::string id, v1::RunSpec spec) {
  v1::Run run;
  run.set_id(std::move(id));
  *run.mutable_spec() = std::move(spec);
  run.set_state(v1::RUN_STATE_QUEUED);
  *run.mutable_create_time() = Now();
  return run;
}

void SetRunning(v1::Run& run) {
  run.set_state(v1::RUN_STATE_RUNNING);
  run.clear_queue_position();
  run.clear_waits_for();
  run.mutable_progress()->set_phase("starting");
  *run.mutable_start_time() = Now();
}

void SetSucceeded(v1::Run& run, v1::RunReport report) {
  SetEnded(run, v1::RUN_STATE_SUCCEEDED);
  *run.mutable_report() = std::move(report);
}

void SetError(v1::Run& run, const Error& error) {
  const bool cancelled = error.code == ErrorCode::kCancelled;
  SetEnded(run, cancelled ? v1::RUN_STATE_CANCELLED : v1::RUN_STATE_FAILED);
  run.clear_report();
  run.mutable_error()->set_reason(error.reason);
  run.mutable_error()->set_message(error.message);
  if (const auto layer = error.metadata.find("layer"); layer != error.metadata.end()) {
    run.mutable_error()->set_layer(layer->second);
  }
}

}  // namespace tinyprof
