#include "daemon/jobs/run_id.h"

#include <chrono>
#include <random>
#include <string_view>

namespace tinyprof {
namespace {

constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
static_assert(kAlphabet.size() == 32);
constexpr int kTimeCharacters = 9;  // 45 bits of milliseconds last until the year 3084
constexpr int kRandomCharacters = 7;

void AppendBase32(std::string& text, uint64_t value, int characters) {
  for (int i = characters - 1; i >= 0; --i) text += kAlphabet[(value >> (5 * i)) & 31];
}

}  // namespace

std::string MakeRunId(int64_t unix_time_ms, uint64_t random_bits) {
  std::string id;
  AppendBase32(id, static_cast<uint64_t>(unix_time_ms), kTimeCharacters);
  AppendBase32(id, random_bits, kRandomCharacters);
  return id;
}

std::string NewRunId() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::random_device random;
  const uint64_t random_bits = (uint64_t{random()} << 32) | random();
  return MakeRunId(std::chrono::duration_cast<std::chrono::milliseconds>(now).count(), random_bits);
}

}  // namespace tinyprof
