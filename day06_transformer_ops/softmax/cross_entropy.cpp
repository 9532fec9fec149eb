// The argument checks of cross-entropy, and the choice of its path.
#include "day06_transformer_ops/softmax/cross_entropy.hpp"

#include "common/tensor/names.hpp"
#include "common/tensor/walk.hpp"
#include "day06_transformer_ops/softmax/cross_entropy_tile.hpp"

namespace sixdays::day06_transformer_ops {

template <class T>
CrossEntropyPath choose_cross_entropy(const View<const T>& logits) {
    const Rows<const T> rows = rows_along(logits, logits.rank() - 1);
    return (rows.stride == 1 || rows.length == 1) && rows.length < kWalkable
               ? CrossEntropyPath::block_per_row
               : CrossEntropyPath::thread_per_row;
}

template <class T>
void check_cross_entropy(const View<const T>& logits, const View<const std::int64_t>& targets,
                         const View<float>& out, std::optional<CrossEntropyPath> path) {
    if (logits.rank() == 0 || logits.extent(logits.rank() - 1) == 0) {
        reject("cross_entropy: logits have shape ", logits.shape(),
               ", but need a last dim with at least one logit");
    }
    const Shape wanted = rows_along(logits, logits.rank() - 1).first.layout.shape;
    if (targets.shape() != wanted || out.shape() != wanted) {
        reject("cross_entropy: logits have shape ", logits.shape(),
               ", so targets and out must have ", wanted, ", not ", targets.shape(), " and ",
               out.shape());
    }
    require_memory("cross_entropy", "logits", logits);
    require_memory("cross_entropy", "targets", targets);
    require_output("cross_entropy", out);
    require_apart("cross_entropy", "logits", logits, "out", out);
    require_apart("cross_entropy", "targets", targets, "out", out);
    require_known_path("cross_entropy", path);
    if (path == CrossEntropyPath::block_per_row && choose_cross_entropy<T>(logits) != path) {
        reject(
            "cross_entropy: the path 'block per row' needs rows of logits along memory; they "
            "have ",
            logits.layout);
    }
    if (path == CrossEntropyPath::tile && out.size() > 0 &&
        (surprised_rows(logits, targets, out)[0].rank() >= gpu::kMostTileDims ||
         !gpu::goes_forwards(logits.layout))) {
        reject(
            "cross_entropy: the path 'tile' needs, after simplifying, three dimensions of rows at "
            "most, "
            "and logits with ",
            gpu::kNoNegativeStride, "; logits have ", logits.layout, ", targets ", targets.layout,
            ", out ", out.layout);
    }
}

void check_targets(const View<const std::int64_t>& targets, std::int64_t V) {
    for (std::int64_t r = 0; r < targets.size(); ++r) {
        const Index at = unravel(r, targets.shape());
        if (targets(at) < 0 || targets(at) >= V) {
            reject("cross_entropy: the target at ", at, " is ", targets(at), ", but there are ", V,
                   " logits");
        }
    }
}

const char* name(CrossEntropyPath path) {
    static constexpr Named<CrossEntropyPath> kNames[] = {
        {CrossEntropyPath::thread_per_row, "thread per row"},
        {CrossEntropyPath::block_per_row, "block per row"},
        {CrossEntropyPath::tile, "tile"},
    };
    return name_in(kNames, path);
}

template void check_cross_entropy(const View<const float>&, const View<const std::int64_t>&,
                                  const View<float>&, std::optional<CrossEntropyPath>);
template void check_cross_entropy(const View<const bf16>&, const View<const std::int64_t>&,
                                  const View<float>&, std::optional<CrossEntropyPath>);
template CrossEntropyPath choose_cross_entropy(const View<const float>&);
template CrossEntropyPath choose_cross_entropy(const View<const bf16>&);

}  // namespace sixdays::day06_transformer_ops
