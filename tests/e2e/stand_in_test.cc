// The whole product on the stand-in PMU (tests/pmu): a daemon that counts, its worker inside its
// sandbox, the client's documents. Counts are the declared work to the last FLOP or absent with a
// reason, and none of them says that hardware counted it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sched.h>

#include <nlohmann/json.hpp>

#include "tests/e2e/daemon_fixture.h"
#include "tests/pmu/stand_in_script.h"

namespace tinyprof::e2e {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

// Two CPUs that this process may use, as the daemon's key "cpus" takes them; empty where there is
// one.
std::string TwoCpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE && cpus.size() < 2; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  return cpus.size() < 2 ? "" : fmt::format("{},{}", cpus[0], cpus[1]);
}

class StandInTest : public DaemonTest, public testing::WithParamInterface<size_t> {
 protected:
  void StartOnStandIn(const StandInScript& script, const std::string& cpus = "auto") {
    // Two threads may have to share a CPU with the rest of the machine, so they do not spin.
    more_environment_ = {
        std::string("LD_PRELOAD=") + TINYPROF_STAND_IN_PMU, "LIBPFM_FORCE_PMU=" + cpu_.pmu,
        "TINYPROF_STAND_IN_FILE=" + dir_.Write("rules", script.text()), "OMP_WAIT_POLICY=passive"};
    StartDaemon("cpus = \"" + cpus + "\"\n");
  }

  json Document(std::vector<std::string> command) {
    command.emplace_back("--json");
    EXPECT_EQ(RunClient(command), 0) << err();
    return json::parse(out(), nullptr, false);
  }

  json Profile(const std::string& model, int threads, const std::string& counters = "auto") {
    return Document({"profile", model, "--threads", std::to_string(threads), "--counters", counters,
                     "--precision", "20%", "--time-budget", "2s"});
  }

  const Cpu& cpu_ = StandInCpus()[GetParam()];
};

// What DeclareFlops() says of the instructions of one thread.
int64_t InstructionsOf(int64_t flops) { return 100 + 3 * (flops / 8 + flops % 8); }

// The layer's instructions: its FLOPs are shared out evenly, the first threads take the rest.
int64_t InstructionsOf(int64_t flops, int threads) {
  int64_t sum = 0;
  for (int thread = 0; thread < threads; ++thread) {
    sum += InstructionsOf(flops / threads + (thread < flops % threads ? 1 : 0));
  }
  return sum;
}

// No text of the document is "papi", and counts say where they come from.
void ExpectNothingSaysPapi(const json& document) {
  if (document.is_string()) {
    EXPECT_NE(document, "papi");
  }
  for (const json& part : document) {
    if (document.is_structured()) ExpectNothingSaysPapi(part);
  }
}

// Every quantity is of the stand-in, and absent only with a reason.
void ExpectSimulated(const json& counters) {
  for (const auto& [name, quantity] : counters.items()) {
    EXPECT_EQ(quantity["source"], "simulated") << name;
    if (quantity["value"].is_null()) {
      EXPECT_THAT(quantity["reason"].get<std::string>(), ContainsRegex("^[A-Z_0-9]+: .+")) << name;
      EXPECT_TRUE(quantity["quality"].is_null()) << name;
    }
  }
}

// `quantity` has the value, or where `may_be_absent`, none at all. Returns whether it has one.
bool ExpectValue(const json& quantity, int64_t value, bool may_be_absent) {
  if (may_be_absent && quantity["value"].is_null()) return false;
  EXPECT_EQ(quantity["value"], value) << quantity;
  return true;
}

// Compares FLOPs and instructions of every layer and of the whole with what was declared. Returns
// how many of these counts are there.
int ExpectDeclared(const json& run, const json& analysis, int threads, bool may_be_absent) {
  EXPECT_EQ(run["run"]["counter_source"], "simulated");
  ExpectNothingSaysPapi(run);
  int present = 0;
  int64_t instructions = 0;
  EXPECT_EQ(run["layers"].size(), analysis["layers"].size());
  for (size_t i = 0; i < std::min(run["layers"].size(), analysis["layers"].size()); ++i) {
    SCOPED_TRACE(analysis["layers"][i]["name"]);
    const json& counters = run["layers"][i]["counters"];
    const int64_t flops = analysis["layers"][i]["flop_count"];
    ExpectSimulated(counters);
    present += ExpectValue(counters["flops"], flops, may_be_absent);
    present += ExpectValue(counters["instructions"], InstructionsOf(flops, threads), may_be_absent);
    instructions += InstructionsOf(flops, threads);
  }
  const json& totals = run["totals"]["counters"];
  ExpectSimulated(totals);
  present += ExpectValue(totals["flops"], analysis["totals"]["flop_count"], may_be_absent);
  present += ExpectValue(totals["instructions"], instructions, may_be_absent);
  return present;
}

