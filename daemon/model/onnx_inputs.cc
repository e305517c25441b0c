#include "daemon/model/onnx_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "onnx/onnx.pb.h"

namespace tinyprof {
namespace {

struct Declared {
  std::string name;
  DType dtype = DType::kFloat32;
  bool has_shape = false;
  const onnx::TensorShapeProto* shape = nullptr;
  const InputShape* given = nullptr;
  const TensorData* fixed = nullptr;

  size_t rank() const { return static_cast<size_t>(shape->dim_size()); }
  bool is_free(size_t axis) const {
    const auto& dim = shape->dim(static_cast<int>(axis));
    // Some exporters write 0 or -1 for a size that is not known.
    return !dim.has_dim_value() || dim.dim_value() <= 0;
  }
  int64_t size(size_t axis) const { return shape->dim(static_cast<int>(axis)).dim_value(); }
  const std::string& symbol(size_t axis) const {
    return shape->dim(static_cast<int>(axis)).dim_param();
  }
  // "1x3xHx?".
  std::string ToString() const {
    std::vector<std::string> dims;
    for (size_t i = 0; i < rank(); ++i) {
      if (!is_free(i)) {
        dims.push_back(std::to_string(size(i)));
      } else {
        dims.push_back(symbol(i).empty() ? "?" : symbol(i));
      }
    }
    return dims.empty() ? "scalar" : fmt::format("{}", fmt::join(dims, "x"));
  }
};

tl::unexpected<Error> BadInput(std::string message, const std::string& input) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_INPUT", std::move(message), {{"input", input}});
}

Result<Declared> ReadDeclaration(const onnx::ValueInfoProto& info) {
  if (!info.type().has_tensor_type()) {
    return Fail(ErrorCode::kUnimplemented, "INPUT_NOT_SUPPORTED",
                fmt::format("input '{}' is no tensor", info.name()));
  }
  const auto& tensor = info.type().tensor_type();
  const std::optional<DType> dtype = KeptDType(tensor.elem_type());
  if (!dtype) {
    return Fail(ErrorCode::kUnimplemented, "DTYPE_NOT_SUPPORTED",
                fmt::format("input '{}' has ONNX data type {}, which is not supported", info.name(),
                            tensor.elem_type()));
  }
  return Declared{info.name(), *dtype, tensor.has_shape(), &tensor.shape(), nullptr, nullptr};
}

Result<std::vector<Declared>> ReadDeclarations(const onnx::GraphProto& graph) {
  std::set<std::string> initializers;
  for (const auto& initializer : graph.initializer()) initializers.insert(initializer.name());
  std::vector<Declared> inputs;
  for (const auto& info : graph.input()) {
    if (initializers.contains(info.name())) continue;
    TINYPROF_ASSIGN_OR_RETURN(Declared input, ReadDeclaration(info));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

class Binder {
 public:
  Binder(std::vector<Declared> inputs, const ImportOptions& options)
      : inputs_(std::move(inputs)), options_(options) {}

  Result<std::vector<BoundInput>> Bind() {
    TINYPROF_RETURN_IF_ERROR(MatchFlags());
    TINYPROF_RETURN_IF_ERROR(MatchFixed());
    for (const Declared& input : inputs_) {
      if (input.given != nullptr) TINYPROF_RETURN_IF_ERROR(LearnSymbols(input));
    }
    std::vector<BoundInput> bound;
    for (const Declared& input : inputs_) {
      TINYPROF_ASSIGN_OR_RETURN(BoundInput one, BindOne(input));
      bound.push_back(std::move(one));
    }
    if (options_.batch != 1 && !batch_used_) {
      return Fail(ErrorCode::kInvalidArgument, "BAD_BATCH",
                  fmt::format("batch is {}, but the file fixes the first dimension of every input",
                              options_.batch));
    }
    return bound;
  }

 private:
  static bool IsFixedValue(const Declared& input) {
    return input.given != nullptr && input.has_shape && input.rank() == 0 &&
           input.given->second.size() == 1 &&
           (input.dtype == DType::kInt64 || input.dtype == DType::kInt32);
  }

  // An --input without a name means the first input.
  Status MatchFlags() {
    for (const InputShape& flag : options_.inputs) {
      Declared* match = nullptr;
      std::vector<std::string> names;
      for (Declared& input : inputs_) {
        names.push_back(input.name);
        if (match == nullptr && (flag.first.empty() || flag.first == input.name)) match = &input;
      }
      if (match == nullptr) {
        return BadInput(fmt::format("the model has no input '{}': it has {}", flag.first,
                                    fmt::join(names, ", ")),
                        flag.first);
      }
      if (match->given != nullptr) {
        return BadInput(fmt::format("input '{}' is given twice", match->name), match->name);
      }
      match->given = &flag;
    }
    return {};
  }

  Status MatchFixed() {
    for (const TensorData& tensor : options_.fixed) {
      const auto match = std::find_if(inputs_.begin(), inputs_.end(), [&](const Declared& input) {
        return input.name == tensor.name;
      });
      if (match == inputs_.end()) {
        return BadInput(fmt::format("the model has no input '{}'", tensor.name), tensor.name);
      }
      if (match->dtype != tensor.type.dtype) {
        return BadInput(fmt::format("input '{}' is {}, got {}", match->name, Name(match->dtype),
                                    Name(tensor.type.dtype)),
                        match->name);
      }
      match->fixed = &tensor;
    }
    return {};
  }

  Status LearnSymbols(const Declared& input) {
    if (!input.has_shape || IsFixedValue(input)) return {};
    const std::vector<int64_t>& dims = input.given->second;
    bool fits = dims.size() == input.rank();
    for (size_t i = 0; fits && i < dims.size(); ++i) {
      fits = input.is_free(i) || input.size(i) == dims[i];
    }
    if (!fits) {
      return BadInput(fmt::format("input '{}' is {}, got {}", input.name, input.ToString(),
                                  Shape(dims).ToString()),
                      input.name);
    }
    for (size_t i = 0; i < dims.size(); ++i) {
      if (!input.is_free(i) || input.symbol(i).empty()) continue;
      const auto [found, added] = symbols_.emplace(input.symbol(i), WithBatch(input, i));
      if (!added && found->second != WithBatch(input, i)) {
        return BadInput(fmt::format("dimension '{}' is {} in one --input and {} in another",
                                    input.symbol(i), found->second, WithBatch(input, i)),
                        input.name);
      }
    }
    return {};
  }

  // A given dimension; a first one of 1 gives way to --batch.
  int64_t WithBatch(const Declared& input, size_t axis) const {
    const int64_t dim = input.given->second[axis];
    return axis == 0 && dim == 1 && (!input.has_shape || input.is_free(0)) ? options_.batch : dim;
  }

  Result<BoundInput> BindOne(const Declared& input) {
    BoundInput bound{input.name, {input.dtype, Shape()}, std::nullopt};
    if (IsFixedValue(input)) {
      bound.value = IntegerScalar(input.dtype, input.given->second[0]);
      return bound;
    }
    if (input.fixed != nullptr) {
      bound.type = input.fixed->type;
      bound.value = *input.fixed;
      return bound;
    }
    if (input.given == nullptr && !input.has_shape) {
      return BadInput(fmt::format("the file does not tell the shape of input '{}': pass --input "
                                  "{}=1x3x224x224 or what it takes",
                                  input.name, input.name),
                      input.name);
    }
    std::vector<int64_t> dims;
    const size_t rank = input.given != nullptr ? input.given->second.size() : input.rank();
    for (size_t i = 0; i < rank; ++i) {
      TINYPROF_ASSIGN_OR_RETURN(const int64_t dim, DimOf(input, i));
      if (i == 0 && dim == options_.batch) batch_used_ = true;
      dims.push_back(dim);
    }
    Result<Shape> shape = Shape::Create(std::move(dims));
    if (!shape) {
      return BadInput(fmt::format("input '{}': {}", input.name, shape.error().message), input.name);
    }
    bound.type.shape = *std::move(shape);
    return bound;
  }

  Result<int64_t> DimOf(const Declared& input, size_t axis) {
    if (input.given != nullptr) return WithBatch(input, axis);
    if (!input.is_free(axis)) return input.size(axis);
    const std::string& symbol = input.symbol(axis);
    const auto found = symbols_.find(symbol);
    if (!symbol.empty() && found != symbols_.end()) return found->second;
    if (axis == 0) {
      if (!symbol.empty()) symbols_.emplace(symbol, options_.batch);
      return options_.batch;
    }
    return BadInput(fmt::format("input '{}' is {} with a free dimension: pass --input {}={}",
                                input.name, input.ToString(), input.name, Example(input)),
                    input.name);
  }

  std::string Example(const Declared& input) const {
    std::vector<int64_t> dims;
    for (size_t i = 0; i < input.rank(); ++i) {
      const int64_t filler = i == 0 ? options_.batch : 128;
      dims.push_back(input.is_free(i) ? filler : input.size(i));
    }
    return Shape(std::move(dims)).ToString();
  }

  std::vector<Declared> inputs_;
  const ImportOptions& options_;
  std::map<std::string, int64_t> symbols_;
  bool batch_used_ = false;
};

}  // namespace

Result<std::vector<BoundInput>> BindInputs(const onnx::GraphProto& graph,
                                           const ImportOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(std::vector<Declared> inputs, ReadDeclarations(graph));
  return Binder(std::move(inputs), options).Bind();
}

}  // namespace tinyprof
