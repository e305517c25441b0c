// The identity of the machine: HostInfo to v1::Host.
#pragma once

#include "daemon/roofline/host.h"
#include "tinyprof/v1/host.pb.h"

namespace tinyprof {

// Everything that the kernel tells, with the fingerprint. measurement_cpus, papi_version, pmu, isas
// and daemon_version are for whoever knows them.
v1::Host ToProto(const HostInfo& host);

}  // namespace tinyprof