// FLOPs are nowhere in the run, for a reason that begins so.
void ExpectNoFlops(const json& run, const std::string& reason) {
  std::vector<json> parts(run["layers"].begin(), run["layers"].end());
  parts.push_back(run["totals"]);
  for (const json& part : parts) {
    for (const json& quantity : {part["counters"]["flops"], part["measured_to_analytic"]}) {
      EXPECT_TRUE(quantity["value"].is_null()) << quantity;
      EXPECT_THAT(quantity["reason"].dump(), StartsWith("\"" + reason)) << quantity;
    }
  }
}

TEST_P(StandInTest, CountedFlopsOfEveryLayerAreTheAnalyticOnes) {
  StartOnStandIn(StandInScript(cpu_));
  for (const std::string model : {"mlp", "lenet"}) {
    SCOPED_TRACE(model);
    const json analysis = Document({"analyze", model});
    ExpectDeclared(Profile(model, 1), analysis, 1, false);
  }
  // To ask for PAPI's counts does not make them PAPI's.
  ExpectDeclared(Profile("mlp", 1, "papi"), Document({"analyze", "mlp"}), 1, false);
}

TEST_P(StandInTest, TwoThreadsTogetherCountTheAnalyticFlops) {
  const std::string cpus = TwoCpus();
  if (cpus.empty()) GTEST_SKIP() << "two threads need two CPUs";
  StartOnStandIn(StandInScript(cpu_), cpus);
  for (const std::string model : {"mlp", "lenet"}) {
    SCOPED_TRACE(model);
    ExpectDeclared(Profile(model, 2), Document({"analyze", model}), 2, false);
  }
}

TEST_P(StandInTest, WhatTheHostCountsSaysThatItIsSimulated) {
  StartOnStandIn(StandInScript(cpu_));
  const json counters = Document({"counters"});
  ExpectNothingSaysPapi(counters);
  EXPECT_EQ(counters["backend"]["name"], "simulated");
  EXPECT_EQ(counters["backend"]["usable"], true);
  EXPECT_FALSE(counters["trust"]["rows"].empty());
  EXPECT_EQ(Document({"host"})["host"]["pmu"], cpu_.pmu + " (simulated)");
  const json checks = Document({"doctor"})["checks"];
  const auto check = std::find_if(checks.begin(), checks.end(), [](const json& candidate) {
    return candidate["name"] == "hardware counters";
  });
  ASSERT_NE(check, checks.end());
  EXPECT_EQ((*check)["state"], "warn");
  EXPECT_THAT((*check)["found"].get<std::string>(), HasSubstr("simulated"));
  EXPECT_EQ((*check)["fix"], "unset LD_PRELOAD");
}

// The time that a calibration took tells it from any other.
TEST_P(StandInTest, RunsRestOnTheDaemonsLastCalibration) {
  StartOnStandIn(StandInScript(cpu_));
  const json first = Document({"counters"})["trust"];
  EXPECT_FALSE(first["rows"].empty());
  EXPECT_EQ(Profile("mlp", 1)["run"]["trust"], first);
  EXPECT_EQ(Profile("mlp", 1, "none")["run"]["trust"], first);
  const json second = Document({"counters", "--calibrate"})["trust"];
  EXPECT_NE(second["elapsed_ns"], first["elapsed_ns"]);
  EXPECT_EQ(Document({"counters"})["trust"], second);
  EXPECT_EQ(Profile("mlp", 1)["run"]["trust"], second);
}

// From now on no event moves.
const char* const kDeadRules = "event any * constant 0\n";

json CheckOf(const json& checks, const std::string& name) {
  for (const json& check : checks) {
    if (check["name"] == name) return check;
  }
  ADD_FAILURE() << "no check " << name;
  return {};
}

