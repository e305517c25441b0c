#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/runtime/session.h"
#include "kernels/tensor/half.h"
#include "tests/unit/kernels/op_test_case.h"

namespace tinyprof {
namespace {

TEST(Half, KnownValues) {
  const std::vector<std::pair<float, uint16_t>> known = {
      {0.0F, 0x0000},           {-0.0F, 0x8000},          {1.0F, 0x3C00},
      {-2.0F, 0xC000},          {65504.0F, 0x7BFF},       {65519.0F, 0x7BFF},
      {65520.0F, 0x7C00},       {1e30F, 0x7C00},          {0x1p-14F, 0x0400},
      {0x1p-24F, 0x0001},       {0x1p-25F, 0x0000},       {0x1.8p-25F, 0x0001},
      {1 + 0x1p-11F, 0x3C00},   {1 + 0x1.8p-11F, 0x3C01}, {1 + 0x3p-11F, 0x3C02},
      {0.333251953125F, 0x3555}};
  for (const auto& [value, bits] : known) EXPECT_EQ(ToHalf(value).bits, bits) << value;
}

TEST(Half, EveryValueComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half half{static_cast<uint16_t>(bits)};
    const BFloat16 brain{static_cast<uint16_t>(bits)};
    if (std::isnan(ToFloat(half))) {
      EXPECT_TRUE(std::isnan(ToFloat(ToHalf(ToFloat(half)))));
    } else {
      ASSERT_EQ(ToHalf(ToFloat(half)).bits, bits);
    }
    if (std::isnan(ToFloat(brain))) {
      EXPECT_TRUE(std::isnan(ToFloat(ToBFloat16(ToFloat(brain)))));
    } else {
      ASSERT_EQ(ToBFloat16(ToFloat(brain)).bits, bits);
    }
  }
  EXPECT_EQ(ToBFloat16(1 + 0x1p-8F).bits, 0x3F80);  // a tie, to even
  EXPECT_EQ(ToBFloat16(1 + 0x1.8p-8F).bits, 0x3F81);
  EXPECT_TRUE(std::isinf(ToFloat(ToBFloat16(std::numeric_limits<float>::max()))));
}

// Elements of `dtype` that hold `values`.
OpCase::In Elements(DType dtype, Shape shape, const std::vector<float>& values,
                    bool is_weight = false) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  for (const float value : values) {
    const auto append = [&](const auto& element) {
      const auto* begin = reinterpret_cast<const std::byte*>(&element);
      bytes->insert(bytes->end(), begin, begin + sizeof element);
    };
    if (dtype == DType::kFloat16) append(ToHalf(value));
    if (dtype == DType::kBFloat16) append(ToBFloat16(value));
    if (dtype == DType::kInt8) append(static_cast<int8_t>(value));
    if (dtype == DType::kUInt8) append(static_cast<uint8_t>(value));
  }
  return {.type = {dtype, std::move(shape)},
          .fill = {.kind = Fill::Kind::kData, .data = std::move(bytes)},
          .is_weight = is_weight};
}

// The output bytes of the node, which all backends and ISAs have to agree on.
std::vector<std::byte> OutputOf(const OpCase& op_case) {
  const Result<Graph> graph = BuildGraph(op_case);
  if (!graph) {
    ADD_FAILURE() << graph.error().message;
    return {};
  }
  std::vector<SessionOptions> runs = {{.backend = Backend::kReference}};
  for (const Isa isa : HostIsas()) runs.push_back({.backend = Backend::kEigen, .isa = isa});
  std::vector<std::byte> wanted;
  for (const SessionOptions& options : runs) {
    const Result<std::unique_ptr<Session>> session = Session::Create(*graph, options);
    if (!session) {
      ADD_FAILURE() << session.error().message;
      return {};
    }
    (*session)->FillInputs();
    (*session)->RunAll();
    const ConstTensorView output = (*session)->output(0);
    std::vector<std::byte> got(static_cast<size_t>(output.type.byte_size()));
    std::memcpy(got.data(), output.data, got.size());
    if (wanted.empty()) wanted = got;
    EXPECT_EQ(got, wanted);
  }
  return wanted;
}

