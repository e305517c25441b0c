#include "daemon/counters/calibration/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daemon/counters/calibration/expectations.h"

namespace tinyprof {
namespace {

constexpr double kCloseEnough = 0.01;  // where the count is known exactly
// Of the instructions, where an exact count is 0: what interrupts may add.
constexpr double kStray = 0.001;
constexpr size_t kLoopsNamed = 3;
// Shares of an in-order walk's lines above and below which prefetched lines surely count or not.
constexpr double kPrefetchesCount = 0.75;
constexpr double kPrefetchesLeftOut = 0.5;

bool CountsFlops(Metric metric) {
  return metric == Metric::kFlops || metric == Metric::kFlopsSingle ||
         metric == Metric::kFlopsDouble;
}

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::optional<Expectation> Expected(Metric metric, const LoopSample& sample,
                                    const FlopDefinition& definition) {
  const auto iterations = static_cast<double>(sample.iterations);
  std::optional<double> cycles;
  if (sample.cycles.has_value()) {
    cycles = *sample.cycles / iterations;
  }
  std::optional<Expectation> expected = ExpectationOf(metric, sample.facts, definition, cycles);
  if (expected.has_value()) {
    expected->low *= iterations;
    expected->nominal *= iterations;
    expected->high *= iterations;
  }
  return expected;
}

Quality Grade(const LoopSample& sample, const Expectation& expected, double measured,
              double spread) {
  if (!expected.exact()) {
    const bool within = measured >= expected.low && measured <= expected.high;
    return within ? Quality::kGood : Quality::kSuspect;
  }
  if (measured == expected.nominal && spread == 0) {
    return Quality::kExact;
  }
  const auto instructions = static_cast<double>(sample.iterations * sample.facts.instructions);
  const double margin =
      expected.nominal == 0 ? kStray * instructions : kCloseEnough * expected.nominal;
  return std::abs(measured - expected.nominal) <= margin ? Quality::kGood : Quality::kSuspect;
}

std::string Complaint(const LoopSample& sample, const Expectation& expected, double measured) {
  std::string text = sample.facts.name;
  if (sample.facts.width_bits > 0) {
    text += fmt::format(" ({} bits)", sample.facts.width_bits);
  }
  if (!expected.exact()) {
    return text + fmt::format(" counted {:.0f} where {:.0f} to {:.0f} are plausible", measured,
                              expected.low, expected.high);
  }
  if (expected.nominal == 0) {
    return text + fmt::format(" counted {:.0f} where there are none", measured);
  }
  return text + fmt::format(" counted {:.3g} times its {:.0f}", measured / expected.nominal,
                            expected.nominal);
}

TrustRow JudgeRow(Metric metric, const std::string& formula, const LoopSample& sample,
                  const FlopDefinition& definition) {
  TrustRow row{.loop = sample.facts.name,
               .metric = std::string(Name(metric)),
               .formula = formula,
               .iterations = sample.iterations,
               .expected = Expected(metric, sample, definition)};
  if (sample.counts.empty()) {
    row.reason = sample.lost_reason;
    return row;
  }
  const auto [smallest, largest] = std::minmax_element(sample.counts.begin(), sample.counts.end());
  row.measured = MedianOf(sample.counts);
  row.spread = *largest - *smallest;
  if (!row.expected.has_value()) {
    return row;
  }
  row.quality = Grade(sample, *row.expected, *row.measured, *row.spread);
  if (row.quality == Quality::kSuspect) {
    row.reason = "IMPLAUSIBLE: " + Complaint(sample, *row.expected, *row.measured);
  }
  return row;
}

std::vector<TrustRow> JudgeRows(Metric metric, const std::string& formula,
                                std::span<const LoopSample> samples,
                                const FlopDefinition& definition) {
  std::vector<TrustRow> rows;
  for (const LoopSample& sample : samples) {
    rows.push_back(JudgeRow(metric, formula, sample, definition));
  }
  return rows;
}

bool IsRight(const TrustRow& row) {
  return row.quality == Quality::kExact || row.quality == Quality::kGood;
}

// The definition that explains most loops; the first of those that explain as many.
FlopDefinition FindDefinition(Metric metric, std::span<const LoopSample> samples) {
  FlopDefinition best;
  int64_t most = -1;
  for (const bool fma_as_two : {true, false}) {
    for (const bool masked_off_lanes : {true, false}) {
      for (const bool min_max : {false, true}) {
        const FlopDefinition definition{fma_as_two, masked_off_lanes, min_max};
        const std::vector<TrustRow> rows = JudgeRows(metric, "", samples, definition);
        const int64_t right = std::count_if(rows.begin(), rows.end(), IsRight);
        if (right > most) {
          most = right;
          best = definition;
        }
      }
    }
  }
  return best;
}

// Whether a loop that is right shows what `differs` asks of it.
template <class Differs>
bool Shown(Metric metric, std::span<const LoopSample> samples, const std::vector<TrustRow>& rows,
           const Differs& differs) {
  for (size_t i = 0; i < samples.size(); ++i) {
    const LoopFacts& facts = samples[i].facts;
    const bool other_precision =
        metric != Metric::kFlops && facts.double_precision != (metric == Metric::kFlopsDouble);
    if (facts.floating_point() && !other_precision && IsRight(rows[i]) && differs(facts)) {
      return true;
    }
  }
  return false;
}

void AddSentence(std::string_view sentence, std::string& note) {
  if (!note.empty()) {
    note += "; ";
  }
  note += sentence;
}

std::string DescribeDefinition(Metric metric, std::span<const LoopSample> samples,
                               const MetricVerdict& verdict) {
  const FlopDefinition& definition = verdict.definition;
  std::string note;
  if (Shown(metric, samples, verdict.rows, [](const LoopFacts& facts) {
        return facts.kind == WorkKind::kFma && facts.active_lanes == facts.lanes;
      })) {
    AddSentence(definition.fma_as_two ? "an FMA counts as two operations"
                                      : "an FMA counts as one operation",
                note);
  }
  if (Shown(metric, samples, verdict.rows,
            [](const LoopFacts& facts) { return facts.active_lanes < facts.lanes; })) {
    AddSentence(definition.masked_off_lanes ? "lanes that are masked off count"
                                            : "lanes that are masked off do not count",
                note);
  }
  if (Shown(metric, samples, verdict.rows,
            [](const LoopFacts& facts) { return facts.kind == WorkKind::kMinMax; })) {
    AddSentence(definition.min_max ? "minima and maxima count" : "minima and maxima do not count",
                note);
  }
  return note;
}

// Whether lines that prefetchers bring in are counted, by a walk in memory order.
std::string DescribePrefetches(Metric metric, std::span<const LoopSample> samples,
                               const std::vector<TrustRow>& rows) {
  constexpr double kLineBytes = 64;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].facts.kind != WorkKind::kLoad || !samples[i].facts.in_order ||
        !rows[i].measured.has_value()) {
      continue;
    }
    const double unit = metric == Metric::kDramBytes ? kLineBytes : 1;
    const double share = *rows[i].measured / (unit * static_cast<double>(samples[i].iterations));
    if (share >= kPrefetchesCount) {
      return "lines that prefetchers bring in count";
    }
    if (share <= kPrefetchesLeftOut) {
      return "lines that prefetchers bring in are left out";
    }
  }
  return "";
}

