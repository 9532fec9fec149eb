// Attention of 16-bit numbers in tiles, online: 128 queries meet 64 keys at a time. Both products
// are left to tensor cores by the type of their elements alone, and sums are float.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/attention/keys_counted.hpp"
#include "day06_transformer_ops/attention_bf16/tile.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

namespace ct = cuda::tiles;
using namespace ct::literals;
using I = std::int64_t;  // from head to head; within a head, an int is enough

constexpr int kQueries = 128, kKeys = 64;
using Column = ct::tile<float, ct::shape<kQueries, 1>>;
using Scores = ct::tile<float, ct::shape<kQueries, kKeys>>;

// [rows]
/// n rows of D numbers, cut into tiles. Promised is that D and `down` are multiples of eight, and
/// that the first number lies at a multiple of 16 bytes.
template <int ROWS, int HEAD, class E>
__tile__ auto rows(E* data, int n, int D, int down) {
    constexpr std::size_t kAny = ct::dynamic_extent;
    const ct::extents<int, kAny, kAny> extents{n, ct::assume_divisible<8>(D)};
    const ct::strides<int, kAny, 1> strides{ct::assume_divisible<8>(down)};
    const ct::tensor_span span{ct::assume_aligned<16>(data),
                               ct::layout_strided_mapping{extents, strides}};
    return ct::partition_view{span, ct::shape<ROWS, HEAD>{}};
}
// [rows]

/// A number for each of n rows, any step apart.
__tile__ inline auto one_a_row(float* data, int n, int step) {
    constexpr std::size_t kAny = ct::dynamic_extent;
    const ct::layout_strided_mapping places{ct::extents<int, kAny, 1>{n},
                                            ct::strides<int, kAny, 1>{step}};
    return ct::partition_view{ct::tensor_span{data, places}, ct::shape<kQueries, 1>{}};
}

// [shares]
/// Scores become shares before the division, 2^(scale * score - m), where m is the largest so far.
/// What `sum` and `o` hold was shared out by an earlier m.
template <class O>
__tile__ auto shares(const Scores& score, float scale, Column& m, Column& sum, O& o) {
    const Column larger = ct::max(m, scale * ct::reduce_max(score, 1_ic));
    const Column base = ct::select(larger == -INFINITY, ct::zeros<Column>(), larger);
    const auto p = ct::exp2(scale * score - base);  // -inf less -inf were NaN: hence `base`
    const auto keep = ct::exp2(m - base);
    sum = sum * keep + ct::sum(p, 1_ic);
    o = o * keep;
    m = larger;
    return p;
}
// [shares]

// [meet]
/// All queries meet the keys of tiles `from` to `to`. SOME: not every query sees all of them. A
/// hidden key has a share of 0, and its value is multiplied by it.
template <bool SOME, class X, class K, class V, class SEEN, class O>
__tile__ void meet(int from, int to, const X& x, const K& keys, const V& values, const SEEN& seen,
                   float scale, Column& m, Column& sum, O& o) {
    for (const auto s : ct::irange(from, to)) {
        auto score = ct::mma(x, ct::transpose(keys.load_masked(s, 0)), ct::zeros<Scores>());
        if constexpr (SOME) {
            const auto key = s * kKeys + ct::iota<ct::tile<int, ct::shape<1, kKeys>>>();
            score = ct::select(key < seen, score, ct::full<Scores>(-INFINITY));
        }
        const auto p = ct::element_cast<ct::tile_element_t<X>>(shares(score, scale, m, sum, o));
        o = ct::mma(p, values.load_masked(s, 0), o);
    }
}
// [meet]

// [answers]
/// The output, and in `m` the log of the sums, where a query sees a key; otherwise `nothing`, 0 or
/// NaN. Where it sees scores of -infinity alone, the sum is 0 and the answer NaN.
template <class SEEN, class O>
__tile__ void answers(const SEEN& seen, float nothing, Column& m, Column& sum, O& o) {
    constexpr float kLog2 = 0.693147182f;  // m is a power of 2
    sum = ct::select(sum > 0.0f, sum, ct::full<Column>(NAN));
    o = ct::select(seen > 0, o / sum, ct::full<O>(nothing));
    m = ct::select(seen > 0, kLog2 * m + ct::log(sum), ct::full<Column>(nothing - INFINITY));
}
// [answers]

