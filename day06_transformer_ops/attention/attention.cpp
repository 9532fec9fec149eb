// The argument checks of attention, the choice of its path, and the views that it uses.
#include "day06_transformer_ops/attention/attention.hpp"

#include <algorithm>
#include <cmath>

#include "common/gpu/tile.hpp"
#include "common/tensor/half.hpp"
#include "common/tensor/names.hpp"
#include "day06_transformer_ops/attention/attention_problem.hpp"
#include "day06_transformer_ops/attention/tile.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

// k or v with the stack dimensions of q: (..., S, D).
template <class E>
View<const E> beside(const View<const E>& x, const Shape& q) {
    Shape wanted = q;
    wanted[q.rank - 2] = x.extent(x.rank() - 2);
    wanted[q.rank - 1] = x.extent(x.rank() - 1);
    return broadcast_to(x, wanted);
}

template <class E>
void check_table(const std::string& op, const char* name, const View<const E>& x,
                 const View<const E>& q) {
    if (x.rank() < 2 || x.extent(x.rank() - 1) != q.extent(q.rank() - 1)) {
        reject(op, ": q has shape ", q.shape(), ", but ", name, " ", x.shape(),
               "; the last dimensions, of one head, must be equal");
    }
    (void)with_prefix(op + ": " + name, [&] { return beside(x, q.shape()); });
}

template <class E>
void check_inputs(const std::string& op, const View<const E>& q, const View<const E>& k,
                  const View<const E>& v) {
    if (q.rank() < 2) {
        reject(op, ": q has shape ", q.shape(), ", but needs tokens and a head: (..., T, D)");
    }
    check_table(op, "k", k, q);
    check_table(op, "v", v, q);
    if (k.extent(k.rank() - 2) != v.extent(v.rank() - 2)) {
        reject(op, ": k has shape ", k.shape(), ", but v ", v.shape(),
               "; there must be a value for each key");
    }
}

// Are rows made of whole vectors and aligned to 16 bytes?
template <class E>
bool vectorized(const View<const E>& x) {
    return has_wider(x.data, x.layout, sizeof(E));
}

std::int64_t queries_of(const View<const float>& q) {
    return rows_along(q, q.rank() - 1).count();
}

struct Views {
    View<const float> q, k, v;
    View<float> out;
};

const auto& attention_paths() {
    static const PathEntry<AttentionPath, Views> all[] = {
        {AttentionPath::four_passes, "four passes"},
        {AttentionPath::fused, "fused"},
        {AttentionPath::split_keys, "split keys"},
        {AttentionPath::tiles, "tiles"},
        {AttentionPath::split_blocks, "split blocks",
         [](const Views& x) { return vectorized(x.k) && vectorized(x.v); },
         "keys and values of whole vectors along memory that begin at multiples of 16 bytes"},
        {AttentionPath::wide_heads, "wide heads"},
        {AttentionPath::tile, "tile",
         [](const Views& x) {
             return stacked<float>(kStackOfFloats, x.q, x.k, x.v, x.out).has_value();
         },
         "stacks of at most two dimensions, once simplified, and " + gpu::kNoNegativeStride},
    };
    return all;
}

}  // namespace

const char* name(AttentionPath path) {
    return name_in(attention_paths(), path);
}

AttentionPath choose_attention(const View<const float>& q, const View<const float>& k,
                               const View<const float>& v, std::size_t shared) {
    const std::int64_t T = q.extent(q.rank() - 2), D = q.extent(q.rank() - 1);
    if (D > kMostOfHead) return AttentionPath::wide_heads;
    const bool tiles = T >= 64 && attention_tiles_bytes(D) <= shared;
    if (T > 4) return tiles ? AttentionPath::tiles : AttentionPath::fused;
    return vectorized(k) && vectorized(v) ? AttentionPath::split_blocks : AttentionPath::split_keys;
}

template <class E>
void require_attention(const char* op, const View<const E>& q, const View<const E>& k,
                       const View<const E>& v, const AttentionOptions& options, const View<E>& out,
                       const char* name_out) {
    check_inputs(op, q, k, v);
    require_same_shape(op, "q", q, name_out, out);
    require_memory(op, "q", q);
    require_memory(op, "k", k);
    require_memory(op, "v", v);
    require_output(op, out, name_out);
    require_apart(op, "q", q, name_out, out);
    require_apart(op, "k", k, name_out, out);
    require_apart(op, "v", v, name_out, out);
    if (options.length.data != nullptr) {
        require_rank(op, "length", options.length, 0);
        require_apart(op, "length", options.length, name_out, out);
    }
    if (!std::isfinite(options.scale)) {
        reject(op, ": scale is ", options.scale, ", but must be a finite number");
    }
}

