// `quantize`: what is asked, where the file goes, and how the report is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "client/render/people.h"
#include "client/render/progress.h"
#include "client/render/quantization.h"
#include "tests/unit/client/flow_fixture.h"

namespace tinyprof::client {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// 4 KiB of weights became 1 KiB; one node of two was quantized.
v1::QuantizationReport SomeReport() {
  v1::QuantizationReport report;
  v1::Quantization& q = *report.mutable_quantization();
  q.set_quantized_from("net");
  q.set_mode("static");
  q.set_float_weight_bytes(4096);
  q.set_quantized_weight_bytes(1024);
  q.set_max_abs_error(0.25);
  q.set_sqnr_db(30.5);
  v1::QuantizedOperator& conv = *report.add_operators();
  conv.set_op("Conv");
  conv.set_quantized_count(1);
  conv.set_left_count(1);
  v1::LeftNode& left = *report.add_left();
  left.set_name("conv9");
  left.set_op("Conv");
  left.set_reason("its weights are computed in the run");
  report.set_sample_count(16);
  report.set_held_out_sample_count(8);
  v1::QuantizedOutput& output = *report.add_outputs();
  output.set_name("logits");
  output.set_max_abs_error(0.25);
  output.set_sqnr_db(30.5);
  return report;
}

class Quantize : public Flow {
 protected:
  Quantize() { daemon_.profiler.quantization_report = SomeReport(); }
  std::string File(const std::string& name) const { return (daemon_.directory() / name).string(); }
  static std::string Contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(Quantize, WritesOverNeitherItsSourceNorItsReport) {
  const std::string source = File("net.onnx");
  std::ofstream(source) << "float32";
  fs::create_symlink(source, File("link.onnx"));
  for (const std::string& target : {source, File("./net.onnx"), File("link.onnx")}) {
    const Caught caught = Call({"quantize", source, target});
    EXPECT_EQ(caught.exit_code, 2) << target;
    EXPECT_THAT(caught.err, HasSubstr("write it to another file"));
  }
  EXPECT_EQ(Contents(source), "float32");
  const Caught same = Call({"quantize", "net", File("q.onnx"), "-o", File("./q.onnx")});
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_THAT(same.err, HasSubstr("cannot both go to"));
}

TEST_F(Quantize, AsksWritesAndReports) {
  const Caught caught = Call({"quantize", "net", File("q.onnx"), "--mode", "dynamic", "--samples",
                              "5", "--seed", "3", "--input", "x=1x4"});
  EXPECT_EQ(caught.exit_code, 0) << caught.err;
  EXPECT_EQ(Contents(File("q.onnx")), "bytes of a file");
  const v1::QuantizeModelRequest& request = daemon_.profiler.quantize_request;
  EXPECT_EQ(request.mode(), v1::QUANTIZATION_MODE_DYNAMIC);
  EXPECT_EQ(request.samples(), 5);
  EXPECT_EQ(request.model().text(), "net");
  EXPECT_EQ(request.model().seed(), 3u);
  EXPECT_EQ(request.model().inputs(0).name(), "x");
  EXPECT_THAT(caught.out, HasSubstr("4.00 KiB -> 1.00 KiB (4.00 times less)"));
  EXPECT_THAT(caught.out, HasSubstr("conv9: its weights are computed in the run"));
  EXPECT_THAT(caught.out, HasSubstr("30.5 dB"));
  EXPECT_THAT(caught.out, HasSubstr("tinyprof-client profile " + File("q.onnx") +
                                    "\n  tinyprof-client compare A B  "));
}

// 0.875 of 8 rows are 7.
TEST_F(Quantize, AgreementIsTheCountItIsAShareOf) {
  v1::QuantizedOutput& output = *daemon_.profiler.quantization_report.mutable_outputs(0);
  output.set_top1_agreement(0.875);
  output.set_top1_row_count(8);
  EXPECT_THAT(Call({"quantize", "net", File("q.onnx")}).out, HasSubstr("7 of 8 samples\n"));
  const Caught caught = Call({"quantize", "net", File("q.onnx"), "--json"});
  EXPECT_EQ(json::parse(caught.out)["outputs"][0]["top1_row_count"], 8);

  v1::Quantization q;
  q.set_quantized_from("net");
  q.set_top1_agreement(1);
  EXPECT_THAT(QuantizationLine(q), HasSubstr("top-1 agreement 100 % ("));
  q.set_top1_agreement(0.875);
  EXPECT_THAT(QuantizationLine(q), HasSubstr("top-1 agreement 87.5 % ("));
}

TEST_F(Quantize, JsonSaysWhyAValueIsAbsent) {
  const Caught caught = Call({"quantize", "net", File("q.onnx"), "--json"});
  ASSERT_EQ(caught.exit_code, 0) << caught.err;
  const json document = json::parse(caught.out);
  EXPECT_EQ(document["command"], "quantize");
  EXPECT_EQ(document["file"], File("q.onnx"));
  EXPECT_EQ(document["size_bytes"], 15);
  EXPECT_EQ(document["quantization"]["quantized_from"], "net");
  EXPECT_EQ(document["quantization"]["float_weight_bytes"], 4096);
  EXPECT_EQ(document["quantization"]["top1_agreement"], nullptr);
  EXPECT_EQ(document["operators"][0]["quantized_count"], 1);
  EXPECT_EQ(document["left"][0]["name"], "conv9");
  EXPECT_EQ(document["samples"], 16);
  EXPECT_EQ(document["outputs"][0]["sqnr_db"], 30.5);
  EXPECT_EQ(document["outputs"][0]["sqnr_db_reason"], nullptr);
  EXPECT_EQ(document["outputs"][0]["top1_agreement"], nullptr);
  EXPECT_THAT(document["outputs"][0]["top1_agreement_reason"].get<std::string>(),
              HasSubstr("NO_CLASSES"));
}

TEST_F(Quantize, ARefusalLeavesNoFile) {
  daemon_.profiler.quantize_status =
      Refusal(grpc::StatusCode::FAILED_PRECONDITION, "NOTHING_TO_QUANTIZE", "net has no weights");
  const Caught caught = Call({"quantize", "net", File("q.onnx")});
  EXPECT_EQ(caught.exit_code, 5);
  EXPECT_THAT(caught.err, HasSubstr("net has no weights"));
  EXPECT_FALSE(fs::exists(File("q.onnx")));
}

TEST_F(Quantize, AFileThatCannotBeWrittenIsAnError) {
  const Caught caught = Call({"quantize", "net", File("no/such/q.onnx")});
  EXPECT_EQ(caught.exit_code, 1) << caught.err;
  EXPECT_THAT(caught.err, HasSubstr("q.onnx"));
  EXPECT_EQ(daemon_.profiler.quantize_request.model().text(), "") << "nothing was asked for";
  const Caught full = Call({"quantize", "net", "/dev/full"});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, HasSubstr("cannot write /dev/full: No space left on device"));
}

TEST_F(Quantize, SaysHowFarItIs) {
  v1::QuantizationProgress progress;
  progress.set_queue_position(1);
  progress.set_waits_for("another task");
  daemon_.profiler.quantize_progress.push_back(progress);
  progress.set_queue_position(0);
  progress.clear_waits_for();
  for (const int done : {1, 2}) {
    progress.set_phase("calibrating");
    progress.set_done(done);
    progress.set_total(16);
    daemon_.profiler.quantize_progress.push_back(progress);
  }
  EXPECT_EQ(ProgressText(progress), "calibrating: 2 of 16 inputs");
  const Caught caught = Call({"quantize", "net", File("q.onnx")});
  EXPECT_EQ(caught.err, "queued: behind another task, which is being measured\ncalibrating\n");
  EXPECT_EQ(Contents(File("q.onnx")), "bytes of a file");
  EXPECT_EQ(Call({"quantize", "net", File("q.onnx"), "--quiet"}).err, "");
}

TEST_F(Quantize, TheNextCommandsRunTheSameModel) {
  const Caught given = Call({"quantize", "net", File("q.onnx"), "--input", "x=1x4", "--input",
                             "y=2x3", "--batch", "2", "--seed", "3"});
  EXPECT_THAT(given.out, HasSubstr("  tinyprof-client profile net --input x=1x4 --input y=2x3 "
                                   "--batch 2 --seed 3\n  tinyprof-client profile " +
                                   File("q.onnx") + "\n"));
  EXPECT_THAT(Call({"quantize", "net", File("q.onnx")}).out,
              HasSubstr("  tinyprof-client profile net\n"));
}

TEST_F(Quantize, AFileThatProfileWouldNotTakeForOneIsRefused) {
  const Caught caught = Call({"quantize", "net", File("q")});
  EXPECT_EQ(caught.exit_code, 2);
  EXPECT_THAT(caught.err, HasSubstr("call the file " + File("q") + ".onnx: "));
  EXPECT_EQ(daemon_.profiler.quantize_request.model().text(), "") << "nothing was asked for";
}

TEST_F(Quantize, WhatIsFoundInTheRunIsNoWrongUsage) {
  daemon_.profiler.quantize_status =
      Refusal(grpc::StatusCode::INVALID_ARGUMENT, "NOT_FINITE", "value y is not finite");
  EXPECT_EQ(Call({"quantize", "net", File("q.onnx")}).exit_code, 1);
}

TEST_F(Quantize, StandardOutputTakesTheModelOrTheReport) {
  EXPECT_EQ(Call({"quantize", "net", "-"}).exit_code, 2);
  const Caught caught = Call({"quantize", "net", "-", "-o", File("report.txt")});
  EXPECT_EQ(caught.exit_code, 0) << caught.err;
  EXPECT_EQ(caught.out, "bytes of a file");
  EXPECT_THAT(Contents(File("report.txt")), HasSubstr("standard output (15 B)"));
  EXPECT_THAT(Contents(File("report.txt")), Not(HasSubstr("next")));
}

TEST_F(Quantize, WrongFlagsAreRefused) {
  EXPECT_EQ(Call({"quantize", "net", File("q"), "--mode", "magic"}).exit_code, 2);
  EXPECT_EQ(Call({"quantize", "net", File("q"), "--samples", "0"}).exit_code, 2);
  EXPECT_EQ(Call({"quantize"}).exit_code, 2);
}

TEST(QuantizationLineTest, SaysWhatIsKnown) {
  v1::Quantization q;
  q.set_quantized_from("net\x1b");
  EXPECT_EQ(QuantizationLine(q), "int8 of net\\x1b (noted when it was quantized)\n");
  EXPECT_EQ(QuantizationLine(SomeReport().quantization()),
            "int8 of net (static), SQNR 30.5 dB, all constants 4.00 KiB -> 1.00 KiB (4.00 times "
            "less), error "
            "at most 0.25 (noted when it was quantized)\n");
}

}  // namespace
}  // namespace tinyprof::client
