// What the diagnosis says while something of the system is broken, and that all else goes on.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "tests/e2e/daemon_fixture.h"

namespace tinyprof::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class DoctorTest : public DaemonTest {
 protected:
  json Checks() {
    EXPECT_EQ(RunClient({"doctor", "--json"}), 0) << err();
    return json::parse(out(), nullptr, false)["checks"];
  }
  static json Find(const json& checks, const std::string& name) {
    for (const json& check : checks) {
      if (check["name"] == name) return check;
    }
    ADD_FAILURE() << "no check " << name << " in " << checks;
    return {};
  }
  // Timing and software facts do not need what is broken.
  void ExpectRuns() {
    for (const char* counters : {"none", "auto"}) {
      EXPECT_EQ(RunClient({"profile", "mlp", "--counters", counters, "--precision", "20%",
                           "--time-budget", "1s"}),
                0)
          << err();
    }
  }
};

class FilterTest : public DoctorTest, public testing::WithParamInterface<std::string> {};

TEST_P(FilterTest, TheFilterIsTheDiagnosisAndRunsGoOn) {
  prefix_ = {TINYPROF_UNDER_FILTER, GetParam()};
  StartDaemon();
  const json checks = Checks();
  EXPECT_EQ(Find(checks, "seccomp")["state"], "fail");
  EXPECT_THAT(Find(checks, "seccomp")["found"].get<std::string>(), StartsWith("SECCOMP: "));
  EXPECT_EQ(Find(checks, "hardware counters")["state"], "fail");
  EXPECT_NE(Find(checks, "load")["state"], "skip");
  EXPECT_EQ(Find(checks, "store")["state"], "ok");
  EXPECT_EQ(RunClient({"counters", "--json"}), 0) << err();
  EXPECT_EQ(json::parse(out(), nullptr, false)["backend"]["usable"], false);
  EXPECT_THAT(out(), HasSubstr("SECCOMP: "));
  ExpectRuns();
  EXPECT_EQ(RunClient({"profile", "mlp", "--counters", "papi"}), 5);
}

INSTANTIATE_TEST_SUITE_P(Answers, FilterTest,
                         testing::Values("kill", "trap", std::to_string(EPERM),
                                         std::to_string(EACCES), std::to_string(ENOSYS)),
                         [](const auto& instance) { return "Answer_" + instance.param; });

