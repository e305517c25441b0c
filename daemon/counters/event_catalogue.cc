#include "daemon/counters/event_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

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

MetricCandidates CandidatesFor(std::string_view pmu, Metric metric) {
  MetricCandidates candidates;
  for (const EventRow& row : EventTable()) {
    if (row.metric != metric || !pmu.starts_with(row.pmu)) {
      continue;
    }
    if (row.formula.empty()) {
      candidates.absent_reason = row.note;
      // The CPU's own row says that there is no such event; what the generic rows would count under
      // the same name is something else.
      break;
    }
    Result<Formula> formula = ParseFormula(row.formula);
    TINYPROF_CHECK(formula.has_value());
    formula->note = row.note;
    candidates.formulas.push_back(*std::move(formula));
  }
  if (candidates.absent_reason.empty()) {
    candidates.absent_reason =
        fmt::format("EVENT_UNKNOWN: no event for {} is known on this CPU", Name(metric));
  }
  return candidates;
}

}  // namespace tinyprof