template <class E>
void require_log_sums(const char* op, const View<const E>& q, const View<const E>& k,
                      const View<const E>& v, const AttentionOptions& options, const View<E>& out,
                      const View<float>& log_sums) {
    Shape wanted = q.shape();
    --wanted.rank;
    if (log_sums.shape() != wanted) {
        reject(op, ": log_sums has shape ", log_sums.shape(),
               ", but there is one for each query: ", wanted);
    }
    require_injective(op, "log_sums", log_sums);
    require_memory(op, "log_sums", log_sums);
    require_apart(op, "q", q, "log_sums", log_sums);
    require_apart(op, "k", k, "log_sums", log_sums);
    require_apart(op, "v", v, "log_sums", log_sums);
    require_apart(op, "out", out, "log_sums", log_sums);
    if (options.length.data != nullptr) {
        require_apart(op, "length", options.length, "log_sums", log_sums);
    }
}

AttentionPath plan_attention(const View<const float>& q, const View<const float>& k,
                             const View<const float>& v, const AttentionOptions& options,
                             const View<float>& out, const View<float>& log_sums,
                             const gpu::Launch<AttentionPath>& how, std::size_t shared) {
    require_attention("attention", q, k, v, options, out);
    const bool sums = log_sums.data != nullptr;
    if (sums) require_log_sums("attention", q, k, v, options, out, log_sums);
    require_known_path("attention", how.path);
    const AttentionPath path = how.path ? *how.path
                               : sums   ? AttentionPath::tiles
                                        : choose_attention(q, k, v, shared);
    if (sums && path != AttentionPath::tiles) {
        reject("attention: the path '", name(path), "' does not write log_sums; 'tiles' does");
    }
    if (path == AttentionPath::four_passes || path == AttentionPath::wide_heads) return path;
    const std::int64_t D = q.extent(q.rank() - 1);
    if (D > kMostOfHead) {
        reject("attention: a head of ", D, " numbers; ", kMostOfHead,
               " is the most that the path '", name(path), "' takes",
               sums ? ", and only it writes log_sums" : ". 'wide heads' takes any");
    }
    if (out.size() == 0) return path;
    require_support("attention", attention_paths(), path, Views{q, k, v, out}, "; q has ", q.layout,
                    ", k ", k.layout, ", v ", v.layout, ", out ", out.layout);
    return path;
}

template <class E>
std::optional<Stacked<E>> stacked(int dims, const View<const E>& q, const View<const E>& k,
                                  const View<const E>& v, const View<Same<E>>& out,
                                  const View<float>& log_sums) {
    const int stack = q.rank() - 2;
    Stacked<E> all{q, beside(k, q.shape()), beside(v, q.shape()), out, log_sums};
    if (log_sums.data == nullptr) all.log_sums.layout = outer(out.layout, stack + 1);
    Layout* const layouts[] = {&all.out.layout, &all.q.layout, &all.k.layout, &all.v.layout,
                               &all.log_sums.layout};
    const auto of = [&](std::size_t x) { return outer(*layouts[x], stack); };
    const auto stacks = simplify(of(0), of(1), of(2), of(3), of(4));
    const int r = stacks[0].rank();
    if (r > dims) return {};
    for (std::size_t x = 0; x < stacks.size(); ++x) {
        const Layout old = *layouts[x];
        const int rank = dims + old.rank() - stack;
        Layout& now = *layouts[x] = Layout(Dims::filled(rank, 1), Dims::filled(rank, 0));
        const auto set = [&](int d, const Layout& from, int of_from) {
            now.shape[d] = from.extent(of_from);
            now.strides[d] = from.stride(of_from);
        };
        for (int d = 0; d < r; ++d) set(dims - r + d, stacks[x], d);
        for (int d = dims; d < rank; ++d) set(d, old, stack + d - dims);
        if (!gpu::goes_forwards(now)) return {};
    }
    return all;
}

std::int64_t attention_parts(const View<const float>& q, const View<const float>& k) {
    const std::int64_t blocks = 512, keys = 64;  // maximum in total; minimum per part
    const std::int64_t queries = queries_of(q), S = k.extent(k.rank() - 2);
    const std::int64_t fit = std::max<std::int64_t>(blocks / std::max<std::int64_t>(queries, 1), 1);
    return std::clamp<std::int64_t>((S + keys - 1) / keys, 1, fit);
}

AttentionPartials attention_partials(gpu::Carver& carver, const View<const float>& q,
                                     std::int64_t parts) {
    const std::int64_t queries = queries_of(q);
    if (parts == 1) return {{nullptr, Shape{queries, 1, 0}}, {}};
    const std::int64_t D = q.extent(q.rank() - 1);
    AttentionPartials all;
    all.found = carver.take<float>({queries, parts, D + 2});
    all.done = carver.counters(queries);
    return all;
}

View<float> attention_scores(gpu::Carver& carver, const View<const float>& q,
                             const View<const float>& k) {
    return carver.take<float>({queries_of(q), k.extent(k.rank() - 2)});
}

