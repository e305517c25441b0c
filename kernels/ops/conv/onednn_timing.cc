#include "kernels/ops/conv/onednn_timing.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "kernels/ops/onednn_primitive.h"
#include "kernels/tensor/buffer.h"

namespace tinyprof {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLongest{100};
constexpr int kPasses = 6;

// What a primitive is given, beside its primitive descriptor.
std::vector<std::pair<int, onednn::Desc>> OperandsOf(
    const dnnl::convolution_forward::primitive_desc& way) {
  std::vector<std::pair<int, onednn::Desc>> operands = {
      {DNNL_ARG_SRC, way.src_desc()},
      {DNNL_ARG_WEIGHTS, way.weights_desc()},
      {DNNL_ARG_DST, way.dst_desc()},
      {DNNL_ARG_SCRATCHPAD, way.scratchpad_desc()}};
  if (way.bias_desc().get_size() > 0) operands.emplace_back(DNNL_ARG_BIAS, way.bias_desc());
  const dnnl::post_ops operations = way.get_primitive_attr().get_post_ops();
  for (int i = 0; i < operations.len(); ++i) {
    if (operations.kind(i) != dnnl::primitive::kind::binary) continue;
    dnnl::algorithm function{};
    onednn::Desc addend;
    operations.get_params_binary(i, function, addend);
    operands.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1, addend);
  }
  return operands;
}

// The bytes of an operand with the gap to the next one, which begins a cache line.
int64_t Place(const onednn::Desc& operand) {
  constexpr int64_t kLineBytes = 64;
  return (static_cast<int64_t>(operand.get_size()) / kLineBytes + 1) * kLineBytes;
}

int64_t BytesFor(const dnnl::convolution_forward::primitive_desc& way) {
  int64_t bytes = 0;
  for (const auto& [argument, operand] : OperandsOf(way)) bytes += Place(operand);
  return bytes;
}

// A primitive with its operands, from `memory` on.
class Contestant {
 public:
  Contestant(const dnnl::convolution_forward::primitive_desc& way, std::byte* memory)
      : name_(way.impl_info_str()), primitive_(way), stream_(onednn::Engine()) {
    for (const auto& [argument, operand] : OperandsOf(way)) {
      arguments_.emplace(argument, dnnl::memory(operand, onednn::Engine(), memory));
      memory += Place(operand);
    }
  }

  void Pass() {
    const Clock::time_point start = Clock::now();
    primitive_.execute(stream_, arguments_);
    stream_.wait();
    fastest_ = std::min(fastest_, Clock::now() - start);
  }
  const std::string& name() const { return name_; }
  Clock::duration fastest() const { return fastest_; }

 private:
  std::string name_;
  dnnl::convolution_forward primitive_;
  dnnl::stream stream_;
  std::unordered_map<int, dnnl::memory> arguments_;
  Clock::duration fastest_ = Clock::duration::max();
};

bool IsAhead(const Contestant& first, const Contestant& second) {
  return first.fastest() < second.fastest();
}

// The slowest pass with which a way may still turn out to be the fastest.
Clock::duration LimitOf(const std::vector<Contestant>& contestants) {
  const Clock::duration fastest =
      std::min_element(contestants.begin(), contestants.end(), IsAhead)->fastest();
  return fastest + fastest / 4;
}

}  // namespace

std::vector<std::string> FastestFirst(
    const std::vector<dnnl::convolution_forward::primitive_desc>& ways) {
  int64_t bytes = 0;
  for (const auto& way : ways) bytes += BytesFor(way);
  Result<Buffer> memory = Buffer::Create(bytes);
  if (!memory) throw dnnl::error(dnnl_out_of_memory, "no memory to time convolutions with");
  std::memset(memory->data(), 0, static_cast<size_t>(bytes));
  // Each has memory of its own, so that the others' passes push it out of the nearer caches, as a
  // network's other layers do.
  std::vector<Contestant> contestants;
  std::byte* next = memory->data();
  for (const auto& way : ways) {
    contestants.emplace_back(way, next);
    next += BytesFor(way);
  }
  const Clock::time_point end = Clock::now() + kLongest;
  for (int pass = 0; pass < kPasses && (pass < 2 || Clock::now() < end); ++pass) {
    // The first passes have to pay for what is done once.
    const Clock::duration limit = pass < 2 ? Clock::duration::max() : LimitOf(contestants);
    for (Contestant& contestant : contestants) {
      if (contestant.fastest() <= limit) contestant.Pass();
    }
  }
  std::stable_sort(contestants.begin(), contestants.end(), IsAhead);
  std::vector<std::string> names;
  for (const Contestant& contestant : contestants) names.push_back(contestant.name());
  return names;
}

std::vector<std::string> AskedOnce(const std::string& key,
                                   const std::function<std::vector<std::string>()>& ask) {
  static std::mutex mutex;
  static std::map<std::string, std::vector<std::string>> answers;
  const std::lock_guard lock(mutex);
  const auto known = answers.find(key);
  if (known != answers.end()) return known->second;
  std::vector<std::string> answer = ask();
  answers.emplace(key, answer);
  return answer;
}

}  // namespace tinyprof
