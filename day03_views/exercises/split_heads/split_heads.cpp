#include "day03_views/exercises/split_heads/split_heads.hpp"
#include "common/tensor/arguments.hpp"

namespace sixdays::day03_views {

void check_split_heads(const View<const float>& in, const View<float>& out) {
    const char* const op = "split_heads";
    require_rank(op, "in", in, 3);
    require_rank(op, "out", out, 4);
    const Shape& s = out.shape();
    const Shape wanted{s[0], s[2], s[1] * s[3]};
    if (in.shape() != wanted) {
        reject("split_heads: out has shape ", s, ", so in must have shape ", wanted,
               ", but it has shape ", in.shape());
    }
    if (in.extent(2) > 1 && in.stride(2) != 1) {
        reject("split_heads: in has ", in.layout, "; the last dimension must have stride 1");
    }
    require_contiguous(op, "out", out);
    require_memory(op, "in", in);
    require_memory(op, "out", out);
    if (overlap(in, out)) reject("split_heads: in and out overlap");
}

}  // namespace sixdays::day03_views
