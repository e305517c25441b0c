// Which roofline a run is given.
#include "tests/unit/jobs/job_queue_fixture.h"

namespace tinyprof {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using JobRooflinesTest = JobQueueTest;

TEST_F(JobRooflinesTest, FirstRunMeasuresTheRooflineOfThisHost) {
  EXPECT_EQ(queue_->StoredRoofline().error().reason, "NO_ROOFLINE");
  WaitForEnd(Start("a"));
  WaitForEnd(Start("b"));
  EXPECT_THAT(runner_.order(), ElementsAre("roofline", "a", "b"));
  EXPECT_EQ(queue_->StoredRoofline()->clock_hz(), 3e9);
  EXPECT_EQ(queue_->StoredRoofline()->host().fingerprint(), "host-1");
}

TEST_F(JobRooflinesTest, ARooflineOfOtherCpusIsMeasuredAnew) {
  MeasureRooflines(true);
  for (const std::vector<int>& cpus :
       {std::vector<int>{2}, {2, 3}, {3, 2}, {4, 5}, {4, 5}, {4, 5, 6}}) {
    RestartWith(cpus, memory_limit_bytes_);
    WaitForEnd(Start("a"));
  }
  EXPECT_THAT(runner_.order(), ElementsAre("roofline", "a", "roofline", "a", "roofline", "a",
                                           "roofline", "a", "a", "roofline", "a"));
  const auto stored = queue_->StoredRoofline();
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
  EXPECT_THAT(stored->setup().cpus(), ElementsAre(4, 5, 6));
  EXPECT_EQ(stored->setup().memory_limit_bytes(), int64_t{1} << 30);
}

TEST_F(JobRooflinesTest, ARooflineWithoutDramIsMeasuredAnewOnceMoreMemoryIsAllowed) {
  MeasureRooflines(false);
  WaitForEnd(Start("a"));
  RestartWith(cpus_, int64_t{1} << 29);
  WaitForEnd(Start("b"));
  MeasureRooflines(true);
  RestartWith(cpus_, int64_t{1} << 31);
  WaitForEnd(Start("c"));
  EXPECT_THAT(runner_.order(), ElementsAre("roofline", "a", "b", "roofline", "c"));
}

TEST_F(JobRooflinesTest, ARooflineWithDramHoldsWhateverMemoryIsAllowed) {
  MeasureRooflines(true);
  for (const int shift : {30, 20, 32}) {
    RestartWith(cpus_, int64_t{1} << shift);
    WaitForEnd(Start("a"));
  }
  EXPECT_THAT(runner_.order(), ElementsAre("roofline", "a", "a", "a"));
}

TEST_F(JobRooflinesTest, AStoredRooflineThatDoesNotHoldSaysWhyAndWhatMendsIt) {
  MeasureRooflines(false);
  WaitForEnd(Start("a"));
  RestartWith({2}, int64_t{1} << 30);
  const auto other_cpus = queue_->StoredRoofline();
  ASSERT_FALSE(other_cpus.has_value());
  EXPECT_EQ(other_cpus.error().reason, "NO_ROOFLINE");
  EXPECT_THAT(other_cpus.error().message,
              AllOf(HasSubstr("CPUs 2,3"), HasSubstr("CPU 2"), HasSubstr("roofline --measure")));
  RestartWith({2, 3}, int64_t{2} << 30);
  const auto more_memory = queue_->StoredRoofline();
  ASSERT_FALSE(more_memory.has_value());
  EXPECT_THAT(more_memory.error().message,
              AllOf(HasSubstr("DRAM"), HasSubstr("1 GiB"), HasSubstr("roofline --measure")));
}

TEST_F(JobRooflinesTest, ARooflineOfAnEarlierVersionIsMeasuredAnew) {
  v1::Roofline earlier;
  earlier.set_clock_hz(1e9);
  ASSERT_TRUE(store_->rooflines().Put("host-1", earlier).has_value());
  WaitForEnd(Start("a"));
  EXPECT_THAT(runner_.order(), ElementsAre("roofline", "a"));
}

TEST_F(JobRooflinesTest, ADamagedRooflineIsMeasuredAnew) {
  WaitForEnd(Start("a"));
  v1::Roofline damaged = *queue_->StoredRoofline();
  damaged.set_clock_hz(-5);
  ASSERT_TRUE(store_->rooflines().Put("host-1", damaged).has_value());
  EXPECT_THAT(queue_->StoredRoofline().error().message,
              AllOf(HasSubstr("is damaged"), HasSubstr("roofline --measure")));
  WaitForEnd(Start("b"));
  EXPECT_THAT(runner_.order(), ElementsAre("roofline", "a", "roofline", "b"));
}

TEST_F(JobRooflinesTest, RunGoesOnWithoutARoofline) {
  runner_.roofline = [](const auto&...) -> Result<worker::WorkerEvent> {
    return Fail(ErrorCode::kInternal, "WORKER_CRASHED", "the probe crashed");
  };
  const v1::Run run = WaitForEnd(Start("a"));
  EXPECT_EQ(run.state(), v1::RUN_STATE_SUCCEEDED);
  EXPECT_THAT(run.report().warnings(),
              ElementsAre(AllOf(HasSubstr("the probe crashed"), HasSubstr("roofline --measure"))));
}

}  // namespace
}  // namespace tinyprof
