/// @file
/// Arithmetic with explicit rounding: changes the CPU's rounding mode for one operation.
#include <cfenv>
#include <cmath>

#include "emulated/conversions.h"

namespace sixdays::emulator {

namespace {

class Mode {
public:
    explicit Mode(RoundTo to) {
        static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
        std::fesetround(kModes[static_cast<int>(to)]);
    }
    ~Mode() { std::fesetround(before_); }
    Mode(const Mode&) = delete;
    Mode& operator=(const Mode&) = delete;

private:
    const int before_ = std::fegetround();
};

// volatile keeps the operation between the two changes of mode.
template <class T>
T in_mode(Arithmetic operation, RoundTo to, T x, T y, T z) {
    volatile T a = x, b = y, c = z;
    const Mode mode(to);
    volatile T result{};
    switch (operation) {
        case Arithmetic::add:
            result = a + b;
            break;
        case Arithmetic::sub:
            result = a - b;
            break;
        case Arithmetic::mul:
            result = a * b;
            break;
        case Arithmetic::div:
            result = a / b;
            break;
        case Arithmetic::fma:
            result = std::fma(static_cast<T>(a), static_cast<T>(b), static_cast<T>(c));
            break;
        case Arithmetic::sqrt:
            result = std::sqrt(static_cast<T>(a));
            break;
    }
    return result;
}

template <class To, class From>
To converted(RoundTo to, From x) {
    volatile From from = x;
    const Mode mode(to);
    volatile To result = static_cast<To>(from);
    return result;
}

}  // namespace

template <class T>
float rounded_to_float(RoundTo to, T x) noexcept {
    return converted<float>(to, x);
}
template <class T>
double rounded_to_double(RoundTo to, T x) noexcept {
    return converted<double>(to, x);
}
template float rounded_to_float<long long>(RoundTo, long long) noexcept;
template float rounded_to_float<unsigned long long>(RoundTo, unsigned long long) noexcept;
template float rounded_to_float<double>(RoundTo, double) noexcept;
template double rounded_to_double<long long>(RoundTo, long long) noexcept;
template double rounded_to_double<unsigned long long>(RoundTo, unsigned long long) noexcept;

float rounded(Arithmetic operation, RoundTo to, float a, float b, float c) noexcept {
    return in_mode<float>(operation, to, a, b, c);
}
double rounded(Arithmetic operation, RoundTo to, double a, double b, double c) noexcept {
    return in_mode<double>(operation, to, a, b, c);
}

}  // namespace sixdays::emulator
