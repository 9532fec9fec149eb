// The argument checks that CPU reference and kernels share, and the choice of the path.
#include "day02_strides/pack.hpp"

#include <string>

#include "common/gpu/tile.hpp"
#include "common/tensor/arguments.hpp"
#include "common/tensor/names.hpp"
#include "common/tensor/simplify.hpp"
#include "common/tensor/vectorized.hpp"
#include "common/tensor/walk.hpp"

namespace sixdays::day02_strides {

void check_pack(const View<const float>& in, const View<float>& out, std::optional<PackPath> path) {
    require_same_shape("pack", "in", in, "out", out);
    require_contiguous("pack", "out", out);
    require_memory("pack", "out", out);
    require_memory("pack", "in", in);
    require_same_or_apart("pack", "in", in, "out", out);
    require_known_path("pack", path);
    if (!path || can_pack(*path, in, out)) return;
    if (*path == PackPath::tile) {
        reject("pack: the path \"tile\" takes at most ", gpu::kMostTileDims, " dimensions and ",
               gpu::kNoNegativeStride, "; in has ", in.layout, ", simplified ",
               simplified(in, out));
    }
    reject("pack: ", in.layout, ", ", misalignment(in.data),
           " bytes past a multiple of 16, cannot be packed by the path \"", name(*path),
           "\" to an address ", misalignment(out.data), " bytes past one");
}

Layout simplified(const View<const float>& in, const View<float>& out) {
    return simplify(out.layout, in.layout)[1];
}

bool can_pack(PackPath path, const View<const float>& in, const View<float>& out) {
    if (path == PackPath::any_size) return true;
    if (path == PackPath::tile) return gpu::takes_tiles(simplified(in, out));
    if (path != PackPath::vectorized) return out.size() < kWalkable;
    return out.size() / 4 < kWalkable && misalignment(out.data) == 0 &&
           has_wider(in.data, simplified(in, out), sizeof(float));
}

PackPath choose_pack(const View<const float>& in, const View<float>& out) {
    if (can_pack(PackPath::vectorized, in, out)) return PackPath::vectorized;
    if (can_pack(PackPath::in_flight, in, out)) return PackPath::in_flight;
    return PackPath::any_size;
}

const char* name(PackPath path) {
    static constexpr Named<PackPath> kNames[] = {
        {PackPath::any_size, "any size"},     {PackPath::fast_division, "fast division"},
        {PackPath::by_rank, "by rank"},       {PackPath::in_flight, "in flight"},
        {PackPath::vectorized, "vectorized"}, {PackPath::tile, "tile"},
    };
    return name_in(kNames, path);
}

}  // namespace sixdays::day02_strides
