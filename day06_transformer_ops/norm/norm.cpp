// The argument checks of the norms, and the choice of their path.
#include "day06_transformer_ops/norm/norm.hpp"

#include "common/tensor/names.hpp"
#include "day06_transformer_ops/norm/tiles.hpp"

namespace sixdays::day06_transformer_ops {

// --- choice of path ------------------------------------------------------------------------------

template <class T>
NormPath choose_norm(const View<const Same<T>>& in, const View<Same<T>>& residual,
                     const View<T>& out) {
    const int last = in.rank() - 1;
    if (can_be_held(in, last) && can_be_held(residual, last) && can_be_held(out, last)) {
        return NormPath::registers;
    }
    // Rows across memory: threads of neighbouring rows read neighbouring elements: coalesced.
    return in.stride(last) != 1 && in.extent(last) > 1 ? NormPath::thread_per_row
                                                       : NormPath::warp_per_row;
}

// --- argument checks -----------------------------------------------------------------------------
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

template <class T>
void check_path(const std::string& op, std::optional<NormPath> path, const View<const T>& in,
                const View<T>& residual, const View<T>& out) {
    require_known_path(op, path);
    if (in.size() == 0) return;
    const int last = in.rank() - 1;
    if (path == NormPath::tile && residual.data != out.data) {
        reject(op, ": only layer_norm and rms_norm have the path 'tile'");
    }
    if (path == NormPath::tile &&
        !(rows_take_tiles<T>(in, last, out) && in.extent(last) <= kMostTiled)) {
        reject(op, ": the path 'tile' needs rows of at most ", kMostTiled, " elements,",
               at_one_step(), "; in has ", in.layout, ", out ", out.layout);
    }
    if (path != NormPath::registers || choose_norm<T>(in, residual, out) == path) return;
    reject(op, kHeldNeeds, in.layout, ", out ", out.layout);
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
void check_norm(const char* op, const View<const Same<T>>& in, const NormParameters& parameters,
                const View<T>& out, std::optional<NormPath> path) {
    if (in.rank() == 0) {
        reject(op, ": in has rank 0, but rows run along the last dimension");
    }
    check_rows<T>(op, in, out);
    check_norm_parameters(op, parameters, in.extent(in.rank() - 1));
    check_apart(op, parameters, "out", out);
    check_path<T>(op, path, in, out, out);
}

template <class T>
void check_add_layer_norm(const View<const Same<T>>& in, const NormParameters& parameters,
                          const View<Same<T>>& residual, const View<T>& out,
                          std::optional<NormPath> path) {
    constexpr const char* kOp = "add_layer_norm";
    check_norm<T>(kOp, in, parameters, out);
    require_same_shape(kOp, "in", in, "residual", residual);
    require_output(kOp, residual, "residual");
    check_apart(kOp, parameters, "residual", residual);
    require_apart(kOp, "in", in, "residual", residual);
    require_apart(kOp, "out", out, "residual", residual);
    check_path<T>(kOp, path, in, residual, out);
}

const char* name(NormPath path) {
    static constexpr Named<NormPath> kNames[] = {
        {NormPath::thread_per_row, "thread per row"},
        {NormPath::warp_per_row, "warp per row"},
        {NormPath::registers, "registers"},
        {NormPath::tile, "tile"},
    };
    return name_in(kNames, path);
}

template void check_norm<float>(const char*, const View<const float>&, const NormParameters&,
                                const View<float>&, std::optional<NormPath>);
template void check_add_layer_norm<float>(const View<const float>&, const NormParameters&,
                                          const View<float>&, const View<float>&,
                                          std::optional<NormPath>);
template NormPath choose_norm<float>(const View<const float>&, const View<float>&,
                                     const View<float>&);
template void check_norm<bf16>(const char*, const View<const bf16>&, const NormParameters&,
                               const View<bf16>&, std::optional<NormPath>);
template void check_add_layer_norm<bf16>(const View<const bf16>&, const NormParameters&,
                                         const View<bf16>&, const View<bf16>&,
                                         std::optional<NormPath>);
template NormPath choose_norm<bf16>(const View<const bf16>&, const View<bf16>&, const View<bf16>&);

}  // namespace sixdays::day06_transformer_ops
