// The CPU references.
#include "common/tensor/index.hpp"
#include "day04_argmax/reduce.hpp"

namespace sixdays::day04_argmax {
namespace {

void argmin_loop(View<const float> first, std::int64_t length, std::int64_t stride,
                 View<std::int64_t> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.shape());
        const float* line = &first(at);
        std::int64_t where = 0;
        for (std::int64_t i = 1; i < length; ++i) {
            const float best = line[where * stride];
            if (Smallest::beats(line[i * stride], best)) where = i;
        }
        out(at) = where;
    }
}

// along: the reduced dimensions, one or several. JOIN: Largest, Smallest, Add, Multiply.
template <class JOIN>
void reduce_loop(View<const float> first, const Layout& along, float divisor, View<float> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.shape());
        const std::int64_t begin = offset(first.layout, at);
        float result = JOIN::kStart;
        for (std::int64_t i = 0; i < along.size(); ++i) {
            const Index in_line = unravel(i, along.shape);
            result = JOIN::of(result, first.data[begin + offset(along, in_line)]);
        }
        out(at) = result / divisor;
    }
}

}  // namespace

void argmin_cpu(View<const float> in, int dim, View<std::int64_t> out) {
    const auto [path, lines, to] = plan_argmin(in, dim, out, {.path = ReducePath::one_thread});
    argmin_loop(lines.first, lines.length(), lines.stride(), to);
}

void reduce_cpu(Reduction what, View<const float> in, const Dims& dims, View<float> out) {
    const auto [path, lines, to] =
        plan_reduce(what, in, dims, out, {.path = ReducePath::one_thread});
    const auto n = static_cast<float>(lines.length());
    switch (what) {
        case Reduction::max:
            return reduce_loop<Largest>(lines.first, lines.along, 1, to);
        case Reduction::min:
            return reduce_loop<Smallest>(lines.first, lines.along, 1, to);
        case Reduction::sum:
            return reduce_loop<Add>(lines.first, lines.along, 1, to);
        case Reduction::mean:
            return reduce_loop<Add>(lines.first, lines.along, n, to);
        case Reduction::product:
            return reduce_loop<Multiply>(lines.first, lines.along, 1, to);
    }
}

}  // namespace sixdays::day04_argmax
