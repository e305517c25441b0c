// A scalar that counts the arithmetic done on it.
//
// Running a reference loop on Counted gives the operations that the algorithm really executes,
// which CheckCounts() (op_test_util.h) puts against the analytic cost rule. Has the size and
// representation of a double. The tally belongs to the thread.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace tinyprof {

struct Tally {
  int64_t add = 0;  // and subtract
  int64_t mul = 0;
  int64_t div = 0;
  int64_t sqrt = 0;
  int64_t minmax = 0;
  int64_t compare = 0;
  int64_t transcendental = 0;

  // What the convention gives weight 1: everything but compares.
  int64_t flop_count() const { return add + mul + div + sqrt + minmax + transcendental; }
};

class Counted {
 public:
  Counted() = default;
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr Counted(T value) : value_(static_cast<double>(value)) {}
  constexpr explicit operator double() const { return value_; }
  constexpr explicit operator float() const { return static_cast<float>(value_); }
  constexpr explicit operator int64_t() const { return static_cast<int64_t>(value_); }

  static Tally& tally() {
    thread_local Tally tally;
    return tally;
  }

  Counted& operator+=(Counted b) { return *this = *this + b; }
  Counted& operator-=(Counted b) { return *this = *this - b; }
  Counted& operator*=(Counted b) { return *this = *this * b; }
  Counted& operator/=(Counted b) { return *this = *this / b; }

  friend Counted operator+(Counted a, Counted b) { return Count(&Tally::add, a.value_ + b.value_); }
  friend Counted operator-(Counted a, Counted b) { return Count(&Tally::add, a.value_ - b.value_); }
  friend Counted operator*(Counted a, Counted b) { return Count(&Tally::mul, a.value_ * b.value_); }
  friend Counted operator/(Counted a, Counted b) { return Count(&Tally::div, a.value_ / b.value_); }
  friend Counted operator-(Counted a) { return -a.value_; }
  friend Counted operator+(Counted a) { return a; }

  friend bool operator<(Counted a, Counted b) { return Compare(a.value_ < b.value_); }
  friend bool operator>(Counted a, Counted b) { return Compare(a.value_ > b.value_); }
  friend bool operator<=(Counted a, Counted b) { return Compare(a.value_ <= b.value_); }
  friend bool operator>=(Counted a, Counted b) { return Compare(a.value_ >= b.value_); }
  friend bool operator==(Counted a, Counted b) { return Compare(a.value_ == b.value_); }
  friend bool operator!=(Counted a, Counted b) { return Compare(a.value_ != b.value_); }

  friend Counted Max(Counted a, Counted b) {
    return Count(&Tally::minmax, std::fmax(a.value_, b.value_));
  }
  friend Counted Min(Counted a, Counted b) {
    return Count(&Tally::minmax, std::fmin(a.value_, b.value_));
  }
  friend Counted sqrt(Counted a) { return Count(&Tally::sqrt, std::sqrt(a.value_)); }
  friend Counted exp(Counted a) { return Transcendental(std::exp(a.value_)); }
  friend Counted log(Counted a) { return Transcendental(std::log(a.value_)); }
  friend Counted tanh(Counted a) { return Transcendental(std::tanh(a.value_)); }
  friend Counted erf(Counted a) { return Transcendental(std::erf(a.value_)); }
  friend Counted sin(Counted a) { return Transcendental(std::sin(a.value_)); }
  friend Counted cos(Counted a) { return Transcendental(std::cos(a.value_)); }
  friend Counted tan(Counted a) { return Transcendental(std::tan(a.value_)); }
  friend Counted asin(Counted a) { return Transcendental(std::asin(a.value_)); }
  friend Counted acos(Counted a) { return Transcendental(std::acos(a.value_)); }
  friend Counted atan(Counted a) { return Transcendental(std::atan(a.value_)); }
  friend Counted sinh(Counted a) { return Transcendental(std::sinh(a.value_)); }
  friend Counted cosh(Counted a) { return Transcendental(std::cosh(a.value_)); }
  friend Counted asinh(Counted a) { return Transcendental(std::asinh(a.value_)); }
  friend Counted acosh(Counted a) { return Transcendental(std::acosh(a.value_)); }
  friend Counted atanh(Counted a) { return Transcendental(std::atanh(a.value_)); }
  friend Counted pow(Counted a, Counted b) { return Transcendental(std::pow(a.value_, b.value_)); }
  // Sign changes, rounding and classification are no FLOPs.
  friend Counted abs(Counted a) { return std::fabs(a.value_); }
  friend Counted fabs(Counted a) { return std::fabs(a.value_); }
  friend Counted floor(Counted a) { return std::floor(a.value_); }
  friend Counted ceil(Counted a) { return std::ceil(a.value_); }
  friend Counted nearbyint(Counted a) { return std::nearbyint(a.value_); }
  friend bool isnan(Counted a) { return std::isnan(a.value_); }

 private:
  static Counted Count(int64_t Tally::*kind, double value) {
    ++(tally().*kind);
    return value;
  }
  static Counted Transcendental(double value) { return Count(&Tally::transcendental, value); }
  static bool Compare(bool result) {
    ++tally().compare;
    return result;
  }

  double value_;
};
static_assert(sizeof(Counted) == sizeof(double) && std::is_trivially_copyable_v<Counted>);

}  // namespace tinyprof
