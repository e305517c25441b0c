#include "daemon/rpc/profiler_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/unit/rpc/service_test_util.h"

namespace tinyprof {
namespace {

using ProfilerServiceTest = ServiceTest;

// Every run that a watcher is sent, until the stream ends.
std::vector<v1::Run> WatchToTheEnd(v1::ProfilerService::Stub& stub, const std::string& id,
                                   grpc::Status* status) {
  grpc::ClientContext context;
  v1::WatchRunRequest request;
  request.set_id(id);
  const auto reader = stub.WatchRun(&context, request);
  std::vector<v1::Run> runs;
  for (v1::WatchRunResponse message; reader->Read(&message);) runs.push_back(message.run());
  *status = reader->Finish();
  return runs;
}

TEST_F(ProfilerServiceTest, AnalyzesAModel) {
  grpc::ClientContext context;
  v1::AnalyzeModelRequest request;
  request.mutable_model()->set_text("known");
  v1::AnalyzeModelResponse response;
  ASSERT_TRUE(profiler_->AnalyzeModel(&context, request, &response).ok());
  EXPECT_EQ(response.analysis().parameter_count(), 100);
}

TEST_F(ProfilerServiceTest, RefusesModelsThatCannotBeAnalyzed) {
  struct Case {
    std::string text;
    int64_t batch;
    grpc::StatusCode code;
    std::string reason;
  };
  for (const Case& wrong :
       {Case{"unknown", 1, grpc::StatusCode::NOT_FOUND, "UNKNOWN_MODEL"},
        Case{"", 1, grpc::StatusCode::INVALID_ARGUMENT, "BAD_MODEL"},
        Case{std::string(70'000, 'x'), 1, grpc::StatusCode::INVALID_ARGUMENT, "BAD_MODEL"},
        Case{"known", -1, grpc::StatusCode::INVALID_ARGUMENT, "BAD_BATCH"},
        Case{"known", INT64_MAX, grpc::StatusCode::INVALID_ARGUMENT, "BAD_BATCH"},
        Case{"throws", 1, grpc::StatusCode::INTERNAL, "UNEXPECTED"}}) {
    grpc::ClientContext context;
    v1::AnalyzeModelRequest request;
    request.mutable_model()->set_text(wrong.text);
    request.mutable_model()->set_batch(wrong.batch);
    v1::AnalyzeModelResponse response;
    const grpc::Status status = profiler_->AnalyzeModel(&context, request, &response);
    EXPECT_EQ(status.error_code(), wrong.code) << wrong.text;
    EXPECT_EQ(ReasonOf(status), wrong.reason);
  }
}

TEST_F(ProfilerServiceTest, AWatcherSeesARunToItsReport) {
  grpc::Status status;
  const std::vector<v1::Run> seen = WatchToTheEnd(*profiler_, StartRun(), &status);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back().state(), v1::RUN_STATE_SUCCEEDED);
  EXPECT_EQ(seen.back().report().backend(), "eigen");
}

TEST_F(ProfilerServiceTest, AWatcherOfAnEndedRunGetsItOnce) {
  const std::string id = StartRun();
  grpc::Status status;
  WatchToTheEnd(*profiler_, id, &status);
  const std::vector<v1::Run> seen = WatchToTheEnd(*profiler_, id, &status);
  ASSERT_TRUE(status.ok());
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].state(), v1::RUN_STATE_SUCCEEDED);
}

TEST_F(ProfilerServiceTest, TheSecondRunWaitsItsTurn) {
  runner_.Hold();
  const std::string first = StartRun();
  v1::Run second;
  ASSERT_TRUE(Start(KnownSpec(), "", &second).ok());
  EXPECT_EQ(second.state(), v1::RUN_STATE_QUEUED);
  EXPECT_GE(second.queue_position(), 1);
  runner_.Release();
  grpc::Status status;
  EXPECT_EQ(WatchToTheEnd(*profiler_, second.id(), &status).back().state(),
            v1::RUN_STATE_SUCCEEDED);
}

TEST_F(ProfilerServiceTest, CancelsARunThatIsMeasured) {
  runner_.Hold();
  const std::string id = StartRun();
  std::jthread canceller([&] {
    grpc::ClientContext context;
    v1::CancelRunRequest request;
    request.set_id(id);
    v1::CancelRunResponse response;
    EXPECT_TRUE(profiler_->CancelRun(&context, request, &response).ok());
  });
  grpc::Status status;
  const std::vector<v1::Run> seen = WatchToTheEnd(*profiler_, id, &status);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(seen.back().state(), v1::RUN_STATE_CANCELLED);
}

TEST_F(ProfilerServiceTest, AWatcherThatLeavesCancelsNothing) {
  runner_.Hold();
  const std::string id = StartRun();
  {
    grpc::ClientContext context;
    v1::WatchRunRequest request;
    request.set_id(id);
    const auto reader = profiler_->WatchRun(&context, request);
    v1::WatchRunResponse message;
    ASSERT_TRUE(reader->Read(&message));
    context.TryCancel();
    EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  runner_.Release();
  grpc::Status status;
  EXPECT_EQ(WatchToTheEnd(*profiler_, id, &status).back().state(), v1::RUN_STATE_SUCCEEDED);
}

TEST_F(ProfilerServiceTest, ARequestIdGivesOneRun) {
  const std::string id = StartRun("once");
  EXPECT_EQ(StartRun("once"), id);
  v1::RunSpec other = KnownSpec();
  other.mutable_model()->set_seed(9);
  v1::Run run;
  const grpc::Status status = Start(other, "once", &run);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(ReasonOf(status), "REQUEST_ID_CONFLICT");
}

TEST_F(ProfilerServiceTest, HardwareCountersCanBeRequired) {
  v1::RunSpec spec = KnownSpec();
  spec.set_counters(v1::COUNTER_MODE_PAPI);
  v1::Run run;
  const grpc::Status status = Start(spec, "", &run);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(status), "COUNTERS_UNAVAILABLE");
}

TEST_F(ProfilerServiceTest, HardwareCountersThatExistAreUsed) {
  runner_.counters_usable = true;
  v1::RunSpec spec = KnownSpec();
  spec.set_counters(v1::COUNTER_MODE_PAPI);
  v1::Run run;
  const grpc::Status status = Start(spec, "", &run);
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_F(ProfilerServiceTest, ADrainingDaemonTakesNoRuns) {
  queue_->Drain(std::chrono::seconds(0));
  v1::Run run;
  const grpc::Status status = Start(KnownSpec(), "", &run);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(status), "DRAINING");
}

TEST_F(ProfilerServiceTest, ListsGetsAndDeletes) {
  const std::string first = StartRun();
  const std::string second = StartRun();
  grpc::Status status;
  WatchToTheEnd(*profiler_, first, &status);
  WatchToTheEnd(*profiler_, second, &status);
  v1::ListRunsRequest list_request;
  list_request.set_page_size(1);
  v1::ListRunsResponse page;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(profiler_->ListRuns(&context, list_request, &page).ok());
  }
  ASSERT_EQ(page.runs_size(), 1);
  EXPECT_EQ(page.runs(0).id(), second);
  EXPECT_FALSE(page.runs(0).has_report());
  EXPECT_FALSE(page.next_page_token().empty());
  v1::GetRunRequest get_request;
  get_request.set_id(first);
  v1::GetRunResponse got;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(profiler_->GetRun(&context, get_request, &got).ok());
  }
  EXPECT_TRUE(got.run().has_report());
  v1::DeleteRunRequest delete_request;
  delete_request.set_id(first);
  v1::DeleteRunResponse deleted;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(profiler_->DeleteRun(&context, delete_request, &deleted).ok());
  }
  grpc::ClientContext context;
  status = profiler_->GetRun(&context, get_request, &got);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(ReasonOf(status), "RUN_NOT_FOUND");
}

