// The CPU references loop over multi-indices; each tensor computes its offset from its own strides.
#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/broadcast.hpp"
#include "day03_views/copy.hpp"

namespace sixdays::day03_views {
namespace {

// a and b are already broadcast to out's shape; where they repeat, the stride is 0.
void add_broadcast_loop(View<const float> a, View<const float> b, View<float> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.shape());
        out(at) = a(at) + b(at);
    }
}

void where_loop(View<const std::uint8_t> mask, View<const float> a, View<const float> b,
                View<float> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.shape());
        out(at) = mask(at) != 0 ? a(at) : b(at);
    }
}

void pad_loop(View<const float> in, const Dims& before, float value, View<float> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.shape());
        Index from = at;
        bool inside = true;
        for (int d = 0; d < in.rank(); ++d) {
            from[d] = at[d] - before[d];
            inside = inside && 0 <= from[d] && from[d] < in.extent(d);
        }
        out(at) = inside ? in(from) : value;
    }
}

}  // namespace

void add_broadcast_cpu(View<const float> a, View<const float> b, View<float> out) {
    check_add_broadcast(a, b, out);
    const Shape& shape = out.shape();
    add_broadcast_loop(broadcast_to(a, shape), broadcast_to(b, shape), out);
}

void where_cpu(View<const std::uint8_t> mask, View<const float> a, View<const float> b,
               View<float> out) {
    check_where(mask, a, b, out);
    const Shape& shape = out.shape();
    where_loop(broadcast_to(mask, shape), broadcast_to(a, shape), broadcast_to(b, shape), out);
}

void pad_cpu(View<const float> in, const Dims& before, float value, View<float> out) {
    check_pad(in, before, out);
    pad_loop(in, before, value, out);
}

void concat_cpu(const std::vector<View<const float>>& pieces, int dim, View<float> out) {
    check_concat(pieces, dim, out);
    const int d = checked_dim("concat", dim, out.rank());
    std::int64_t begin = 0;
    for (const View<const float>& piece : pieces) {
        const std::int64_t end = begin + piece.extent(d);
        copy_cpu(piece, slice(out, d, begin, end));
        begin = end;
    }
}

}  // namespace sixdays::day03_views
