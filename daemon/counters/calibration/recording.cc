#include "daemon/counters/calibration/recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

namespace tinyprof {
namespace {

constexpr std::string_view kHeader = "tinyprof counter recording 1";
constexpr std::array kKinds = {WorkKind::kAdd,    WorkKind::kFma,  WorkKind::kMinMax,
                               WorkKind::kDivide, WorkKind::kLoad, WorkKind::kBranch,
                               WorkKind::kPages};
constexpr std::array kSets = {WorkingSet::kRegisters, WorkingSet::kL1, WorkingSet::kL2,
                              WorkingSet::kL3, WorkingSet::kDram};

constexpr std::array kQualities = {Quality::kExact, Quality::kGood, Quality::kSuspect};

// The value among `all` whose Name() is `name`.
template <class Value, size_t count>
std::optional<Value> ByName(const std::array<Value, count>& all, std::string_view name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](Value value) { return Name(value) == name; });
  return found == all.end() ? std::nullopt : std::optional<Value>(*found);
}

// The words of a line, taken one by one. What is wrong is remembered until the end.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view Next() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(word.size());
    ok_ = ok_ && !word.empty();
    return word;
  }
  template <class Number>
  Number NextNumber() {
    const std::string_view word = Next();
    Number number{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    ok_ = ok_ && error == std::errc() && end == word.data() + word.size();
    return number;
  }
  void Expect(std::string_view wanted) { ok_ = (Next() == wanted) && ok_; }
  template <class Value>
  Value Take(std::optional<Value> value) {
    ok_ = ok_ && value.has_value();
    return value.value_or(Value{});
  }
  // Everything that is left, without the blank before it.
  std::string Rest() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    return std::string(std::exchange(rest_, {}));
  }
  bool AtEnd() const { return rest_.find_first_not_of(' ') == std::string_view::npos; }
  bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

LoopFacts ParseLoop(Words& words) {
  LoopFacts facts;
  facts.name = words.Next();
  facts.kind = words.Take(ByName(kKinds, words.Next()));
  const std::string_view precision = words.Next();
  words.Take(precision == "single" || precision == "double" ? std::optional(true) : std::nullopt);
  facts.double_precision = precision == "double";
  const auto number = [&](std::string_view unit) {
    const auto value = words.NextNumber<int64_t>();
    words.Expect(unit);
    return value;
  };
  facts.width_bits = number("bits");
  facts.lanes = number("lanes");
  facts.active_lanes = number("active");
  facts.arithmetic = number("arithmetic");
  facts.instructions = number("instructions");
  facts.loads = number("loads");
  facts.branches = number("branches");
  facts.set = words.Take(ByName(kSets, words.Next()));
  const std::string_view order = words.Next();
  words.Take(order == "random" || order == "in_order" ? std::optional(true) : std::nullopt);
  facts.in_order = order == "in_order";
  return facts;
}

std::string FormatLoop(const LoopFacts& facts) {
  return fmt::format(
      "loop {} {} {} {} bits {} lanes {} active {} arithmetic {} instructions {} loads {} branches "
      "{} {}\n",
      facts.name, Name(facts.kind), facts.double_precision ? "double" : "single", facts.width_bits,
      facts.lanes, facts.active_lanes, facts.arithmetic, facts.instructions, facts.loads,
      facts.branches, Name(facts.set), facts.in_order ? "in_order" : "random");
}

// A recording that is being read, line by line.
class Reader {
 public:
  // Whether the line could be understood.
  bool Line(std::string_view line) {
    Words words(line);
    const std::string_view what = words.Next();
    if (what == "cpu" || what == "microcode" || what == "kernel" || what == "pmu") {
      Header(what) = words.Rest();
      return true;
    }
    if (what == "loop") {
      LoopFacts facts = ParseLoop(words);
      const std::string name = facts.name;
      return words.ok() && words.AtEnd() && loops_.emplace(name, std::move(facts)).second;
    }
    if (what == "metric") {
      const Metric metric = words.Take(ByName(kMetrics, words.Next()));
      recording.metrics.push_back({metric, words.Rest(), {}});
      return words.ok() && ParseFormula(recording.metrics.back().formula).has_value();
    }
    if (what == "expect") {
      const Metric metric = words.Take(ByName(kMetrics, words.Next()));
      std::string grade(words.Next());
      return words.ok() && words.AtEnd() && recording.expected.emplace(metric, grade).second &&
             (grade == "absent" || ByName(kQualities, grade).has_value());
    }
    return what == "count" && Count(words);
  }

  Recording recording;

 private:
  std::string& Header(std::string_view what) {
    if (what == "cpu") return recording.cpu;
    if (what == "microcode") return recording.microcode;
    return what == "kernel" ? recording.kernel : recording.pmu;
  }

  bool Count(Words& words) {
    const auto loop = loops_.find(std::string(words.Next()));
    if (loop == loops_.end() || recording.metrics.empty()) {
      return false;
    }
    LoopSample sample{.facts = loop->second, .iterations = words.NextNumber<int64_t>()};
    Words ahead = words;
    if (ahead.Next() == "lost") {
      sample.lost_reason = ahead.Rest();
      words = ahead;
    }
    while (!words.AtEnd() && words.ok()) {
      sample.counts.push_back(words.NextNumber<double>());
    }
    recording.metrics.back().samples.push_back(sample);
    return words.ok() && sample.iterations > 0 &&
           sample.counts.empty() != sample.lost_reason.empty();
  }

  std::map<std::string, LoopFacts, std::less<>> loops_;
};

}  // namespace

std::string FormatRecording(const Recording& recording) {
  std::string text =
      fmt::format("{}\ncpu {}\nmicrocode {}\nkernel {}\npmu {}\n", kHeader, recording.cpu,
                  recording.microcode, recording.kernel, recording.pmu);
  std::map<std::string, bool> told;
  for (const RecordedMetric& metric : recording.metrics) {
    for (const LoopSample& sample : metric.samples) {
      if (told.emplace(sample.facts.name, true).second) {
        text += FormatLoop(sample.facts);
      }
    }
  }
  for (const RecordedMetric& metric : recording.metrics) {
    text += fmt::format("metric {} {}\n", Name(metric.metric), metric.formula);
    for (const LoopSample& sample : metric.samples) {
      text += fmt::format("count {} {} {}\n", sample.facts.name, sample.iterations,
                          sample.counts.empty() ? "lost " + sample.lost_reason
                                                : fmt::format("{}", fmt::join(sample.counts, " ")));
    }
  }
  return text;
}

Result<Recording> ParseRecording(std::string_view text) {
  Reader reader;
  int number = 0;
  while (!text.empty() || number == 0) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    const bool skipped = line.empty() || line.starts_with('#');
    const bool understood = number == 1 ? line == kHeader : skipped || reader.Line(line);
    if (!understood) {
      return Fail(ErrorCode::kInvalidArgument, "BAD_RECORDING",
                  fmt::format("line {} of a counter recording cannot be read: '{}'", number, line),
                  {{"line", fmt::format("{}", number)}});
    }
  }
  return std::move(reader.recording);
}

std::vector<MetricVerdict> JudgeRecording(const Recording& recording) {
  MetricJudge judge;
  std::vector<MetricVerdict> verdicts;
  for (const RecordedMetric& metric : recording.metrics) {
    verdicts.push_back(judge.Judge(metric.metric, metric.formula, metric.samples));
  }
  return verdicts;
}

}  // namespace tinyprof
