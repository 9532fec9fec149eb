// Which arguments the reductions reject, and which path they take.
#include "day04_argmax/reduce.hpp"

#include "common/tensor/names.hpp"
#include "common/tensor/transform.hpp"

namespace sixdays::day04_argmax {
namespace {

// A line without elements has no maximum and no mean.
void require_elements(const char* op, const View<const float>& in, const Dims& dims) {
    if (lines_of(op, in, dims).length() > 0) return;
    reject(op, " over dimensions ", dims, " of shape ", in.layout.shape, ": there is no element");
}

// The path shared_tree supports argmax only.
template <class T>
LinesPlan<T> plan_reduction(const char* op, const View<const float>& in, const Dims& dims,
                            const View<T>& out, const gpu::Launch<ReducePath>& how) {
    LinesPlan<T> plan = plan_lines(op, in, dims, out, how);
    if (plan.path != ReducePath::shared_tree || plan.lines.count() == 0) return plan;
    reject(op, ": the path 'shared tree' supports argmax only");
}

}  // namespace

LinesPlan<std::int64_t> plan_argmin(const View<const float>& in, int dim,
                                    const View<std::int64_t>& out,
                                    const gpu::Launch<ReducePath>& how) {
    const int d = checked_dim("argmin", dim, in.rank());
    require_elements("argmin", in, {d});
    return plan_reduction("argmin", in, {d}, out, how);
}

LinesPlan<float> plan_reduce(Reduction what, const View<const float>& in, const Dims& dims,
                             const View<float>& out, const gpu::Launch<ReducePath>& how) {
    require_known("reduce", "reduction", what);
    const bool of_nothing = what == Reduction::sum || what == Reduction::product;
    if (!of_nothing) require_elements(name(what), in, dims);
    return plan_reduction(name(what), in, dims, out, how);
}

ReducePath choose_reduce(const View<const float>& in, const Dims& dims, bool workspace) {
    return choose_path(lines_of("reduce", in, dims), workspace);
}

std::int64_t reduce_workspace_bytes(const View<const float>& in, const Dims& dims,
                                    std::optional<ReducePath> path) {
    return workspace_bytes("reduce", lines_of("reduce", in, dims), path);
}

std::int64_t argmin_workspace_bytes(const View<const float>& in, int dim,
                                    std::optional<ReducePath> path) {
    return workspace_bytes("argmin", lines_of("argmin", in, {dim}), path);
}

const char* name(Reduction what) {
    static constexpr Named<Reduction> kNames[] = {
        {Reduction::max, "max"},   {Reduction::min, "min"},         {Reduction::sum, "sum"},
        {Reduction::mean, "mean"}, {Reduction::product, "product"},
    };
    return name_in(kNames, what);
}

}  // namespace sixdays::day04_argmax
