#include "kernels/zoo/layer_syntax.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/zoo/text.h"

namespace tinyprof {
namespace {

struct Token {
  enum class Kind { kName, kNumber, kString, kPunctuation, kEnd };
  Kind kind = Kind::kEnd;
  std::string_view text;  // a string without its quotes
  size_t position = 0;
};

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsPunctuation(char c) { return std::string_view("();,=[]").find(c) != std::string_view::npos; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<LayerCall>> ParseList() {
    TINYPROF_RETURN_IF_ERROR(Advance());
    std::vector<LayerCall> layers;
    while (true) {
      TINYPROF_ASSIGN_OR_RETURN(LayerCall layer, ParseLayer());
      if (layers.size() == kMaxLayers) {
        return ErrorAt(layer.position, fmt::format("more than {} layers", kMaxLayers));
      }
      layers.push_back(std::move(layer));
      if (token_.kind == Token::Kind::kEnd) return layers;
      TINYPROF_RETURN_IF_ERROR(Expect(";", "';' or the end after a layer"));
      if (token_.kind == Token::Kind::kEnd) return layers;
    }
  }

 private:
  Result<LayerCall> ParseLayer() {
    LayerCall layer;
    layer.position = token_.position;
    if (token_.kind != Token::Kind::kName) return Unexpected("the name of a layer");
    layer.name = Lower(token_.text);
    size_t end = token_.position + token_.text.size();
    TINYPROF_RETURN_IF_ERROR(Advance());
    if (Is("(")) {
      TINYPROF_RETURN_IF_ERROR(Advance());
      TINYPROF_RETURN_IF_ERROR(ParseArguments(layer.arguments));
      end = token_.position + 1;
      TINYPROF_RETURN_IF_ERROR(Expect(")", "',' or ')' after an argument"));
    }
    layer.text = text_.substr(layer.position, end - layer.position);
    return layer;
  }

  Status ParseArguments(std::vector<Argument>& arguments) {
    if (Is(")")) return {};
    while (true) {
      TINYPROF_ASSIGN_OR_RETURN(Argument argument, ParseArgument());
      arguments.push_back(std::move(argument));
      if (!Is(",")) return {};
      TINYPROF_RETURN_IF_ERROR(Advance());
    }
  }

  Result<Argument> ParseArgument() {
    Argument argument;
    argument.position = token_.position;
    TINYPROF_ASSIGN_OR_RETURN(argument.value, ParseValue());
    if (!Is("=")) return argument;
    if (argument.value.kind != ArgumentValue::Kind::kWord) return Unexpected("',' or ')'");
    argument.name = Lower(argument.value.text);
    TINYPROF_RETURN_IF_ERROR(Advance());
    TINYPROF_ASSIGN_OR_RETURN(argument.value, ParseValue());
    return argument;
  }

  Result<ArgumentValue> ParseValue() {
    ArgumentValue value;
    value.position = token_.position;
    if (Is("(") || Is("[")) {
      const std::string_view close = Is("(") ? ")" : "]";
      value.kind = ArgumentValue::Kind::kList;
      TINYPROF_RETURN_IF_ERROR(ParseNumbers(close, value.numbers));
      return value;
    }
    if (token_.kind == Token::Kind::kNumber) {
      value.kind = ArgumentValue::Kind::kNumber;
    } else if (token_.kind != Token::Kind::kName && token_.kind != Token::Kind::kString) {
      return Unexpected("a value");
    }
    value.text = token_.text;
    TINYPROF_RETURN_IF_ERROR(Advance());
    return value;
  }

  // Numbers between the bracket at hand and `close`.
  Status ParseNumbers(std::string_view close, std::vector<std::string>& numbers) {
    TINYPROF_RETURN_IF_ERROR(Advance());
    while (!Is(close)) {
      if (token_.kind != Token::Kind::kNumber) return Unexpected("a number");
      if (numbers.size() == kMaxListValues) {
        return ErrorAt(token_.position, fmt::format("more than {} numbers", kMaxListValues));
      }
      numbers.emplace_back(token_.text);
      TINYPROF_RETURN_IF_ERROR(Advance());
      if (Is(close)) break;
      TINYPROF_RETURN_IF_ERROR(Expect(",", fmt::format("',' or '{}'", close)));
    }
    return Advance();
  }

  bool Is(std::string_view punctuation) const {
    return token_.kind == Token::Kind::kPunctuation && token_.text == punctuation;
  }

  Status Expect(std::string_view punctuation, std::string_view wanted) {
    if (!Is(punctuation)) return Unexpected(wanted);
    return Advance();
  }

  tl::unexpected<Error> ErrorAt(size_t position, std::string_view message) const {
    return tl::unexpected<Error>(LayerListError(text_, position, message));
  }
  tl::unexpected<Error> Unexpected(std::string_view wanted) const {
    const std::string got = token_.kind == Token::Kind::kEnd
                                ? "the end"
                                : fmt::format("'{}'", token_.text.substr(0, 40));
    return ErrorAt(token_.position, fmt::format("got {}, wanted {}", got, wanted));
  }

  // Reads the next token.
  Status Advance() {
    while (next_ < text_.size() && IsSpace(text_[next_])) ++next_;
    token_ = {.kind = Token::Kind::kEnd, .text = {}, .position = next_};
    if (next_ == text_.size()) return {};
    const char c = text_[next_];
    if (c == '\'' || c == '"') return ReadString(c);
    if (IsPunctuation(c)) {
      Take(Token::Kind::kPunctuation, next_ + 1);
    } else if (IsLetter(c)) {
      Take(Token::Kind::kName, EndOfRun([](char d) { return IsLetter(d) || IsDigit(d); }));
    } else if (IsDigit(c) || c == '-' || c == '+' || c == '.') {
      Take(Token::Kind::kNumber, EndOfRun([](char d) {
             return IsLetter(d) || IsDigit(d) || d == '-' || d == '+' || d == '.';
           }));
    } else {
      return ErrorAt(next_, "this character has no meaning in a layer list");
    }
    return {};
  }

  Status ReadString(char quote) {
    const size_t end = text_.find(quote, next_ + 1);
    if (end == std::string_view::npos) return ErrorAt(next_, "this quote is never closed");
    token_.kind = Token::Kind::kString;
    token_.text = text_.substr(next_ + 1, end - next_ - 1);
    next_ = end + 1;
    return {};
  }

  template <class Predicate>
  size_t EndOfRun(Predicate belongs) const {
    size_t end = next_;
    while (end < text_.size() && belongs(text_[end])) ++end;
    return end;
  }
  void Take(Token::Kind kind, size_t end) {
    token_ = {.kind = kind, .text = text_.substr(next_, end - next_), .position = next_};
    next_ = end;
  }

  std::string_view text_;
  size_t next_ = 0;
  Token token_;
};

}  // namespace

Error LayerListError(std::string_view text, size_t position, std::string_view message) {
  constexpr size_t kBefore = 40;
  constexpr size_t kAfter = 30;
  const size_t begin = position > kBefore ? position - kBefore : 0;
  std::string excerpt(text.substr(begin, position - begin + kAfter));
  // Anything but plain characters would move the caret or reach the terminal.
  std::replace_if(
      excerpt.begin(), excerpt.end(), [](char c) { return c < ' ' || c > '~'; }, ' ');
  return {ErrorCode::kInvalidArgument,
          "BAD_LAYER_LIST",
          fmt::format("layer list, character {}: {}\n  {}\n  {:>{}}", position + 1, message,
                      excerpt, '^', position - begin + 1),
          {{"position", std::to_string(position + 1)}, {"detail", std::string(message)}}};
}

Result<std::vector<LayerCall>> ParseLayerList(std::string_view text) {
  if (text.size() > kMaxLayerListBytes) {
    return Fail(ErrorCode::kInvalidArgument, "BAD_LAYER_LIST",
                fmt::format("the layer list has {} bytes, at most {} are taken", text.size(),
                            kMaxLayerListBytes));
  }
  return Parser(text).ParseList();
}

}  // namespace tinyprof
