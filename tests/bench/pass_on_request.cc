// Makes one forward pass of an ONNX file for each line on standard input and prints what it took,
// in ns, so that passes can be interleaved with those of another engine (tests/peers/versus.mjs).
//
// Usage: pass_on_request FILE.onnx eigen|onednn|best direct|winograd|auto THREADS [fuse]
// [NAME=SHAPE
// ...]
#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "daemon/model/onnx_import.h"
#include "kernels/runtime/run_plan.h"
#include "kernels/runtime/team.h"

namespace tinyprof {
namespace {

using Clock = std::chrono::steady_clock;

int64_t NsSince(Clock::time_point start) {
  return std::chrono::nanoseconds(Clock::now() - start).count();
}

struct Request {
  std::string file;
  SessionOptions session;
  std::vector<InputShape> inputs;
  bool fuse = false;
};

Result<Request> ParseArguments(const std::vector<std::string>& arguments) {
  if (arguments.size() < 4) {
    return Fail(
        ErrorCode::kInvalidArgument, "USAGE",
        "usage: FILE.onnx eigen|onednn|best direct|winograd|auto THREADS [fuse] [NAME=SHAPE ...]");
  }
  Request request{.file = arguments[0], .session = {.isa = HostIsas().back()}, .inputs = {}};
  TINYPROF_ASSIGN_OR_RETURN(request.session.backend, BackendFromName(arguments[1]));
  request.session.conv_algorithm = arguments[2] == "winograd" ? ConvAlgorithm::kWinograd
                                   : arguments[2] == "auto"   ? ConvAlgorithm::kAuto
                                                              : ConvAlgorithm::kDirect;
  request.session.threads = std::stoi(arguments[3]);
  for (size_t i = 4; i < arguments.size(); ++i) {
    if (arguments[i] == "fuse") {
      request.fuse = true;
      continue;
    }
    TINYPROF_ASSIGN_OR_RETURN(InputShape input, ParseInputFlag(arguments[i]));
    request.inputs.push_back(std::move(input));
  }
  return request;
}

Status Serve(const std::vector<std::string>& arguments) {
  TINYPROF_ASSIGN_OR_RETURN(Request request, ParseArguments(arguments));
  TINYPROF_RETURN_IF_ERROR(PinTeam(UsableCores(), request.session.threads));
  const Clock::time_point start = Clock::now();
  TINYPROF_ASSIGN_OR_RETURN(
      Graph graph,
      ImportOnnxFile(request.file, {.name = "model", .inputs = request.inputs, .fixed = {}}));
  TINYPROF_ASSIGN_OR_RETURN(const RunPlan plan,
                            PlanRun(std::move(graph), request.session, request.fuse));
  TINYPROF_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                            Session::Create(plan.graph, plan.options));
  fmt::print("loaded {}\n", NsSince(start));
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    const Clock::time_point begin = Clock::now();
    session->RunAll();
    fmt::print("{}\n", NsSince(begin));
    std::fflush(stdout);
  }
  return {};
}

}  // namespace
}  // namespace tinyprof

int main(int argc, char** argv) {
  const tinyprof::Status done = tinyprof::Serve({argv + 1, argv + argc});
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().message);
  return 1;
}
