#include "daemon/counters/event_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "daemon/counters/catalogue/family_table.h"
#include "kernels/base/check.h"

namespace tinyprof {
namespace {

tl::unexpected<Error> BadFormula(std::string_view text, std::string_view wanted) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_FORMULA",
              fmt::format("formula '{}' cannot be read: {}", text, wanted),
              {{"formula", std::string(text)}});
}

// The next blank-separated word of `rest`, which it is taken from; empty at the end.
std::string_view NextWord(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size());
  return word;
}

Result<Formula::Term> ParseTerm(std::string_view text, std::string_view word) {
  Formula::Term term;
  if (const size_t star = word.find('*'); star != std::string_view::npos) {
    const char* end = word.data() + star;
    const auto parsed = std::from_chars(word.data(), end, term.weight);
    if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(term.weight)) {
      return BadFormula(text, fmt::format("'{}' does not begin with a number and '*'", word));
    }
    word.remove_prefix(star + 1);
  }
  if (word.empty() || word.find_first_of("*+") != std::string_view::npos) {
    return BadFormula(text, "each term is an event or a number, '*' and an event");
  }
  term.event = word;
  return term;
}

const catalogue::EventEntry* FindEvent(const catalogue::FamilyTable& table, std::string_view name) {
  const auto found =
      std::find_if(table.events.begin(), table.events.end(),
                   [name](const catalogue::EventEntry& entry) { return entry.name == name; });
  return found == table.events.end() ? nullptr : &*found;
}

// 0 where one of them is not known.
int CountersOf(const Formula& formula, const catalogue::FamilyTable& table) {
  int counters = 0;
  for (const Formula::Term& term : formula.terms) {
    const catalogue::EventEntry* entry = FindEvent(table, term.event);
    TINYPROF_CHECK(entry != nullptr);
    if (entry->counters == 0) {
      return 0;
    }
    counters += entry->counters;
  }
  return counters;
}

std::string_view Say(Answer answer) {
  switch (answer) {
    case Answer::kNo:
      return "do not count";
    case Answer::kYes:
      return "count";
    case Answer::kUnknown:
      return "may or may not count";
  }
  return "";
}

// The rule as clauses: what a count holds beyond its name.
std::string NoteOf(const catalogue::Row& row) {
  std::vector<std::string> clauses;
  if (row.rule.proxy) {
    clauses.push_back("an estimate");
  }
  if (const auto& flops = row.rule.flops; flops.has_value()) {
    clauses.push_back(flops->per_fma.has_value()
                          ? fmt::format("a fused multiply-add counts as {}", *flops->per_fma)
                          : "what a fused multiply-add counts as is not known");
    clauses.push_back(fmt::format("minimum and maximum {}", Say(flops->min_max)));
    clauses.push_back(fmt::format("masked-off lanes {}", Say(flops->masked_lanes)));
    if (row.rule.speculative == Answer::kYes) {
      clauses.push_back("work on mispredicted paths counts");
    }
  }
  if (row.rule.prefetches == Answer::kNo) {
    clauses.push_back("hardware prefetches do not count");
  }
  if (!row.caveat.empty()) {
    clauses.emplace_back(row.caveat);
  }
  if (!row.erratum.empty()) {
    clauses.push_back(fmt::format("see erratum {}", row.erratum));
  }
  return fmt::format("{}", fmt::join(clauses, "; "));
}

}  // namespace

std::string_view Name(Metric metric) {
  switch (metric) {
    case Metric::kFlops:
      return "flops";
    case Metric::kCycles:
      return "cycles";
    case Metric::kInstructions:
      return "instructions";
    case Metric::kL1dMisses:
      return "l1d_misses";
    case Metric::kL2Misses:
      return "l2_misses";
    case Metric::kL3Misses:
      return "l3_misses";
    case Metric::kDramBytes:
      return "dram_bytes";
    case Metric::kFlopsSingle:
      return "flops_single";
    case Metric::kFlopsDouble:
      return "flops_double";
    case Metric::kStallCycles:
      return "stall_cycles";
    case Metric::kBranchMisses:
      return "branch_misses";
    case Metric::kDtlbMisses:
      return "dtlb_misses";
  }
  return "";
}

