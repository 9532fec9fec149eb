// The twins, and the launchers. Faster versions are in steps/.
#include "day06_transformer_ops/embedding/embedding.hpp"

#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/embedding/steps/steps.hpp"
#include "day06_transformer_ops/embedding/tile.hpp"

namespace sixdays::day06_transformer_ops {

// --- the twins -----------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;

// [embed]
// Neighbouring threads take neighbouring columns. An id or a place out of range gives NaN.
template <class T>
__global__ void embed_kernel(const __grid_constant__ View<const T> tokens,
                             const __grid_constant__ View<const std::int64_t> ids,
                             const __grid_constant__ View<const T> positions,
                             const __grid_constant__ View<const std::int64_t> places,
                             const __grid_constant__ Rows<T> out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    const std::int64_t r = k / out.length, c = k - r * out.length;
    if (r < out.count()) {
        const Index at = unravel(r, ids.shape());
        const Row<T> y = out.row(r);
        const std::int64_t id = ids(at);
        T x = is_row(id, tokens) ? tokens(id, c) : T(NAN);
        if (positions.rank() > 0) {
            const std::int64_t place = places(at);
            x = is_row(place, positions) ? T(float(x) + float(positions(place, c))) : T(NAN);
        }
        y[c] = x;
    }
}
// [embed]

template <class From, class To>
__global__ void convert_kernel(const __grid_constant__ View<const From> in,
                               const __grid_constant__ View<To> out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (k < out.size()) {
        const Index at = unravel(k, out.shape());
        out(at) = To(float(in(at)));
    }
}

// One thread per pair.
__global__ void rotary_kernel(const __grid_constant__ Rows<const float> in,
                              const __grid_constant__ View<const float> table,
                              const __grid_constant__ View<const std::int64_t> places,
                              Pairing pairing, const __grid_constant__ Rows<float> out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    const std::int64_t half = in.length / 2, r = k / half, i = k - r * half;
    if (r < in.count()) {
        const Row<const float> x = in.row(r);
        const Row<float> y = out.row(r);
        const std::int64_t place = places(unravel(r, places.shape()));
        const bool near = pairing == Pairing::neighbours, known = is_row(place, table);
        const std::int64_t first = near ? 2 * i : i, second = near ? 2 * i + 1 : i + half;
        const float a = x[first], b = x[second];
        const float c = known ? table(place, i) : NAN, s = known ? table(place, i + half) : NAN;
        y[first] = std::fma(a, c, -(b * s));
        y[second] = std::fma(a, s, b * c);
    }
}

}  // namespace

// --- launchers -----------------------------------------------------------------------------------

template <class T>
void embed_cuda(View<const T> tokens, View<const std::int64_t> ids, View<const Same<T>> positions,
                View<const std::int64_t> places, View<Same<T>> out,
                const gpu::Launch<EmbedPath>& how) {
    check_embed<T>(tokens, ids, positions, places, out, how.path);
    if (out.size() == 0) return;
    const Rows<T> rows = rows_along(out, out.rank() - 1);
    places =
        positions.rank() > 0 ? View<const std::int64_t>(broadcast_to(places, ids.shape())) : ids;
    switch (how.path.value_or(choose_embed<T>(tokens, positions, out))) {
        case EmbedPath::one_element: {
            const unsigned grid = gpu::blocks_for(out.size(), kThreads);
            embed_kernel<T>
                <<<grid, kThreads, 0, how.stream>>>(tokens, ids, positions, places, rows);
            return gpu::check_launch("embed_kernel", grid, kThreads);
        }
        case EmbedPath::vectorized:
            return launch_embed_vectorized<T>(tokens, ids, positions, places, rows, how.stream);
        case EmbedPath::tile:
            return gpu::by_tile("embed", [&] {
                const bool vectors =
                    choose_embed<T>(tokens, positions, out) == EmbedPath::vectorized;
                launch_embed_tile<T>(tokens, ids, positions, places, out, vectors, how.stream);
            });
    }
}

void rotary_cuda(View<const float> in, View<const float> table, View<const std::int64_t> places,
                 Pairing pairing, View<float> out, gpu::Stream stream) {
    check_rotary(in, table, places, out);
    if (out.size() == 0) return;
    const Rows<const float> rows = rows_along(in, in.rank() - 1);
    const unsigned grid = gpu::blocks_for(out.size() / 2, kThreads);
    rotary_kernel<<<grid, kThreads, 0, stream>>>(rows, table,
                                                 broadcast_to(places, rows.first.shape()), pairing,
                                                 rows_along(out, out.rank() - 1));
    gpu::check_launch("rotary_kernel", grid, kThreads);
}

template <class From, class To>
void convert_cuda(View<const From> in, View<To> out, gpu::Stream stream) {
    check_convert(in, out);
    if (out.size() == 0) return;
    const unsigned grid = gpu::blocks_for(out.size(), kThreads);
    convert_kernel<From, To><<<grid, kThreads, 0, stream>>>(in, out);
    gpu::check_launch("convert_kernel", grid, kThreads);
}

template void embed_cuda(View<const float>, View<const std::int64_t>, View<const float>,
                         View<const std::int64_t>, View<float>, const gpu::Launch<EmbedPath>&);
template void embed_cuda(View<const bf16>, View<const std::int64_t>, View<const bf16>,
                         View<const std::int64_t>, View<bf16>, const gpu::Launch<EmbedPath>&);
template void convert_cuda(View<const float>, View<bf16>, gpu::Stream);
template void convert_cuda(View<const float>, View<f16>, gpu::Stream);
template void convert_cuda(View<const bf16>, View<float>, gpu::Stream);
template void convert_cuda(View<const f16>, View<float>, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
