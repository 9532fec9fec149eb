// Attention as a tile kernel with online softmax: 32 queries and 32 keys at a time. Keys that all
// 32 queries see are processed by two tile products; the last ones, which only some of them see,
// one by one: a weight of 0 would not hide a NaN in a masked value.
#include "common/gpu/strided_tiles.hpp"
#include "day06_transformer_ops/attention/keys_counted.hpp"
#include "day06_transformer_ops/attention/tile.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

namespace ct = cuda::tiles;
using namespace ct::literals;
using gpu::I, gpu::strided_tiles;

constexpr int kQueries = 32, kKeys = 32;

/// Turns scores into unnormalized weights, exp(score - m), where m is the running maximum, and
/// rescales `sum` and `o` from the previous maximum.
template <class S, class M, class O>
__tile__ auto to_weights(const S& score, M& m, M& sum, O& o) {
    const M larger = ct::max(m, ct::reduce_max(score, 1_ic));
    const M base = ct::select(larger == -INFINITY, ct::zeros<M>(), larger);  // inf - inf is NaN
    const auto p = ct::exp(score - base);
    const auto keep = ct::exp(m - base);
    sum = sum * keep + ct::sum(p, 1_ic);
    o = o * keep;
    m = larger;
    return p;
}

/// Tile s of head h of batch b, as a matrix.
template <int ROWS, int HEAD, class View>
__tile__ auto rows_of(const View& view, I b, I h, I s) {
    return ct::reshape<ct::shape<ROWS, HEAD>>(view.load_masked(b, h, s, 0));
}

/// Tiles of keys that all queries see, `end` of them: two products each.
template <int HEAD, class X, class K, class V, class M, class O>
__tile__ void meet_all(I b, I h, I end, const X& x, const K& keys, const V& values, M& m, M& sum,
                       O& o) {
    for (const auto s : ct::irange(I{0}, end)) {
        const auto k = rows_of<kKeys, HEAD>(keys, b, h, s);
        const auto v = rows_of<kKeys, HEAD>(values, b, h, s);
        const auto p = to_weights(ct::matmul(x, ct::transpose(k)), m, sum, o);
        o = ct::mma(p, v, o);
    }
}
/// Keys `first` to `end`, one by one: query i sees those below seen[i].
template <int HEAD, class X, class K, class V, class SEEN, class M, class O>
__tile__ void meet_some(I b, I h, I first, I end, const X& x, const K& keys, const V& values,
                        const SEEN& seen, M& m, M& sum, O& o) {
    for (const auto s : ct::irange(first, end)) {
        const auto k = rows_of<1, HEAD>(keys, b, h, s);
        const auto v = rows_of<1, HEAD>(values, b, h, s);
        const auto score = ct::select(s < seen, ct::sum(x * k, 1_ic), ct::full<M>(-INFINITY));
        const auto p = to_weights(score, m, sum, o);
        o = o + ct::select(s < seen, p * v, ct::zeros<O>());
    }
}

template <int HEAD, int WHOLE>
[[cutile::hint(0, num_worker_warps_per_cta = HEAD / 16)]] __tile_global__ void attention_tile(
    const float* q, const float* k, const float* v, I B, I H, I T, I S, I D, I q0, I q1, I q2, I q3,
    I k0, I k1, I k2, I k3, I v0, I v1, I v2, I v3, I o0, I o1, I o2, I o3, const I* length,
    float scale, bool causal, float* out) {
    using Column = ct::tile<float, ct::shape<kQueries, 1>>;
    using Sums = ct::tile<float, ct::shape<kQueries, HEAD>>;
    const I counted = keys_counted(length, S), n = ct::max(counted, I{0});
    const I down = (T + kQueries - 1) / kQueries;
    const I i = ct::bid().x % down, h = ct::bid().x / down % H, b = ct::bid().x / down / H;
    const auto queries = strided_tiles<WHOLE, kQueries, HEAD>(q, B, H, T, D, q0, q1, q2, q3);
    const auto keys = strided_tiles<WHOLE, kKeys, HEAD>(k, B, H, n, D, k0, k1, k2, k3);
    const auto values = strided_tiles<WHOLE, kKeys, HEAD>(v, B, H, n, D, v0, v1, v2, v3);
    const auto key = strided_tiles<WHOLE, 1, HEAD>(k, B, H, n, D, k0, k1, k2, k3);
    const auto value = strided_tiles<WHOLE, 1, HEAD>(v, B, H, n, D, v0, v1, v2, v3);
    const auto outs = strided_tiles<WHOLE, kQueries, HEAD>(out, B, H, T, D, o0, o1, o2, o3);
    const I first = causal ? n - T + i * kQueries + 1 : n;  // keys that the first query sees
    const I step = causal ? 1 : 0;                          // how many more each next query sees
    const auto seen = first + step * ct::iota<ct::tile<I, ct::shape<kQueries, 1>>>();
    const I whole = ct::max(first, I{0}) / kKeys, last = ct::min(n, first + step * (kQueries - 1));
    const auto x = scale * rows_of<kQueries, HEAD>(queries, b, h, i);
    auto m = ct::full<Column>(-INFINITY), sum = ct::zeros<Column>();
    auto o = ct::zeros<Sums>();
    meet_all<HEAD>(b, h, whole, x, keys, values, m, sum, o);
    meet_some<HEAD>(b, h, whole * kKeys, last, x, key, value, seen, m, sum, o);
    o = ct::select(seen > I{0}, o / sum, ct::zeros<Sums>());
    if (counted < 0) o = ct::full<Sums>(NAN);
    outs.store_masked(ct::reshape<ct::shape<1, 1, kQueries, HEAD>>(o), b, h, i, 0);
}

template <int HEAD, int WHOLE>
void launch(const Stacked<float>& x, const AttentionProblem& p, gpu::Stream stream) {
    const auto stride = [](const Layout& layout, int d) {  // extent 1: the stride is never used
        return layout.extent(d) == 1 ? 0 : layout.stride(d);
    };
    const Layout &q = x.q.layout, &k = x.k.layout, &v = x.v.layout, &o = x.out.layout;
    const I B = q.extent(0), H = q.extent(1), T = q.extent(2), D = q.extent(3);
    const unsigned grid = gpu::blocks_for(B * H * ((T + kQueries - 1) / kQueries), 1);
    attention_tile<HEAD, WHOLE><<<grid, 1, 0, stream>>>(
        x.q.data, x.k.data, x.v.data, B, H, T, p.S, D, stride(q, 0), stride(q, 1), stride(q, 2),
        stride(q, 3), stride(k, 0), stride(k, 1), stride(k, 2), stride(k, 3), stride(v, 0),
        stride(v, 1), stride(v, 2), stride(v, 3), stride(o, 0), stride(o, 1), stride(o, 2),
        stride(o, 3), p.length.data, p.scale, p.causal, x.out.data);
    gpu::check_launch("attention_tile", grid, 1);
}

}  // namespace

void launch_attention_tile(const Stacked<float>& x, const AttentionProblem& p, gpu::Stream stream) {
    const auto vectors = [](const auto& view) {
        return has_wider(view.data, view.layout, sizeof(float));
    };
    const bool whole = vectors(x.q) && vectors(x.k) && vectors(x.v) && vectors(x.out);
    if (x.q.extent(3) <= 64) {
        return whole ? launch<64, 4>(x, p, stream) : launch<64, 1>(x, p, stream);
    }
    whole ? launch<128, 4>(x, p, stream) : launch<128, 1>(x, p, stream);
}

}  // namespace sixdays::day06_transformer_ops
