// The argument checks of cross-entropy's backward pass.
#include "day06_transformer_ops/training/backward/cross_entropy_backward.hpp"

#include "common/tensor/names.hpp"
#include "day06_transformer_ops/training/reject.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

// The stride of a row of one element is never used.
template <class T>
bool along_memory(const View<T>& rows) {
    const int last = rows.rank() - 1;
    return rows.stride(last) == 1 || rows.extent(last) == 1;
}

}  // namespace

template <class T>
void check_cross_entropy_backward(const View<const float>& logits,
                                  const View<const std::int64_t>& targets,
                                  const View<const float>& grad, const View<T>& out,
                                  const View<const float>& losses,
                                  std::optional<CrossEntropyBackwardPath> path) {
    using Path = CrossEntropyBackwardPath;
    constexpr const char* kOp = "cross_entropy_backward";
    if (logits.rank() == 0 || logits.extent(logits.rank() - 1) == 0) {
        reject(kOp, ": logits have shape ", logits.shape(),
               ", but need a last dim with at least one logit");
    }
    const Shape rows = rows_along(logits, logits.rank() - 1).first.layout.shape;
    require_memory(kOp, "logits", logits);
    require_gradient(kOp, "out", out, logits.shape());
    if constexpr (std::is_same_v<T, float>) {
        require_same_or_apart(kOp, "logits", logits, "out", out);
    } else {
        require_apart(kOp, "logits", logits, "out", out);
    }
    require_known_path(kOp, path);
    require_shape(kOp, "targets", targets, rows);
    (void)stretched(kOp, "grad", grad, rows);
    require_apart(kOp, "targets", targets, "out", out);
    require_apart(kOp, "grad", grad, "out", out);
    if (losses.data != nullptr) {
        require_shape(kOp, "losses", losses, rows);
        require_apart(kOp, "losses", losses, "out", out);
    }
    if (path == Path::row_per_thread && !std::is_same_v<T, float>) {
        reject(kOp, ": the path 'row per thread' writes float, but out is bf16");
    }
    if (path.value_or(choose_cross_entropy_backward(logits, out)) == Path::block_per_row &&
        !(along_memory(logits) && along_memory(out))) {
        reject(kOp, ": the path 'block per row' needs rows along memory; logits have ",
               logits.layout, ", out ", out.layout);
    }
}

template <class T>
CrossEntropyBackwardPath choose_cross_entropy_backward(const View<const float>& logits,
                                                       const View<T>& out) {
    return !std::is_same_v<T, float> || (along_memory(logits) && along_memory(out))
               ? CrossEntropyBackwardPath::block_per_row
               : CrossEntropyBackwardPath::row_per_thread;
}

#define SIXDAYS_FOR(T)                                                                        \
    template void check_cross_entropy_backward(                                               \
        const View<const float>&, const View<const std::int64_t>&, const View<const float>&,  \
        const View<T>&, const View<const float>&, std::optional<CrossEntropyBackwardPath>);   \
    template CrossEntropyBackwardPath choose_cross_entropy_backward(const View<const float>&, \
                                                                    const View<T>&);
SIXDAYS_FOR(float)
SIXDAYS_FOR(bf16)
#undef SIXDAYS_FOR

const char* name(CrossEntropyBackwardPath path) {
    static constexpr Named<CrossEntropyBackwardPath> kNames[] = {
        {CrossEntropyBackwardPath::row_per_thread, "row per thread"},
        {CrossEntropyBackwardPath::block_per_row, "block per row"},
    };
    return name_in(kNames, path);
}

}  // namespace sixdays::day06_transformer_ops
