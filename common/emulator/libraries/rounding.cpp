/// @file
/// Arithmetic with a rounding of its own: the CPU's rounding mode is changed for one operation.
#include <cfenv>
#include <cmath>

#include "emulated/more_math.h"

namespace sixdays::emulator {

namespace {

// volatile: the operation stays between the two changes of mode.
template <class T>
T in_mode(Operation operation, RoundTo to, T x, T y, T z) {
    volatile T a = x, b = y, c = z;
    constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    const int before = std::fegetround();
    std::fesetround(kModes[static_cast<int>(to)]);
    volatile T result = 0;
    switch (operation) {
        case Operation::add:
            result = a + b;
            break;
        case Operation::sub:
            result = a - b;
            break;
        case Operation::mul:
            result = a * b;
            break;
        case Operation::div:
            result = a / b;
            break;
        case Operation::fma:
            result = std::fma(static_cast<T>(a), static_cast<T>(b), static_cast<T>(c));
            break;
        case Operation::sqrt:
            result = std::sqrt(static_cast<T>(a));
            break;
    }
    std::fesetround(before);
    return result;
}

}  // namespace

float rounded(Operation operation, RoundTo to, float a, float b, float c) noexcept {
    return in_mode<float>(operation, to, a, b, c);
}
double rounded(Operation operation, RoundTo to, double a, double b, double c) noexcept {
    return in_mode<double>(operation, to, a, b, c);
}

}  // namespace sixdays::emulator
