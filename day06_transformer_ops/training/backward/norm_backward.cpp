// What the norms' backward passes reject, which path they take, and their workspaces.
#include "day06_transformer_ops/training/backward/norm_backward.hpp"

#include <algorithm>

#include "common/tensor/names.hpp"
#include "day06_transformer_ops/training/reject.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

bool held(const NormBackwardPlan& p) {
    return p.in.length <= kMostOfLanes && can_be_vectors(p.in) && can_be_vectors(p.grad) &&
           can_be_vectors(p.d_in);
}

const auto& norm_backward_paths() {
    static const std::string needs =
        sentence("rows of whole vectors along memory that begin at multiples of 16 bytes, of ",
                 kMostOfLanes, " elements at most");
    static const PathEntry<LayerNormBackwardPath, NormBackwardPlan> all[] = {
        {LayerNormBackwardPath::row_per_thread, "row per thread"},
        {LayerNormBackwardPath::registers, "registers", held, needs},
        {LayerNormBackwardPath::ahead, "ahead", held, needs},
    };
    return all;
}

}  // namespace

const char* name(LayerNormBackwardPath path) {
    return name_in(norm_backward_paths(), path);
}

NormBackwardPlan plan_norm_backward(const char* op, const View<const float>& in,
                                    const NormParameters& parameters, const View<const float>& grad,
                                    const View<float>& d_in, const NormGradients& d,
                                    const gpu::Launch<LayerNormBackwardPath>& how) {
    require_rows(op, "in", in);
    require_same_shape(op, "in", in, "grad", grad);
    require_memory(op, "in", in);
    require_memory(op, "grad", grad);
    require_gradient(op, "d_in", d_in, in.shape());
    const Shape row = {in.extent(in.rank() - 1)};
    check_norm_parameters(op, parameters, row[0]);
    require_apart(op, "in", in, "d_in", d_in);
    require_apart(op, "grad", grad, "d_in", d_in);
    require_apart(op, "weight", parameters.weight, "d_in", d_in);
    require_apart(op, "bias", parameters.bias, "d_in", d_in);
    const auto check = [&](const char* name, const View<float>& of) {
        if (of.data == nullptr) return;
        require_gradient(op, name, of, row);
        require_apart(op, "in", in, name, of);
        require_apart(op, "grad", grad, name, of);
        require_apart(op, "d_in", d_in, name, of);
        require_apart(op, "weight", parameters.weight, name, of);
        require_apart(op, "bias", parameters.bias, name, of);
    };
    check("d_weight", d.weight);
    check("d_bias", d.bias);
    if (d.weight.data != nullptr && d.bias.data != nullptr) {
        require_apart(op, "d_bias", d.bias, "d_weight", d.weight);
    }
    require_known_path(op, how.path);
    const int last = in.rank() - 1;
    NormBackwardPlan p{LayerNormBackwardPath::row_per_thread, rows_along(in, last),
                       rows_along(grad, last), rows_along(d_in, last)};
    if (held(p)) p.path = LayerNormBackwardPath::ahead;
    if (how.path) p.path = *how.path;
    if (in.size() == 0) return p;
    require_support(op, norm_backward_paths(), p.path, p, "; in has ", in.layout, ", grad ",
                    grad.layout, ", d_in ", d_in.layout);
    return p;
}

LayerNormLeft layer_norm_left(gpu::Carver& carver, const View<const float>& in) {
    // Enough blocks for any device, and few enough that summing their results is fast.
    constexpr std::int64_t kBlocks = 256, kRowsOfBlock = 8;
    const View<float> rows = carver.take<float>({rows_along(in, in.rank() - 1).count(), 2});
    const std::int64_t blocks =
        std::min(kBlocks, (rows.extent(0) + kRowsOfBlock - 1) / kRowsOfBlock);
    return {rows, carver.take<float>({blocks, 2, in.extent(in.rank() - 1)})};
}

std::int64_t layer_norm_backward_workspace_bytes(const View<const float>& in) {
    require_rows("layer_norm_backward", "in", in);
    return gpu::bytes_to_carve([&](gpu::Carver& c) { return layer_norm_left(c, in); });
}

std::int64_t rms_norm_backward_workspace_bytes(const View<const float>& in) {
    require_rows("rms_norm_backward", "in", in);
    return gpu::bytes_to_carve([&](gpu::Carver& c) { return layer_norm_left(c, in); });
}

}  // namespace sixdays::day06_transformer_ops