std::string_view Unit(Metric metric) {
  switch (metric) {
    case Metric::kFlops:
    case Metric::kFlopsSingle:
    case Metric::kFlopsDouble:
      return "flop";
    case Metric::kCycles:
    case Metric::kStallCycles:
      return "cycle";
    case Metric::kDramBytes:
      return "byte";
    default:
      return "count";
  }
}

std::string Formula::ToString() const {
  std::string text;
  for (const Term& term : terms) {
    const double size = std::abs(term.weight);
    if (!text.empty()) {
      text += term.weight < 0 ? " - " : " + ";
    } else if (term.weight < 0) {
      text += "-";
    }
    text += size == 1 ? term.event : fmt::format("{}*{}", size, term.event);
  }
  return text;
}

std::string Formula::Describe() const { return (rule.proxy ? "estimate: " : "") + ToString(); }

Result<Formula> ParseFormula(std::string_view text) {
  Formula formula;
  std::string_view rest = text;
  double sign = 1;
  while (true) {
    TINYPROF_ASSIGN_OR_RETURN(Formula::Term term, ParseTerm(text, NextWord(rest)));
    term.weight *= sign;
    formula.terms.push_back(std::move(term));
    const std::string_view op = NextWord(rest);
    if (op.empty()) {
      return formula;
    }
    if (op != "+" && op != "-") {
      return BadFormula(text, fmt::format("wanted '+' or '-' between terms, got '{}'", op));
    }
    sign = op == "-" ? -1 : 1;
  }
}

const catalogue::FamilyTable& catalogue::TableOf(CpuFamily family) {
  switch (family) {
    case CpuFamily::kGeneric:
      return kGeneric;
    case CpuFamily::kSkx:
      return kSkx;
    case CpuFamily::kIcx:
      return kIcx;
    case CpuFamily::kSpr:
      return kSpr;
    case CpuFamily::kZen2:
      return kZen2;
    case CpuFamily::kZen3:
      return kZen3;
    case CpuFamily::kZen4:
      return kZen4;
    case CpuFamily::kNeoverseN1:
      return kNeoverseN1;
    case CpuFamily::kNeoverseV1:
      return kNeoverseV1;
    case CpuFamily::kNeoverseN2:
      return kNeoverseN2;
    case CpuFamily::kNeoverseV2:
      return kNeoverseV2;
  }
  return kGeneric;
}

MetricCandidates CandidatesFor(CpuFamily family, Metric metric) {
  const catalogue::FamilyTable& table = catalogue::TableOf(family);
  MetricCandidates candidates;
  for (const catalogue::Row& row : table.rows) {
    if (row.metric != metric) {
      continue;
    }
    if (row.formula.empty()) {
      candidates.absent_reason = row.absent_reason;
      continue;
    }
    Result<Formula> formula = ParseFormula(row.formula);
    TINYPROF_CHECK(formula.has_value());
    formula->note = NoteOf(row);
    formula->rule = row.rule;
    formula->counters = CountersOf(*formula, table);
    candidates.formulas.push_back(*std::move(formula));
  }
  if (candidates.absent_reason.empty()) {
    candidates.absent_reason =
        fmt::format("EVENT_UNKNOWN: no event for {} is known on this CPU", Name(metric));
  }
  return candidates;
}

MetricCandidates CandidatesFor(std::string_view pmu, Metric metric) {
  return CandidatesFor(FamilyOf(pmu), metric);
}

std::optional<RawEvent> RawEncoding(CpuFamily family, std::string_view event) {
  const catalogue::EventEntry* entry = FindEvent(catalogue::TableOf(family), event);
  return entry == nullptr ? std::nullopt : entry->raw;
}

}  // namespace tinyprof
