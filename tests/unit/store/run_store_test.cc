#include "daemon/store/run_store.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <google/protobuf/util/time_util.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/store/store.h"
#include "tests/unit/store/temporary_directory.h"

namespace tinyprof {
namespace {

using google::protobuf::util::MessageDifferencer;
using google::protobuf::util::TimeUtil;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

v1::Run NewRun(const std::string& id) {
  v1::Run run;
  run.set_id(id);
  run.set_state(v1::RUN_STATE_QUEUED);
  run.mutable_spec()->mutable_model()->set_text("mlp");
  *run.mutable_create_time() = TimeUtil::NanosecondsToTimestamp(1'700'000'000'123'456'789);
  return run;
}

v1::Run Succeeded(v1::Run run) {
  run.set_state(v1::RUN_STATE_SUCCEEDED);
  *run.mutable_start_time() = TimeUtil::NanosecondsToTimestamp(1'700'000'001'000'000'001);
  *run.mutable_end_time() = TimeUtil::NanosecondsToTimestamp(1'700'000'002'000'000'002);
  run.mutable_report()->set_isa("avx2");
  // A zero byte and a quote must survive storage.
  run.mutable_report()->add_warnings(std::string("a\0b'c", 5));
  return run;
}

std::vector<std::string> Ids(const RunPage& page) {
  std::vector<std::string> ids;
  for (const v1::Run& run : page.runs) ids.push_back(run.id());
  return ids;
}

class RunStoreTest : public ::testing::Test {
 protected:
  void SetUp() override { Reopen(1000); }

