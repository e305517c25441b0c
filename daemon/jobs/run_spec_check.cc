#include "daemon/jobs/run_spec_check.h"

#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <optional>
#include <string>

#include "kernels/base/checked_math.h"
#include "kernels/base/words.h"
#include "kernels/ops/onednn_kernels.h"
#include "kernels/runtime/isa.h"
#include "kernels/zoo/model_spec.h"

namespace tinyprof {
namespace {

using google::protobuf::util::TimeUtil;

constexpr size_t kMaxModelTextBytes = size_t{64} << 10;
constexpr int kMaxInputs = 64;
constexpr int kMaxDimensions = 16;
constexpr double kDefaultPrecision = 0.01;
constexpr double kMinPrecision = 0.0001;
constexpr double kMaxPrecision = 1;
constexpr std::chrono::nanoseconds kDefaultTimeBudget = std::chrono::seconds(10);
constexpr std::chrono::nanoseconds kMaxTimeBudget = std::chrono::hours(1);

// Part of a spec, and what sets it on the command line.
struct Setting {
  const char* field;
  const char* flag;
};

constexpr Setting kThreads{"threads", "--threads"};
constexpr Setting kPrecision{"precision", "--precision"};
constexpr Setting kTimeout{"timeout", "--timeout"};
constexpr Setting kTimeBudget{"time_budget", "--time-budget"};
constexpr Setting kBackend{"backend", "--backend"};
constexpr Setting kConvAlgorithm{"conv_algorithm", "--conv-algorithm"};
constexpr Setting kCache{"cache", "--cache"};
constexpr Setting kCounters{"counters", "--counters"};
constexpr Setting kModelText{"model.text", "the text of the model"};
constexpr Setting kInputs{"model.inputs", "the list of --input"};
constexpr Setting kDimensions{"model.inputs.dims", "the shape of an --input"};
constexpr Setting kDimension{"model.inputs.dims", "a dimension of an --input"};

tl::unexpected<Error> Invalid(std::string reason, const Setting& setting, std::string got,
                              std::string_view wanted) {
  std::string message = fmt::format("{} is {} and must be {}", setting.flag, got, wanted);
  return Fail(ErrorCode::kInvalidArgument, std::move(reason), std::move(message),
              {{"field", setting.field}, {"got", std::move(got)}});
}

template <class Spec>
Status CheckThreads(Spec& spec, int max_threads) {
  if (spec.threads() == 0) spec.set_threads(1);
  if (spec.threads() >= 1 && spec.threads() <= max_threads) return {};
  if (max_threads == 1) {
    return Invalid("BAD_THREADS", kThreads, std::to_string(spec.threads()),
                   "1, since this daemon measures on 1 CPU (`tinyprofd --cpus 0-1` would give it "
                   "more)");
  }
  return Invalid(
      "BAD_THREADS", kThreads, std::to_string(spec.threads()),
      fmt::format("1 to {}, the number of CPUs that measure (tinyprofd --cpus sets them)",
                  max_threads));
}

template <class Spec>
Status CheckOnednnThreads(const Spec& spec) {
  if (spec.threads() <= kMaxOnednnThreads) return {};
  return Invalid("BAD_THREADS", kThreads, std::to_string(spec.threads()),
                 fmt::format("at most {} with --backend onednn, whose kernels would make larger "
                             "teams lose pinned threads",
                             kMaxOnednnThreads));
}

Status CheckPrecision(v1::RunSpec& spec) {
  if (spec.precision() == 0) spec.set_precision(kDefaultPrecision);
  // Written so that a NaN fails.
  if (spec.precision() >= kMinPrecision && spec.precision() <= kMaxPrecision) return {};
  return Invalid("BAD_PRECISION", kPrecision, fmt::format("{:g} %", spec.precision() * 100),
                 fmt::format("{:g} % to {:g} %", kMinPrecision * 100, kMaxPrecision * 100));
}

constexpr int64_t kMaxSeconds = int64_t{100} * 366 * 86'400;

// A Duration whose fields are in range and above zero, in ns; nothing otherwise.
std::optional<int64_t> PositiveNs(const google::protobuf::Duration& duration) {
  const bool in_range = duration.seconds() >= 0 && duration.seconds() <= kMaxSeconds &&
                        duration.nanos() >= 0 && duration.nanos() < 1'000'000'000;
  if (!in_range || (duration.seconds() == 0 && duration.nanos() == 0)) return std::nullopt;
  return TimeUtil::DurationToNanoseconds(duration);
}

std::string Written(const google::protobuf::Duration& duration) {
  return duration.nanos() == 0 ? fmt::format("{} s", duration.seconds())
                               : fmt::format("{} s + {} ns", duration.seconds(), duration.nanos());
}

Status CheckTimeout(v1::RunSpec& spec, const RunLimits& limits) {
  int64_t timeout_ns = limits.max_timeout.count();
  if (spec.has_timeout()) {
    const std::optional<int64_t> asked_ns = PositiveNs(spec.timeout());
    if (!asked_ns) {
      return Invalid("BAD_TIMEOUT", kTimeout, Written(spec.timeout()),
                     spec.timeout().seconds() > kMaxSeconds ? "at most 100 years" : "above 0");
    }
    timeout_ns = std::min(timeout_ns, *asked_ns);
  }
  *spec.mutable_timeout() = TimeUtil::NanosecondsToDuration(timeout_ns);
  return {};
}

// Loading and counting come on top of the budget, so one as long as the timeout would lose the run.
// `spec` has its timeout.
Status CheckTimeBudget(v1::RunSpec& spec, const RunLimits& limits) {
  const int64_t timeout_ns = TimeUtil::DurationToNanoseconds(spec.timeout());
  if (!spec.has_time_budget()) {
    const int64_t default_ns = std::min(kDefaultTimeBudget.count(), timeout_ns / 2);
    *spec.mutable_time_budget() = TimeUtil::NanosecondsToDuration(default_ns);
    return {};
  }
  const std::optional<int64_t> budget_ns = PositiveNs(spec.time_budget());
  if (!budget_ns || *budget_ns > kMaxTimeBudget.count()) {
    return Invalid("BAD_TIME_BUDGET", kTimeBudget, Written(spec.time_budget()),
                   "above 0 and at most 1 h");
  }
  if (*budget_ns < timeout_ns) return {};
  return Invalid("BAD_TIME_BUDGET", kTimeBudget, Written(spec.time_budget()),
                 fmt::format("below the --timeout of {}{}", Written(spec.timeout()),
                             timeout_ns == limits.max_timeout.count()
                                 ? " (max_run_time of tinyprofd sets the longest)"
                                 : ""));
}

// Which kernels run, of a RunSpec or a VerifySpec: writes defaults out, and refuses numbers that
// are none of the values and algorithms that the backend has not got.
template <class Spec>
Status CheckKernels(Spec& spec) {
  if (spec.backend() == v1::BACKEND_UNSPECIFIED) spec.set_backend(v1::BACKEND_EIGEN);
  if (!v1::Backend_IsValid(spec.backend())) {
    return Invalid("BAD_BACKEND", kBackend, std::to_string(spec.backend()),
                   "reference, eigen, onednn or best");
  }
  if (spec.conv_algorithm() == v1::CONV_ALGORITHM_UNSPECIFIED) {
    spec.set_conv_algorithm(spec.backend() == v1::BACKEND_BEST ? v1::CONV_ALGORITHM_AUTO
                                                               : v1::CONV_ALGORITHM_DIRECT);
  }
  if (!v1::ConvAlgorithm_IsValid(spec.conv_algorithm())) {
    return Invalid("BAD_CONV_ALGORITHM", kConvAlgorithm, std::to_string(spec.conv_algorithm()),
                   "direct, winograd or auto");
  }
  const bool convolves_by_onednn =
      spec.backend() == v1::BACKEND_ONEDNN || spec.backend() == v1::BACKEND_BEST;
  if (spec.conv_algorithm() != v1::CONV_ALGORITHM_DIRECT && !convolves_by_onednn) {
    return Invalid("BAD_CONV_ALGORITHM", kConvAlgorithm,
                   spec.conv_algorithm() == v1::CONV_ALGORITHM_AUTO ? "auto" : "winograd",
                   "direct, unless --backend is onednn or best");
  }
  return {};
}

// Writes the default of each enumeration out, and refuses numbers that are none of its values.
Status CheckEnumerations(v1::RunSpec& spec) {
  TINYPROF_RETURN_IF_ERROR(CheckKernels(spec));
  if (spec.cache() == v1::CACHE_MODE_UNSPECIFIED) spec.set_cache(v1::CACHE_MODE_WARM);
  if (!v1::CacheMode_IsValid(spec.cache())) {
    return Invalid("BAD_CACHE_MODE", kCache, std::to_string(spec.cache()), "warm or cold");
  }
  if (spec.counters() == v1::COUNTER_MODE_UNSPECIFIED) spec.set_counters(v1::COUNTER_MODE_AUTO);
  if (!v1::CounterMode_IsValid(spec.counters())) {
    return Invalid("BAD_COUNTER_MODE", kCounters, std::to_string(spec.counters()),
                   "auto, papi or none");
  }
  return {};
}

Status CheckInputs(const v1::ModelSpec& spec) {
  if (spec.inputs_size() > kMaxInputs) {
    return Invalid("BAD_INPUT", kInputs, fmt::format("{} long", spec.inputs_size()),
                   fmt::format("at most {} long", kMaxInputs));
  }
  for (const v1::InputShape& input : spec.inputs()) {
    if (input.dims_size() > kMaxDimensions) {
      return Invalid("BAD_INPUT", kDimensions, fmt::format("{} long", input.dims_size()),
                     fmt::format("at most {} long", kMaxDimensions));
    }
    for (const int64_t dim : input.dims()) {
      if (dim >= 1) continue;
      return Invalid("BAD_INPUT", kDimension, std::to_string(dim), "1 or more");
    }
  }
  return {};
}

}  // namespace

Result<v1::ModelSpec> CheckModelSpec(const v1::ModelSpec& asked) {
  v1::ModelSpec spec = asked;
  if (spec.text().empty() || spec.text().size() > kMaxModelTextBytes) {
    return Invalid(
        "BAD_MODEL", kModelText,
        fmt::format("{} long", Counted(static_cast<int64_t>(spec.text().size()), "byte")),
        fmt::format("1 to {} bytes long", kMaxModelTextBytes));
  }
  if (spec.batch() == 0) spec.set_batch(1);
  if (spec.seed() == 0) spec.set_seed(1);
  TINYPROF_RETURN_IF_ERROR(CheckBatch(spec.batch()));
  TINYPROF_RETURN_IF_ERROR(CheckInputs(spec));
  return spec;
}

Result<v1::VerifySpec> CheckVerifySpec(const v1::VerifySpec& asked, int max_threads) {
  v1::VerifySpec spec = asked;
  TINYPROF_ASSIGN_OR_RETURN(*spec.mutable_model(), CheckModelSpec(asked.model()));
  TINYPROF_RETURN_IF_ERROR(CheckKernels(spec));
  TINYPROF_RETURN_IF_ERROR(ResolveIsa(spec.isa()));
  TINYPROF_RETURN_IF_ERROR(CheckThreads(spec, max_threads));
  if (spec.backend() == v1::BACKEND_ONEDNN) TINYPROF_RETURN_IF_ERROR(CheckOnednnThreads(spec));
  return spec;
}

Result<v1::RunSpec> CheckRunSpec(const v1::RunSpec& asked, const RunLimits& limits) {
  v1::RunSpec spec = asked;
  TINYPROF_ASSIGN_OR_RETURN(*spec.mutable_model(), CheckModelSpec(asked.model()));
  TINYPROF_RETURN_IF_ERROR(CheckEnumerations(spec));
  TINYPROF_ASSIGN_OR_RETURN(const Isa isa, ResolveIsa(spec.isa()));
  spec.set_isa(std::string(Name(isa)));
  TINYPROF_RETURN_IF_ERROR(CheckThreads(spec, limits.max_threads));
  if (spec.backend() == v1::BACKEND_ONEDNN) {
    TINYPROF_RETURN_IF_ERROR(CheckOnednnIsBuilt());
    TINYPROF_RETURN_IF_ERROR(CheckOnednnThreads(spec));
  }
  TINYPROF_RETURN_IF_ERROR(CheckPrecision(spec));
  TINYPROF_RETURN_IF_ERROR(CheckTimeout(spec, limits));
  TINYPROF_RETURN_IF_ERROR(CheckTimeBudget(spec, limits));
  return spec;
}

Status CheckModelSize(const v1::ModelAnalysis& analysis, int64_t memory_limit_bytes) {
  TINYPROF_ASSIGN_OR_RETURN(const int64_t bytes, CheckedAdd(analysis.parameter_bytes(),
                                                            analysis.activation_peak_bytes()));
  if (bytes <= memory_limit_bytes) return {};
  return Fail(ErrorCode::kResourceExhausted, "MODEL_TOO_LARGE",
              fmt::format("the model needs {} for parameters and activations, {} more than the {} "
                          "that tinyprofd's memory_limit allows: use a smaller model or batch",
                          SizeText(bytes), SizeText(bytes - memory_limit_bytes),
                          SizeText(memory_limit_bytes)),
              {{"bytes", std::to_string(bytes)}, {"limit", std::to_string(memory_limit_bytes)}});
}

}  // namespace tinyprof