TEST_P(StandInTest, CountersThatStopAfterCalibrationAreAbsentAndCalibratedAnew) {
  StartOnStandIn(StandInScript(cpu_));
  EXPECT_EQ(Document({"counters"})["backend"]["usable"], true);
  EXPECT_EQ(CheckOf(Document({"doctor"})["checks"], "events that count")["state"], "ok");
  dir_.Write("rules", kDeadRules);

  const json doubted = Profile("mlp", 1);
  ExpectNoFlops(doubted, "STOPPED_MOVING: ");
  for (const auto& [name, quantity] : doubted["totals"]["counters"].items()) {
    EXPECT_TRUE(quantity["value"].is_null()) << name << " " << quantity;
  }
  EXPECT_THAT(doubted["run"]["warnings"].dump(),
              HasSubstr("`tinyprof-client counters --calibrate`"));
  ExpectNoFlops(Profile("mlp", 1), "NEVER_MOVES: ");
  EXPECT_EQ(RunClient({"profile", "mlp", "--counters", "papi", "--time-budget", "1s"}), 5);
  EXPECT_THAT(err(), HasSubstr("NEVER_MOVES: "));

  EXPECT_EQ(Document({"counters"})["backend"]["usable"], false);
  EXPECT_EQ(CheckOf(Document({"doctor"})["checks"], "events that count")["state"], "fail");
  EXPECT_EQ(RunClient({"profile", "mlp", "--counters", "papi"}), 5);
  EXPECT_THAT(err(), HasSubstr("NEVER_MOVES: "));
}

TEST_P(StandInTest, OneEventThatStopsOrCountsWildlyIsAbsentAndTheOthersStay) {
  StartOnStandIn(StandInScript(cpu_));
  for (const char* count : {"constant 0", "constant 9", "step 3", "signal {} times 1000"}) {
    SCOPED_TRACE(count);
    StandInScript script(cpu_);
    for (const FlopEvent& flop : cpu_.flops) {
      script.Event(flop.event, fmt::format(fmt::runtime(count), flop.event.signals));
    }
    dir_.Write("rules", StandInScript(cpu_).text());
    Document({"counters", "--calibrate"});
    dir_.Write("rules", script.text());
    const json run = Profile("mlp", 1);
    const bool wild = std::string(count).find("times") != std::string::npos;
    ExpectNoFlops(run, wild ? "IMPLAUSIBLE: " : "STOPPED_MOVING: ");
    EXPECT_FALSE(run["totals"]["counters"]["instructions"]["value"].is_null());
    EXPECT_FALSE(run["totals"]["counters"]["cycles"]["value"].is_null());
  }
}

TEST_P(StandInTest, WhatIsDerivedFromSimulatedCountsIsSimulated) {
  StartOnStandIn(StandInScript(cpu_));
  const json run = Profile("mlp", 1);
  EXPECT_EQ(run["totals"]["measured_to_analytic"]["source"], "simulated");
  EXPECT_EQ(run["totals"]["measured_intensity"]["source"], "simulated");
  for (const json& layer : run["layers"]) {
    EXPECT_EQ(layer["measured_to_analytic"]["source"], "simulated");
  }
}

struct FlopFault {
  std::string rule;    // how each FLOP event counts
  std::string reason;  // that the report must give
};

TEST_P(StandInTest, FlopsThatCannotBeCountedAreAbsentWithAReason) {
  // A pass reads 33 times before its first layer, so the last group is lost among the layers.
  const FlopFault kFaults[] = {{"refuse EOPNOTSUPP", "EVENT_"},
                               {"constant 0", "NEVER_MOVES: "},
                               {"signal {} lose 36", "COUNTERS_LOST: "}};
  for (const FlopFault& fault : kFaults) {
    SCOPED_TRACE(fault.rule);
    StandInScript script(cpu_);
    for (const FlopEvent& flop : cpu_.flops) {
      script.Event(flop.event, fmt::format(fmt::runtime(fault.rule), flop.event.signals));
    }
    StartOnStandIn(script);
    const json analysis = Document({"analyze", "mlp"});
    const json run = Profile("mlp", 1);
    ExpectNoFlops(run, fault.reason);
    const int present = ExpectDeclared(run, analysis, 1, true);
    // Instructions are counted on, except in a group with events that are lost.
    const bool is_lost = fault.reason == "COUNTERS_LOST: ";
    EXPECT_GE(present, is_lost ? 0 : 6);
    if (is_lost) {
      EXPECT_GT(run["run"]["passes"]["discarded"], 0);
    }
    daemon().Signal(SIGTERM);
    ASSERT_EQ(daemon().Wait(kPatience), 0) << daemon().Err();
  }
}

INSTANTIATE_TEST_SUITE_P(Cpus, StandInTest, testing::Range(size_t{0}, StandInCpus().size()),
                         [](const auto& instance) { return StandInCpus()[instance.param].pmu; });

}  // namespace
}  // namespace tinyprof::e2e
