#include "kernels/base/cpu_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

namespace tinyprof {
namespace {

constexpr int kMaxCpu = 4095;

std::optional<int> ToCpu(std::string_view text) {
  int cpu = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, cpu);
  if (text.empty() || error != std::errc{} || stop != end || cpu < 0 || cpu > kMaxCpu) {
    return std::nullopt;
  }
  return cpu;
}

}  // namespace

Result<std::vector<int>> ParseCpuList(std::string_view text) {
  std::vector<int> cpus;
  std::string_view rest = text;
  while (true) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view range = rest.substr(0, comma);
    const size_t dash = range.find('-');
    const std::optional<int> first = ToCpu(range.substr(0, dash));
    const std::optional<int> last =
        dash == std::string_view::npos ? first : ToCpu(range.substr(dash + 1));
    if (!first || !last || *last < *first || (!cpus.empty() && *first <= cpus.back())) {
      return Fail(ErrorCode::kInvalidArgument, "BAD_CPU_LIST",
                  fmt::format("\"{}\" is no list of CPUs: want ascending numbers and ranges such "
                              "as 0-2,5",
                              text),
                  {{"got", std::string(text)}});
    }
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    if (comma == rest.size()) return cpus;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace tinyprof
