#include "day01_flat_memory/exercises/last_token/last_token.hpp"
#include "day01_flat_memory/offsets.hpp"

namespace sixdays::day01_flat_memory {
namespace {

void last_token_loop(const float* in, std::int64_t B, std::int64_t T, std::int64_t C, float* out) {
    for (std::int64_t b = 0; b < B; ++b) {
        const float* token = token_at(in, b, T - 1, T, C);
        for (std::int64_t c = 0; c < C; ++c) {
            out[offset2(b, c, C)] = token[c];
        }
    }
}

}  // namespace

void last_token_cpu(View<const float> in, View<float> out) {
    check_last_token(in, out);
    last_token_loop(in.data, in.extent(0), in.extent(1), in.extent(2), out.data);
}

}  // namespace sixdays::day01_flat_memory
