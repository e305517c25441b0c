// Tasks that a caller waits for.
#include <unistd.h>

#include <array>
#include <future>

#include "daemon/jobs/scratch_file.h"
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

TEST_F(ExclusiveTasksTest, VerifyRunsOnSoManyThreads) {
  worker::VerifyTask task;
  task.mutable_spec()->mutable_model()->set_text("tiny");
  EXPECT_TRUE(queue_->Verify(task).has_value());
  EXPECT_EQ(runner_.verify_cpu_count, 1);
  task.mutable_spec()->set_threads(2);
  EXPECT_TRUE(queue_->Verify(task).has_value());
  EXPECT_EQ(runner_.verify_cpu_count, 2);
  task.mutable_spec()->set_threads(3);
  EXPECT_EQ(queue_->Verify(task).error().reason, "BAD_THREADS");
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

TEST_F(ExclusiveTasksTest, AQuantizedFileOutlivesItsTask) {
  worker::WorkerRequest got;
  runner_.quantize = [&](const WorkerTask& task, const auto&...) {
    got = task.request;
    EXPECT_EQ(::write(task.output_fd, "onnx", 4), 4);
    worker::WorkerEvent event;
    event.mutable_quantized()->set_other_node_count(7);
    return event;
  };
  v1::QuantizeModelRequest request;
  request.mutable_model()->set_text("mlp");
  const auto quantized = queue_->Quantize(request);
  ASSERT_TRUE(quantized.has_value()) << quantized.error().message;
  EXPECT_EQ(quantized->report.other_node_count(), 7);
  std::array<char, 8> bytes{};
  EXPECT_EQ(::pread(quantized->file.get(), bytes.data(), bytes.size(), 0), 4);
  EXPECT_STREQ(bytes.data(), "onnx");
  EXPECT_EQ(got.quantize().samples(), 16);
  EXPECT_THAT(got.cpus(), ElementsAre(2, 3));
}

TEST_F(ExclusiveTasksTest, QuantizingTellsHowFarItIs) {
  Gate seen;
  runner_.quantize = [&](const WorkerTask&, const ProgressFn& on_progress,
                         const std::stop_token& stop) -> Result<worker::WorkerEvent> {
    v1::Progress progress;
    progress.set_phase("calibrating");
    progress.set_done(3);
    progress.set_total(16);
    on_progress(progress);
    if (!seen.Pass(stop)) return Fail(ErrorCode::kCancelled, "CANCELLED", "stopped");
    worker::WorkerEvent event;
    event.mutable_quantized();
    return event;
  };
  v1::QuantizeModelRequest request;
  request.mutable_model()->set_text("mlp");
  const auto quantized = queue_->Quantize(request, {}, [&](const v1::QuantizationProgress& now) {
    if (now.phase() != "calibrating") return;
    EXPECT_EQ(now.queue_position(), 0);
    EXPECT_EQ(now.done(), 3);
    EXPECT_EQ(now.total(), 16);
    seen.Open();
  });
  EXPECT_TRUE(quantized.has_value());
}

TEST_F(ExclusiveTasksTest, WhatCannotBeQuantizedIsRefused) {
  v1::QuantizeModelRequest request;
  request.mutable_model()->set_text("large");
  EXPECT_EQ(queue_->Quantize(request).error().reason, "MODEL_TOO_LARGE");
  request.mutable_model()->set_text("mlp");
  for (const int samples : {-1, 1001}) {
    request.set_samples(samples);
    EXPECT_EQ(queue_->Quantize(request).error().reason, "BAD_SAMPLES");
  }
  EXPECT_EQ(OpenScratchFile("/no/such/directory").error().reason, "NO_SCRATCH_FILE");
}

}  // namespace
}  // namespace tinyprof
