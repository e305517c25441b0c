#include "client/commands/options.h"

#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "client/commands/validators.h"
#include "client/lib/model_file.h"
#include "client/lib/parse.h"

namespace tinyprof::client {
namespace {

constexpr int64_t kMaxBatch = 65536;
constexpr int32_t kMaxThreads = 1024;

v1::CounterMode ToCounterMode(const std::string& name) {
  if (name == "papi") return v1::COUNTER_MODE_PAPI;
  return name == "none" ? v1::COUNTER_MODE_NONE : v1::COUNTER_MODE_AUTO;
}

// A slash is in no name of a model and, but by mistake, in no layer list: it is a path.
Status CheckPath(const std::string& model) {
  if (model.find('/') == std::string::npos || model.find('(') != std::string::npos) return {};
  std::error_code ignored;
  const char* why = std::filesystem::exists(model, ignored)
                        ? "of files only those whose names end in .onnx are taken as models"
                        : "there is no such file, and no name of a model has a slash in it";
  return Fail(ErrorCode::kNotFound, "NO_MODEL_FILE",
              fmt::format("'{}' is no model: {}; pass the path of an .onnx file, a name that "
                          "`tinyprof-client models` lists, or a layer list",
                          model, why),
              {{"model", model}});
}

Status AddInputs(const ModelOptions& options, v1::ModelSpec& spec) {
  for (const std::string& input : options.inputs) {
    TINYPROF_ASSIGN_OR_RETURN(const NamedShape shape, ParseInputShape(input));
    v1::InputShape& message = *spec.add_inputs();
    message.set_name(shape.name);
    message.mutable_dims()->Assign(shape.dims.begin(), shape.dims.end());
  }
  return {};
}

Status CheckBudget(const std::string& text, std::chrono::nanoseconds budget) {
  if (budget <= std::chrono::hours(1)) return {};
  return Fail(ErrorCode::kInvalidArgument, "BAD_DURATION",
              fmt::format("--time-budget {} is above 1h", text), {{"got", text}});
}

// "1s" or "2500ms".
std::string DurationText(std::chrono::milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{}s", time.count() / 1000)
                                  : fmt::format("{}ms", time.count());
}

tl::unexpected<Error> BudgetTooLong(const std::string& budget, const std::string& timeout_text,
                                    std::chrono::nanoseconds timeout) {
  const auto half = std::chrono::duration_cast<std::chrono::milliseconds>(timeout / 2);
  const std::string shorter =
      half.count() > 0 ? fmt::format("--time-budget {} or ", DurationText(half)) : "";
  return Fail(ErrorCode::kInvalidArgument, "BAD_TIME_BUDGET",
              fmt::format("--time-budget {} is not below --timeout {}, and loading comes on top; "
                          "take {}a longer --timeout",
                          budget, timeout_text, shorter),
              {{"time_budget", budget}, {"timeout", timeout_text}});
}

// What to spend on timing; nullopt leaves it to the daemon.
Result<std::optional<std::chrono::nanoseconds>> TimeBudget(
    const Session& session, const RunOptions& options,
    std::optional<std::chrono::nanoseconds> timeout) {
  const bool is_given = !options.time_budget.empty();
  const std::string& text = is_given ? options.time_budget : options.default_time_budget;
  if (text.empty()) return std::nullopt;
  TINYPROF_ASSIGN_OR_RETURN(const auto budget, ParseDuration(text));
  TINYPROF_RETURN_IF_ERROR(CheckBudget(text, budget));
  if (!timeout) return budget;
  if (!is_given) return std::min(budget, *timeout / 2);
  if (budget >= *timeout) return BudgetTooLong(text, session.options().timeout, *timeout);
  return budget;
}

Status SetTimes(const Session& session, const RunOptions& options, v1::RunSpec& spec) {
  using google::protobuf::util::TimeUtil;
  TINYPROF_ASSIGN_OR_RETURN(const double precision, ParsePercent(options.precision));
  if (precision < 1e-4) {
    return Fail(ErrorCode::kInvalidArgument, "BAD_PERCENT",
                fmt::format("--precision {} is below 0.01%", options.precision),
                {{"got", options.precision}});
  }
  spec.set_precision(precision);
  TINYPROF_ASSIGN_OR_RETURN(const auto timeout, session.Timeout());
  TINYPROF_ASSIGN_OR_RETURN(const auto budget, TimeBudget(session, options, timeout));
  if (budget) *spec.mutable_time_budget() = TimeUtil::NanosecondsToDuration(budget->count());
  if (timeout) *spec.mutable_timeout() = TimeUtil::NanosecondsToDuration(timeout->count());
  return {};
}

}  // namespace

void AddModelOptions(CLI::App& app, ModelOptions& options, const std::string& positional,
                     const std::string& meaning) {
  app.add_option(positional, options.model, meaning)->required();
  app.add_option("--input", options.inputs,
                 "Shape of an input: 32x784 or NAME=1x3x224x224; repeat it")
      ->allow_extra_args(false)
      ->type_name("SHAPE");
  app.add_option("--batch", options.batch, "Samples in one forward pass")
      ->check(WholeNumber(1, kMaxBatch))
      ->type_name("N");
  app.add_option("--seed", options.seed, "Seed of synthetic weights and inputs")
      ->check(WholeNumber(1, UINT64_MAX))
      ->type_name("N");
}

void AddKernelOptions(CLI::App& app, RunOptions& options) {
  app.add_option("--backend", options.backend,
                 "Kernels: reference, eigen, onednn or best (of each layer the fastest)")
      ->check(CLI::IsMember({"reference", "eigen", "onednn", "best"}))
      ->type_name("NAME");
  app.add_option(
         "--conv-algorithm", options.conv_algorithm,
         "How onednn convolves: direct, winograd or auto; direct, with best auto, unless given")
      ->check(CLI::IsMember({"direct", "winograd", "auto"}))
      ->type_name("NAME");
  app.add_option("--fuse", options.fuse,
                 "Run convolutions and products together with what follows them: on or off")
      ->check(CLI::IsMember({"on", "off"}))
      ->type_name("WHETHER");
  app.add_option("--isa", options.isa, "Instruction set: baseline, avx2, avx512 or native")
      ->check(CLI::IsMember({"baseline", "avx2", "avx512", "native"}))
      ->type_name("NAME");
}

void AddThreadsOption(CLI::App& app, RunOptions& options) {
  app.add_option("--threads", options.threads, "Threads, at most the daemon's measurement CPUs")
      ->check(WholeNumber(1, kMaxThreads))
      ->type_name("N");
}

void AddRunOptions(CLI::App& app, RunOptions& options, const std::string& positional,
                   const std::string& meaning) {
  AddModelOptions(app, options.model, positional, meaning);
  AddKernelOptions(app, options);
  AddThreadsOption(app, options);
  app.add_option("--cache", options.cache, "Caches before each pass: warm or cold")
      ->check(CLI::IsMember({"warm", "cold"}))
      ->type_name("MODE");
  app.add_option("--counters", options.counters, "Source of counts: auto, papi or none")
      ->check(CLI::IsMember({"auto", "papi", "none"}))
      ->type_name("SOURCE");
  app.add_option("--precision", options.precision, "Wanted half-width of the median's interval, 1%")
      ->type_name("PERCENT");
  const bool is_short = !options.default_time_budget.empty();
  app.add_option("--time-budget", options.time_budget,
                 fmt::format("Longest time spent on timing, below --timeout; {}",
                             is_short ? "1s, or half of a --timeout below 2s"
                                      : "10s, or half of a --timeout below 20s"))
      ->type_name("TIME");
}

void AddCsvFlag(CLI::App& app, GlobalOptions& global) {
  app.add_flag("--csv", global.csv,
               "Print CSV: a line for each layer, then one for the whole model");
}

void AddTopOption(CLI::App& app, int& top) {
  app.add_option("--top", top, "Show only the N heaviest layers in the table")
      ->check(WholeNumber(1, 1000000))
      ->type_name("N");
}

Result<v1::ModelSpec> ToModelSpec(Session& session, const ModelOptions& options) {
  v1::ModelSpec spec;
  TINYPROF_RETURN_IF_ERROR(AddInputs(options, spec));
  spec.set_text(options.model);
  spec.set_batch(options.batch);
  spec.set_seed(options.seed);
  if (IsModelFile(options.model)) {
    TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
    TINYPROF_ASSIGN_OR_RETURN(const std::string name, UploadModelFile(*connection, options.model,
                                                                      [&](const std::string& text) {
                                                                        session.Note(text);
                                                                      }));
    spec.set_text(name);
  } else {
    TINYPROF_RETURN_IF_ERROR(CheckPath(options.model));
  }
  return spec;
}

v1::Backend ToBackend(const std::string& name) {
  if (name == "reference") return v1::BACKEND_REFERENCE;
  if (name == "best") return v1::BACKEND_BEST;
  return name == "onednn" ? v1::BACKEND_ONEDNN : v1::BACKEND_EIGEN;
}

v1::ConvAlgorithm ToConvAlgorithm(const std::string& name) {
  if (name.empty()) return v1::CONV_ALGORITHM_UNSPECIFIED;
  if (name == "winograd") return v1::CONV_ALGORITHM_WINOGRAD;
  return name == "auto" ? v1::CONV_ALGORITHM_AUTO : v1::CONV_ALGORITHM_DIRECT;
}

Result<v1::RunSpec> ToRunSpec(Session& session, const RunOptions& options) {
  v1::RunSpec spec;
  spec.set_counters(ToCounterMode(options.counters));
  TINYPROF_RETURN_IF_ERROR(SetTimes(session, options, spec));
  spec.set_backend(ToBackend(options.backend));
  spec.set_conv_algorithm(ToConvAlgorithm(options.conv_algorithm));
  spec.set_fuse(options.fuse == "on");
  spec.set_isa(options.isa);
  spec.set_threads(options.threads);
  spec.set_cache(options.cache == "cold" ? v1::CACHE_MODE_COLD : v1::CACHE_MODE_WARM);
  TINYPROF_ASSIGN_OR_RETURN(*spec.mutable_model(), ToModelSpec(session, options.model));
  return spec;
}

}  // namespace tinyprof::client
