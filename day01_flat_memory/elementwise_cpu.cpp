// The CPU references. Each has a kernel with the same body in elementwise_cuda.cu.
#include "day01_flat_memory/elementwise.hpp"

#include <cmath>
#include <cstdint>

namespace sixdays::day01_flat_memory {

// --- loops ---------------------------------------------------------------------------------------
namespace {

void square_loop(const float* in, std::int64_t n, float* out) {
    for (std::int64_t i = 0; i < n; ++i) {
        out[i] = in[i] * in[i];
    }
}

void scale_loop(float alpha, const float* in, std::int64_t n, float* out) {
    for (std::int64_t i = 0; i < n; ++i) {
        out[i] = alpha * in[i];
    }
}

void saxpy_loop(float alpha, const float* x, const float* y, std::int64_t n, float* out) {
    for (std::int64_t i = 0; i < n; ++i) {
        // By default nvcc fuses alpha * x + y into one rounding, and this loop would round twice.
        // Both call fma explicitly, so that they agree to the last bit.
        out[i] = std::fma(alpha, x[i], y[i]);
    }
}

// [add]
void add_loop(const float* a, const float* b, std::int64_t n, float* out) {
    for (std::int64_t i = 0; i < n; ++i) {
        out[i] = a[i] + b[i];
    }
}
// [add]

void invert_loop(const std::uint8_t* in, std::int64_t n, std::uint8_t* out) {
    for (std::int64_t i = 0; i < n; ++i) {
        out[i] = static_cast<std::uint8_t>(255 - in[i]);
    }
}

}  // namespace

// --- public functions ----------------------------------------------------------------------------

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

}  // namespace sixdays::day01_flat_memory
