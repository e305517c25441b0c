// Runs that end while the store takes nothing.
#include <sys/resource.h>

#include <csignal>
#include <optional>

#include "tests/unit/jobs/job_queue_fixture.h"

namespace tinyprof {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// From here on no file of this process can grow, as on a full disk; until it is destroyed.
class FullDisk {
 public:
  FullDisk() {
    std::signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  }
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
};

class UnstoredRunsTest : public JobQueueTest {
 protected:
  void SetUp() override {
    JobQueueTest::SetUp();
    runner_.profile = [this](const WorkerTask& task, const auto&...) {
      if (task.request.profile().model().text() == "fills the disk") full_disk_.emplace();
      worker::WorkerEvent event;
      event.mutable_report()->set_isa("baseline");
      return event;
    };
  }
  void TearDown() override {
    full_disk_.reset();
    queue_.reset();
  }
  // The id of a run that ended while the disk was full, which it still is.
  std::string EndOnAFullDisk() {
    const std::string id = Start("fills the disk");
    last_ = WaitForEnd(id);
    return id;
  }

  v1::Run last_;
  std::optional<FullDisk> full_disk_;
};

TEST_F(UnstoredRunsTest, TheResultIsGivenWithAWarning) {
  const std::string id = EndOnAFullDisk();
  for (const v1::Run& run : {last_, *queue_->Get(id), queue_->Cancel(id)->run}) {
    EXPECT_EQ(run.state(), v1::RUN_STATE_SUCCEEDED) << run.ShortDebugString();
    EXPECT_EQ(run.report().isa(), "baseline");
    EXPECT_THAT(run.report().warnings(), Contains(HasSubstr("could not be stored yet")));
  }
  const v1::Run listed = queue_->List(10, "")->runs.at(0);
  EXPECT_EQ(listed.state(), v1::RUN_STATE_SUCCEEDED);
  EXPECT_FALSE(listed.has_report());
}

TEST_F(UnstoredRunsTest, IsWrittenWhenTheNextRunEnds) {
  const std::string id = EndOnAFullDisk();
  full_disk_.reset();
  WaitForEnd(Start("mlp"));
  const auto stored = store_->runs().Get(id);
  EXPECT_EQ(stored->state(), v1::RUN_STATE_SUCCEEDED);
  EXPECT_EQ(stored->report().isa(), "baseline");
  EXPECT_EQ(stored->report().warnings_size(), queue_->Get(id)->report().warnings_size());
  for (const std::string& warning : stored->report().warnings()) {
    EXPECT_THAT(warning, Not(HasSubstr("stored")));
  }
}

TEST_F(UnstoredRunsTest, IsWrittenWhenTheQueueDrains) {
  const std::string id = EndOnAFullDisk();
  full_disk_.reset();
  queue_->Drain(seconds(20));
  EXPECT_EQ(store_->runs().Get(id)->state(), v1::RUN_STATE_SUCCEEDED);
}

TEST_F(UnstoredRunsTest, IsDeletedOnceTheStoreTakesIt) {
  const std::string id = EndOnAFullDisk();
  EXPECT_EQ(queue_->Delete(id).error().reason, "STORE_UNAVAILABLE");
  EXPECT_EQ(queue_->Get(id)->state(), v1::RUN_STATE_SUCCEEDED) << "it was not lost by that";
  full_disk_.reset();
  EXPECT_TRUE(queue_->Delete(id).has_value());
  EXPECT_EQ(queue_->Get(id).error().reason, "RUN_NOT_FOUND");
}

TEST_F(UnstoredRunsTest, TheOldestReportsAreDroppedWhenThereAreManyOfThem) {
  constexpr int kKept = 16;
  std::vector<std::string> ids;
  for (int i = 0; i <= kKept; ++i) {
    // So that a run can begin, not end.
    full_disk_.reset();
    ids.push_back(EndOnAFullDisk());
  }
  EXPECT_EQ(queue_->Get(ids.front())->state(), v1::RUN_STATE_FAILED);
  EXPECT_EQ(queue_->Get(ids.front())->error().reason(), "STORE_UNAVAILABLE");
  for (int i = 1; i <= kKept; ++i) {
    EXPECT_EQ(queue_->Get(ids[static_cast<size_t>(i)])->report().isa(), "baseline") << i;
  }
  full_disk_.reset();
  queue_->Drain(seconds(20));
  EXPECT_EQ(store_->runs().Get(ids.front())->state(), v1::RUN_STATE_FAILED);
  EXPECT_EQ(store_->runs().Get(ids.back())->state(), v1::RUN_STATE_SUCCEEDED);
}

}  // namespace
}  // namespace tinyprof
