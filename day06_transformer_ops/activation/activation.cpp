// The argument checks of the activations, and the choice of their path.
#include "day06_transformer_ops/activation/activation.hpp"

#include "common/gpu/tile.hpp"
#include "common/tensor/names.hpp"
#include "common/tensor/simplify.hpp"
#include "common/tensor/vectorized.hpp"

namespace sixdays::day06_transformer_ops {

// --- choice of path ------------------------------------------------------------------------------

template <class T>
ActivationPath choose_activation(const View<const Same<T>>& in, const View<const Same<T>>& more,
                                 const View<T>& out) {
    if (out.size() == 0) return ActivationPath::one_element;
    const auto layouts = simplify(out.layout, in.layout, broadcast_to(more.layout, out.shape()));
    const bool vectors = has_wider(out.data, layouts[0], sizeof(T)) &&
                         has_wider(in.data, layouts[1], sizeof(T)) &&
                         has_wider(more.data, layouts[2], sizeof(T));
    return vectors ? ActivationPath::vectorized : ActivationPath::one_element;
}

// --- argument checks -----------------------------------------------------------------------------
namespace {

template <class T>
void check_path(const char* op, std::optional<ActivationPath> path, const View<const T>& in,
                const View<const T>& more, const View<T>& out) {
    require_known_path(op, path);
    if (out.size() == 0) return;
    if (path == ActivationPath::tile) {
        const auto layouts =
            simplify(out.layout, in.layout, broadcast_to(more.layout, out.shape()));
        for (const Layout& layout : layouts) {
            if (gpu::takes_tiles(layout)) continue;
            reject(op, ": the path 'tile' needs, after simplifying, ", gpu::kMostTileDims,
                   " dimensions at most with ", gpu::kNoNegativeStride, "; here one has ", layout);
        }
    }
    if (path != ActivationPath::vectorized || choose_activation<T>(in, more, out) == path) return;
    reject(op,
           ": the path 'vectorized' needs rows of whole vectors that begin at multiples of 16 "
           "bytes; in has ",
           in.layout, ", the other input ", more.layout, ", out ", out.layout);
}

}  // namespace

template <class T>
void check_activate(const View<const Same<T>>& in, const View<T>& out,
                    std::optional<ActivationPath> path) {
    check_rows<T>("activate", in, out);
    check_path<T>("activate", path, in, in, out);
}

template <class T>
void check_activate_biased(const View<const Same<T>>& in, const View<const Same<T>>& bias,
                           const View<T>& out, std::optional<ActivationPath> path) {
    check_rows<T>("activate_biased", in, out);
    const View<const T> seen =
        with_prefix("activate_biased: bias", [&] { return broadcast_to(bias, out.shape()); });
    require_memory("activate_biased", "bias", bias);
    require_same_or_apart("activate_biased", "bias", seen, "out", out);
    check_path<T>("activate_biased", path, in, bias, out);
}

template <class T>
void check_activate_gated(const View<const Same<T>>& gate, const View<const Same<T>>& in,
                          const View<T>& out, std::optional<ActivationPath> path) {
    check_rows<T>("activate_gated", in, out);
    require_same_shape("activate_gated", "gate", gate, "out", out);
    require_memory("activate_gated", "gate", gate);
    require_same_or_apart("activate_gated", "gate", gate, "out", out);
    check_path<T>("activate_gated", path, gate, in, out);
}

const char* name(Activation what) {
    static constexpr Named<Activation> kNames[] = {
        {Activation::relu, "relu"},
        {Activation::gelu_erf, "gelu_erf"},
        {Activation::gelu_tanh, "gelu_tanh"},
        {Activation::silu, "silu"},
    };
    return name_in(kNames, what);
}

const char* name(ActivationPath path) {
    static constexpr Named<ActivationPath> kNames[] = {
        {ActivationPath::one_element, "one element"},
        {ActivationPath::vectorized, "vectorized"},
        {ActivationPath::tile, "tile"},
    };
    return name_in(kNames, path);
}

template void check_activate<float>(const View<const float>&, const View<float>&,
                                    std::optional<ActivationPath>);
template void check_activate_biased<float>(const View<const float>&, const View<const float>&,
                                           const View<float>&, std::optional<ActivationPath>);
template void check_activate_gated<float>(const View<const float>&, const View<const float>&,
                                          const View<float>&, std::optional<ActivationPath>);
template ActivationPath choose_activation<float>(const View<const float>&, const View<const float>&,
                                                 const View<float>&);
template void check_activate<bf16>(const View<const bf16>&, const View<bf16>&,
                                   std::optional<ActivationPath>);
template void check_activate_biased<bf16>(const View<const bf16>&, const View<const bf16>&,
                                          const View<bf16>&, std::optional<ActivationPath>);
template void check_activate_gated<bf16>(const View<const bf16>&, const View<const bf16>&,
                                         const View<bf16>&, std::optional<ActivationPath>);
template ActivationPath choose_activation<bf16>(const View<const bf16>&, const View<const bf16>&,
                                                const View<bf16>&);

}  // namespace sixdays::day06_transformer_ops
