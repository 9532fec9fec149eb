// What the norms reject, and which path they take.
#include "day06_transformer_ops/norm/norm.hpp"

#include "common/tensor/names.hpp"
#include "day06_transformer_ops/norm/tiles.hpp"

namespace sixdays::day06_transformer_ops {

// --- the paths -----------------------------------------------------------------------------------
namespace {

template <class T>
bool held(const NormPlan<T>& p) {
    return can_be_held(p.in) && can_be_held(p.residual) && can_be_held(p.out);
}
template <class T>
bool in_tiles(const NormPlan<T>& p) {
    return rows_take_tiles(p.in, p.out) && p.in.length <= kMostTiled;
}

template <class T>
const auto& norm_paths() {
    static const PathEntry<NormPath, NormPlan<T>> all[] = {
        {NormPath::thread_per_row, "thread per row"},
        {NormPath::warp_per_row, "warp per row"},
        {NormPath::registers, "registers", held<T>, kHeldNeeds},
        {NormPath::tile, "tile", in_tiles<T>,
         sentence("rows of at most ", kMostTiled, " elements,", at_one_step())},
    };
    return all;
}

template <class T>
NormPath best_path(const NormPlan<T>& p) {
    if (held(p)) return NormPath::registers;
    // Rows across memory: threads of neighbouring rows read neighbouring elements: coalesced.
    return p.in.stride == 1 ? NormPath::warp_per_row : NormPath::thread_per_row;
}

}  // namespace

const char* name(NormPath path) {
    return name_in(norm_paths<float>(), path);
}

// --- the decision --------------------------------------------------------------------------------
namespace {

void check_parameter(const char* op, const char* name, const View<const float>& v, std::int64_t C) {
    if (v.data != nullptr && v.shape() != Shape{C}) {
        reject(op, ": ", name, " has shape ", v.shape(), ", but rows have ", C, " elements");
    }
}

// Weight and bias must not overlap an output.
template <class T>
void check_apart(const char* op, const NormParameters& parameters, const char* written,
                 const View<T>& out) {
    const auto apart = [&](const char* name, const View<const float>& v) {
        if (v.data != nullptr) require_apart(op, name, v, written, out);
    };
    apart("weight", parameters.weight);
    apart("bias", parameters.bias);
}

}  // namespace

void check_norm_parameters(const char* op, const NormParameters& parameters, std::int64_t C) {
    check_parameter(op, "weight", parameters.weight, C);
    check_parameter(op, "bias", parameters.bias, C);
    if (!(parameters.eps >= 0) || std::isinf(parameters.eps)) {
        reject(op, ": eps is ", parameters.eps, ", but must be 0 or more, and finite");
    }
}

template <class T>
NormPlan<T> plan_norm(const char* op, const View<const Same<T>>& in,
                      const NormParameters& parameters, const View<T>& out,
                      const gpu::Launch<NormPath>& how,
                      const std::optional<View<Same<T>>>& residual) {
    const int last = in.rank() - 1;
    if (last < 0) reject(op, ": in has rank 0, but rows run along the last dimension");
    check_rows<T>(op, in, out);
    check_norm_parameters(op, parameters, in.extent(last));
    check_apart(op, parameters, "out", out);
    if (residual) {
        require_same_shape(op, "in", in, "residual", *residual);
        require_output(op, *residual, "residual");
        check_apart(op, parameters, "residual", *residual);
        require_apart(op, "in", in, "residual", *residual);
        require_apart(op, "out", out, "residual", *residual);
    }
    require_known_path(op, how.path);
    NormPlan<T> p{NormPath::thread_per_row, rows_along(in, last),
                  rows_along(residual.value_or(View<T>(nullptr, out.layout)), last),
                  rows_along(out, last)};
    p.path = how.path.value_or(best_path(p));
    if (in.size() == 0) return p;
    if (p.path == NormPath::tile && residual) {
        reject(op, ": only layer_norm and rms_norm have the path 'tile'");
    }
    require_support(op, norm_paths<T>(), p.path, p, "; in has ", in.layout, ", out ", out.layout);
    return p;
}

template NormPlan<float> plan_norm(const char*, const View<const float>&, const NormParameters&,
                                   const View<float>&, const gpu::Launch<NormPath>&,
                                   const std::optional<View<float>>&);
template NormPlan<bf16> plan_norm(const char*, const View<const bf16>&, const NormParameters&,
                                  const View<bf16>&, const gpu::Launch<NormPath>&,
                                  const std::optional<View<bf16>>&);

}  // namespace sixdays::day06_transformer_ops
