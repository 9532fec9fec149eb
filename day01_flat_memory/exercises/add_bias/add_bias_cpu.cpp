#include "day01_flat_memory/exercises/add_bias/add_bias.hpp"
#include "day01_flat_memory/offsets.hpp"

namespace sixdays::day01_flat_memory {
namespace {

void add_bias_loop(const float* in, const float* bias, std::int64_t M, std::int64_t N, float* out) {
    for (std::int64_t m = 0; m < M; ++m) {
        for (std::int64_t n = 0; n < N; ++n) {
            out[offset2(m, n, N)] = in[offset2(m, n, N)] + bias[n];
        }
    }
}

}  // namespace

void add_bias_cpu(View<const float> in, View<const float> bias, View<float> out) {
    check_add_bias(in, bias, out);
    add_bias_loop(in.data, bias.data, out.extent(0), out.extent(1), out.data);
}

}  // namespace sixdays::day01_flat_memory
