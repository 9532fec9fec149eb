// Attention of 16-bit numbers as a tile kernel with online softmax: 64 queries and 128 keys at a
// time. The element type alone puts both products on tensor cores; accumulators are float.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/attention/keys_counted.hpp"
#include "day06_transformer_ops/attention_bf16/tile.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

namespace ct = cuda::tiles;
using namespace ct::literals;

constexpr int kQueries = 64, kKeys = 128;
using Column = ct::tile<float, ct::shape<kQueries, 1>>;
using Scores = ct::tile<float, ct::shape<kQueries, kKeys>>;

/// Heads (b, g, h) of n rows of D elements, cut into tiles of rows. D and all strides are multiples
/// of eight, and the data is aligned to 16 bytes. All of it comes from kernel arguments: a TMA
/// descriptor is set up before the launch and cannot use values that a block computes.
template <int ROWS, int HEAD, class E>
__tile__ auto rows(E* data, int B, int G, int H, int n, int D, int s0, int s1, int s2, int down) {
    constexpr std::size_t kAny = ct::dynamic_extent;
    const ct::extents<int, kAny, kAny, kAny, kAny, kAny> extents{B, G, H, n,
                                                                 ct::assume_divisible<8>(D)};
    const ct::strides<int, kAny, kAny, kAny, kAny, 1> strides{
        ct::assume_divisible<8>(s0), ct::assume_divisible<8>(s1), ct::assume_divisible<8>(s2),
        ct::assume_divisible<8>(down)};
    const ct::tensor_span span{ct::assume_aligned<16>(data),
                               ct::layout_strided_mapping{extents, strides}};
    return ct::partition_view{span, ct::shape<1, 1, 1, ROWS, HEAD>{}};
}

/// One element per row: n rows with any stride.
__tile__ inline auto one_a_row(float* data, int n, int step) {
    constexpr std::size_t kAny = ct::dynamic_extent;
    const ct::layout_strided_mapping places{ct::extents<int, kAny, 1>{n},
                                            ct::strides<int, kAny, 1>{step}};
    return ct::partition_view{ct::tensor_span{data, places}, ct::shape<kQueries, 1>{}};
}

// [weights]
/// Turns scores into unnormalized attention weights, 2^(scale * score - m), where m is the running
/// maximum, and rescales `sum` and `o` from the previous maximum.
template <class O>
__tile__ auto to_weights(const Scores& score, float scale, Column& m, Column& sum, O& o) {
    const Column larger = ct::max(m, scale * ct::reduce_max(score, 1_ic));
    const Column base = ct::select(larger == -INFINITY, ct::zeros<Column>(), larger);
    const auto p = ct::exp2(scale * score - base);  // `base` avoids -inf - -inf, which is NaN
    const auto keep = ct::exp2(m - base);
    sum = sum * keep + ct::sum(p, 1_ic);
    o = o * keep;
    m = larger;
    return p;
}
// [weights]

/// Processes tiles `from` to `to` of the keys for all queries. SOME: some queries do not see all of
/// these keys. A masked key has weight 0, but its value is still multiplied by it. CUT: keys from n
/// on do not count, and their values, which may be anything, are replaced by 0.
template <bool SOME, bool CUT, int HEAD, class X, class K, class V, class SEEN, class O>
__tile__ void meet(int b, int g, int h, int from, int to, int n, const X& x, const K& keys,
                   const V& values, const SEEN& seen, float scale, Column& m, Column& sum, O& o) {
    using Rows = ct::shape<kKeys, HEAD>;
    // [meet]
    for (const auto s : ct::irange(from, to)) {
        const auto k = ct::reshape<Rows>(keys.load_masked(b, g, h, s, 0));
        auto v = ct::reshape<Rows>(values.load_masked(b, g, h, s, 0));
        auto score = ct::mma(x, ct::transpose(k), ct::zeros<Scores>());
        if constexpr (SOME) {
            const auto key = s * kKeys + ct::iota<ct::tile<int, ct::shape<1, kKeys>>>();
            score = ct::select(key < seen, score, ct::full<Scores>(-INFINITY));
        }
        if constexpr (SOME && CUT) {
            const auto key = s * kKeys + ct::iota<ct::tile<int, ct::shape<kKeys, 1>>>();
            v = ct::select(key < n, v, ct::zeros<decltype(v)>());
        }
        const auto p = ct::element_cast<ct::tile_element_t<X>>(to_weights(score, scale, m, sum, o));
        o = ct::mma(p, v, o);
    }
    // [meet]
}

/// The output, and in `m` the log-sum-exp, where a query sees a key; otherwise `nothing`, 0 or NaN.
/// If all scores that it sees are -infinity, the sum is 0 and the output 0 / 0, NaN.
template <class SEEN, class O>
__tile__ void answers(const SEEN& seen, float nothing, Column& m, Column& sum, O& o) {
    constexpr float kLog2 = 0.693147182f;  // m is a base-2 exponent
    o = ct::select(seen > 0, o / sum, ct::full<O>(nothing));
    m = ct::select(seen > 0, kLog2 * m + ct::log(sum), ct::full<Column>(nothing - INFINITY));
}

