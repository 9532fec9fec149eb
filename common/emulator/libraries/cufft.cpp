/// @file
/// cuFFT by definition: out[k] = sum over j of in[j] exp(sign 2 pi i j k / n), without scaling.
#include "cufft.h"

#include <complex>
#include <map>
#include <numbers>
#include <vector>

#include "common/emulator/libraries/device_matrix.hpp"
#include "common/emulator/memory/host_access.hpp"

using namespace sixdays::emulator;  // this file implements the library's API

namespace {

struct Plan {
    int n;
    cufftType type;
    int batch;
};
std::map<cufftHandle, Plan> plans;
using Complex = std::complex<double>;

std::vector<Complex> transformed(const std::vector<Complex>& in, int sign) {
    const std::size_t n = in.size();
    std::vector<Complex> turn(n), out(n);
    for (std::size_t i = 0; i < n; ++i) {
        turn[i] = std::polar(
            1.0, sign * 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
    }
    for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t j = 0; j < n; ++j) out[k] += in[j] * turn[j * k % n];
    }
    return out;
}

/// Runs a batch. n real values have n / 2 + 1 complex ones, since the rest is their mirror image.
template <class In, class Out>
cufftResult run(const char* call, const void* caller, cufftHandle handle, cufftType type, In* in,
                Out* out, int sign) {
    const auto found = plans.find(handle);
    if (found == plans.end() || found->second.type != type) return CUFFT_INVALID_PLAN;
    constexpr bool real_in = sizeof(In) == sizeof(float), real_out = sizeof(Out) == sizeof(float);
    const Plan& plan = found->second;
    const std::int64_t n = plan.n, half = n / 2 + 1;
    const std::int64_t row_in = real_out ? half : n, row_out = real_in ? half : n;
    const DeviceMemoryOpen open;
    if (!may_read(call, {"input", in, sizeof(In), row_in, plan.batch, row_in}, caller) ||
        !may_write(call, {"output", out, sizeof(Out), row_out, plan.batch, row_out}, caller)) {
        return CUFFT_EXEC_FAILED;
    }
    std::vector<Complex> line(static_cast<std::size_t>(n));
    for (std::int64_t b = 0; b < plan.batch; ++b) {
        for (std::int64_t j = 0; j < n; ++j) {
            Complex& to = line[static_cast<std::size_t>(j)];
            if constexpr (real_in) {
                to = in[b * row_in + j];
            } else {
                const In from = in[b * row_in + (j < row_in ? j : n - j)];
                to = {from.x, j < row_in ? from.y : -from.y};
            }
        }
        const std::vector<Complex> result = transformed(line, sign);
        for (std::int64_t k = 0; k < row_out; ++k) {
            const Complex from = result[static_cast<std::size_t>(k)];
            Out& to = out[b * row_out + k];
            if constexpr (real_out) {
                to = static_cast<Out>(from.real());
            } else {
                to.x = static_cast<decltype(to.x)>(from.real());
                to.y = static_cast<decltype(to.y)>(from.imag());
            }
        }
    }
    return CUFFT_SUCCESS;
}

}  // namespace

#define SIXDAYS_HERE __builtin_return_address(0)

extern "C" {

cufftResult cufftPlan1d(cufftHandle* plan, int n, cufftType type, int batch) {
    if (plan == nullptr) return CUFFT_INVALID_VALUE;
    if (n <= 0 || batch <= 0) return CUFFT_INVALID_SIZE;
    if (type == CUFFT_D2Z || type == CUFFT_Z2D) return CUFFT_INVALID_TYPE;
    static cufftHandle last = 0;
    plans[*plan = ++last] = {n, type, batch};
    return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle plan) {
    return plans.erase(plan) == 0 ? CUFFT_INVALID_PLAN : CUFFT_SUCCESS;
}
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t) {
    return plans.count(plan) == 0 ? CUFFT_INVALID_PLAN : CUFFT_SUCCESS;
}
cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
    return run(__func__, SIXDAYS_HERE, plan, CUFFT_C2C, in, out, direction);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out,
                         int direction) {
    return run(__func__, SIXDAYS_HERE, plan, CUFFT_Z2Z, in, out, direction);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) {
    return run(__func__, SIXDAYS_HERE, plan, CUFFT_R2C, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) {
    return run(__func__, SIXDAYS_HERE, plan, CUFFT_C2R, in, out, CUFFT_INVERSE);
}

}  // extern "C"
