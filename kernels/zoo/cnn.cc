// Feed-forward and convolutional models up to VGG. LeNet-5: LeCun et al., 1998 (with the full C3
// map table that all modern copies use). AlexNet: Krizhevsky, 2014. VGG: Simonyan and Zisserman,
// 2014.
#include <fmt/format.h>

#include "kernels/zoo/modules.h"
#include "kernels/zoo/zoo_models.h"

namespace tinyprof {
namespace {

constexpr int64_t kMaxImage = 16384;
constexpr int64_t kClasses = 1000;

ValueId LinearRelu(GraphBuilder& builder, const std::string& name, ValueId x, int64_t in,
                   int64_t out) {
  x = Linear(builder, name, x, {.in_features = in, .out_features = out, .gain = kReluGain});
  return builder.Op("Relu", {x}, {}, name + "_relu");
}

ValueId ConvRelu(GraphBuilder& builder, const std::string& name, ValueId x, ConvOptions options) {
  options.gain = kReluGain;
  x = Conv(builder, name, x, options);
  return builder.Op("Relu", {x}, {}, name + "_relu");
}

// Three linear layers with ReLU between, as AlexNet and VGG end.
ValueId Classifier(GraphBuilder& builder, ValueId x, int64_t features) {
  x = builder.Op("Flatten", {x}, {{"axis", int64_t{1}}}, "flatten");
  x = LinearRelu(builder, "fc1", x, features, 4096);
  x = LinearRelu(builder, "fc2", x, 4096, 4096);
  return Linear(builder, "fc3", x, {.in_features = 4096, .out_features = kClasses});
}

}  // namespace

Result<Graph> BuildMlp(const ZooRequest& request) {
  GraphBuilder builder(request.name, "zoo", request.seed);
  ValueId x = FloatInput(builder, "input", {request.batch, 784});
  x = LinearRelu(builder, "fc1", x, 784, 128);
  x = LinearRelu(builder, "fc2", x, 128, 64);
  x = Linear(builder, "fc3", x, {.in_features = 64, .out_features = 10});
  return std::move(builder).Finish({x});
}

Result<Graph> BuildLeNet(const ZooRequest& request) {
  GraphBuilder builder(request.name, "zoo", request.seed);
  ValueId x = FloatInput(builder, "input", {request.batch, 1, 32, 32});
  const Attributes halve = {{"kernel_shape", std::vector<int64_t>{2, 2}},
                            {"strides", std::vector<int64_t>{2, 2}}};
  x = builder.Op("Tanh", {Conv(builder, "c1", x, SquareConv(1, 6, 5))}, {}, "c1_tanh");
  x = builder.Op("AveragePool", {x}, halve, "s2");
  x = builder.Op("Tanh", {Conv(builder, "c3", x, SquareConv(6, 16, 5))}, {}, "c3_tanh");
  x = builder.Op("AveragePool", {x}, halve, "s4");
  x = builder.Op("Flatten", {x}, {{"axis", int64_t{1}}}, "flatten");
  x = Linear(builder, "c5", x, {.in_features = 400, .out_features = 120});
  x = Linear(builder, "f6", builder.Op("Tanh", {x}, {}, "c5_tanh"),
             {.in_features = 120, .out_features = 84});
  x = Linear(builder, "output", builder.Op("Tanh", {x}, {}, "f6_tanh"),
             {.in_features = 84, .out_features = 10});
  return std::move(builder).Finish({x});
}

Result<Graph> BuildAlexNet(const ZooRequest& request) {
  TINYPROF_ASSIGN_OR_RETURN(const int64_t image, request.parameters.Int("image", 1, kMaxImage));
  GraphBuilder builder(request.name, "zoo", request.seed);
  ValueId x = FloatInput(builder, "input", {request.batch, 3, image, image});
  x = ConvRelu(builder, "conv1", x, SquareConv(3, 64, 11, 4, 2));
  x = MaxPool2d(builder, "pool1", x, 3, 2);
  x = ConvRelu(builder, "conv2", x, SquareConv(64, 192, 5, 1, 2));
  x = MaxPool2d(builder, "pool2", x, 3, 2);
  x = ConvRelu(builder, "conv3", x, SquareConv(192, 384, 3, 1, 1));
  x = ConvRelu(builder, "conv4", x, SquareConv(384, 256, 3, 1, 1));
  x = ConvRelu(builder, "conv5", x, SquareConv(256, 256, 3, 1, 1));
  x = MaxPool2d(builder, "pool5", x, 3, 2);
  x = AdaptiveAvgPool2d(builder, "avgpool", x, 6, 6);
  x = Classifier(builder, x, int64_t{256} * 6 * 6);
  return std::move(builder).Finish({x});
}

Result<Graph> BuildVgg16(const ZooRequest& request) {
  TINYPROF_ASSIGN_OR_RETURN(const int64_t image, request.parameters.Int("image", 1, kMaxImage));
  struct Stage {
    int convolutions;
    int64_t channels;
  };
  constexpr Stage kStages[] = {{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}};
  GraphBuilder builder(request.name, "zoo", request.seed);
  ValueId x = FloatInput(builder, "input", {request.batch, 3, image, image});
  int64_t channels = 3;
  int stage_number = 1;
  for (const Stage& stage : kStages) {
    for (int i = 1; i <= stage.convolutions; ++i) {
      x = ConvRelu(builder, fmt::format("conv{}_{}", stage_number, i), x,
                   SquareConv(channels, stage.channels, 3, 1, 1));
      channels = stage.channels;
    }
    x = MaxPool2d(builder, fmt::format("pool{}", stage_number++), x, 2, 2);
  }
  x = AdaptiveAvgPool2d(builder, "avgpool", x, 7, 7);
  x = Classifier(builder, x, int64_t{512} * 7 * 7);
  return std::move(builder).Finish({x});
}

}  // namespace tinyprof
