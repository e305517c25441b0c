// The worker's events on their way to the daemon. Used by the master thread, between passes.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "kernels/base/error.h"
#include "tinyprof/v1/run.pb.h"
#include "worker.pb.h"

namespace tinyprof {

class EventSender {
 public:
  explicit EventSender(int socket_fd) : socket_fd_(socket_fd) {}

  // Sends it when the phase is new or the last one is kProgressInterval old.
  void Progress(const v1::Progress& progress);
  void Phase(std::string_view phase);
  // `layer` empty: every layer has been entered. Sends nothing when it is the layer of last time.
  void EnteredLayer(const std::string& layer);
  // The last event. A result that is too large becomes an error.
  void Outcome(const Result<worker::WorkerEvent>& outcome);

 private:
  static constexpr std::chrono::milliseconds kProgressInterval{100};

  Status Send(const worker::WorkerEvent& event);
  void SendOrExit(const worker::WorkerEvent& event);

  int socket_fd_;
  std::string phase_;
  std::string layer_;
  std::chrono::steady_clock::time_point last_progress_;
};

}  // namespace tinyprof
