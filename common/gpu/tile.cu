#include "common/gpu/tile.hpp"

namespace sixdays::gpu {

bool has_tile() noexcept {
    return kHasTile;
}

}  // namespace sixdays::gpu