// The wrong rows in one sentence, with the width where they are of one width alone.
std::string Complain(std::span<const LoopSample> samples, const std::vector<TrustRow>& rows) {
  std::vector<size_t> wrong;
  int64_t judged = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    judged += rows[i].quality.has_value() ? 1 : 0;
    if (rows[i].quality == Quality::kSuspect) {
      wrong.push_back(i);
    }
  }
  const int64_t width = samples[wrong.front()].facts.width_bits;
  const bool one_width = width > 0 && std::all_of(wrong.begin(), wrong.end(), [&](size_t i) {
                           return samples[i].facts.width_bits == width;
                         });
  std::string text = fmt::format("IMPLAUSIBLE: {} of {} loops are off{}: ", wrong.size(), judged,
                                 one_width ? fmt::format(", all of {} bits", width) : "");
  for (size_t k = 0; k < std::min(wrong.size(), kLoopsNamed); ++k) {
    const TrustRow& row = rows[wrong[k]];
    text += (k == 0 ? "" : ", ") + Complaint(samples[wrong[k]], *row.expected, *row.measured);
  }
  return wrong.size() > kLoopsNamed ? text + ", ..." : text;
}

void Conclude(Metric metric, std::span<const LoopSample> samples, MetricVerdict& verdict) {
  const std::vector<TrustRow>& rows = verdict.rows;
  const auto counted = [](const TrustRow& row) { return row.measured.has_value(); };
  if (std::none_of(rows.begin(), rows.end(), counted)) {
    verdict.reason = rows.empty() ? "NOT_CALIBRATED: no loop of known count concerns this metric"
                                  : rows.front().reason;
    return;
  }
  const auto must_count = [](const TrustRow& row) {
    return row.measured.has_value() && row.expected.has_value() && row.expected->low > 0;
  };
  const auto first = std::find_if(rows.begin(), rows.end(), must_count);
  if (first == rows.end()) {
    verdict.reason = "NOT_CALIBRATED: no loop on this CPU tells what the event must count";
    // A 0 may be the count of an event that never moves.
    const bool moved = std::any_of(rows.begin(), rows.end(), [](const TrustRow& row) {
      return row.measured.value_or(0) != 0;
    });
    if (moved) {
      verdict.quality = Quality::kSuspect;
    } else {
      verdict.reason += ", and it counted nothing";
    }
    return;
  }
  verdict.expected = first->expected->nominal;
  verdict.measured = first->measured;
  if (std::none_of(rows.begin(), rows.end(),
                   [&](const TrustRow& row) { return must_count(row) && *row.measured > 0; })) {
    verdict.reason = fmt::format("NEVER_MOVES: the event counted nothing where {} counts {:.0f}",
                                 first->loop, first->expected->nominal);
    return;
  }
  const auto judged_as = [&](Quality quality) {
    return [quality](const TrustRow& row) { return row.quality == quality; };
  };
  if (std::any_of(rows.begin(), rows.end(), judged_as(Quality::kSuspect))) {
    verdict.reason = Complain(samples, rows);
    if (metric != Metric::kCycles) {
      verdict.quality = Quality::kSuspect;
    }
    return;
  }
  const bool exact = std::none_of(rows.begin(), rows.end(), judged_as(Quality::kGood)) &&
                     std::all_of(rows.begin(), rows.end(), counted);
  verdict.quality = exact ? Quality::kExact : Quality::kGood;
}

}  // namespace

