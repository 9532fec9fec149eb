// Argmax as a tile kernel: the maximum of a tile, then the lowest index among its equals. Shuffles
// and shared memory, steps 2 to 5 of the ladder, are left to the compiler.
#include "day04_argmax/line_tiles.hpp"
#include "day04_argmax/tiles.hpp"

namespace sixdays::day04_argmax {
namespace {

using namespace ct::literals;

// LEAST: the index of the minimum, found as the index of the maximum of -x.
template <bool LEAST, LineOrder ORDER>
__tile_global__ void argmax_tile(const float* in, I n0, I n1, I length, I s0, I s1, I step, I o0,
                                 I o1, I* out) {
    constexpr int LINES = kLines<ORDER>, N = kElements<ORDER>;
    // [argmax]
    using All = ct::shape<1, LINES, N>;
    using One = ct::shape<1, LINES, 1>;
    constexpr auto kPad = LEAST ? ct::view_padding::positive_inf : ct::view_padding::negative_inf;
    const auto lines = tiles<LINES, N, ORDER>(in, n0, n1, length, s0, s1, step);
    const I across = (n1 + LINES - 1) / LINES, i = ct::bid().x / across, j = ct::bid().x % across;
    const auto numbers = ct::iota<ct::tile<int, All>>() % N;
    const auto beyond = ct::full<ct::tile<int, All>>(N);
    auto best = ct::full<ct::tile<float, One>>(-INFINITY);
    auto where = ct::zeros<ct::tile<I, One>>();
    for (const auto k : ct::irange(I{0}, (length + N - 1) / N)) {
        auto x = lines.load_masked(ct::view_padding_constant<kPad>{}, i, j, k);
        if constexpr (LEAST) x = -x;
        const auto largest = ct::reduce_max(x, 2_ic, ct::propagate_nan_t{});
        const auto equal = x == largest || x != x;  // if `largest` is a NaN, it equals nothing
        const auto lowest = ct::reduce_min(ct::select(equal, numbers, beyond), 2_ic);
        const auto better = largest > best || (largest != largest && best == best);
        best = ct::select(better, largest, best);
        where = ct::select(better, ct::element_cast<I>(lowest) + k * N, where);
    }
    // [argmax]
    store_lines(out, where, i, j * LINES, n1, o0, o1);
}

}  // namespace

void launch_argmax_tile(const Lines& lines, bool least, const View<std::int64_t>& out,
                        gpu::Stream stream) {
    for_each_tiled(lines, out, [&]<LineOrder ORDER>(unsigned grid, auto... arguments) {
        const auto kernel = least ? argmax_tile<true, ORDER> : argmax_tile<false, ORDER>;
        kernel<<<grid, 1, 0, stream>>>(arguments...);
        gpu::check_launch("argmax_tile", grid, 1);
    });
}

}  // namespace sixdays::day04_argmax
