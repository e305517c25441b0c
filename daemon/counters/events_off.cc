#include "daemon/counters/events_off.h"

#include <utility>

namespace tinyprof {
namespace {

std::optional<Refusal>& Why() {
  static std::optional<Refusal> why;
  return why;
}

}  // namespace

void TurnEventsOff(Refusal why) { Why() = std::move(why); }

const std::optional<Refusal>& EventsOff() { return Why(); }

}  // namespace tinyprof