TEST_F(DoctorTest, AFifoInTheNameOfAFileHangsNothing) {
  const std::string fifo = dir_.File("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  more_environment_ = {"PAPI_CSV_EVENT_FILE=" + fifo, "PAPI_USER_EVENTS_FILE=" + fifo};
  StartDaemon();
  const json checks = Checks();
  for (const char* name : {"PAPI_CSV_EVENT_FILE", "PAPI_USER_EVENTS_FILE"}) {
    EXPECT_EQ(Find(checks, name)["state"], "fail");
    EXPECT_THAT(Find(checks, name)["found"].get<std::string>(), HasSubstr("is a FIFO"));
  }
  EXPECT_EQ(RunClient({"counters"}), 0) << err();
  ExpectRuns();
}

// PAPI 7.0 writes over the values of variables that name files it cannot open.
TEST_F(DoctorTest, VariablesAreToldAsTheUserSetThem) {
  more_environment_ = {"PAPI_CSV_EVENT_FILE=x", "LIBPFM_DISABLED_PMUS=qq",
                       "PAPI_USER_EVENTS_FILE=y", "LIBPFM_FORCE_PMU=skx"};
  StartDaemon();
  const json checks = Checks();
  EXPECT_THAT(Find(checks, "PAPI_CSV_EVENT_FILE")["found"].get<std::string>(),
              HasSubstr("PAPI_CSV_EVENT_FILE=\"x\""));
  EXPECT_EQ(Find(checks, "LIBPFM_DISABLED_PMUS")["found"], "LIBPFM_DISABLED_PMUS=\"qq\"");
  EXPECT_THAT(Find(checks, "PAPI_USER_EVENTS_FILE")["found"].get<std::string>(),
              HasSubstr("PAPI_USER_EVENTS_FILE=\"y\""));
  EXPECT_EQ(Find(checks, "LIBPFM_FORCE_PMU")["found"], "LIBPFM_FORCE_PMU=\"skx\"");
}

TEST_F(DoctorTest, FilesThatRunOutWhileTheDaemonServesAreACheck) {
  StartDaemon();
  EXPECT_EQ(RunClient({"counters"}), 0) << err();
  rlimit before{};
  // Enough for one client, not for a worker.
  const rlimit few{.rlim_cur = 16, .rlim_max = 16};
  ASSERT_EQ(prlimit(daemon().pid(), RLIMIT_NOFILE, &few, &before), 0);
  // gRPC takes the call on what is free, if it can.
  if (RunClient({"doctor", "--json"}) != 0) GTEST_SKIP() << "no call gets through: " << err();
  const json check = Find(json::parse(out(), nullptr, false)["checks"], "worker");
  EXPECT_EQ(check["state"], "fail");
  EXPECT_THAT(check["fix"].get<std::string>(), StartsWith("ulimit -n "));
}

TEST_F(DoctorTest, AWorkerThatIsStoppedIsToldAndTheDaemonEndsAtOnce) {
  StartDaemon();
  const auto calibrating = StartClient({"counters", "--calibrate"});
  pid_t worker = 0;
  Await("the worker", [&] {
    worker = ChildNamed(daemon().pid(), "tinyprof-worker");
    return worker != 0 || !calibrating->IsRunning();
  });
  if (worker == 0 || kill(worker, SIGSTOP) != 0) GTEST_SKIP() << "it was too quick to be stopped";
  EXPECT_EQ(Find(Checks(), "worker")["state"], "ok");
  daemon().Signal(SIGTERM);
  EXPECT_EQ(daemon().Wait(kPatience), 0) << daemon().Err();
}

class LimitsTest : public DoctorTest, public testing::WithParamInterface<std::string> {};

TEST_P(LimitsTest, LimitsThatAreTooLowAreRefusedInOneSentence) {
  const std::string shell = "ulimit " + GetParam() + " && exec \"$0\" \"$@\"";
  prefix_ = {"/bin/sh", "-c", shell};
  Process daemon(dir_.File("."), DaemonCommand(""), {"HOME=" + dir_.File("home")});
  EXPECT_EQ(daemon.Wait(kPatience), 78) << daemon.Err();
  EXPECT_THAT(daemon.Err(), StartsWith("tinyprofd: the limit of "));
  const std::string text = daemon.Err();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST_F(DoctorTest, AClientWithTooFewFilesSaysSo) {
  Process client(dir_.File("."),
                 {"/bin/sh", "-c", "ulimit -n 6 && exec \"$0\" \"$@\"", TINYPROF_CLIENT, "host"},
                 {});
  EXPECT_EQ(client.Wait(kPatience), 5) << client.Err();
  EXPECT_THAT(client.Err(), StartsWith("tinyprof-client: the limit of open files is 6, "));
}

INSTANTIATE_TEST_SUITE_P(Limits, LimitsTest,
                         testing::Values("-n 8", "-n 12", "-n 16", "-n 40", "-v 200000",
                                         "-v 600000"),
                         [](const auto& instance) {
                           std::string name = "Ulimit" + instance.param;
                           std::erase_if(name, [](char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

// As few as are allowed do for a run, two clients and a diagnosis.
TEST_F(DoctorTest, TheLowestLimitsThatAreTakenSuffice) {
  prefix_ = {"/bin/sh", "-c", "ulimit -n 64 && exec \"$0\" \"$@\""};
  StartDaemon();
  const auto waiting = StartClient({"counters", "--calibrate"});
  Checks();
  ExpectRuns();
  EXPECT_EQ(waiting->Wait(kPatience), 0) << waiting->Err();
}

}  // namespace
}  // namespace tinyprof::e2e
