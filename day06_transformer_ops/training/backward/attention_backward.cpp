// The argument checks of attention's backward pass, and the views that it uses.
#include "day06_transformer_ops/training/backward/attention_backward.hpp"

#include "common/tensor/names.hpp"
#include "day06_transformer_ops/training/backward/attention_backward_problem.hpp"
#include "day06_transformer_ops/training/backward/attention_reject.hpp"

namespace sixdays::day06_transformer_ops {

void check_attention_backward(const View<const float>& q, const View<const float>& k,
                              const View<const float>& v, const AttentionOptions& options,
                              const View<const float>& grad, const AttentionGradients& d,
                              const AttentionSaved& saved,
                              std::optional<AttentionBackwardPath> path) {
    constexpr const char* kOp = "attention_backward";
    require_attention(kOp, q, k, v, options, d.q, "d_q");
    require_known_path(kOp, path);
    require_same_shape(kOp, "k", k, "v", v);
    if (k.rank() != q.rank()) {
        reject(kOp, ": k has shape ", k.shape(), ", but q ", q.shape(),
               "; give it the same rank, with extents of 1 where heads share keys");
    }
    require_no_length(kOp, options);
    require_shape(kOp, "grad", grad, q.shape());
    require_gradient(kOp, "d_k", d.k, k.shape());
    require_gradient(kOp, "d_v", d.v, v.shape());
    require_gradients_apart(kOp, d, std::pair("q", q), std::pair("k", k), std::pair("v", v),
                            std::pair("grad", grad));
    if (saved.given()) {
        Shape queries = q.shape();
        --queries.rank;
        require_shape(kOp, "out", saved.out, q.shape());
        require_shape(kOp, "log_sums", saved.log_sums, queries);
        require_gradients_apart(kOp, d, std::pair("out", saved.out),
                                std::pair("log_sums", saved.log_sums));
    } else if (path == AttentionBackwardPath::kept) {
        reject(kOp, ": the path 'kept' needs the output and the log of sums of the forward pass");
    }
    const std::int64_t D = q.extent(q.rank() - 1);
    if (path && path != AttentionBackwardPath::row_per_thread && D > kMostOfHead) {
        reject(kOp, ": a head of ", D, " numbers; ", kMostOfHead, " is the most that the path '",
               name(*path), "' takes");
    }
}

AttentionBackwardPath choose_attention_backward(const View<const float>& q, std::size_t shared,
                                                bool saved) {
    const std::int64_t T = q.extent(q.rank() - 2), D = q.extent(q.rank() - 1);
    constexpr std::int64_t kFew = 32;  // half a tile: with fewer queries most of a tile is empty
    const bool tiles = T >= kFew && D <= kMostOfHead && attention_backward_tiles_bytes(D) <= shared;
    if (!tiles) return AttentionBackwardPath::row_per_thread;
    constexpr std::int64_t kOneTile = 64;  // no overlap of copies: 'tiles' is 6 % faster
    return saved && T > kOneTile ? AttentionBackwardPath::kept : AttentionBackwardPath::tiles;
}

const char* name(AttentionBackwardPath path) {
    static constexpr Named<AttentionBackwardPath> kNames[] = {
        {AttentionBackwardPath::row_per_thread, "row per thread"},
        {AttentionBackwardPath::tiles, "tiles"},
        {AttentionBackwardPath::kept, "kept"},
    };
    return name_in(kNames, path);
}

AttentionBackward attention_backward_problem(const View<const float>& q, const View<const float>& k,
                                             const View<const float>& v,
                                             const AttentionOptions& options,
                                             const View<const float>& grad,
                                             const AttentionGradients& d) {
    const int last = q.rank() - 1;
    AttentionBackward p{attention_problem(q, k, v, options, d.q),
                        rows_along(grad, last),
                        rows_along(k, last),
                        rows_along(v, last),
                        rows_along(d.k, last),
                        rows_along(d.v, last),
                        Dims::filled(last, 1),
                        1};
    for (int dim = 0; dim + 1 < last; ++dim) {
        if (k.extent(dim) == 1) p.sharing[dim] = q.extent(dim);
        p.heads *= p.sharing[dim];
    }
    // As in attention_problem(): a stride matters even where it is never used.
    p.grad_vectorized =
        has_wider(grad.data, grad.layout, sizeof(float)) && grad.stride(last - 1) % 4 == 0;
    return p;
}

View<Softmaxed> attention_softmaxed(gpu::Carver& carver, const View<const float>& q) {
    return carver.take<Softmaxed>(rows_along(q, q.rank() - 1).first.shape());
}

std::int64_t attention_backward_workspace_bytes(const View<const float>& q) {
    require_tokens("attention_backward", q);
    return gpu::bytes_to_carve([&](gpu::Carver& c) { return attention_softmaxed(c, q); });
}

}  // namespace sixdays::day06_transformer_ops
