// What cross-entropy's backward pass rejects, and which path it takes.
#include "day06_transformer_ops/training/backward/cross_entropy_backward.hpp"

#include "common/tensor/names.hpp"
#include "day06_transformer_ops/training/reject.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

template <class T>
bool along_memory(const CrossEntropyBackwardPlan<T>& p) {
    return p.logits.stride == 1 && p.out.stride == 1;
}

template <class T>
const auto& cross_entropy_backward_paths() {
    static const PathEntry<CrossEntropyBackwardPath, CrossEntropyBackwardPlan<T>> all[] = {
        {CrossEntropyBackwardPath::row_per_thread, "row per thread"},
        {CrossEntropyBackwardPath::block_per_row, "block per row", along_memory<T>,
         "rows along memory"},
    };
    return all;
}

}  // namespace

const char* name(CrossEntropyBackwardPath path) {
    return name_in(cross_entropy_backward_paths<float>(), path);
}

template <class T>
CrossEntropyBackwardPlan<T> plan_cross_entropy_backward(
    const View<const float>& logits, const View<const std::int64_t>& targets,
    const View<const float>& grad, const View<T>& out, const View<const float>& losses,
    const gpu::Launch<CrossEntropyBackwardPath>& how) {
    using Path = CrossEntropyBackwardPath;
    constexpr bool kFloat = std::is_same_v<T, float>;
    constexpr const char* kOp = "cross_entropy_backward";
    const int last = logits.rank() - 1;
    if (last < 0 || logits.extent(last) == 0) {
        reject(kOp, ": logits have shape ", logits.shape(),
               ", but need a last dim with at least one logit");
    }
    const Shape rows = rows_along(logits, last).first.shape();
    require_memory(kOp, "logits", logits);
    require_gradient(kOp, "out", out, logits.shape());
    if constexpr (kFloat) {
        require_same_or_apart(kOp, "logits", logits, "out", out);
    } else {
        require_apart(kOp, "logits", logits, "out", out);
    }
    require_known_path(kOp, how.path);
    require_shape(kOp, "targets", targets, rows);
    const View<const float> all_grad = stretched(kOp, "grad", grad, rows);
    require_apart(kOp, "targets", targets, "out", out);
    require_apart(kOp, "grad", grad, "out", out);
    if (losses.data != nullptr) {
        require_shape(kOp, "losses", losses, rows);
        require_apart(kOp, "losses", losses, "out", out);
    }
    if (how.path == Path::row_per_thread && !kFloat) {
        reject(kOp, ": the path 'row per thread' writes float, but out is bf16");
    }
    CrossEntropyBackwardPlan<T> p{Path::block_per_row, rows_along(logits, last), all_grad,
                                  rows_along(out, last)};
    p.path =
        how.path.value_or(!kFloat || along_memory(p) ? Path::block_per_row : Path::row_per_thread);
    require_support(kOp, cross_entropy_backward_paths<T>(), p.path, p, "; logits have ",
                    logits.layout, ", out ", out.layout);
    return p;
}

template CrossEntropyBackwardPlan<float> plan_cross_entropy_backward(
    const View<const float>&, const View<const std::int64_t>&, const View<const float>&,
    const View<float>&, const View<const float>&, const gpu::Launch<CrossEntropyBackwardPath>&);
template CrossEntropyBackwardPlan<bf16> plan_cross_entropy_backward(
    const View<const float>&, const View<const std::int64_t>&, const View<const float>&,
    const View<bf16>&, const View<const float>&, const gpu::Launch<CrossEntropyBackwardPath>&);

}  // namespace sixdays::day06_transformer_ops
