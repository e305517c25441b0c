#include "daemon/worker/sandbox.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "daemon/worker/system_call_filter.h"
#include "kernels/base/checked_math.h"
#include "kernels/base/sanitizers.h"

namespace tinyprof {
namespace {

// Programs, libraries, PAPI, the graph, and what allocators reserve without using.
constexpr int64_t kFixedBytes = int64_t{2} << 30;
// A stack and a heap arena of glibc, as reserved.
constexpr int64_t kBytesPerThread = int64_t{144} << 20;
// The mapped file, the parsed message, and the elements in the graph.
constexpr int64_t kCopiesOfModelFile = 3;

// Sanitizers reserve terabytes for their shadow.
constexpr bool kAddressSpaceCanBeLimited = !kAddressSanitizer && !kThreadSanitizer;

tl::unexpected<Error> SandboxFailed(const char* step) {
  return Fail(ErrorCode::kFailedPrecondition, "SANDBOX_FAILED",
              fmt::format("the worker cannot shut itself in: {} failed with {}", step,
                          std::strerror(errno)),
              {{"step", step}, {"errno", std::to_string(errno)}});
}

Status Limit(__rlimit_resource resource, rlim_t bytes, const char* step) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return SandboxFailed(step);
  // Where the daemon was started with less, more cannot be had.
  limit.rlim_max = std::min(limit.rlim_max, bytes);
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  if (::setrlimit(resource, &limit) != 0) return SandboxFailed(step);
  return {};
}

}  // namespace

Status EnterSandbox(const SandboxOptions& options) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return SandboxFailed("prctl(PR_SET_PDEATHSIG)");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return SandboxFailed("prctl(PR_SET_NO_NEW_PRIVS)");
  }
  TINYPROF_RETURN_IF_ERROR(Limit(RLIMIT_CORE, 0, "setrlimit(RLIMIT_CORE)"));
  if (kAddressSpaceCanBeLimited && options.address_space_bytes != INT64_MAX) {
    TINYPROF_RETURN_IF_ERROR(
        Limit(RLIMIT_AS, static_cast<rlim_t>(options.address_space_bytes), "setrlimit(RLIMIT_AS)"));
  }
  if (!options.filter_system_calls) return {};
  return FilterSystemCalls();
}

int64_t AddressSpaceFor(int64_t memory_limit_bytes, int threads, int64_t model_file_bytes) {
  const auto sum = [&]() -> Result<int64_t> {
    TINYPROF_ASSIGN_OR_RETURN(int64_t bytes, CheckedAdd(memory_limit_bytes, kFixedBytes));
    TINYPROF_ASSIGN_OR_RETURN(const int64_t teams, CheckedMul(threads, kBytesPerThread));
    TINYPROF_ASSIGN_OR_RETURN(const int64_t files,
                              CheckedMul(model_file_bytes, kCopiesOfModelFile));
    TINYPROF_ASSIGN_OR_RETURN(bytes, CheckedAdd(bytes, teams));
    return CheckedAdd(bytes, files);
  }();
  return sum.value_or(INT64_MAX);
}

}  // namespace tinyprof
