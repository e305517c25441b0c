// Runs every model of a folder of ONNX test suites and prints what became of them.
//
// Usage: conformance DATA [ALLOW_LIST]. DATA holds the suites, or models; when it is empty, the
// folder in the environment variable TINYPROF_GOLDEN_MODELS does. Exits 1 when a model that the
// list does not name fails or is refused, when one that it names passes or fails, or when a line of
// the list names none; 77 when there is nothing to run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "tests/conformance/allow_list.h"
#include "tests/conformance/model_run.h"

namespace tinyprof {
namespace {

namespace fs = std::filesystem;

constexpr int kSecondsOfOneModel = 60;

struct Tally {
  int passed = 0;
  int failed = 0;
  int refused = 0;

  void Count(Outcome::Kind kind) {
    (kind == Outcome::Kind::kPassed ? passed : kind == Outcome::Kind::kFailed ? failed : refused)++;
  }
};

// Folders with a model.onnx and data, below `root`, sorted.
std::vector<fs::path> FindModels(const fs::path& root) {
  std::vector<fs::path> models;
  std::error_code error;
  for (fs::recursive_directory_iterator at(root, error), end; at != end; at.increment(error)) {
    const fs::path folder = at->path().parent_path();
    if (at->path().filename() == "model.onnx" && fs::exists(folder / "test_data_set_0")) {
      models.push_back(folder);
    }
  }
  std::sort(models.begin(), models.end());
  return models;
}

void PrintRow(std::string_view name, const Tally& tally) {
  fmt::print("{:<28} {:>7} {:>7} {:>8}\n", name, tally.passed, tally.failed, tally.refused);
}

void PrintTable(std::string_view title, const std::map<std::string, Tally>& rows) {
  fmt::print("{:<28} {:>7} {:>7} {:>8}\n", title, "passed", "failed", "refused");
  for (const auto& [name, tally] : rows) PrintRow(name, tally);
}

// What is wrong with this outcome, or nothing.
std::string ComplaintOf(const Outcome& outcome, const AllowedRefusal* allowed) {
  switch (outcome.kind) {
    case Outcome::Kind::kPassed:
      return allowed == nullptr ? "" : fmt::format("passes, but is listed as: {}", allowed->why);
    case Outcome::Kind::kFailed:
      return "FAILED: " + outcome.detail;
    case Outcome::Kind::kRefused:
      return allowed != nullptr ? "" : "REFUSED: " + outcome.detail;
  }
  return "";
}

int Run(const fs::path& root, AllowList allow_list) {
  const std::vector<fs::path> models = FindModels(root);
  if (models.empty()) {
    fmt::print("[  SKIPPED ] conformance: {}\n",
               root.empty() ? "TINYPROF_GOLDEN_MODELS names no folder of models with outputs"
                            : "no ONNX test models in " + root.string());
    return 77;
  }
  std::map<std::string, Tally> by_operator;
  std::map<std::string, Tally> by_suite;
  Tally total;
  int complaints = 0;
  for (const fs::path& folder : models) {
    const std::string name = folder.lexically_relative(root).string();
    const Outcome outcome = RunModelApart(folder, kSecondsOfOneModel);
    for (const std::string& op : OperatorsOf(folder)) by_operator[op].Count(outcome.kind);
    by_suite[folder.parent_path().filename().string()].Count(outcome.kind);
    total.Count(outcome.kind);
    const std::string complaint = ComplaintOf(outcome, allow_list.Find(name));
    if (complaint.empty()) continue;
    ++complaints;
    fmt::print("{}: {}\n", name, complaint);
  }
  for (const AllowedRefusal& line : allow_list.lines()) {
    if (line.match_count > 0) continue;
    ++complaints;
    fmt::print("the allow-list's {} matches no model\n", line.pattern);
  }
  PrintTable("operator (models with it)", by_operator);
  PrintTable("suite", by_suite);
  PrintRow("all", total);
  return complaints == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tinyprof

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: conformance DATA [ALLOW_LIST]\n");
    return 2;
  }
  tinyprof::AllowList allow_list;
  if (argc > 2) {
    tinyprof::Result<tinyprof::AllowList> read = tinyprof::AllowList::Read(argv[2]);
    if (!read) {
      fmt::print(stderr, "{}\n", read.error().message);
      return 2;
    }
    allow_list = *std::move(read);
  }
  std::string data = argv[1];
  const char* golden = std::getenv("TINYPROF_GOLDEN_MODELS");
  if (data.empty() && golden != nullptr) data = golden;
  return tinyprof::Run(data, std::move(allow_list));
}
