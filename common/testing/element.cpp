#include "common/testing/element.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace sixdays::testing {
namespace {

template <class T>
T load(const std::byte* element) {
    T x;
    std::memcpy(&x, element, sizeof x);
    return x;
}

std::int64_t signed_value(int bytes, const std::byte* element) {
    switch (bytes) {
        case 1:
            return load<std::int8_t>(element);
        case 2:
            return load<std::int16_t>(element);
        case 4:
            return load<std::int32_t>(element);
        default:
            return load<std::int64_t>(element);
    }
}

std::uint64_t unsigned_value(int bytes, const std::byte* element) {
    switch (bytes) {
        case 1:
            return load<std::uint8_t>(element);
        case 2:
            return load<std::uint16_t>(element);
        case 4:
            return load<std::uint32_t>(element);
        default:
            return load<std::uint64_t>(element);
    }
}

// Bytes as one hexadecimal number, the most significant first (the machine is little-endian).
std::string hex(const std::byte* element, int bytes) {
    std::string text = "0x";
    for (int b = bytes - 1; b >= 0; --b) {
        char two[3];
        std::snprintf(two, sizeof two, "%02x", std::to_integer<unsigned>(element[b]));
        text += two;
    }
    return text;
}

// Parses a printed number in the type that it was printed from.
double read_back(ElementType type, const char* text) {
    const float x = std::strtof(text, nullptr);
    if (type.kind == Kind::bfloat) return static_cast<float>(bf16(x));
    if (type.kind == Kind::half) return static_cast<float>(f16(x));
    return type.bytes == 4 ? x : std::strtod(text, nullptr);
}

}  // namespace

double value_of(ElementType type, const std::byte* element) {
    switch (type.kind) {
        case Kind::floating:
            return type.bytes == 4 ? load<float>(element) : load<double>(element);
        case Kind::bfloat:
            return static_cast<float>(load<bf16>(element));
        case Kind::half:
            return static_cast<float>(load<f16>(element));
        case Kind::signed_integer:
            return static_cast<double>(signed_value(type.bytes, element));
        case Kind::unsigned_integer:
            return static_cast<double>(unsigned_value(type.bytes, element));
        case Kind::raw:
            break;
    }
    return std::numeric_limits<double>::quiet_NaN();
}

std::string text_of(ElementType type, const std::byte* element) {
    switch (type.kind) {
        case Kind::signed_integer:
            return std::to_string(signed_value(type.bytes, element));
        case Kind::unsigned_integer:
            return std::to_string(unsigned_value(type.bytes, element));
        case Kind::raw:
            return hex(element, type.bytes);
        default:
            break;
    }
    const double x = value_of(type, element);
    if (std::isnan(x)) return "nan (" + hex(element, type.bytes) + ")";
    char text[40] = "";
    if (std::fabs(x) < 1e15 && x == std::trunc(x)) {
        std::snprintf(text, sizeof text, "%.0f", x);
        return text;
    }
    for (int digits = 1; digits <= 17; ++digits) {
        std::snprintf(text, sizeof text, "%.*g", digits, x);
        if (read_back(type, text) == x) break;
    }
    return text;
}

bool same_bytes(const std::byte* a, const std::byte* b, int bytes) {
    switch (bytes) {  // the common sizes without a call: this runs once per element
        case 1:
            return *a == *b;
        case 2:
            return load<std::uint16_t>(a) == load<std::uint16_t>(b);
        case 4:
            return load<std::uint32_t>(a) == load<std::uint32_t>(b);
        case 8:
            return load<std::uint64_t>(a) == load<std::uint64_t>(b);
        default:
            return std::memcmp(a, b, static_cast<std::size_t>(bytes)) == 0;
    }
}

}  // namespace sixdays::testing
