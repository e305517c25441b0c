#include "daemon/rpc/verify_stream.h"

#include <fmt/format.h>

#include <utility>

#include "kernels/base/words.h"

namespace tinyprof {
namespace {

tl::unexpected<Error> BadStream(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_STREAM", std::move(message));
}

}  // namespace

Status VerifyStream::Add(v1::VerifyModelRequest&& message) {
  if (message.has_tensor() && task_.has_spec()) return AddTensor(message.tensor());
  if (message.has_spec() && !task_.has_spec()) {
    *task_.mutable_spec() = std::move(*message.mutable_spec());
    return {};
  }
  return BadStream(task_.has_spec() ? "got a second spec or an empty message, wanted tensors"
                                    : "the first message must hold the spec");
}

Status VerifyStream::AddTensor(const v1::TensorChunk& chunk) {
  auto* tensors = chunk.is_output() ? task_.mutable_outputs() : task_.mutable_inputs();
  const std::string_view kind = chunk.is_output() ? "output" : "input";
  tensor_bytes_ += chunk.data().size();
  if (tensor_bytes_ > kMaxTensorBytes) {
    return Fail(
        ErrorCode::kResourceExhausted, "TENSORS_TOO_LARGE",
        fmt::format("the tensors to verify have more than {} in all", SizeText(kMaxTensorBytes)),
        {{"limit_bytes", std::to_string(kMaxTensorBytes)}});
  }
  const int index = chunk.index();
  if (index == tensors->size() && index < kMaxTensors) {
    *tensors->Add() = chunk.data();
    return {};
  }
  if (index >= 0 && index == tensors->size() - 1) {
    tensors->Mutable(index)->append(chunk.data());
    return {};
  }
  return BadStream(
      fmt::format("got a piece of {} {}, wanted {} {} or the one before it, at most {}", kind,
                  index, kind, tensors->size(), kMaxTensors));
}

Result<worker::VerifyTask> VerifyStream::Finish() {
  if (!task_.has_spec()) return BadStream("the stream ended before its spec");
  if (task_.outputs().empty()) return BadStream("got no expected output, wanted at least one");
  return std::move(task_);
}

}  // namespace tinyprof
