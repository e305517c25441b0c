// What can be counted, and why not: reports and checks to messages, and reports back.
#pragma once

#include "daemon/counters/counter_report.h"
#include "daemon/counters/diagnosis.h"
#include "tinyprof/v1/host.pb.h"

namespace tinyprof {

v1::CounterReport ToProto(const CounterReport& report);
// What ToProto made a message of. A quality that Quality does not have becomes absent.
CounterReport FromProto(const v1::CounterReport& message);
v1::TrustTable ToProto(const TrustTable& trust);
v1::Check ToProto(const DiagnosticCheck& check);

}  // namespace tinyprof
