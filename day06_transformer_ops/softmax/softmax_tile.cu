// Softmax as a tile kernel: each row of a tile is a row of the matrix. Tiles are powers of two, so
// most rows are padded. The padding is -infinity, because 0 would be the maximum of a row of
// negative numbers. A row longer than a tile is processed in pieces by online softmax.
#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/simplify.hpp"
#include "day06_transformer_ops/row_tiles.hpp"
#include "day06_transformer_ops/softmax/softmax_plan.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

using namespace ct::literals;

constexpr ct::view_padding_negative_inf_t kNothing{};

// [softmax]
template <int ROWS, int N, bool UNIT, class E>
__tile_global__ void softmax_tile(const E* in, std::int64_t rows, std::int64_t length,
                                  std::int64_t step, std::int64_t stride, std::int64_t step_out,
                                  std::int64_t stride_out, E* out) {
    const auto r = ct::bid().x;
    const auto from = tiles<ROWS, N, UNIT>(in, rows, length, step, stride);
    const auto x = ct::element_cast<float>(from.load_masked(kNothing, r, 0));
    const auto e = ct::exp(x - ct::reduce_max(x, 1_ic));
    const auto to = tiles<ROWS, N, UNIT>(out, rows, length, step_out, stride_out);
    to.store_masked(ct::element_cast<E>(e / ct::sum(e, 1_ic)), r, 0);
}
// [softmax]

// [long rows]
template <int N, bool UNIT, class E>
__tile_global__ void softmax_long_tile(const E* in, std::int64_t rows, std::int64_t length,
                                       std::int64_t step, std::int64_t stride,
                                       std::int64_t step_out, std::int64_t stride_out, E* out) {
    const auto r = ct::bid().x;
    const auto from = tiles<1, N, UNIT>(in, rows, length, step, stride);
    const auto to = tiles<1, N, UNIT>(out, rows, length, step_out, stride_out);
    const std::int64_t last = (length + N - 1) / N;
    float m = -INFINITY, sum = 0;
    for (const auto k : ct::irange(std::int64_t{0}, last)) {
        const auto x = ct::element_cast<float>(from.load_masked(kNothing, r, k));
        const float larger = ct::max(m, static_cast<float>(ct::reduce_max(x, 1_ic)));
        const float base = larger == -INFINITY ? 0.0f : larger;  // inf - inf would be NaN
        sum = sum * ct::exp(m - base) + static_cast<float>(ct::sum(ct::exp(x - base), 1_ic));
        m = larger;
    }
    for (const auto k : ct::irange(std::int64_t{0}, last)) {
        const auto x = ct::element_cast<float>(from.load_masked(kNothing, r, k));
        to.store_masked(ct::element_cast<E>(ct::exp(x - m) / sum), r, k);
    }
}
// [long rows]

template <int ROWS, int N, bool UNIT, class T>
void launch(const Rows<const T>& in, const Rows<T>& out, gpu::Stream stream) {
    using E = typename Element<T>::type;
    const auto both = simplify(out.first.layout, in.first.layout);
    const bool single = both[0].rank() == 0;
    const bool fits = in.length <= N;
    const auto kernel = fits ? softmax_tile<ROWS, N, UNIT, E> : softmax_long_tile<N, UNIT, E>;
    const unsigned grid = gpu::blocks_for(in.count(), fits ? ROWS : 1);
    kernel<<<grid, 1, 0, stream>>>(reinterpret_cast<const E*>(in.first.data), in.count(), in.length,
                                   single ? 0 : both[1].stride(0), in.stride,
                                   single ? 0 : both[0].stride(0), out.stride,
                                   reinterpret_cast<E*>(out.first.data));
    gpu::check_launch("softmax_tile", grid, 1);
}

}  // namespace

template <class T>
void launch_softmax_tile(const Rows<const T>& in, const Rows<T>& out, bool unit,
                         gpu::Stream stream) {
    const auto by = [&]<int ROWS, int N>() {
        unit ? launch<ROWS, N, true>(in, out, stream) : launch<ROWS, N, false>(in, out, stream);
    };
    if (in.length <= 256) return by.template operator()<8, 256>();
    if (in.length <= 1024) return by.template operator()<1, 1024>();
    by.template operator()<1, 4096>();
}

template void launch_softmax_tile(const Rows<const float>&, const Rows<float>&, bool, gpu::Stream);
template void launch_softmax_tile(const Rows<const bf16>&, const Rows<bf16>&, bool, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
