// Tasks that a caller waits for.
#include <future>

#include "tests/unit/jobs/job_queue_fixture.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;

using ExclusiveTasksTest = JobQueueTest;

TEST_F(ExclusiveTasksTest, ExclusiveTasksGiveTheirResults) {
  EXPECT_EQ(queue_->MeasureRoofline()->clock_hz(), 3e9);
  EXPECT_EQ(queue_->StoredRoofline()->clock_hz(), 3e9);
  EXPECT_EQ(queue_->ProbeCounters()->pmu(), "fake");
  worker::VerifyTask task;
  task.mutable_spec()->mutable_model()->set_text("mlp");
  EXPECT_TRUE(queue_->Verify(task)->ok());
  task.mutable_spec()->set_rtol(-1);
  EXPECT_EQ(queue_->Verify(task).error().reason, "BAD_TOLERANCE");
  task.mutable_spec()->clear_rtol();
  task.mutable_spec()->mutable_model()->set_text("large");
  EXPECT_EQ(queue_->Verify(task).error().reason, "MODEL_TOO_LARGE");
}

TEST_F(ExclusiveTasksTest, VerifyTakesModelsWhoseShapesOnlyTheDataTell) {
  worker::VerifyTask task;
  task.mutable_spec()->mutable_model()->set_text("shaped by data");
  EXPECT_TRUE(queue_->Verify(task).has_value());
  task.mutable_spec()->mutable_model()->set_text("unknown");
  EXPECT_EQ(queue_->Verify(task).error().reason, "UNKNOWN_MODEL");
}

TEST_F(ExclusiveTasksTest, VerifyChoosesKernelsAsRunsDo) {
  worker::VerifyTask task;
  v1::VerifySpec& spec = *task.mutable_spec();
  spec.mutable_model()->set_text("mlp");
  spec.set_conv_algorithm(v1::CONV_ALGORITHM_WINOGRAD);
  EXPECT_EQ(queue_->Verify(task).error().reason, "BAD_CONV_ALGORITHM");
  spec.set_backend(v1::BACKEND_REFERENCE);
  EXPECT_EQ(queue_->Verify(task).error().reason, "BAD_CONV_ALGORITHM");
  spec.set_backend(v1::BACKEND_ONEDNN);
  EXPECT_TRUE(queue_->Verify(task).has_value());
  spec.set_backend(v1::BACKEND_BEST);
  EXPECT_TRUE(queue_->Verify(task).has_value());
  spec.set_backend(static_cast<v1::Backend>(99));
  EXPECT_EQ(queue_->Verify(task).error().reason, "BAD_BACKEND");
}

TEST_F(ExclusiveTasksTest, ExclusiveTaskWaitsItsTurn) {
  HoldRuns();
  WaitForPhase(Start("a"), "timing");
  auto counters = std::async(std::launch::async, [&] { return queue_->ProbeCounters(); });
  while (queue_->depth() < 2) std::this_thread::yield();
  const std::string b = Start("b");
  EXPECT_EQ(queue_->Get(b)->queue_position(), 2);
  gate_.Open();
  EXPECT_TRUE(counters.get().has_value());
  WaitForEnd(b);
  EXPECT_THAT(runner_.order(), ElementsAre("roofline", "a", "counters", "b"));
}

TEST_F(ExclusiveTasksTest, AbandonedTaskLeavesTheQueue) {
  HoldRuns();
  WaitForPhase(Start("a"), "timing");
  const auto counters = queue_->ProbeCounters([] { return true; });
  EXPECT_EQ(counters.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(queue_->depth(), 1u);
}

TEST_F(ExclusiveTasksTest, AbandonedTaskThatIsMeasuredStops) {
  runner_.roofline = [this](const WorkerTask&, const ProgressFn&,
                            const std::stop_token& stop) -> Result<worker::WorkerEvent> {
    gate_.Pass(stop);
    return Fail(ErrorCode::kCancelled, "CANCELLED", "stopped");
  };
  EXPECT_EQ(queue_->MeasureRoofline([] { return true; }).error().reason, "CANCELLED");
}

}  // namespace
}  // namespace tinyprof