std::int64_t attention_workspace_bytes(const View<const float>& q, const View<const float>& k,
                                       const View<const float>& v,
                                       std::optional<AttentionPath> path) {
    check_inputs("attention", q, k, v);
    require_known_path("attention", path);
    switch (path.value_or(choose_attention(q, k, v))) {
        case AttentionPath::four_passes:
            return gpu::bytes_to_carve([&](gpu::Carver& c) { return attention_scores(c, q, k); });
        case AttentionPath::split_blocks:
            return gpu::bytes_to_carve(
                [&](gpu::Carver& c) { return attention_partials(c, q, attention_parts(q, k)); });
        default:
            return 0;
    }
}

template <class E>
AttentionProblemOf<E> attention_problem(const View<const E>& q, const View<const E>& k,
                                        const View<const E>& v, const AttentionOptions& options,
                                        const View<Same<E>>& out) {
    const int r = q.rank();
    AttentionProblemOf<E> p;
    p.q = rows_along(q, r - 1);
    p.out = rows_along(out, r - 1);
    p.S = k.extent(k.rank() - 2);
    p.k_along_s = k.stride(k.rank() - 2);
    p.k_along_d = k.stride(k.rank() - 1);
    p.v_along_s = v.stride(v.rank() - 2);
    p.v_along_d = v.stride(v.rank() - 1);
    const auto of_queries = [&](const View<const E>& x) {
        View<const E> first = beside(x, q.shape());
        first.layout.shape.rank = first.layout.strides.rank = r - 1;
        first.extent(r - 2) = q.extent(r - 2);  // the same for all tokens of a head
        first.stride(r - 2) = 0;
        return first;
    };
    p.keys = of_queries(k);
    p.values = of_queries(v);
    if (p.S == 0) {  // no key is read, but kernels compute addresses from it
        p.keys = p.values = {q.data, Layout(p.q.first.shape(), Dims::filled(r - 1, 0))};
        p.k_along_s = p.k_along_d = p.v_along_s = p.v_along_d = 0;
    }
    p.length = options.length;
    const auto D = static_cast<float>(q.extent(r - 1));
    p.scale = options.scale != 0 ? options.scale : 1 / std::sqrt(D);
    p.causal = options.causal;
    // Tiles also address rows past the end, so a stride matters even where it is never used.
    const std::int64_t steps = q.stride(r - 2) | p.k_along_s | p.v_along_s;
    const bool whole = steps % (kVectorBytes / static_cast<int>(sizeof(E))) == 0;
    p.vectorized = vectorized(q) && vectorized(k) && vectorized(v) && whole;
    return p;
}

#define SIXDAYS_FOR(E)                                                                             \
    template void require_log_sums(const char*, const View<const E>&, const View<const E>&,        \
                                   const View<const E>&, const AttentionOptions&, const View<E>&,  \
                                   const View<float>&);                                            \
    template void require_attention(const char*, const View<const E>&, const View<const E>&,       \
                                    const View<const E>&, const AttentionOptions&, const View<E>&, \
                                    const char*);                                                  \
    template AttentionProblemOf<E> attention_problem(const View<const E>&, const View<const E>&,   \
                                                     const View<const E>&,                         \
                                                     const AttentionOptions&, const View<E>&);     \
    template std::optional<Stacked<E>> stacked(int, const View<const E>&, const View<const E>&,    \
                                               const View<const E>&, const View<E>&,               \
                                               const View<float>&);
SIXDAYS_FOR(float)
SIXDAYS_FOR(bf16)
SIXDAYS_FOR(f16)
#undef SIXDAYS_FOR

template <class T>
View<T> split_heads(const View<T>& x, std::int64_t H) {
    if (x.rank() != 3 || H < 1 || x.extent(2) % H != 0) {
        reject("heads: ", H, " heads do not divide the last dim of shape ", x.shape(),
               ", (B, T, C)");
    }
    const View<T> apart = reshape(x, {x.extent(0), x.extent(1), H, x.extent(2) / H});
    return permute(apart, {0, 2, 1, 3});
}

template <class T>
Heads<T> heads_of(const View<T>& qkv, std::int64_t H) {
    if (qkv.rank() != 3 || qkv.extent(2) % 3 != 0) {
        reject("heads_of: a shape ", qkv.shape(), " is not (B, T, 3 C)");
    }
    const std::int64_t C = qkv.extent(2) / 3;
    return {split_heads(slice(qkv, 2, 0, C), H), split_heads(slice(qkv, 2, C, 2 * C), H),
            split_heads(slice(qkv, 2, 2 * C, 3 * C), H)};
}

#define SIXDAYS_FOR(T)                                          \
    template View<T> split_heads(const View<T>&, std::int64_t); \
    template Heads<T> heads_of(const View<T>&, std::int64_t);
SIXDAYS_FOR(float)
SIXDAYS_FOR(const float)
SIXDAYS_FOR(bf16)
SIXDAYS_FOR(const bf16)
#undef SIXDAYS_FOR

}  // namespace sixdays::day06_transformer_ops
