// The embedding as a tile kernel. The kernel loads an id and uses it as the index of a tile in the
// table, so no tile is gathered element by element.
#include <cmath>

#include "common/gpu/launch.hpp"
#include "common/gpu/strided_tiles.hpp"
#include "day06_transformer_ops/embedding/tile.hpp"
#include "day06_transformer_ops/row_tiles.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

using gpu::I, gpu::strided_tiles, gpu::four, gpu::tiles_of;

// [row of]
/// Tile k of row `id` of a table (rows, length); NaN if the table has no such row. A tile that is
/// entirely out of range must not be loaded, not even with a mask.
template <int WHOLE, int N, class E>
__tile__ auto row_of(const E* table, I rows, I length, I step, I stride, I id, I k) {
    using Row = ct::tile<float, ct::shape<1, 1, 1, N>>;
    auto x = ct::element_cast<E>(ct::full<Row>(NAN));
    if (0 <= id && id < rows) {
        const auto all = strided_tiles<WHOLE, 1, N>(table, 1, 1, rows, length, 0, 0, step, stride);
        x = all.load_masked(0, 0, id, k);
    }
    return x;
}
// [row of]

/// A block computes N columns of one row of out, (n0, n1, n2, C).
template <int WHOLE, int N, class E>
__tile_global__ void embed_tile(const E* tokens, I V, I C, I t0, I t1, const I* ids, I i0, I i1,
                                I i2, bool adds, const E* positions, I P, I p0, I p1,
                                const I* places, I l0, I l1, I l2, I n0, I n1, I n2, I o0, I o1,
                                I o2, I o3, E* out) {
    const I across = (C + N - 1) / N, k = ct::bid().x % across, r = ct::bid().x / across;
    const I c = r % n2, b = r / n2 % n1, a = r / n2 / n1;
    const I id = ids[a * i0 + b * i1 + c * i2];
    auto x = row_of<WHOLE, N>(tokens, V, C, t0, t1, id, k);
    if (adds) {
        const I place = places[a * l0 + b * l1 + c * l2];
        const auto y = row_of<WHOLE, N>(positions, P, C, p0, p1, place, k);
        x = ct::element_cast<E>(ct::element_cast<float>(x) + ct::element_cast<float>(y));
    }
    strided_tiles<WHOLE, 1, N>(out, n0, n1, n2, C, o0, o1, o2, o3).store_masked(x, a, b, c, k);
}

template <int WHOLE, int N, class T>
void launch(const View<const T>& tokens, const View<const std::int64_t>& ids,
            const View<const T>& positions, const View<const std::int64_t>& places,
            const View<T>& out, gpu::Stream stream) {
    using E = typename Element<T>::type;
    auto [rows, of_ids, of_places] = embedded_rows(out, ids, places);
    const int last = out.rank() - 1;
    const auto with = [](Dims numbers, I row) {
        numbers[numbers.rank++] = row;
        return numbers;
    };
    const auto n = four(with(rows.shape, out.extent(last)), 1),
               o = four(with(rows.strides, out.stride(last)), 0),
               i = four(with(of_ids.strides, 0), 0), l = four(with(of_places.strides, 0), 0);
    const bool adds = positions.rank() > 0;
    const unsigned grid = tiles_of(n, 1, N);
    embed_tile<WHOLE, N, E><<<grid, 1, 0, stream>>>(
        reinterpret_cast<const E*>(tokens.data), tokens.extent(0), tokens.extent(1),
        tokens.stride(0), tokens.stride(1), ids.data, i[0], i[1], i[2], adds,
        reinterpret_cast<const E*>(positions.data), adds ? positions.extent(0) : 0,
        adds ? positions.stride(0) : 0, adds ? positions.stride(1) : 0, places.data, l[0], l[1],
        l[2], n[0], n[1], n[2], o[0], o[1], o[2], o[3], reinterpret_cast<E*>(out.data));
    gpu::check_launch("embed_tile", grid, 1);
}

}  // namespace

template <class T>
void launch_embed_tile(const View<const T>& tokens, const View<const std::int64_t>& ids,
                       const View<const T>& positions, const View<const std::int64_t>& places,
                       const View<T>& out, bool vectors, gpu::Stream stream) {
    constexpr int kWhole = 16 / int{sizeof(T)};
    const auto by = [&]<int N>() {
        vectors ? launch<kWhole, N>(tokens, ids, positions, places, out, stream)
                : launch<1, N>(tokens, ids, positions, places, out, stream);
    };
    tokens.extent(1) <= 256 ? by.template operator()<256>() : by.template operator()<1024>();
}

template void launch_embed_tile(const View<const float>&, const View<const std::int64_t>&,
                                const View<const float>&, const View<const std::int64_t>&,
                                const View<float>&, bool, gpu::Stream);
template void launch_embed_tile(const View<const bf16>&, const View<const std::int64_t>&,
                                const View<const bf16>&, const View<const std::int64_t>&,
                                const View<bf16>&, bool, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
