// What the port of RMS norm's way back keeps; what it refuses is in layer_norm_backward.cpp.
#include "day06_transformer_ops/training/rms_norm_backward.hpp"

#include "day06_transformer_ops/training/refuse.hpp"

namespace sixdays::day06_transformer_ops {

View<float> rms_norm_left(gpu::Carver& carver, const View<const float>& in) {
    return carver.take<float>({rows_along(in, in.rank() - 1).count()});
}

std::int64_t rms_norm_backward_workspace_bytes(const View<const float>& in) {
    require_rows("rms_norm_backward", "in", in);
    return gpu::bytes_to_carve([&](gpu::Carver& c) { return rms_norm_left(c, in); });
}

}  // namespace sixdays::day06_transformer_ops
