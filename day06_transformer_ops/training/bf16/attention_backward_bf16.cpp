// The argument checks of attention_backward_bf16, the choice of its path, and the views that it
// works on.
#include "day06_transformer_ops/training/bf16/attention_backward_bf16.hpp"

#include "common/tensor/names.hpp"
#include "common/tensor/vectorized.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16.hpp"
#include "day06_transformer_ops/training/backward/attention_reject.hpp"
#include "day06_transformer_ops/training/bf16/attention_backward_bf16_problem.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr const char* kOp = "attention_backward_bf16";

// Two adjacent elements are stored at once.
bool in_pairs(const View<bf16>& x) {
    return x.size() == 0 || has_wider(x.data, x.layout, sizeof(bf16), 2 * sizeof(bf16));
}
bool vectorized(const View<const bf16>& x) {
    return x.size() == 0 || has_wider(x.data, x.layout, sizeof(bf16));
}

}  // namespace

AttentionBackwardBf16Path choose_attention_backward_bf16(const View<const bf16>& q,
                                                         const View<const bf16>& k,
                                                         const View<const bf16>& v,
                                                         const AttentionGradientsOf<bf16>& d) {
    const bool fits = q.extent(q.rank() - 1) <= kMostOfHead && vectorized(q) && vectorized(k) &&
                      vectorized(v) && in_pairs(d.q) && in_pairs(d.k) && in_pairs(d.v);
    return fits ? AttentionBackwardBf16Path::tensor_cores
                : AttentionBackwardBf16Path::row_per_thread;
}

void check_attention_backward_bf16(const View<const bf16>& q, const View<const bf16>& k,
                                   const View<const bf16>& v, const AttentionOptions& options,
                                   const View<const bf16>& out, const View<const float>& log_sums,
                                   const View<const float>& grad,
                                   const AttentionGradientsOf<bf16>& d,
                                   std::optional<AttentionBackwardBf16Path> path) {
    require_tokens(kOp, q);
    require_known_path(kOp, path);
    const int last = q.rank() - 1;
    Shape keys = q.shape(), tokens = q.shape();
    if (k.rank() == q.rank()) keys[last - 1] = k.extent(last - 1);
    tokens.rank = last;
    require_shape(kOp, "q", q, q.shape());
    require_shape(kOp, "k", k, keys);
    require_shape(kOp, "v", v, keys);
    require_shape(kOp, "out", out, q.shape());
    require_shape(kOp, "log_sums", log_sums, tokens);
    require_shape(kOp, "grad", grad, q.shape());
    require_gradient(kOp, "d_q", d.q, q.shape());
    require_gradient(kOp, "d_k", d.k, keys);
    require_gradient(kOp, "d_v", d.v, keys);
    require_no_length(kOp, options);
    if (!(options.scale >= 0) || std::isinf(options.scale)) {
        reject(kOp, ": scale is ", options.scale,
               ", but must be finite and not negative; 0 stands for 1 / sqrt(D)");
    }
    require_gradients_apart(kOp, d, std::pair("q", q), std::pair("k", k), std::pair("v", v),
                            std::pair("out", out), std::pair("log_sums", log_sums),
                            std::pair("grad", grad));
    if (path == AttentionBackwardBf16Path::tensor_cores &&
        choose_attention_backward_bf16(q, k, v, d) != path) {
        reject(kOp, ": the path 'tensor cores' needs heads of ", kMostOfHead,
               " numbers at most, q, k and v whose rows are whole vectors of eight numbers along "
               "memory and begin at multiples of 16 bytes, and outputs whose rows are whole pairs; "
               "q has ",
               q.layout, ", k ", k.layout, ", v ", v.layout, ", d_q ", d.q.layout, ", d_k ",
               d.k.layout, ", d_v ", d.v.layout);
    }
}

const char* name(AttentionBackwardBf16Path path) {
    static constexpr Named<AttentionBackwardBf16Path> kNames[] = {
        {AttentionBackwardBf16Path::row_per_thread, "row per thread"},
        {AttentionBackwardBf16Path::tensor_cores, "tensor cores"},
    };
    return name_in(kNames, path);
}

AttentionBackwardBf16 attention_backward_bf16_problem(
    const View<const bf16>& q, const View<const bf16>& k, const View<const bf16>& v,
    const AttentionOptions& options, const View<const bf16>& out, const View<const float>& log_sums,
    const View<const float>& grad, const AttentionGradientsOf<bf16>& d) {
    const int last = q.rank() - 1;
    const auto heads_of = [&]<class E>(const View<E>& x) {
        // As in attention_bf16_problem(): the stride of a single row is never used and may be any
        // number, but tiles also address rows beyond it.
        const std::int64_t along_rows = x.extent(last - 1) > 1 ? x.stride(last - 1) : 0;
        return HeadsOf<E>{
            {x.data, without(x.layout, {last - 1, last})}, along_rows, x.stride(last)};
    };
    const std::int64_t T = q.extent(last - 1), D = q.extent(last);
    const float scale = options.scale > 0 ? options.scale : 1 / std::sqrt(static_cast<float>(D));
    const HeadsOf<const float> sums{
        {log_sums.data, without(log_sums.layout, {last - 1})}, log_sums.stride(last - 1), 0};
    AttentionBackwardBf16 p{heads_of(q),
                            heads_of(k),
                            heads_of(v),
                            heads_of(out),
                            heads_of(grad),
                            sums,
                            heads_of(d.q),
                            heads_of(d.k),
                            heads_of(d.v),
                            0,
                            T,
                            k.extent(last - 1),
                            D,
                            scale,
                            options.causal};
    p.heads = p.q.firsts.size();
    return p;
}

}  // namespace sixdays::day06_transformer_ops
