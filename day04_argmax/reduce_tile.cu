// The other reductions as tile kernels. Padding past the end of a line must be neutral: -infinity
// for a maximum, 0 for a sum. A product needs 1, which no padding mode provides, so it is selected
// after the load.
#include "day04_argmax/line_tiles.hpp"
#include "day04_argmax/tiles.hpp"

namespace sixdays::day04_argmax {
namespace {

using namespace ct::literals;

// LEAST: the minimum, as the maximum of -x. propagate_nan keeps a NaN; by default a number would
// win.
template <bool LEAST, LineOrder ORDER>
__tile_global__ void largest_tile(const float* in, I n0, I n1, I length, I s0, I s1, I step, I o0,
                                  I o1, float* out) {
    constexpr int LINES = kLines<ORDER>, N = kElements<ORDER>;
    constexpr auto kPad = LEAST ? ct::view_padding::positive_inf : ct::view_padding::negative_inf;
    const auto lines = tiles<LINES, N, ORDER>(in, n0, n1, length, s0, s1, step);
    const I across = (n1 + LINES - 1) / LINES, i = ct::bid().x / across, j = ct::bid().x % across;
    auto best = ct::full<ct::tile<float, ct::shape<1, LINES, 1>>>(-INFINITY);
    for (const auto k : ct::irange(I{0}, (length + N - 1) / N)) {
        auto x = lines.load_masked(ct::view_padding_constant<kPad>{}, i, j, k);
        if constexpr (LEAST) x = -x;
        const auto largest = ct::reduce_max(x, 2_ic, ct::propagate_nan_t{});
        best = ct::max(best, largest, ct::propagate_nan_t{});
    }
    if constexpr (LEAST) best = -best;
    store_lines(out, best, i, j * LINES, n1, o0, o1);
}

template <LineOrder ORDER>
__tile_global__ void sum_tile(const float* in, I n0, I n1, I length, I s0, I s1, I step, I o0, I o1,
                              float* out, float divisor) {
    constexpr int LINES = kLines<ORDER>, N = kElements<ORDER>;
    const auto lines = tiles<LINES, N, ORDER>(in, n0, n1, length, s0, s1, step);
    const I across = (n1 + LINES - 1) / LINES, i = ct::bid().x / across, j = ct::bid().x % across;
    auto sum = ct::zeros<ct::tile<float, ct::shape<1, LINES, 1>>>();
    for (const auto k : ct::irange(I{0}, (length + N - 1) / N)) {
        sum = sum + ct::sum(lines.load_masked(i, j, k), 2_ic);
    }
    store_lines(out, sum / divisor, i, j * LINES, n1, o0, o1);
}

template <LineOrder ORDER>
__tile_global__ void product_tile(const float* in, I n0, I n1, I length, I s0, I s1, I step, I o0,
                                  I o1, float* out) {
    constexpr int LINES = kLines<ORDER>, N = kElements<ORDER>;
    using All = ct::shape<1, LINES, N>;
    const auto lines = tiles<LINES, N, ORDER>(in, n0, n1, length, s0, s1, step);
    const I across = (n1 + LINES - 1) / LINES, i = ct::bid().x / across, j = ct::bid().x % across;
    const auto numbers = ct::iota<ct::tile<I, All>>() % I{N};
    const auto ones = ct::ones<ct::tile<float, All>>();
    auto product = ct::ones<ct::tile<float, ct::shape<1, LINES, 1>>>();
    for (const auto k : ct::irange(I{0}, (length + N - 1) / N)) {
        const auto x = lines.load_masked(i, j, k);
        product = product * ct::prod(ct::select(numbers < length - k * N, x, ones), 2_ic);
    }
    store_lines(out, product, i, j * LINES, n1, o0, o1);
}

}  // namespace

void launch_reduce_tile(Reduction what, const Lines& lines, const View<float>& out,
                        gpu::Stream stream) {
    const float divisor = what == Reduction::mean ? static_cast<float>(lines.length()) : 1;
    for_each_tiled(lines, out, [&]<LineOrder ORDER>(unsigned grid, auto... arguments) {
        switch (what) {
            case Reduction::max:
                largest_tile<false, ORDER><<<grid, 1, 0, stream>>>(arguments...);
                break;
            case Reduction::min:
                largest_tile<true, ORDER><<<grid, 1, 0, stream>>>(arguments...);
                break;
            case Reduction::sum:
            case Reduction::mean:
                sum_tile<ORDER><<<grid, 1, 0, stream>>>(arguments..., divisor);
                break;
            case Reduction::product:
                product_tile<ORDER><<<grid, 1, 0, stream>>>(arguments...);
                break;
        }
        gpu::check_launch("reduce_tile", grid, 1);
    });
}

}  // namespace sixdays::day04_argmax