  void Reopen(int64_t max_run_count) {
    store_.reset();
    auto opened = Store::Open(directory_.File("store.db"), {.max_run_count = max_run_count});
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    store_ = *std::move(opened);
  }
  RunStore& runs() { return store_->runs(); }

  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
};

TEST_F(RunStoreTest, GivesBackWhatWasCreated) {
  const v1::Run run = NewRun("r1");
  ASSERT_TRUE(runs().Create(run, "").has_value());
  const Result<v1::Run> got = runs().Get("r1");
  ASSERT_TRUE(got.has_value());
  EXPECT_TRUE(MessageDifferencer::Equals(*got, run)) << got->DebugString();
}

TEST_F(RunStoreTest, FinishedRunSurvivesReopening) {
  ASSERT_TRUE(runs().Create(NewRun("r1"), "").has_value());
  const v1::Run ended = Succeeded(NewRun("r1"));
  ASSERT_TRUE(runs().Finish(ended).has_value());
  Reopen(1000);
  const Result<v1::Run> got = runs().Get("r1");
  ASSERT_TRUE(got.has_value());
  EXPECT_TRUE(MessageDifferencer::Equals(*got, ended)) << got->DebugString();
}

TEST_F(RunStoreTest, FinishedRunSurvivesKill) {
  store_.reset();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto store = Store::Open(directory_.File("store.db"));
    if (store.has_value() && (*store)->runs().Create(NewRun("r1"), "q1").has_value() &&
        (*store)->runs().Finish(Succeeded(NewRun("r1"))).has_value()) {
      ::raise(SIGKILL);
    }
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the child failed before it was killed";
  Reopen(1000);
  const Result<v1::Run> got = runs().Get("r1");
  ASSERT_TRUE(got.has_value());
  EXPECT_TRUE(MessageDifferencer::Equals(*got, Succeeded(NewRun("r1"))));
}

TEST_F(RunStoreTest, UpdateKeepsErrorAndTimes) {
  ASSERT_TRUE(runs().Create(NewRun("r1"), "").has_value());
  v1::Run run = NewRun("r1");
  run.set_state(v1::RUN_STATE_RUNNING);
  *run.mutable_start_time() = TimeUtil::NanosecondsToTimestamp(5);
  ASSERT_TRUE(runs().Update(run).has_value());
  EXPECT_TRUE(MessageDifferencer::Equals(*runs().Get("r1"), run));
}

TEST_F(RunStoreTest, UnknownRunIsNotFound) {
  EXPECT_EQ(runs().Get("nobody").error().reason, "RUN_NOT_FOUND");
  EXPECT_EQ(runs().Update(NewRun("nobody")).error().reason, "RUN_NOT_FOUND");
  EXPECT_EQ(runs().Finish(NewRun("nobody")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(runs().Delete("nobody").error().reason, "RUN_NOT_FOUND");
  EXPECT_EQ(runs().Get("'; DROP TABLE runs; --").error().reason, "RUN_NOT_FOUND");
}

TEST_F(RunStoreTest, IdAndRequestIdAreTakenOnce) {
  ASSERT_TRUE(runs().Create(NewRun("r1"), "q1").has_value());
  EXPECT_EQ(runs().Create(NewRun("r1"), "q2").error().reason, "RUN_EXISTS");
  EXPECT_EQ(runs().Create(NewRun("r2"), "q1").error().code, ErrorCode::kAlreadyExists);
  EXPECT_TRUE(runs().Create(NewRun("r2"), "").has_value());
  EXPECT_TRUE(runs().Create(NewRun("r3"), "").has_value()) << "no request id may be had by many";
}

TEST_F(RunStoreTest, FindsByRequestId) {
  ASSERT_TRUE(runs().Create(NewRun("r1"), "q1").has_value());
  const auto found = runs().FindByRequestId("q1");
  ASSERT_TRUE(found.has_value() && found->has_value());
  EXPECT_EQ((*found)->id(), "r1");
  EXPECT_FALSE(runs().FindByRequestId("q2")->has_value());
}

TEST_F(RunStoreTest, PagesNewestFirst) {
  for (const char* id : {"a", "b", "c", "d", "e"}) {
    ASSERT_TRUE(runs().Create(NewRun(id), "").has_value());
  }
  const RunPage first = *runs().List(2, "");
  EXPECT_THAT(Ids(first), ElementsAre("e", "d"));
  // A run that comes or goes between two pages neither repeats nor hides another one.
  ASSERT_TRUE(runs().Create(NewRun("f"), "").has_value());
  const RunPage second = *runs().List(2, first.next_page_token);
  EXPECT_THAT(Ids(second), ElementsAre("c", "b"));
  const RunPage third = *runs().List(2, second.next_page_token);
  EXPECT_THAT(Ids(third), ElementsAre("a"));
  EXPECT_EQ(third.next_page_token, "");
}

TEST_F(RunStoreTest, FullLastPageHasNoToken) {
  ASSERT_TRUE(runs().Create(NewRun("a"), "").has_value());
  ASSERT_TRUE(runs().Create(NewRun("b"), "").has_value());
  EXPECT_EQ(runs().List(2, "")->next_page_token, "");
  for (const char* token : {"x", "1x", "99999999999999999999", "-"}) {
    EXPECT_EQ(runs().List(2, token).error().reason, "BAD_PAGE_TOKEN") << token;
  }
}

TEST_F(RunStoreTest, ListsHaveNoReports) {
  ASSERT_TRUE(runs().Create(NewRun("a"), "").has_value());
  ASSERT_TRUE(runs().Finish(Succeeded(NewRun("a"))).has_value());
  EXPECT_FALSE(runs().List(1, "")->runs.at(0).has_report());
}

TEST_F(RunStoreTest, DeletesOnlyEndedRuns) {
  ASSERT_TRUE(runs().Create(NewRun("a"), "").has_value());
  EXPECT_EQ(runs().Delete("a").error().reason, "RUN_NOT_ENDED");
  ASSERT_TRUE(runs().Finish(Succeeded(NewRun("a"))).has_value());
  EXPECT_TRUE(runs().Delete("a").has_value());
  EXPECT_EQ(runs().Get("a").error().reason, "RUN_NOT_FOUND");
}

TEST_F(RunStoreTest, InterruptedRunsFail) {
  ASSERT_TRUE(runs().Create(NewRun("queued"), "").has_value());
  ASSERT_TRUE(runs().Create(NewRun("running"), "").has_value());
  v1::Run running = NewRun("running");
  running.set_state(v1::RUN_STATE_RUNNING);
  ASSERT_TRUE(runs().Update(running).has_value());
  ASSERT_TRUE(runs().Create(NewRun("ended"), "").has_value());
  ASSERT_TRUE(runs().Finish(Succeeded(NewRun("ended"))).has_value());

  Reopen(1000);
  EXPECT_EQ(*runs().FailInterrupted(), 2);
  for (const char* id : {"queued", "running"}) {
    const v1::Run run = *runs().Get(id);
    EXPECT_EQ(run.state(), v1::RUN_STATE_FAILED);
    EXPECT_EQ(run.error().reason(), "DAEMON_RESTARTED");
    EXPECT_TRUE(run.has_end_time());
  }
  EXPECT_EQ(runs().Get("ended")->state(), v1::RUN_STATE_SUCCEEDED);
  EXPECT_EQ(*runs().FailInterrupted(), 0);
}

// Bytes that are no message, as a disk or a hand may leave them.
class DamagedRunTest : public RunStoreTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    RunStoreTest::SetUp();
    for (const char* id : {"older", "damaged", "newer"}) {
      ASSERT_TRUE(runs().Create(NewRun(id), std::string("request-") + id).has_value());
      ASSERT_TRUE(runs().Finish(Succeeded(NewRun(id))).has_value());
    }
    const auto database = Database::Open(directory_.File("store.db"));
    ASSERT_TRUE(
        (*database)
            ->Execute(std::string("UPDATE runs SET ") + GetParam() + " WHERE id = 'damaged'")
            .has_value());
  }
};

TEST_P(DamagedRunTest, IsNamedWhenItIsAskedFor) {
  const Result<v1::Run> got = runs().Get("damaged");
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().reason, "STORE_CORRUPT");
  EXPECT_EQ(got.error().metadata.at("id"), "damaged");
  EXPECT_THAT(got.error().message, HasSubstr("what is stored of run damaged is damaged"));
}

TEST_P(DamagedRunTest, IsListedBesideTheOthers) {
  const Result<RunPage> page = runs().List(10, "");
  ASSERT_TRUE(page.has_value()) << page.error().message;
  EXPECT_THAT(Ids(*page), ElementsAre("newer", "damaged", "older"));
}

TEST_P(DamagedRunTest, CanBeDeleted) {
  EXPECT_TRUE(runs().Delete("damaged").has_value());
  EXPECT_EQ(runs().Get("damaged").error().reason, "RUN_NOT_FOUND");
  EXPECT_TRUE(runs().Get("newer").has_value());
}

TEST_P(DamagedRunTest, IsForgottenAsTheOthersAre) {
  Reopen(1);
  ASSERT_TRUE(runs().Create(NewRun("newest"), "").has_value());
  EXPECT_THAT(Ids(*runs().List(10, "")), ElementsAre("newest"));
}

INSTANTIATE_TEST_SUITE_P(Columns, DamagedRunTest,
                         ::testing::Values("spec = x'ffffff'", "error = x'ffffff'",
                                           "report = x'ffffff'", "state = 77", "state = 0"));

TEST_F(RunStoreTest, ADamagedRunIsListedAsFailedAndNotTakenForARepeatedOne) {
  ASSERT_TRUE(runs().Create(NewRun("a"), "q").has_value());
  const auto database = Database::Open(directory_.File("store.db"));
  ASSERT_TRUE((*database)->Execute("UPDATE runs SET spec = x'ffffff'").has_value());
  EXPECT_EQ(runs().FindByRequestId("q").error().metadata.at("id"), "a");
  ASSERT_EQ(*runs().FailInterrupted(), 1);
  const v1::Run listed = runs().List(10, "")->runs.at(0);
  EXPECT_EQ(listed.state(), v1::RUN_STATE_FAILED);
  EXPECT_EQ(listed.error().reason(), "STORE_CORRUPT");
  EXPECT_THAT(listed.error().message(), HasSubstr("delete it"));
  EXPECT_TRUE(runs().Delete("a").has_value());
}

TEST_F(RunStoreTest, KeepsTheNewestEndedRuns) {
  Reopen(2);
  for (const char* id : {"a", "b", "c"}) {
    ASSERT_TRUE(runs().Create(NewRun(id), "").has_value());
  }
  EXPECT_THAT(Ids(*runs().List(10, "")), ElementsAre("c", "b", "a")) << "runs that go on are kept";
  for (const char* id : {"a", "b", "c"}) {
    ASSERT_TRUE(runs().Finish(Succeeded(NewRun(id))).has_value());
  }
  ASSERT_TRUE(runs().Create(NewRun("d"), "").has_value());
  EXPECT_THAT(Ids(*runs().List(10, "")), ElementsAre("d", "c"));
}

}  // namespace
}  // namespace tinyprof