// [attention]
template <int HEAD, class E>
[[cutile::hint(0, num_worker_warps_per_cta = HEAD / 16)]] __tile_global__ void attention_bf16_tile(
    const E* __restrict__ q, const E* __restrict__ k, const E* __restrict__ v, I G, I H, int T,
    int S, int D, I q0, I q1, I q2, int q3, I k0, I k1, I k2, int k3, I v0, I v1, I v2, int v3,
    I o0, I o1, I o2, int o3, I l0, I l1, I l2, int l3, const I* length, float scale, bool causal,
    E* __restrict__ out, float* __restrict__ log_sums) {
    const int counted = static_cast<int>(keys_counted(length, S)), n = ct::max(counted, 0);
    const int down = (T + kQueries - 1) / kQueries;
    const int i =
        down - 1 - static_cast<int>(ct::bid().x) % down;  // if causal, the last take longest
    const I head = ct::bid().x / down, h = head % H, g = head / H % G, b = head / H / G;
    const auto x = rows<kQueries, HEAD>(q + (b * q0 + g * q1 + h * q2), T, D, q3);
    const auto keys = rows<kKeys, HEAD>(k + (b * k0 + g * k1 + h * k2), n, D, k3);
    const auto values = rows<kKeys, HEAD>(v + (b * v0 + g * v1 + h * v2), n, D, v3);
    const auto outs = rows<kQueries, HEAD>(out + (b * o0 + g * o1 + h * o2), T, D, o3);

    // How many keys the first query sees, and how many more each next one.
    const int first = causal ? n - T + i * kQueries + 1 : n, step = causal ? 1 : 0;
    const auto seen = first + step * ct::iota<ct::tile<int, ct::shape<kQueries, 1>>>();
    const int all = ct::max(first, 0) / kKeys, last = ct::min(n, first + step * (kQueries - 1));
    auto m = ct::full<Column>(-INFINITY), sum = ct::zeros<Column>();
    auto o = ct::zeros<ct::tile<float, ct::shape<kQueries, HEAD>>>();
    meet<false>(0, all, x.load_masked(i, 0), keys, values, seen, scale, m, sum, o);
    meet<true>(all, (last + kKeys - 1) / kKeys, x.load_masked(i, 0), keys, values, seen, scale, m,
               sum, o);
    answers(seen, counted < 0 ? NAN : 0.0f, m, sum, o);
    outs.store_masked(ct::element_cast<E>(o), i, 0);
    if (log_sums == nullptr) return;
    one_a_row(log_sums + (b * l0 + g * l1 + h * l2), T, l3).store_masked(m, i, 0);
}
// [attention]

template <class E, class T>
void launch(const Stacked<T>& x, const AttentionBf16Problem<T>& p, gpu::Stream stream) {
    const auto far = [](const Layout& layout, int d) {  // of one index no step is taken
        return layout.extent(d) == 1 ? 0 : layout.stride(d);
    };
    const auto near = [&](const Layout& layout) {  // from row to row
        return static_cast<int>(far(layout, kStackOfHalves));
    };
    const Layout &q = x.q.layout, &k = x.k.layout, &v = x.v.layout, &o = x.out.layout,
                 &l = x.log_sums.layout;
    const I B = q.extent(0), G = q.extent(1), H = q.extent(2), tokens = q.extent(3);
    const unsigned grid = gpu::blocks_for(B * G * H * ((tokens + kQueries - 1) / kQueries), 1);
    const float scale = p.scale * 1.44269504f;  // times log2(e): powers of 2 instead of e
    const auto kernel =
        q.extent(4) <= 64 ? attention_bf16_tile<64, E> : attention_bf16_tile<128, E>;
    kernel<<<grid, 1, 0, stream>>>(
        reinterpret_cast<const E*>(x.q.data), reinterpret_cast<const E*>(x.k.data),
        reinterpret_cast<const E*>(x.v.data), G, H, static_cast<int>(tokens), static_cast<int>(p.S),
        static_cast<int>(q.extent(4)), far(q, 0), far(q, 1), far(q, 2), near(q), far(k, 0),
        far(k, 1), far(k, 2), near(k), far(v, 0), far(v, 1), far(v, 2), near(v), far(o, 0),
        far(o, 1), far(o, 2), near(o), far(l, 0), far(l, 1), far(l, 2), near(l), p.length.data,
        scale, p.causal, reinterpret_cast<E*>(x.out.data), x.log_sums.data);
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
