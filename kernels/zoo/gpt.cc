// Decoder-only transformers with learned positions and norms before each branch: GPT-2 (Radford et
// al., 2019) in its published and in other sizes, and the GPT of the TinyTorch course.
#include <fmt/format.h>

#include "kernels/zoo/modules.h"
#include "kernels/zoo/transformer.h"
#include "kernels/zoo/zoo_models.h"

namespace tinyprof {
namespace {

constexpr int64_t kMaxLayers = 512;
constexpr int64_t kMaxDim = 65536;
constexpr int64_t kMaxVocabulary = 1 << 24;
constexpr int64_t kMaxPositions = 1 << 20;

struct Gpt {
  int64_t layers = 12;
  int64_t dim = 768;
  int64_t heads = 12;
  int64_t vocabulary = 50257;
  int64_t positions = 1024;
  bool tied = true;  // lm_head is the token embedding
  bool fused_projection = true;
};

// Which positions of the sequence go through the model.
struct Window {
  int64_t past = 0;  // positions whose keys and values are given
  int64_t length = 0;
};

tl::unexpected<Error> BadParameter(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_PARAMETER", std::move(message));
}

Result<Window> WindowOf(const ZooParameters& parameters, const Gpt& gpt, bool seq_is_positions) {
  TINYPROF_ASSIGN_OR_RETURN(const std::string phase,
                            parameters.Choice("phase", {"prefill", "decode"}));
  if (phase == "prefill") {
    if (parameters.given("context")) {
      return BadParameter("context=N needs phase=decode: in prefill the length is seq=N");
    }
    TINYPROF_ASSIGN_OR_RETURN(const int64_t length, parameters.Int("seq", 1, gpt.positions));
    return Window{.past = 0, .length = length};
  }
  if (parameters.given("seq") && !seq_is_positions) {
    return BadParameter("seq=N needs phase=prefill: decode takes context=N and one new token");
  }
  if (seq_is_positions && !parameters.given("context")) {
    return Window{.past = gpt.positions - 1, .length = 1};
  }
  TINYPROF_ASSIGN_OR_RETURN(const int64_t context, parameters.Int("context", 1, gpt.positions));
  return Window{.past = context - 1, .length = 1};
}

class GptBuilder {
 public:
  GptBuilder(const ZooRequest& request, const Gpt& gpt, const Window& window)
      : builder_(request.name, "zoo", request.seed),
        gpt_(gpt),
        window_(window),
        batch_(request.batch) {}

  Result<Graph> Build() {
    const ValueId tokens =
        TokenInput(builder_, "input_ids", {batch_, window_.length}, gpt_.vocabulary);
    const ValueId table = EmbeddingTable(builder_, "wte", gpt_.vocabulary, gpt_.dim);
    ValueId x = builder_.Op("Gather", {table, tokens}, {{"axis", int64_t{0}}}, "wte");
    const ValueId positions =
        Positions(builder_, "wpe", gpt_.positions, gpt_.dim, window_.past, window_.length);
    x = builder_.Op("Add", {x, positions}, {}, "embed");
    for (int64_t i = 0; i < gpt_.layers; ++i) x = Block(i, x);
    x = LayerNorm(builder_, "ln_f", x, {gpt_.dim});
    outputs_.insert(outputs_.begin(), Head(x, table));
    return std::move(builder_).Finish(outputs_);
  }

 private:
  ValueId PastInput(const char* what, int64_t layer) {
    if (window_.past == 0) return kNoValue;
    return FloatInput(builder_, fmt::format("past_{}_{}", what, layer),
                      {batch_, window_.past, gpt_.dim});
  }

