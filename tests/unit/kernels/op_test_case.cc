#include "tests/unit/kernels/op_test_case.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/graph/graph_builder.h"

namespace tinyprof {
namespace {

constexpr auto kGuard = std::byte{0xA5};

// Points the signature at the initializers' elements, as a session does.
void BindSignature(Prepared& prepared) {
  prepared.signature = SignatureOf(prepared.graph, prepared.graph.nodes[0], true);
  for (size_t i = 0; i < prepared.signature.inputs.size(); ++i) {
    NodeSignature::Input& input = prepared.signature.inputs[i];
    if (input.is_weight) input.data = prepared.operands[i].data();
  }
}

}  // namespace

GuardedMemory::GuardedMemory(size_t byte_size) : byte_size_(byte_size) {
  Result<Buffer> buffer = Buffer::Create(static_cast<int64_t>(byte_size + 2 * kGuardBytes));
  EXPECT_TRUE(buffer.has_value());
  buffer_ = *std::move(buffer);
  std::memset(buffer_.data(), static_cast<int>(kGuard), byte_size + 2 * kGuardBytes);
}

void GuardedMemory::Set(int value) { std::memset(data(), value, byte_size_); }

bool GuardedMemory::intact() const {
  for (size_t i = 0; i < kGuardBytes; ++i) {
    if (buffer_.data()[i] != kGuard || data()[byte_size_ + i] != kGuard) return false;
  }
  return true;
}

Result<Graph> BuildGraph(const OpCase& op_case) {
  GraphBuilder builder("case", "layers");
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    const OpCase::In& in = op_case.inputs[i];
    const std::string name = fmt::format("in{}", i);
    // Two operands of the same fill must not hold the same numbers.
    Fill fill = in.fill;
    fill.seed ^= i + 1;
    if (!in.present) {
      inputs.push_back(kNoValue);
    } else if (in.is_weight) {
      inputs.push_back(builder.Parameter(name, in.type, fill));
    } else {
      inputs.push_back(builder.Input(name, in.type, fill));
    }
  }
  const std::vector<ValueId> outputs =
      builder.MultiOp(op_case.op_type, inputs, op_case.output_count, op_case.attributes);
  return std::move(builder).Finish(outputs);
}

std::unique_ptr<Prepared> Prepare(const OpCase& op_case) {
  Result<Graph> graph = BuildGraph(op_case);
  if (!graph) {
    ADD_FAILURE() << graph.error().message;
    return nullptr;
  }
  auto prepared = std::make_unique<Prepared>();
  prepared->graph = *std::move(graph);
  for (const ValueId id : prepared->graph.nodes[0].inputs) {
    std::vector<std::byte>& operand = prepared->operands.emplace_back();
    if (id == kNoValue) continue;
    const Value& value = prepared->graph.value(id);
    operand.resize(static_cast<size_t>(value.type.byte_size()) + 1);
    Materialize(value.fill, value.type.dtype, 0, value.type.shape.element_count(), operand.data());
  }
  BindSignature(*prepared);
  return prepared;
}

std::vector<double> ToDoubles(DType dtype, const void* data, int64_t count) {
  std::vector<double> out(static_cast<size_t>(count));
  const auto copy = [&](const auto* elements) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(elements[i]);
  };
  switch (dtype) {
    case DType::kFloat32:
      copy(static_cast<const float*>(data));
      break;
    case DType::kFloat64:
      copy(static_cast<const double*>(data));
      break;
    case DType::kInt8:
      copy(static_cast<const int8_t*>(data));
      break;
    case DType::kInt32:
      copy(static_cast<const int32_t*>(data));
      break;
    case DType::kInt64:
      copy(static_cast<const int64_t*>(data));
      break;
    case DType::kUInt8:
    case DType::kBool:
      copy(static_cast<const uint8_t*>(data));
      break;
    case DType::kFloat16:
    case DType::kBFloat16:
      copy(static_cast<const uint16_t*>(data));
      break;
  }
  return out;
}

OpCase Widened(const OpCase& op_case, const Prepared& prepared, bool absolute) {
  OpCase wide = op_case;
  for (size_t i = 0; i < wide.inputs.size(); ++i) {
    OpCase::In& in = wide.inputs[i];
    if (!in.present) continue;
    std::vector<std::byte> bytes = prepared.operands[i];
    if (in.type.dtype == DType::kFloat32) {
      std::vector<double> elements =
          ToDoubles(DType::kFloat32, bytes.data(), in.type.shape.element_count());
      for (double& element : elements) element = absolute ? std::fabs(element) : element;
      in.type.dtype = DType::kFloat64;
      bytes.resize(elements.size() * sizeof(double) + 1);
      if (!elements.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size() - 1);
    }
    in.fill = {.kind = Fill::Kind::kData,
               .data = std::make_shared<const std::vector<std::byte>>(std::move(bytes))};
  }
  for (auto& [name, attribute] : wide.attributes) {
    float* value = std::get_if<float>(&attribute);
    if (value != nullptr && absolute) *value = std::fabs(*value);
  }
  return wide;
}

OpCase::In Activation(Shape shape, double bound) {
  return {.type = {DType::kFloat32, std::move(shape)}, .fill = Fill::Uniform(bound, 0)};
}

OpCase::In WeightOf(Shape shape, double bound) {
  return {.type = {DType::kFloat32, std::move(shape)},
          .fill = Fill::Uniform(bound, 0),
          .is_weight = true};
}

OpCase::In FloatsOf(Shape shape, const std::vector<float>& elements, bool is_weight) {
  return {.type = {DType::kFloat32, std::move(shape)},
          .fill = Fill::Float32s(elements),
          .is_weight = is_weight};
}

OpCase::In IntsOf(const std::vector<int64_t>& elements) {
  return {.type = {DType::kInt64, Shape{static_cast<int64_t>(elements.size())}},
          .fill = Fill::Int64s(elements),
          .is_weight = true};
}

OpCase::In Omitted() { return {.type = {}, .fill = {}, .present = false}; }

}  // namespace tinyprof
