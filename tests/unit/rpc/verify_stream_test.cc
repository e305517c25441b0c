#include "daemon/rpc/verify_stream.h"

#include <gtest/gtest.h>

namespace tinyprof {
namespace {

v1::VerifyModelRequest Spec() {
  v1::VerifyModelRequest message;
  message.mutable_spec()->mutable_model()->set_text("mlp");
  return message;
}

v1::VerifyModelRequest Tensor(bool is_output, int index, std::string data) {
  v1::VerifyModelRequest message;
  message.mutable_tensor()->set_is_output(is_output);
  message.mutable_tensor()->set_index(index);
  message.mutable_tensor()->set_data(std::move(data));
  return message;
}

TEST(VerifyStream, JoinsPiecesByTensor) {
  VerifyStream stream;
  ASSERT_TRUE(stream.Add(Spec()).has_value());
  ASSERT_TRUE(stream.Add(Tensor(false, 0, "ab")).has_value());
  ASSERT_TRUE(stream.Add(Tensor(false, 0, "cd")).has_value());
  ASSERT_TRUE(stream.Add(Tensor(false, 1, "e")).has_value());
  ASSERT_TRUE(stream.Add(Tensor(true, 0, "f")).has_value());
  const auto task = stream.Finish();
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(task->spec().model().text(), "mlp");
  ASSERT_EQ(task->inputs_size(), 2);
  EXPECT_EQ(task->inputs(0), "abcd");
  EXPECT_EQ(task->inputs(1), "e");
  ASSERT_EQ(task->outputs_size(), 1);
  EXPECT_EQ(task->outputs(0), "f");
}

TEST(VerifyStream, RefusesMessagesOutOfOrder) {
  EXPECT_FALSE(VerifyStream().Add(Tensor(false, 0, "a")).has_value());
  EXPECT_FALSE(VerifyStream().Add({}).has_value());
  VerifyStream stream;
  ASSERT_TRUE(stream.Add(Spec()).has_value());
  EXPECT_FALSE(stream.Add(Spec()).has_value());
  EXPECT_FALSE(stream.Add({}).has_value());
  for (const int index : {-1, 1, 2, INT32_MAX, INT32_MIN}) {
    const Status added = stream.Add(Tensor(false, index, "a"));
    ASSERT_FALSE(added.has_value()) << index;
    EXPECT_EQ(added.error().reason, "BAD_STREAM");
  }
}

TEST(VerifyStream, ATensorThatEndedGetsNoMorePieces) {
  VerifyStream stream;
  ASSERT_TRUE(stream.Add(Spec()).has_value());
  ASSERT_TRUE(stream.Add(Tensor(true, 0, "a")).has_value());
  ASSERT_TRUE(stream.Add(Tensor(true, 1, "b")).has_value());
  EXPECT_FALSE(stream.Add(Tensor(true, 0, "c")).has_value());
}

TEST(VerifyStream, NeedsASpecAndAnOutput) {
  EXPECT_FALSE(VerifyStream().Finish().has_value());
  VerifyStream stream;
  ASSERT_TRUE(stream.Add(Spec()).has_value());
  ASSERT_TRUE(stream.Add(Tensor(false, 0, "a")).has_value());
  EXPECT_FALSE(stream.Finish().has_value());
}

TEST(VerifyStream, HasALimitOfBytes) {
  VerifyStream stream;
  ASSERT_TRUE(stream.Add(Spec()).has_value());
  ASSERT_TRUE(
      stream.Add(Tensor(false, 0, std::string(VerifyStream::kMaxTensorBytes, 'x'))).has_value());
  const Status added = stream.Add(Tensor(true, 0, "y"));
  ASSERT_FALSE(added.has_value());
  EXPECT_EQ(added.error().reason, "TENSORS_TOO_LARGE");
}

TEST(VerifyStream, HasALimitOfTensors) {
  VerifyStream stream;
  ASSERT_TRUE(stream.Add(Spec()).has_value());
  for (int i = 0; i < VerifyStream::kMaxTensors; ++i) {
    ASSERT_TRUE(stream.Add(Tensor(true, i, "")).has_value());
  }
  EXPECT_FALSE(stream.Add(Tensor(true, VerifyStream::kMaxTensors, "")).has_value());
}

}  // namespace
}  // namespace tinyprof
