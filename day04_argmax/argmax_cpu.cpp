// The CPU reference: for each output, one loop over its line.
#include "common/tensor/index.hpp"
#include "day04_argmax/argmax.hpp"

namespace sixdays::day04_argmax {
namespace {

// first: where the line of each output begins. Its elements are `stride` apart.
void argmax_loop(View<const float> first, std::int64_t length, std::int64_t stride,
                 View<std::int64_t> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.shape());
        const float* line = &first(at);
        float best = line[0];
        std::int64_t where = 0;
        for (std::int64_t i = 1; i < length; ++i) {
            const float x = line[i * stride];
            if (beats(x, best)) {
                best = x;
                where = i;
            }
        }
        out(at) = where;
    }
}

}  // namespace

void argmax_cpu(View<const float> in, int dim, View<std::int64_t> out) {
    const auto [path, lines, to] = plan_argmax(in, dim, out, {.path = ArgmaxPath::one_thread});
    argmax_loop(lines.first, lines.length(), lines.stride(), to);
}

}  // namespace sixdays::day04_argmax
