// HostService: the machine, its ceilings and its counters. See service.proto.
#pragma once

#include <functional>

#include "daemon/jobs/host_diagnosis.h"
#include "daemon/jobs/job_queue.h"
#include "daemon/rpc/border.h"
#include "daemon/rpc/counter_probe.h"
#include "tinyprof/v1/service.grpc.pb.h"

namespace tinyprof {

// Thread-safe. What it was given must outlive it.
class HostService final : public v1::HostService::Service {
 public:
  HostService(JobQueue& queue, std::function<v1::Host()> host, CounterProbe& counters,
              HostDiagnosis& diagnosis, Border& border)
      : queue_(queue),
        host_(std::move(host)),
        counters_(counters),
        diagnosis_(diagnosis),
        border_(border) {}

  grpc::Status GetHost(grpc::ServerContext* context, const v1::GetHostRequest* request,
                       v1::GetHostResponse* response) override;
  grpc::Status GetRoofline(grpc::ServerContext* context, const v1::GetRooflineRequest* request,
                           v1::GetRooflineResponse* response) override;
  grpc::Status ListCounters(grpc::ServerContext* context, const v1::ListCountersRequest* request,
                            v1::ListCountersResponse* response) override;
  grpc::Status Diagnose(grpc::ServerContext* context, const v1::DiagnoseRequest* request,
                        v1::DiagnoseResponse* response) override;

 private:
  JobQueue& queue_;
  std::function<v1::Host()> host_;
  CounterProbe& counters_;
  HostDiagnosis& diagnosis_;
  Border& border_;
};

}  // namespace tinyprof