TEST_F(ProfilerServiceTest, AnUnknownRunIsNotFound) {
  grpc::Status status;
  EXPECT_TRUE(WatchToTheEnd(*profiler_, "nope", &status).empty());
  EXPECT_EQ(ReasonOf(status), "RUN_NOT_FOUND");
  v1::CancelRunRequest request;
  request.set_id("nope");
  v1::CancelRunResponse response;
  grpc::ClientContext context;
  EXPECT_EQ(ReasonOf(profiler_->CancelRun(&context, request, &response)), "RUN_NOT_FOUND");
}

TEST_F(ProfilerServiceTest, VerifiesAStreamOfTensors) {
  grpc::ClientContext context;
  v1::VerifyModelResponse response;
  const auto writer = profiler_->VerifyModel(&context, &response);
  v1::VerifyModelRequest message;
  message.mutable_spec()->mutable_model()->set_text("known");
  writer->Write(message);
  for (const auto& [is_output, data] :
       std::vector<std::pair<bool, std::string>>{{false, "i"}, {false, "n"}, {true, "out"}}) {
    message.mutable_tensor()->set_is_output(is_output);
    message.mutable_tensor()->set_data(data);
    writer->Write(message);
  }
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(response.ok());
}

TEST_F(ProfilerServiceTest, RefusesAnEmptyVerifyStream) {
  grpc::ClientContext context;
  v1::VerifyModelResponse response;
  const auto writer = profiler_->VerifyModel(&context, &response);
  writer->WritesDone();
  EXPECT_EQ(ReasonOf(writer->Finish()), "BAD_STREAM");
}

TEST_F(ProfilerServiceTest, SendsAReportAndThenTheQuantizedFile) {
  grpc::ClientContext context;
  v1::QuantizeModelRequest request;
  request.mutable_model()->set_text("known");
  const auto reader = profiler_->QuantizeModel(&context, request);
  v1::QuantizeModelResponse message;
  do {
    ASSERT_TRUE(reader->Read(&message));
  } while (message.has_progress());
  ASSERT_TRUE(message.has_report());
  EXPECT_EQ(message.report().sample_count(), 16);
  size_t size = 0;
  while (reader->Read(&message)) {
    EXPECT_LE(message.chunk().size(), size_t{1} << 20);
    size += message.chunk().size();
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(size, size_t{3} << 19);
}

TEST_F(ProfilerServiceTest, RefusesToQuantizeWhatCannotBe) {
  v1::QuantizeModelRequest request;
  request.mutable_model()->set_text("unknown");
  v1::QuantizeModelResponse message;
  {
    grpc::ClientContext context;
    const auto reader = profiler_->QuantizeModel(&context, request);
    EXPECT_FALSE(reader->Read(&message));
    EXPECT_EQ(ReasonOf(reader->Finish()), "UNKNOWN_MODEL");
  }
  request.mutable_model()->set_text("known");
  request.set_samples(1001);
  grpc::ClientContext context;
  const auto reader = profiler_->QuantizeModel(&context, request);
  EXPECT_FALSE(reader->Read(&message));
  EXPECT_EQ(ReasonOf(reader->Finish()), "BAD_SAMPLES");
}

}  // namespace
}  // namespace tinyprof
