// Cross-entropy as a tile kernel: a block loops over one row, as softmax does over a long one, and
// stores one number. The target's logit is loaded separately: a tile cannot be indexed.
#include "common/gpu/launch.hpp"
#include "common/gpu/strided_tiles.hpp"
#include "day06_transformer_ops/row_tiles.hpp"
#include "day06_transformer_ops/softmax/cross_entropy_tile.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

using namespace ct::literals;
using gpu::I, gpu::strided_tiles, gpu::four;

constexpr ct::view_padding_negative_inf_t kNothing{};

/// Logits (n0, n1, n2, V).
template <int WHOLE, int N, class E>
__tile_global__ void cross_entropy_tile(const E* logits, I n0, I n1, I n2, I V, I x0, I x1, I x2,
                                        I x3, const I* targets, I t0, I t1, I t2, float* out, I o0,
                                        I o1, I o2) {
    const I r = ct::bid().x, c = r % n2, b = r / n2 % n1, a = r / n2 / n1;
    const auto all = strided_tiles<WHOLE, 1, N>(logits, n0, n1, n2, V, x0, x1, x2, x3);
    float m = -INFINITY, sum = 0;
    for (const auto k : ct::irange(I{0}, (V + N - 1) / N)) {
        const auto x = ct::element_cast<float>(all.load_masked(kNothing, a, b, c, k));
        const float larger = ct::max(m, static_cast<float>(ct::reduce_max(x, 3_ic)));
        const float base = larger == -INFINITY ? 0.0f : larger;  // inf - inf would be NaN
        sum = sum * ct::exp(m - base) + static_cast<float>(ct::sum(ct::exp(x - base), 3_ic));
        m = larger;
    }
    const I target = targets[a * t0 + b * t1 + c * t2];
    float surprise = NAN;
    if (0 <= target && target < V) {
        const float x = static_cast<float>(logits[a * x0 + b * x1 + c * x2 + target * x3]);
        surprise = ct::log(sum) - (x - m);
    }
    out[a * o0 + b * o1 + c * o2] = surprise;
}

template <int WHOLE, int N, class T>
void launch(const CrossEntropyPlan<T>& plan, gpu::Stream stream) {
    using E = typename Element<T>::type;
    const auto [rows, of_targets, of_out] = surprised_rows(plan);
    const auto with = [](Dims numbers, I row) {
        numbers[numbers.rank++] = row;
        return numbers;
    };
    const auto n = four(with(rows.shape, plan.logits.length), 1),
               x = four(with(rows.strides, plan.logits.stride), 0),
               t = four(with(of_targets.strides, 0), 0), o = four(with(of_out.strides, 0), 0);
    const unsigned grid = gpu::blocks_for(n[0] * n[1] * n[2], 1);
    cross_entropy_tile<WHOLE, N, E><<<grid, 1, 0, stream>>>(
        reinterpret_cast<const E*>(plan.logits.first.data), n[0], n[1], n[2], n[3], x[0], x[1],
        x[2], x[3], plan.targets.data, t[0], t[1], t[2], plan.out.data, o[0], o[1], o[2]);
    gpu::check_launch("cross_entropy_tile", grid, 1);
}

}  // namespace

template <class T>
void launch_cross_entropy_tile(const CrossEntropyPlan<T>& plan, gpu::Stream stream) {
    constexpr int kWhole = 16 / int{sizeof(T)};
    const auto by = [&]<int N>() {
        can_be_vectors(plan.logits) ? launch<kWhole, N>(plan, stream) : launch<1, N>(plan, stream);
    };
    const I V = plan.logits.length;
    if (V <= 256) return by.template operator()<256>();
    if (V <= 1024) return by.template operator()<1024>();
    by.template operator()<4096>();
}

template void launch_cross_entropy_tile(const CrossEntropyPlan<float>&, gpu::Stream);
template void launch_cross_entropy_tile(const CrossEntropyPlan<bf16>&, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
