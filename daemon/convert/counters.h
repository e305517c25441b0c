// What can be counted, and why not: reports and checks to messages.
#pragma once

#include "daemon/counters/counter_report.h"
#include "daemon/counters/diagnosis.h"
#include "tinyprof/v1/host.pb.h"

namespace tinyprof {

v1::CounterReport ToProto(const CounterReport& report);
v1::Check ToProto(const DiagnosticCheck& check);

}  // namespace tinyprof
