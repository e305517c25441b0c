// Checks the files of the catalogue against what they did not come from: libpfm4's encodings,
// PAPI's list of presets, the event numbers of the Arm architecture, and the widths in events'
// names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <papi.h>
#include <perfmon/pfmlib_perf_event.h>

#include <cctype>
#include <cstdlib>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "daemon/counters/catalogue/family_table.h"

namespace tinyprof {
namespace {

using catalogue::EventEntry;
using catalogue::FamilyTable;
using catalogue::Row;
using catalogue::TableOf;
using ::testing::IsEmpty;

// The core PMUs of libpfm4 that a family's file serves.
const std::map<CpuFamily, std::vector<std::string>> kX86Pmus = {
    {CpuFamily::kSkx, {"skx", "clx"}},
    {CpuFamily::kIcx, {"icx"}},
    {CpuFamily::kSpr, {"spr"}},
    {CpuFamily::kZen2, {"amd64_fam17h_zen2"}},
    {CpuFamily::kZen3, {"amd64_fam19h_zen3"}},
    {CpuFamily::kZen4, {"amd64_fam19h_zen4"}},
};

// Of the Arm Architecture Reference Manual (DDI 0487), "PMU events and event numbers".
const std::map<std::string, uint64_t> kArmNumbers = {
    {"L1D_CACHE_REFILL", 0x0003},  {"INST_RETIRED", 0x0008},        {"CPU_CYCLES", 0x0011},
    {"L2D_CACHE_REFILL", 0x0017},  {"BR_MIS_PRED_RETIRED", 0x0022}, {"STALL_BACKEND", 0x0024},
    {"L3D_CACHE_REFILL", 0x002a},  {"DTLB_WALK", 0x0034},           {"LL_CACHE_MISS_RD", 0x0037},
    {"FP_SCALE_OPS_SPEC", 0x80c0}, {"FP_FIXED_OPS_SPEC", 0x80c1},
};

bool IsArm(CpuFamily family) { return Name(family).starts_with("neoverse_"); }
bool IsPreset(std::string_view event) { return event.starts_with("PAPI_"); }

// Every formula of a family with its row.
std::vector<std::pair<const Row*, Formula>> Formulas(CpuFamily family) {
  std::vector<std::pair<const Row*, Formula>> formulas;
  for (const Row& row : TableOf(family).rows) {
    if (row.formula.empty()) {
      continue;
    }
    const Result<Formula> formula = ParseFormula(row.formula);
    EXPECT_TRUE(formula.has_value()) << Name(family) << " " << row.formula;
    if (formula.has_value()) {
      formulas.emplace_back(&row, *formula);
    }
  }
  return formulas;
}

class CatalogueLint : public ::testing::TestWithParam<CpuFamily> {
 protected:
  static void SetUpTestSuite() {
    // Of every PMU, not of the one below this test only.
    ASSERT_EQ(setenv("LIBPFM_ENCODE_INACTIVE", "1", 1), 0);
    ASSERT_EQ(pfm_initialize(), PFM_SUCCESS);
    ASSERT_EQ(PAPI_library_init(PAPI_VER_CURRENT), PAPI_VER_CURRENT);
  }

  static ::testing::AssertionResult Encode(const std::string& name, RawEvent& raw) {
    perf_event_attr attr = {};
    pfm_perf_encode_arg_t arg = {};
    arg.attr = &attr;
    arg.size = sizeof(arg);
    const int result = pfm_get_os_event_encoding(name.c_str(), PFM_PLM3, PFM_OS_PERF_EVENT, &arg);
    if (result != PFM_SUCCESS) {
      return ::testing::AssertionFailure() << name << ": " << pfm_strerror(result);
    }
    raw = {attr.type, attr.config, attr.config1};
    return ::testing::AssertionSuccess();
  }