  ValueId Block(int64_t index, ValueId x) {
    const AttentionOptions options = {.dim = gpt_.dim,
                                      .heads = gpt_.heads,
                                      // One query may see every key there is.
                                      .causal = window_.length > 1,
                                      .fused_projection = gpt_.fused_projection,
                                      .past_key = PastInput("key", index),
                                      .past_value = PastInput("value", index)};
    const ModuleScope scope(builder_, fmt::format("h.{}", index));
    const ValueId normed = LayerNorm(builder_, "ln_1", x, {gpt_.dim});
    const AttentionOutputs attended = SelfAttention(builder_, "attn", normed, options);
    if (window_.past > 0) outputs_.insert(outputs_.end(), {attended.key, attended.value});
    x = builder_.Op("Add", {x, attended.output}, {}, "add1");
    const ValueId normed2 = LayerNorm(builder_, "ln_2", x, {gpt_.dim});
    return builder_.Op("Add", {x, FeedForward(builder_, "mlp", normed2, gpt_.dim, "tanh")}, {},
                       "add2");
  }

  ValueId Head(ValueId x, ValueId table) {
    if (!gpt_.tied) {
      return Linear(builder_, "lm_head", x,
                    {.in_features = gpt_.dim, .out_features = gpt_.vocabulary, .bias = false});
    }
    // Gemm multiplies by the table transposed without a transposed copy of it.
    const ModuleScope scope(builder_, "lm_head");
    x = Reshape(builder_, "rows", x, {batch_ * window_.length, gpt_.dim});
    x = builder_.Op("Gemm", {x, table}, {{"transB", int64_t{1}}});
    return Reshape(builder_, "logits", x, {batch_, window_.length, gpt_.vocabulary});
  }

  GraphBuilder builder_;
  Gpt gpt_;
  Window window_;
  int64_t batch_;
  std::vector<ValueId> outputs_;
};

// Reads the sizes that tinygpt and gpt share into `gpt`.
Status ReadSizes(const ZooParameters& parameters, Gpt& gpt) {
  TINYPROF_ASSIGN_OR_RETURN(gpt.layers, parameters.Int("layers", 1, kMaxLayers));
  TINYPROF_ASSIGN_OR_RETURN(gpt.dim, parameters.Int("dim", 1, kMaxDim));
  TINYPROF_ASSIGN_OR_RETURN(gpt.heads, parameters.Int("heads", 1, kMaxDim));
  TINYPROF_ASSIGN_OR_RETURN(gpt.vocabulary, parameters.Int("vocab", 1, kMaxVocabulary));
  if (gpt.dim % gpt.heads != 0) {
    return BadParameter(fmt::format("dim={} cannot be divided among heads={}", gpt.dim, gpt.heads));
  }
  return {};
}

}  // namespace

Result<Graph> BuildGpt2Small(const ZooRequest& request) {
  Gpt gpt;
  TINYPROF_ASSIGN_OR_RETURN(const std::string tied,
                            request.parameters.Choice("tied", {"true", "false"}));
  gpt.tied = tied == "true";
  TINYPROF_ASSIGN_OR_RETURN(const Window window, WindowOf(request.parameters, gpt, false));
  return GptBuilder(request, gpt, window).Build();
}

Result<Graph> BuildTinyGpt(const ZooRequest& request) {
  Gpt gpt;
  TINYPROF_RETURN_IF_ERROR(ReadSizes(request.parameters, gpt));
  TINYPROF_ASSIGN_OR_RETURN(gpt.positions, request.parameters.Int("seq", 1, kMaxPositions));
  TINYPROF_ASSIGN_OR_RETURN(const std::string tied,
                            request.parameters.Choice("tied", {"true", "false"}));
  gpt.tied = tied == "true";
  TINYPROF_ASSIGN_OR_RETURN(const Window window, WindowOf(request.parameters, gpt, true));
  return GptBuilder(request, gpt, window).Build();
}

Result<Graph> BuildCourseGpt(const ZooRequest& request) {
  Gpt gpt;
  TINYPROF_RETURN_IF_ERROR(ReadSizes(request.parameters, gpt));
  gpt.tied = false;
  gpt.fused_projection = false;
  TINYPROF_ASSIGN_OR_RETURN(const Window window, WindowOf(request.parameters, gpt, false));
  return GptBuilder(request, gpt, window).Build();
}

}  // namespace tinyprof
