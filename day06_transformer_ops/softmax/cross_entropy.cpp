// What cross-entropy rejects, and which path it takes.
#include "day06_transformer_ops/softmax/cross_entropy.hpp"

#include "common/tensor/names.hpp"
#include "common/tensor/walk.hpp"
#include "day06_transformer_ops/softmax/cross_entropy_tile.hpp"

namespace sixdays::day06_transformer_ops {

// --- the paths -----------------------------------------------------------------------------------
namespace {

template <class T>
bool along_memory(const CrossEntropyPlan<T>& p) {
    return p.logits.stride == 1 && p.logits.length < kWalkable;
}
template <class T>
bool in_tiles(const CrossEntropyPlan<T>& p) {
    return surprised_rows(p)[0].rank() < gpu::kMostTileDims &&
           gpu::goes_forwards(p.logits.first.layout) && p.logits.stride >= 0;
}

template <class T>
const auto& cross_entropy_paths() {
    static const PathEntry<CrossEntropyPath, CrossEntropyPlan<T>> all[] = {
        {CrossEntropyPath::thread_per_row, "thread per row"},
        {CrossEntropyPath::block_per_row, "block per row", along_memory<T>,
         "rows of logits along memory"},
        {CrossEntropyPath::tile, "tile", in_tiles<T>,
         "at most three dimensions of rows, once simplified, and logits with " +
             gpu::kNoNegativeStride},
    };
    return all;
}

}  // namespace

const char* name(CrossEntropyPath path) {
    return name_in(cross_entropy_paths<float>(), path);
}

// --- the decision --------------------------------------------------------------------------------

template <class T>
CrossEntropyPlan<T> plan_cross_entropy(const View<const T>& logits,
                                       const View<const std::int64_t>& targets,
                                       const View<float>& out,
                                       const gpu::Launch<CrossEntropyPath>& how) {
    if (logits.rank() == 0 || logits.extent(logits.rank() - 1) == 0) {
        reject("cross_entropy: logits have shape ", logits.shape(),
               ", but need a last dim with at least one logit");
    }
    CrossEntropyPlan<T> p{CrossEntropyPath::thread_per_row, rows_along(logits, logits.rank() - 1),
                          targets, out};
    const Shape wanted = p.logits.first.shape();
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
    require_known_path("cross_entropy", how.path);
    p.path = how.path.value_or(along_memory(p) ? CrossEntropyPath::block_per_row
                                               : CrossEntropyPath::thread_per_row);
    if (out.size() == 0) return p;
    require_support("cross_entropy", cross_entropy_paths<T>(), p.path, p, "; logits have ",
                    logits.layout, ", targets ", targets.layout, ", out ", out.layout);
    return p;
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

template CrossEntropyPlan<float> plan_cross_entropy(const View<const float>&,
                                                    const View<const std::int64_t>&,
                                                    const View<float>&,
                                                    const gpu::Launch<CrossEntropyPath>&);
template CrossEntropyPlan<bf16> plan_cross_entropy(const View<const bf16>&,
                                                   const View<const std::int64_t>&,
                                                   const View<float>&,
                                                   const gpu::Launch<CrossEntropyPath>&);

}  // namespace sixdays::day06_transformer_ops
