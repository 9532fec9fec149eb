#include "common/tensor/arguments.hpp"
#include "day03_views/exercises/split_heads/split_heads.hpp"

namespace sixdays::day03_views {

void split_heads_cpu(View<const float> in, View<float> out) {
    check_split_heads(in, out);
    const std::int64_t B = out.extent(0), NH = out.extent(1), T = out.extent(2), d = out.extent(3);
    for (std::int64_t b = 0; b < B; ++b) {
        for (std::int64_t h = 0; h < NH; ++h) {
            for (std::int64_t t = 0; t < T; ++t) {
                for (std::int64_t c = 0; c < d; ++c) {
                    out(b, h, t, c) = in(b, t, h * d + c);
                }
            }
        }
    }
}

void check_split_heads(const View<const float>& in, const View<float>& out) {
    const char* const op = "split_heads";
    require_rank(op, "in", in, 3);
    require_rank(op, "out", out, 4);
    const Shape& s = out.layout.shape;
    const Shape wanted{s[0], s[2], s[1] * s[3]};
    if (in.layout.shape != wanted) {
        refuse("split_heads: out has shape " + to_string(s) + ", so in must have " +
               to_string(wanted) + ", but has " + to_string(in.layout.shape));
    }
    if (in.extent(2) > 1 && in.layout.stride(2) != 1) {
        refuse("split_heads: in has " + to_string(in.layout) +
               "; its rows must run along memory, with stride 1 in the last dim");
    }
    require_contiguous(op, "out", out);
    require_memory(op, "in", in);
    require_memory(op, "out", out);
    if (overlap(in, out)) refuse("split_heads: in and out overlap");
}

}  // namespace sixdays::day03_views
