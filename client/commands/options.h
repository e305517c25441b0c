// The options that several commands share, and the messages they become.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/commands/session.h"
#include "tinyprof/v1/run.pb.h"

namespace CLI {
class App;
}

namespace tinyprof::client {

struct ModelOptions {
  std::string model;
  std::vector<std::string> inputs;
  int64_t batch = 1;
  uint64_t seed = 1;
};

struct RunOptions {
  ModelOptions model;
  std::string backend = "eigen";
  std::string isa = "native";
  std::string conv_algorithm;  // empty: what suits the backend
  std::string fuse = "off";
  int32_t threads = 1;
  std::string cache = "warm";
  std::string counters = "auto";
  std::string precision = "1%";
  // Empty: `default_time_budget`, or half of a timeout below twice that.
  std::string time_budget;
  // Empty leaves it to the daemon, which takes 10 s.
  std::string default_time_budget;
};

inline constexpr const char* kModelHelp =
    "A zoo name, a layer list, an uploaded model's name or a path to an .onnx file";

// MODEL (called `positional`, and `meaning`, in the help), --input, --batch, --seed.
void AddModelOptions(CLI::App& app, ModelOptions& options, const std::string& positional = "MODEL",
                     const std::string& meaning = kModelHelp);
// --backend, --isa, --conv-algorithm and --fuse.
void AddKernelOptions(CLI::App& app, RunOptions& options);
// --threads.
void AddThreadsOption(CLI::App& app, RunOptions& options);
// All options of a measured run.
void AddRunOptions(CLI::App& app, RunOptions& options, const std::string& positional = "MODEL",
                   const std::string& meaning = kModelHelp);
void AddCsvFlag(CLI::App& app, GlobalOptions& global);
void AddTopOption(CLI::App& app, int& top);

// The model as the daemon takes it; a file is uploaded first.
Result<v1::ModelSpec> ToModelSpec(Session& session, const ModelOptions& options);
v1::Backend ToBackend(const std::string& name);
v1::ConvAlgorithm ToConvAlgorithm(const std::string& name);
Result<v1::RunSpec> ToRunSpec(Session& session, const RunOptions& options);

}  // namespace tinyprof::client
