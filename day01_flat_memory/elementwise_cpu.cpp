// The plain loops. Each has a kernel of the same body in elementwise_cuda.cu.
#include "day01_flat_memory/elementwise.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/tensor/arguments.hpp"
#include "day01_flat_memory/steps/steps.hpp"

namespace sixdays::day01_flat_memory {

// --- loops ---------------------------------------------------------------------------------------
namespace {

// [square]
void square_loop(const float* in, std::int64_t n, float* out) {
    for (std::int64_t i = 0; i < n; ++i) {
        out[i] = in[i] * in[i];
    }
}
// [square]

// [scale]
void scale_loop(float alpha, const float* in, std::int64_t n, float* out) {
    for (std::int64_t i = 0; i < n; ++i) {
        out[i] = alpha * in[i];
    }
}
// [scale]

// [saxpy]
void saxpy_loop(float alpha, const float* x, const float* y, std::int64_t n, float* out) {
    for (std::int64_t i = 0; i < n; ++i) {
        // Left alone, nvcc would fuse alpha * x + y into one rounding and this loop would use two.
        // Both say fma, so that they agree to the last bit.
        out[i] = std::fma(alpha, x[i], y[i]);
    }
}
// [saxpy]

// [add]
void add_loop(const float* a, const float* b, std::int64_t n, float* out) {
    for (std::int64_t i = 0; i < n; ++i) {
        out[i] = a[i] + b[i];
    }
}
// [add]

// [invert]
void invert_loop(const std::uint8_t* in, std::int64_t n, std::uint8_t* out) {
    for (std::int64_t i = 0; i < n; ++i) {
        out[i] = static_cast<std::uint8_t>(255 - in[i]);
    }
}
// [invert]

}  // namespace

void square_cpu(View<const float> in, View<float> out) {
    check_square(in, out);
    square_loop(in.data, out.size(), out.data);
}

void scale_cpu(float alpha, View<const float> in, View<float> out) {
    check_scale(in, out);
    scale_loop(alpha, in.data, out.size(), out.data);
}

void saxpy_cpu(float alpha, View<const float> x, View<const float> y, View<float> out) {
    check_saxpy(x, y, out);
    saxpy_loop(alpha, x.data, y.data, out.size(), out.data);
}

void add_cpu(View<const float> a, View<const float> b, View<float> out) {
    check_add(a, b, out);
    add_loop(a.data, b.data, out.size(), out.data);
}

void invert_cpu(View<const std::uint8_t> in, View<std::uint8_t> out) {
    check_invert(in, out);
    invert_loop(in.data, out.size(), out.data);
}

// --- what loop and port refuse, in the same words ------------------------------------------------
namespace {

template <class T>
void check_input(const char* op, const char* name, const View<const T>& in, const View<T>& out) {
    require_same_shape(op, name, in, "out", out);
    require_contiguous(op, name, in);
    require_memory(op, name, in);
    require_same_or_apart(op, name, in, "out", out);
}

template <class T>
void check_output(const char* op, const View<T>& out) {
    require_contiguous(op, "out", out);
    require_memory(op, "out", out);
}

}  // namespace

void check_square(const View<const float>& in, const View<float>& out) {
    check_output("square", out);
    check_input("square", "in", in, out);
}

void check_scale(const View<const float>& in, const View<float>& out) {
    check_output("scale", out);
    check_input("scale", "in", in, out);
}

void check_saxpy(const View<const float>& x, const View<const float>& y, const View<float>& out) {
    check_output("saxpy", out);
    check_input("saxpy", "x", x, out);
    check_input("saxpy", "y", y, out);
}

void check_add(const View<const float>& a, const View<const float>& b, const View<float>& out) {
    check_output("add", out);
    check_input("add", "a", a, out);
    check_input("add", "b", b, out);
}

void check_invert(const View<const std::uint8_t>& in, const View<std::uint8_t>& out) {
    check_output("invert", out);
    check_input("invert", "in", in, out);
}

// --- which kernel add_cuda and invert_cuda take --------------------------------------------------
namespace {

std::uintptr_t past_multiple_of_16(const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) % 16;
}

}  // namespace

AddPath choose_add(const View<const float>& a, const View<const float>& b, const View<float>& out) {
    const bool alike = past_multiple_of_16(a.data) == past_multiple_of_16(out.data) &&
                       past_multiple_of_16(b.data) == past_multiple_of_16(out.data);
    return alike ? AddPath::sixteen_bytes : AddPath::any_address;
}

const char* name(AddPath path) {
    return path == AddPath::sixteen_bytes ? "16 bytes a load" : "single elements";
}

InvertPath choose_invert(const View<const std::uint8_t>& in, const View<std::uint8_t>& out) {
    const bool alike = past_multiple_of_16(in.data) == past_multiple_of_16(out.data);
    return alike ? InvertPath::sixteen_bytes : InvertPath::single_bytes;
}

const char* name(InvertPath path) {
    return path == InvertPath::sixteen_bytes ? "16 bytes a load" : "single bytes";
}

std::int64_t head_before_16(const View<const float>& a, const View<const float>& b,
                            const View<float>& out) {
    if (choose_add(a, b, out) != AddPath::sixteen_bytes) {
        refuse("add: 16-byte loads need a, b and out equally far from a multiple of 16 bytes");
    }
    const std::uintptr_t past = past_multiple_of_16(out.data);  // 0, 4, 8 or 12
    const auto head = static_cast<std::int64_t>((16 - past) % 16 / sizeof(float));
    return std::min(head, out.size());
}

}  // namespace sixdays::day01_flat_memory
