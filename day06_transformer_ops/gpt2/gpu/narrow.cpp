// The argument checks of the rounding operations.
#include "day06_transformer_ops/gpt2/gpu/narrow.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::gpt2 {

template <class T>
void check_narrow(const View<const float>& in, const View<T>& out) {
    require_same_shape("narrow", "in", in, "out", out);
    require_memory("narrow", "in", in);
    require_output("narrow", out);
    if (overlap(in, out)) reject("narrow: in and out overlap");
}

template <class T>
void check_norm_narrow(const View<const float>& in,
                       const day06_transformer_ops::NormParameters& parameters,
                       const View<T>& out) {
    require_rank("norm_narrow", "in", in, 2);
    check_narrow(in, out);
    day06_transformer_ops::check_norm_parameters("norm_narrow", parameters, in.extent(1));
}

template void check_narrow(const View<const float>&, const View<bf16>&);
template void check_narrow(const View<const float>&, const View<f16>&);
template void check_norm_narrow(const View<const float>&,
                                const day06_transformer_ops::NormParameters&, const View<bf16>&);
template void check_norm_narrow(const View<const float>&,
                                const day06_transformer_ops::NormParameters&, const View<f16>&);

}  // namespace sixdays::gpt2
