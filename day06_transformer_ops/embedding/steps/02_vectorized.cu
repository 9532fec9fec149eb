// Step 2: one warp per row. All its lanes read the same id in one request, and the row is
// copied with 128-bit loads, several in flight. Indices are computed without slow divisions.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/embedding/steps/steps.hpp"
#include "day06_transformer_ops/held_row.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 256;
constexpr int kEach = 3;  // vectors in flight per lane and table

// One row of each table, as vectors; a null position is not added. Positions are
// reused by many tokens and should stay in the cache, so data that is used once
// (tokens, out) is loaded and stored with the hint "cache streaming".
template <class T>
__device__ void sum_of_rows(const T* token, const T* position, T* out, std::int64_t vectors) {
    const uint4* a = reinterpret_cast<const uint4*>(token);
    const uint4* b = reinterpret_cast<const uint4*>(position);
    uint4* to = reinterpret_cast<uint4*>(out);
    for (std::int64_t first = threadIdx.x % 32; first < vectors; first += 32 * kEach) {
        uint4 x[kEach], y[kEach];
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            const std::int64_t q = first + j * 32;
            if (q < vectors) x[j] = __ldcs(a + q);
            if (q < vectors && position != nullptr) y[j] = b[q];
        }
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            const std::int64_t q = first + j * 32;
            if (q < vectors) __stcs(to + q, position != nullptr ? sum_of<T>(x[j], y[j]) : x[j]);
        }
    }
}

template <class T>
__global__ void embed_vectorized_kernel(const __grid_constant__ RowWalk rows,
                                        const __grid_constant__ View<const T> tokens,
                                        const std::int64_t* ids,
                                        const __grid_constant__ View<const T> positions,
                                        const std::int64_t* places, T* out, std::int64_t length) {
    const unsigned r = blockIdx.x * (kThreads / 32) + threadIdx.x / 32;
    if (r >= rows.size) return;
    const Offsets<3> at = rows.offsets(r);
    const std::int64_t id = ids[at.of[0]], place = places[at.of[2]];
    T* const y = out + at.of[1];
    const bool adds = positions.rank() > 0;
    if (!is_row(id, tokens) || (adds && !is_row(place, positions))) {
        for (std::int64_t c = threadIdx.x % 32; c < length; c += 32) y[c] = T(NAN);
        return;
    }
    const T* position = adds ? &positions(place, 0) : nullptr;
    sum_of_rows(&tokens(id, 0), position, y, length / kPerVector<T>);
}

}  // namespace

template <class T>
void launch_embed_vectorized(const View<const T>& tokens, const View<const std::int64_t>& ids,
                             const View<const T>& positions, const View<const std::int64_t>& places,
                             const Rows<T>& out, gpu::Stream stream) {
    walk_rows(ids, out.first, Cut{places.layout},
              [&](const RowWalk& rows, const std::int64_t* from, T* to, std::int64_t third) {
                  const unsigned grid = gpu::blocks_for(rows.size, kThreads / 32);
                  embed_vectorized_kernel<T><<<grid, kThreads, 0, stream>>>(
                      rows, tokens, from, positions, places.data + third, to, out.length);
                  gpu::check_launch("embed_vectorized_kernel", grid, kThreads);
              });
}

template void launch_embed_vectorized(const View<const float>&, const View<const std::int64_t>&,
                                      const View<const float>&, const View<const std::int64_t>&,
                                      const Rows<float>&, gpu::Stream);
template void launch_embed_vectorized(const View<const bf16>&, const View<const std::int64_t>&,
                                      const View<const bf16>&, const View<const std::int64_t>&,
                                      const Rows<bf16>&, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
