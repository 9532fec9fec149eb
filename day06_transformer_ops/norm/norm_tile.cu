// Layer norm and RMS norm as tile kernels: a row is one tile. Its padding is loaded as 0, but is
// -mean after the mean is subtracted, which the sum of squares would include: so it is set to 0.
#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/simplify.hpp"
#include "day06_transformer_ops/norm/tiles.hpp"
#include "day06_transformer_ops/row_tiles.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

using namespace ct::literals;
using I = std::int64_t;

/// Weight or bias, with the same alignment promise as the rows; `missing` if absent.
template <int N, bool UNIT>
__tile__ auto parameter(const float* data, I length, I stride, float missing) {
    using Row = ct::tile<float, ct::shape<1, N>>;
    auto values = ct::full<Row>(missing);
    if (data == nullptr) return values;
    if constexpr (UNIT) {
        values = tiles<1, N, true>(data, 1, length, 0, 1).load_masked(0, 0);
    } else {
        const auto i = ct::iota<ct::tile<I, ct::shape<1, N>>>();
        values = ct::load_masked(data + i * stride, i < length, values);
    }
    return values;
}

template <bool LAYER, int N, bool UNIT, class E>
[[cutile::hint(0, num_worker_warps_per_cta = N == 1024 ? 1 : 4)]] __tile_global__ void norm_tile(
    const E* in, I rows, I length, I step, I stride, const float* weight, I stride_w,
    const float* bias, I stride_b, float eps, I step_out, I stride_out, E* out) {
    const auto r = ct::bid().x;
    const auto from = tiles<1, N, UNIT>(in, rows, length, step, stride);
    auto x = ct::element_cast<float>(from.load_masked(r, 0));
    const float n = static_cast<float>(length);
    // [norm]
    if constexpr (LAYER) {
        const auto zeros = ct::zeros<decltype(x)>();
        const auto inside = ct::iota<ct::tile<int, ct::shape<1, N>>>() < static_cast<int>(length);
        const auto first =
            ct::element_cast<float>(tiles<1, 1, false>(in, rows, length, step, stride).load(r, 0));
        const auto sum = ct::sum(ct::select(inside, x - first, zeros), 1_ic);
        x = ct::select(inside, x - (first + sum / n), zeros);
    }
    const auto scale = 1.0f / ct::sqrt(ct::sum(x * x, 1_ic) / n + eps);
    // [norm]
    const auto w = parameter<N, UNIT>(weight, length, stride_w, 1.0f);
    const auto b = parameter<N, UNIT>(bias, length, stride_b, 0.0f);
    const auto to = tiles<1, N, UNIT>(out, rows, length, step_out, stride_out);
    to.store_masked(ct::element_cast<E>(ct::fma(x * scale, w, b)), r, 0);
}

template <bool LAYER, int N, bool UNIT, class T>
void launch(const Rows<const T>& in, const NormParameters& p, const Rows<T>& out,
            gpu::Stream stream) {
    using E = typename Element<T>::type;
    const auto both = simplify(out.first.layout, in.first.layout);
    const bool single = both[0].rank() == 0;
    const auto stride_of = [](const View<const float>& v) { return v.data ? v.stride(0) : 0; };
    const unsigned grid = gpu::blocks_for(in.count(), 1);
    norm_tile<LAYER, N, UNIT><<<grid, 1, 0, stream>>>(
        reinterpret_cast<const E*>(in.first.data), in.count(), in.length,
        single ? 0 : both[1].stride(0), in.stride, p.weight.data, stride_of(p.weight), p.bias.data,
        stride_of(p.bias), p.eps, single ? 0 : both[0].stride(0), out.stride,
        reinterpret_cast<E*>(out.first.data));
    gpu::check_launch("norm_tile", grid, 1);
}

// Do weight or bias meet the alignment promise for rows, too?
bool lies_like(const View<const float>& parameter) {
    return parameter.data == nullptr ||
           (gpu::all_at_16_bytes(parameter.data) && parameter.stride(0) == 1);
}

template <bool LAYER, class T>
void launch(const Rows<const T>& in, const NormParameters& p, const Rows<T>& out, bool unit,
            gpu::Stream stream) {
    const bool promised = unit && lies_like(p.weight) && lies_like(p.bias);
    const auto by = [&]<int N>() {
        promised ? launch<LAYER, N, true>(in, p, out, stream)
                 : launch<LAYER, N, false>(in, p, out, stream);
    };
    if (in.length <= 1024) return by.template operator()<1024>();
    if (in.length <= 2048) return by.template operator()<2048>();
    if (in.length <= 4096) return by.template operator()<4096>();
    by.template operator()<kMostTiled>();
}

}  // namespace

template <class T>
void launch_norm_tile(bool layer, const Rows<const T>& in, const NormParameters& parameters,
                      const Rows<T>& out, bool unit, gpu::Stream stream) {
    return layer ? launch<true>(in, parameters, out, unit, stream)
                 : launch<false>(in, parameters, out, unit, stream);
}

template void launch_norm_tile(bool, const Rows<const float>&, const NormParameters&,
                               const Rows<float>&, bool, gpu::Stream);
template void launch_norm_tile(bool, const Rows<const bf16>&, const NormParameters&,
                               const Rows<bf16>&, bool, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
