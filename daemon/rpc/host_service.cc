#include "daemon/rpc/host_service.h"

#include <utility>
#include <vector>

namespace tinyprof {
grpc::Status HostService::GetHost(grpc::ServerContext*, const v1::GetHostRequest*,
                                  v1::GetHostResponse* response) {
  return border_.Enter("GetHost", [&]() -> Status {
    *response->mutable_host() = host_();
    return {};
  });
}

grpc::Status HostService::GetRoofline(grpc::ServerContext* context,
                                      const v1::GetRooflineRequest* request,
                                      v1::GetRooflineResponse* response) {
  return border_.EnterWaiting("GetRoofline", [&]() -> Status {
    auto roofline = request->measure()
                        ? queue_.MeasureRoofline([&] { return context->IsCancelled(); })
                        : queue_.StoredRoofline();
    TINYPROF_RETURN_IF_ERROR(roofline);
    *response->mutable_roofline() = *std::move(roofline);
    return {};
  });
}

grpc::Status HostService::ListCounters(grpc::ServerContext* context,
                                       const v1::ListCountersRequest* request,
                                       v1::ListCountersResponse* response) {
  return border_.EnterWaiting("ListCounters", [&]() -> Status {
    const auto abandoned = [&] { return context->IsCancelled(); };
    TINYPROF_ASSIGN_OR_RETURN(worker::CountersResult counters, request->calibrate()
                                                                   ? counters_.Renew(abandoned)
                                                                   : counters_.Get(abandoned));
    *response->mutable_host() = host_();
    *response->mutable_counters() = std::move(*counters.mutable_counters());
    *response->mutable_calibrate_time() = counters.calibrate_time();
    return {};
  });
}

grpc::Status HostService::Diagnose(grpc::ServerContext*, const v1::DiagnoseRequest*,
                                   v1::DiagnoseResponse* response) {
  return border_.EnterWaiting("Diagnose", [&]() -> Status {
    const std::vector<v1::Check> checks = diagnosis_.Run(counters_.Last());
    response->mutable_checks()->Assign(checks.begin(), checks.end());
    return {};
  });
}

}  // namespace tinyprof