template <int HEAD, bool CUT, class E>
[[cutile::hint(0, occupancy = 2)]] __tile_global__ void attention_bf16_tile(
    const E* __restrict__ q, const E* __restrict__ k, const E* __restrict__ v, int B, int G, int H,
    int T, int S, int D, int q0, int q1, int q2, int q3, int k0, int k1, int k2, int k3, int v0,
    int v1, int v2, int v3, int o0, int o1, int o2, int o3, int l0, int l1, int l2, int l3,
    const std::int64_t* length, float scale, bool causal, E* __restrict__ out,
    float* __restrict__ log_sums) {
    const int counted = static_cast<int>(keys_counted(length, S)), n = ct::max(counted, 0);
    const int down = (T + kQueries - 1) / kQueries, head = ct::bid().x / down;
    const int i = down - 1 - ct::bid().x % down;  // causal: the longest ones first
    const int h = head % H, g = head / H % G, b = head / H / G;
    const auto keys = rows<kKeys, HEAD>(k, B, G, H, S, D, k0, k1, k2, k3);
    const auto values = rows<kKeys, HEAD>(v, B, G, H, S, D, v0, v1, v2, v3);
    const auto x = ct::reshape<ct::shape<kQueries, HEAD>>(
        rows<kQueries, HEAD>(q, B, G, H, T, D, q0, q1, q2, q3).load_masked(b, g, h, i, 0));
    // The number of keys that the first query sees, and how many more each next query sees.
    const int first = causal ? n - T + i * kQueries + 1 : n, step = causal ? 1 : 0;
    const auto seen = first + step * ct::iota<ct::tile<int, ct::shape<kQueries, 1>>>();
    const int all = ct::max(first, 0) / kKeys, last = ct::min(n, first + step * (kQueries - 1));
    auto m = ct::full<Column>(-INFINITY), sum = ct::zeros<Column>();
    auto o = ct::zeros<ct::tile<float, ct::shape<kQueries, HEAD>>>();
    meet<false, CUT, HEAD>(b, g, h, 0, all, n, x, keys, values, seen, scale, m, sum, o);
    meet<true, CUT, HEAD>(b, g, h, all, (last + kKeys - 1) / kKeys, n, x, keys, values, seen, scale,
                          m, sum, o);
    answers(seen, counted < 0 ? NAN : 0.0f, m, sum, o);
    const auto y = ct::reshape<ct::shape<1, 1, 1, kQueries, HEAD>>(ct::element_cast<E>(o));
    rows<kQueries, HEAD>(out, B, G, H, T, D, o0, o1, o2, o3).store_masked(y, b, g, h, i, 0);
    if (log_sums == nullptr) return;
    const std::int64_t l = std::int64_t{b} * l0 + std::int64_t{g} * l1 + std::int64_t{h} * l2;
    one_a_row(log_sums + l, T, l3).store_masked(m, i, 0);
}

template <class E, class T>
void launch(const Stacked<T>& x, const AttentionBf16Problem<T>& p, gpu::Stream stream) {
    const auto step = [](const Layout& layout, int d) {  // extent 1: the stride is never used
        return layout.extent(d) == 1 ? 0 : static_cast<int>(layout.stride(d));
    };
    const Layout &q = x.q.layout, &k = x.k.layout, &v = x.v.layout, &o = x.out.layout,
                 &l = x.log_sums.layout;
    const std::int64_t B = q.extent(0), G = q.extent(1), H = q.extent(2), tokens = q.extent(3);
    const unsigned grid = gpu::blocks_for(B * G * H * ((tokens + kQueries - 1) / kQueries), 1);
    const float scale = p.scale * 1.44269504f;  // times log2(e): exp2 instead of exp
    const auto of = [&]<int HEAD>() {
        return p.length.data ? attention_bf16_tile<HEAD, true, E>
                             : attention_bf16_tile<HEAD, false, E>;
    };
    const auto kernel =
        q.extent(4) <= 64 ? of.template operator()<64>() : of.template operator()<128>();
    const auto number = [](std::int64_t any) { return static_cast<int>(any); };
    kernel<<<grid, 1, 0, stream>>>(
        reinterpret_cast<const E*>(x.q.data), reinterpret_cast<const E*>(x.k.data),
        reinterpret_cast<const E*>(x.v.data), number(B), number(G), number(H), number(tokens),
        number(p.S), number(q.extent(4)), step(q, 0), step(q, 1), step(q, 2), step(q, 3),
        step(k, 0), step(k, 1), step(k, 2), step(k, 3), step(v, 0), step(v, 1), step(v, 2),
        step(v, 3), step(o, 0), step(o, 1), step(o, 2), step(o, 3), step(l, 0), step(l, 1),
        step(l, 2), step(l, 3), p.length.data, scale, p.causal, reinterpret_cast<E*>(x.out.data),
        x.log_sums.data);
    gpu::check_launch("attention_bf16_tile", grid, 1);
}

}  // namespace

template <>
void launch_attention_bf16_tile(const Stacked<bf16>& x, const AttentionBf16Problem<bf16>& p,
                                gpu::Stream stream) {
    launch<__nv_bfloat16>(x, p, stream);
}
template <>
void launch_attention_bf16_tile(const Stacked<f16>& x, const AttentionBf16Problem<f16>& p,
                                gpu::Stream stream) {
    launch<__half>(x, p, stream);
}

}  // namespace sixdays::day06_transformer_ops