  const FamilyTable& table_ = TableOf(GetParam());
};

TEST_P(CatalogueLint, EveryMetricHasFormulasOrAReason) {
  for (const Metric metric : kMetrics) {
    int formulas = 0;
    int reasons = 0;
    for (const Row& row : table_.rows) {
      if (row.metric == metric) {
        ++(row.formula.empty() ? reasons : formulas);
      }
    }
    EXPECT_TRUE((formulas > 0 && reasons == 0) || (formulas == 0 && reasons == 1))
        << Name(metric) << " has " << formulas << " formulas and " << reasons << " reasons";
  }
}

TEST_P(CatalogueLint, EveryReasonHasACodeAndASentence) {
  const std::regex reason("(NOT_COUNTED_BY_CPU|NOT_PER_THREAD): [A-Za-z][^.]*");
  for (const Row& row : table_.rows) {
    if (row.formula.empty()) {
      EXPECT_TRUE(std::regex_match(std::string(row.absent_reason), reason)) << row.absent_reason;
      EXPECT_THAT(std::string(row.caveat), IsEmpty());
      EXPECT_THAT(std::string(row.erratum), IsEmpty());
    } else {
      EXPECT_THAT(std::string(row.absent_reason), IsEmpty()) << row.formula;
    }
  }
}

TEST_P(CatalogueLint, EventsAndFormulasNameEachOther) {
  std::set<std::string_view> listed;
  for (const EventEntry& entry : table_.events) {
    EXPECT_TRUE(listed.insert(entry.name).second) << entry.name << " is listed twice";
  }
  std::set<std::string_view> used;
  const auto formulas = Formulas(GetParam());
  for (const auto& [row, formula] : formulas) {
    std::set<std::string_view> of_formula;
    for (const Formula::Term& term : formula.terms) {
      EXPECT_EQ(listed.count(term.event), 1u) << term.event << " is not among the events";
      EXPECT_TRUE(of_formula.insert(term.event).second) << term.event << " is twice in a formula";
      used.insert(term.event);
    }
  }
  for (const std::string_view name : listed) {
    EXPECT_EQ(used.count(name), 1u) << name << " is in no formula";
  }
}

TEST_P(CatalogueLint, EncodingsAreLibpfm4s) {
  const auto pmus = kX86Pmus.find(GetParam());
#if !defined(__x86_64__)
  if (pmus != kX86Pmus.end()) {
    GTEST_SKIP() << "this build of libpfm4 knows no x86 PMU";
  }
#endif
  for (const EventEntry& entry : table_.events) {
    if (IsPreset(entry.name)) {
      continue;
    }
    ASSERT_TRUE(entry.raw.has_value()) << entry.name;
    RawEvent raw;
    if (entry.name.starts_with("perf::")) {
      EXPECT_TRUE(Encode(std::string(entry.name), raw));
      EXPECT_EQ(raw, *entry.raw) << entry.name;
    } else if (IsArm(GetParam())) {
      const auto number = kArmNumbers.find(std::string(entry.name));
      ASSERT_NE(number, kArmNumbers.end()) << entry.name << " is no event of the architecture";
      EXPECT_EQ(*entry.raw, (RawEvent{RawEvent::kRaw, number->second, 0})) << entry.name;
    } else {
      ASSERT_NE(pmus, kX86Pmus.end()) << entry.name;
      for (const std::string& pmu : pmus->second) {
        EXPECT_TRUE(Encode(pmu + "::" + std::string(entry.name), raw));
        EXPECT_EQ(raw, *entry.raw) << pmu << "::" << entry.name << std::hex << " type " << raw.type
                                   << " config 0x" << raw.config << " config1 0x" << raw.config1;
      }
    }
  }
}

// PAPI 7.0.0's and 7.1.0's tables name one event for each of these on all CPUs with a file.
TEST_P(CatalogueLint, PresetsStandForTheEventBesideThem) {
  const std::map<std::string_view, Metric> known = {{"PAPI_TOT_CYC", Metric::kCycles},
                                                    {"PAPI_TOT_INS", Metric::kInstructions}};
  for (const auto& [row, formula] : Formulas(GetParam())) {
    for (const Formula::Term& term : formula.terms) {
      if (!IsPreset(term.event)) {
        continue;
      }
      int code = PAPI_NULL;
      EXPECT_EQ(PAPI_event_name_to_code(term.event.c_str(), &code), PAPI_OK) << term.event;
      if (GetParam() == CpuFamily::kGeneric) {
        EXPECT_EQ(RawEncoding(GetParam(), term.event), std::nullopt) << term.event;
        continue;
      }
      const auto preset = known.find(term.event);
      ASSERT_NE(preset, known.end()) << term.event;
      EXPECT_EQ(row->metric, preset->second);
      bool beside = false;
      for (const auto& [other, native] : Formulas(GetParam())) {
        beside = beside || (other->metric == row->metric && !IsPreset(native.terms[0].event) &&
                            RawEncoding(GetParam(), native.terms[0].event) ==
                                RawEncoding(GetParam(), term.event));
      }
      EXPECT_TRUE(beside) << term.event;
    }
  }
}

// "128 single": a kind of instruction, by vector width in bits (0: scalar) and precision.
using Kind = std::pair<int, std::string>;

// The kinds that an Intel event counts, read off its name alone.
std::vector<Kind> KindsOf(const std::string& event) {
  const std::string name = event.substr(event.find(':') + 1);
  std::smatch match;
  if (std::regex_match(name, match, std::regex("([0-9]+)B_PACKED_(SINGLE|DOUBLE)"))) {
    return {{std::stoi(match[1]), match[2]}};
  }
  if (std::regex_match(name, match, std::regex("SCALAR_(SINGLE|DOUBLE)"))) {
    return {{0, match[1]}};
  }
  if (name == "SCALAR") {
    return {{0, "SINGLE"}, {0, "DOUBLE"}};
  }
  if (std::regex_match(name, match, std::regex("([0-9]+)_FLOPS"))) {
    const int lanes = std::stoi(match[1]);
    return {{lanes * 32, "SINGLE"}, {lanes * 64, "DOUBLE"}};
  }
  return {};
}

int LanesOf(const Kind& kind) {
  return kind.first == 0 ? 1 : kind.first / (kind.second == "SINGLE" ? 32 : 64);
}

TEST_P(CatalogueLint, WeightsFollowFromWidths) {
  for (const auto& [row, formula] : Formulas(GetParam())) {
    for (const Formula::Term& term : formula.terms) {
      const std::vector<Kind> kinds =
          term.event.starts_with("FP_ARITH") ? KindsOf(term.event) : std::vector<Kind>{};
      double weight = row->metric == Metric::kDramBytes ? 64 : 1;  // bytes of a cache line
      if (term.event == "FP_SCALE_OPS_SPEC") {
        weight = GetParam() == CpuFamily::kNeoverseV1 ? 256 / 128 : 128 / 128;
      } else if (!kinds.empty()) {
        weight = LanesOf(kinds[0]);
      }
      EXPECT_EQ(term.weight, weight) << term.event;
      for (const Kind& kind : kinds) {
        EXPECT_EQ(term.weight, LanesOf(kind)) << term.event;
      }
    }
  }
}

TEST_P(CatalogueLint, IntelFlopsCountEveryKindOfInstructionOnce) {
  for (const auto& [row, formula] : Formulas(GetParam())) {
    if (!formula.terms[0].event.starts_with("FP_ARITH")) {
      continue;
    }
    std::multiset<Kind> kinds;
    for (const Formula::Term& term : formula.terms) {
      for (const Kind& kind : KindsOf(term.event)) {
        kinds.insert(kind);
      }
    }
    std::multiset<Kind> wanted;
    for (const int width : {0, 128, 256, 512}) {
      if (row->metric != Metric::kFlopsDouble) {
        wanted.insert({width, "SINGLE"});
      }
      if (row->metric != Metric::kFlopsSingle) {
        wanted.insert({width, "DOUBLE"});
      }
    }
    EXPECT_EQ(kinds, wanted) << row->formula;
  }
}

// Linux merges two counters for AMD's event 0x003 from family 17h on.
TEST_P(CatalogueLint, CountersHeld) {
  const bool amd = Name(GetParam()).starts_with("zen");
  for (const EventEntry& entry : table_.events) {
    if (!entry.raw.has_value()) {
      EXPECT_EQ(entry.counters, 0) << entry.name;
    } else {
      EXPECT_EQ(entry.counters, amd && (entry.raw->config & 0xff) == 0x03 ? 2 : 1) << entry.name;
    }
  }
}

bool OfFlops(Metric metric) { return Unit(metric) == "flop"; }

TEST_P(CatalogueLint, RulesSuitTheirMetrics) {
  const bool generic = GetParam() == CpuFamily::kGeneric;
  for (const auto& [row, formula] : Formulas(GetParam())) {
    EXPECT_EQ(row->rule.flops.has_value(), OfFlops(row->metric)) << row->formula;
    EXPECT_EQ(row->rule.proxy, row->metric == Metric::kDramBytes) << row->formula;
    if (row->rule.flops.has_value()) {
      EXPECT_EQ(row->rule.flops->per_fma, generic ? std::nullopt : std::optional<int>(2));
      EXPECT_EQ(row->rule.flops->lanes_in_event,
                !generic && !formula.terms[0].event.starts_with("FP_ARITH"));
    }
    for (const Formula::Term& term : formula.terms) {
      if (term.event.ends_with("_SPEC")) {
        EXPECT_EQ(row->rule.speculative, Answer::kYes) << term.event;
      }
      if (term.event.find("RETIRED") != std::string::npos) {
        EXPECT_EQ(row->rule.speculative, Answer::kNo) << term.event;
      }
    }
  }
}

TEST_P(CatalogueLint, CaveatsAndErrataHaveTheirForm) {
  const std::string number = Name(GetParam()).starts_with("zen") ? "AMD [0-9]{3,4}"
                             : IsArm(GetParam())                 ? "[0-9]{7}"
                                                 : "(SKL|SKX|CLX|ICX|SPR)[0-9]{2,3}";
  const std::regex errata(number + "(, " + number + ")*");
  for (const Row& row : table_.rows) {
    const std::string caveat(row.caveat);
    if (!row.erratum.empty()) {
      EXPECT_TRUE(std::regex_match(std::string(row.erratum), errata)) << row.erratum;
    }
    EXPECT_EQ(caveat.find("errat"), std::string::npos) << caveat;
    EXPECT_FALSE(caveat.ends_with('.')) << caveat;
    EXPECT_FALSE(!caveat.empty() && std::isupper(static_cast<unsigned char>(caveat[0])) != 0)
        << caveat;
  }
}

INSTANTIATE_TEST_SUITE_P(AllFamilies, CatalogueLint, ::testing::ValuesIn(kCpuFamilies),
                         [](const auto& family) { return std::string(Name(family.param)); });

}  // namespace
}  // namespace tinyprof