MetricVerdict JudgeMetric(Metric metric, const std::string& formula,
                          std::span<const LoopSample> samples) {
  MetricVerdict verdict;
  if (CountsFlops(metric)) {
    verdict.definition = FindDefinition(metric, samples);
  }
  verdict.rows = JudgeRows(metric, formula, samples, verdict.definition);
  Conclude(metric, samples, verdict);
  if (verdict.quality.has_value()) {
    verdict.note = CountsFlops(metric) ? DescribeDefinition(metric, samples, verdict)
                                       : DescribePrefetches(metric, samples, verdict.rows);
  }
  return verdict;
}

MetricVerdict MetricJudge::Judge(Metric metric, const std::string& formula,
                                 std::vector<LoopSample> samples) {
  for (LoopSample& sample : samples) {
    if (const auto found = cycles_.find(sample.facts.name); found != cycles_.end()) {
      sample.cycles = found->second;
    }
  }
  MetricVerdict verdict = JudgeMetric(metric, formula, samples);
  if (metric == Metric::kCycles && verdict.quality.has_value()) {
    for (const TrustRow& row : verdict.rows) {
      if (row.measured.has_value()) {
        cycles_[row.loop] = *row.measured;
      }
    }
  }
  return verdict;
}

}  // namespace tinyprof
