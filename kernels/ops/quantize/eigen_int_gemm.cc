#include "kernels/ops/quantize/eigen_int_gemm.h"

#include <array>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

constexpr int kBytes = kIntLanes * static_cast<int>(sizeof(int32_t));
// Unsigned, since sums wrap around.
using Vector = uint32_t __attribute__((vector_size(kBytes)));

// How a lane gets both products of its pairs added.
enum class Way {
  kGeneric,
  kDot,  // one instruction for it all, which not every CPU of the ISA has
};

template <Way way>
inline Vector AddProducts(Vector sum, Vector a, Vector b) {
#if defined(__AVX512BW__)
  if constexpr (way == Way::kDot) {
    asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
  }
  return sum + reinterpret_cast<Vector>(
                   _mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return sum + reinterpret_cast<Vector>(
                   _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return sum + reinterpret_cast<Vector>(
                   _mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  using Signed = int32_t __attribute__((vector_size(kBytes)));
  constexpr int kHalf = 16;
  const auto even = [](Vector v) { return reinterpret_cast<Signed>(v << kHalf) >> kHalf; };
  const auto odd = [](Vector v) { return reinterpret_cast<Signed>(v) >> kHalf; };
  return sum + reinterpret_cast<Vector>(even(a) * even(b)) +
         reinterpret_cast<Vector>(odd(a) * odd(b));
#endif
}

inline Vector Load(const void* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}

// One pair of the left operand in all lanes.
inline Vector Repeated(const int16_t* pair) {
  uint32_t both;
  std::memcpy(&both, pair, sizeof(both));
  return Vector{} + both;
}

template <Way way, int kRows, int kVectors>
void Multiply(int64_t pairs, const int16_t* left, const int16_t* right, int32_t* sums) {
  Vector tile[kRows][kVectors] = {};
  for (int64_t p = 0; p < pairs; ++p) {
    Vector b[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) b[v] = Load(right + v * 2 * kIntLanes);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const Vector a = Repeated(left + 2 * i);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) tile[i][v] = AddProducts<way>(tile[i][v], a, b[v]);
    }
    left += 2 * kRows;
    right += 2 * kVectors * kIntLanes;
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      std::memcpy(sums + i * kIntPanelColumns + v * kIntLanes, &tile[i][v], sizeof(Vector));
    }
  }
}

using MultiplyFn = void (*)(int64_t pairs, const int16_t* left, const int16_t* right,
                            int32_t* sums);

// The loops by rows less one and vectors less one.
template <Way way, size_t... index>
constexpr std::array<MultiplyFn, sizeof...(index)> Loops(std::index_sequence<index...>) {
  return {&Multiply<way, static_cast<int>(index) / kIntPanelVectors + 1,
                    static_cast<int>(index) % kIntPanelVectors + 1>...};
}
constexpr auto kIndices =
    std::make_index_sequence<static_cast<size_t>(kIntPanelRows) * kIntPanelVectors>();
constexpr auto kGenericLoops = Loops<Way::kGeneric>(kIndices);

const MultiplyFn* LoopsOfThisCpu() {
#if defined(__AVX512BW__)
  static constexpr auto kDotLoops = Loops<Way::kDot>(kIndices);
  if (__builtin_cpu_supports("avx512vnni") != 0) return kDotLoops.data();
#endif
  return kGenericLoops.data();
}

}  // namespace

void MultiplyIntPanels(int64_t rows, int64_t columns, int64_t k, const int16_t* left,
                       const int16_t* right, int32_t* sums) {
  static const MultiplyFn* const loops = LoopsOfThisCpu();
  const int64_t vectors = IntColumns(columns) / kIntLanes;
  loops[(rows - 1) * kIntPanelVectors + vectors - 1](IntPairs(k), left, right, sums);
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