TEST(DTypes, HalvesAreComputedInFloat) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const OpCase matmul{.op_type = "MatMul",
                        .inputs = {Elements(dtype, {2, 2}, {1, 2, 3, 4}),
                                   Elements(dtype, {2, 1}, {0.5F, 10}, true)}};
    EXPECT_EQ(OutputOf(matmul), *Elements(dtype, {2, 1}, {20.5F, 41.5F}).fill.data);
    // A kernel that works out a table ahead.
    const OpCase dft{.op_type = "DFT", .inputs = {Elements(dtype, {1, 4, 1}, {2, 0, 0, 0})}};
    EXPECT_EQ(OutputOf(dft), *Elements(dtype, {1, 4, 2}, {2, 0, 2, 0, 2, 0, 2, 0}).fill.data);
    const OpCase relu{.op_type = "Relu", .inputs = {Elements(dtype, {3}, {-1, 0.5F, 3})}};
    EXPECT_EQ(OutputOf(relu), *Elements(dtype, {3}, {0, 0.5F, 3}).fill.data);
  }
}

TEST(DTypes, SmallIntegersWrapAround) {
  const OpCase add{
      .op_type = "Add",
      .inputs = {Elements(DType::kUInt8, {2}, {200, 1}), Elements(DType::kUInt8, {2}, {100, 2})}};
  EXPECT_EQ(OutputOf(add), *Elements(DType::kUInt8, {2}, {44, 3}).fill.data);
  const OpCase max{
      .op_type = "Max",
      .inputs = {Elements(DType::kInt8, {3}, {-128, 3, 5}), Elements(DType::kInt8, {1}, {4})}};
  EXPECT_EQ(OutputOf(max), *Elements(DType::kInt8, {3}, {4, 4, 5}).fill.data);
  const OpCase pool{.op_type = "MaxPool",
                    .attributes = {{"kernel_shape", std::vector<int64_t>{2}}},
                    .inputs = {Elements(DType::kUInt8, {1, 1, 3}, {255, 0, 7})}};
  EXPECT_EQ(OutputOf(pool), *Elements(DType::kUInt8, {1, 1, 2}, {255, 7}).fill.data);
}

// Beside the naive loops, which are for numbers of any type.
TEST(DTypes, BytesArePooledAsTheyAre) {
  using Ints = std::vector<int64_t>;
  std::vector<float> values;
  for (int i = 0; i < 2 * 3 * 23 * 70; ++i) values.push_back(static_cast<float>(i * 7919 % 251));
  const std::vector<Attributes> pools = {
      {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}},
      {{"kernel_shape", Ints{2, 5}}, {"dilations", Ints{3, 2}}},
      {{"kernel_shape", Ints{3, 4}}, {"strides", Ints{1, 3}}, {"ceil_mode", int64_t{1}}}};
  for (const Attributes& attributes : pools) {
    for (const DType dtype : {DType::kUInt8, DType::kInt8}) {
      std::vector<float> elements = values;
      for (float& element : elements) element -= dtype == DType::kInt8 ? 128 : 0;
      const OpCase pool{.op_type = "MaxPool",
                        .attributes = attributes,
                        .inputs = {Elements(dtype, {2, 3, 23, 70}, elements)}};
      OutputOf(pool);
      for (const Isa isa : HostIsas()) {
        const Result<Graph> graph = BuildGraph(pool);
        const auto session = Session::Create(*graph, {.backend = Backend::kEigen, .isa = isa});
        ASSERT_TRUE(session.has_value());
        EXPECT_EQ((*session)->kernel(0).implementation(), "line windows");
      }
    }
  }
}

TEST(DTypes, HalvesCountAsFloatsAndMoveHalfTheBytes) {
  const Cost cost = CostOfCase({.op_type = "Add",
                                .inputs = {Elements(DType::kFloat16, {4}, {1, 2, 3, 4}),
                                           Elements(DType::kFloat16, {4}, {1, 2, 3, 4})}});
  EXPECT_EQ(cost.flop_count(), 4);
  EXPECT_EQ(cost.input_bytes, 16);
  EXPECT_EQ(cost.output_bytes, 8);
}

}  // namespace
}  // namespace tinyprof
