// The CPU reference. A row begins `pitch` elements after the previous one, whatever its width.
#include <cstdint>

#include "day02_strides/pitched.hpp"

namespace sixdays::day02_strides {
namespace {

void pitched_loop(const float* in, std::int64_t in_pitch, std::int64_t M, std::int64_t K,
                  float* out, std::int64_t out_pitch) {
    for (std::int64_t m = 0; m < M; ++m) {
        for (std::int64_t k = 0; k < K; ++k) {
            out[m * out_pitch + k] = in[m * in_pitch + k];
        }
    }
}

}  // namespace

void pitched_cpu(View<const float> in, View<float> out) {
    check_pitched(in, out);
    if (out.size() == 0) return;
    pitched_loop(in.data, in.stride(0), out.extent(0), out.extent(1), out.data, out.stride(0));
}

}  // namespace sixdays::day02_strides
