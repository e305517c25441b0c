#include "daemon/worker/event_sender.h"

#include <unistd.h>

#include "daemon/worker/frame.h"
#include "daemon/worker/protocol.h"

namespace tinyprof {
namespace {

worker::WorkerEvent ErrorEvent(const Error& error) {
  worker::WorkerEvent event;
  *event.mutable_error() = ToProto(error);
  return event;
}

}  // namespace

void EventSender::Progress(const v1::Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (progress.phase() == phase_ && now - last_progress_ < kProgressInterval) return;
  phase_ = progress.phase();
  last_progress_ = now;
  worker::WorkerEvent event;
  *event.mutable_progress() = progress;
  SendOrExit(event);
}

void EventSender::Phase(std::string_view phase) {
  v1::Progress progress;
  progress.set_phase(std::string(phase));
  Progress(progress);
}

void EventSender::EnteredLayer(const std::string& layer) {
  if (layer == layer_) return;
  layer_ = layer;
  worker::WorkerEvent event;
  event.set_entered_layer(layer);
  SendOrExit(event);
}

void EventSender::Outcome(const Result<worker::WorkerEvent>& outcome) {
  if (!outcome.has_value()) return SendOrExit(ErrorEvent(outcome.error()));
  if (const Status sent = Send(*outcome); !sent.has_value()) SendOrExit(ErrorEvent(sent.error()));
}

Status EventSender::Send(const worker::WorkerEvent& event) {
  return SendFrame(socket_fd_, event, SteadyTime::max());
}

// Nobody waits for a worker whose daemon is gone.
void EventSender::SendOrExit(const worker::WorkerEvent& event) {
  if (!Send(event).has_value()) ::_exit(1);
}

}  // namespace tinyprof
