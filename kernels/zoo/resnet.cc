// Residual networks (He et al., 2015). Version 1.5 of ResNet-50 moves the stride of a stage from
// the first 1x1 convolution to the 3x3.
#include <fmt/format.h>

#include "kernels/zoo/modules.h"
#include "kernels/zoo/zoo_models.h"

namespace tinyprof {
namespace {

constexpr int64_t kMaxImage = 16384;
// The last scale of a residual branch: below 1, so that the sum of 16 branches keeps a normal size.
constexpr double kBranchScale = 0.5;

struct ResNet {
  std::vector<int> blocks;       // by stage
  bool bottleneck = false;       // 1x1, 3x3, 1x1 instead of two 3x3
  bool stride_in_first = false;  // version 1 of the bottleneck
};

struct Block {
  int64_t in_channels;
  int64_t width;
  int64_t out_channels;
  int64_t stride;
};

ValueId ConvNorm(GraphBuilder& builder, const std::string& suffix, ValueId x, ConvOptions options,
                 double scale = 1) {
  options.bias = false;
  options.gain = kReluGain;
  x = Conv(builder, "conv" + suffix, x, options);
  return BatchNorm(builder, "bn" + suffix, x, options.out_channels, 1e-5, scale);
}

ValueId Relu(GraphBuilder& builder, const char* name, ValueId x) {
  return builder.Op("Relu", {x}, {}, name);
}

ValueId Branch(GraphBuilder& builder, ValueId x, const Block& block, const ResNet& net) {
  if (!net.bottleneck) {
    x = ConvNorm(builder, "1", x, SquareConv(block.in_channels, block.width, 3, block.stride, 1));
    x = Relu(builder, "relu1", x);
    return ConvNorm(builder, "2", x, SquareConv(block.width, block.out_channels, 3, 1, 1),
                    kBranchScale);
  }
  const int64_t first = net.stride_in_first ? block.stride : 1;
  x = ConvNorm(builder, "1", x, SquareConv(block.in_channels, block.width, 1, first));
  x = Relu(builder, "relu1", x);
  x = ConvNorm(builder, "2", x, SquareConv(block.width, block.width, 3, block.stride / first, 1));
  x = Relu(builder, "relu2", x);
  return ConvNorm(builder, "3", x, SquareConv(block.width, block.out_channels, 1), kBranchScale);
}

ValueId ResidualBlock(GraphBuilder& builder, const std::string& name, ValueId x, const Block& block,
                      const ResNet& net) {
  const ModuleScope scope(builder, name);
  ValueId shortcut = x;
  if (block.stride != 1 || block.in_channels != block.out_channels) {
    const ModuleScope downsample(builder, "downsample");
    shortcut = ConvNorm(builder, "", x,
                        SquareConv(block.in_channels, block.out_channels, 1, block.stride));
  }
  const ValueId sum = builder.Op("Add", {Branch(builder, x, block, net), shortcut}, {}, "add");
  return Relu(builder, "relu", sum);
}

Result<Graph> BuildResNet(const ZooRequest& request, const ResNet& net) {
  TINYPROF_ASSIGN_OR_RETURN(const int64_t image, request.parameters.Int("image", 1, kMaxImage));
  GraphBuilder builder(request.name, "zoo", request.seed);
  ValueId x = FloatInput(builder, "input", {request.batch, 3, image, image});
  x = Relu(builder, "relu", ConvNorm(builder, "1", x, SquareConv(3, 64, 7, 2, 3)));
  x = MaxPool2d(builder, "maxpool", x, 3, 2, 1);
  int64_t channels = 64;
  for (size_t stage = 0; stage < net.blocks.size(); ++stage) {
    const int64_t width = int64_t{64} << stage;
    const int64_t out_channels = net.bottleneck ? 4 * width : width;
    for (int i = 0; i < net.blocks[stage]; ++i) {
      const int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      x = ResidualBlock(builder, fmt::format("layer{}.{}", stage + 1, i), x,
                        {channels, width, out_channels, stride}, net);
      channels = out_channels;
    }
  }
  x = builder.Op("GlobalAveragePool", {x}, {}, "avgpool");
  x = builder.Op("Flatten", {x}, {{"axis", int64_t{1}}}, "flatten");
  x = Linear(builder, "fc", x, {.in_features = channels, .out_features = 1000});
  return std::move(builder).Finish({x});
}

}  // namespace

Result<Graph> BuildResNet18(const ZooRequest& request) {
  return BuildResNet(request, {.blocks = {2, 2, 2, 2}});
}

Result<Graph> BuildResNet50(const ZooRequest& request) {
  TINYPROF_ASSIGN_OR_RETURN(const std::string version,
                            request.parameters.Choice("version", {"1.5", "1"}));
  return BuildResNet(
      request, {.blocks = {3, 4, 6, 3}, .bottleneck = true, .stride_in_first = version == "1"});
}

}  // namespace tinyprof
