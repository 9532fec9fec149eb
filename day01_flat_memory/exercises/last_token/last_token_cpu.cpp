#include "common/tensor/arguments.hpp"
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

void check_last_token(const View<const float>& in, const View<float>& out) {
    const char* const op = "last_token";
    require_rank(op, "in", in, 3);
    if (in.extent(1) < 1) {
        refuse("last_token: in has shape " + to_string(in.layout.shape) +
               ", and of 0 tokens none is the last");
    }
    const Shape wanted{in.extent(0), in.extent(2)};
    if (out.layout.shape != wanted) {
        refuse("last_token: out has shape " + to_string(out.layout.shape) +
               ", but for in of shape " + to_string(in.layout.shape) + " it must be " +
               to_string(wanted));
    }
    require_contiguous(op, "in", in);
    require_contiguous(op, "out", out);
    require_memory(op, "in", in);
    require_memory(op, "out", out);
    if (overlap(in, out)) refuse("last_token: in and out overlap");
}

}  // namespace sixdays::day01_flat_memory
