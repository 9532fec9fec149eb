/// @file
/// For tile kernels of attention: the length in memory.
#pragma once

#include <cuda_tile.h>

#include <cstdint>

namespace sixdays::day06_transformer_ops {

/// The number of valid keys out of S, or -1 if `length` is invalid.
__tile__ inline std::int64_t keys_counted(const std::int64_t* length, std::int64_t S) {
    const std::int64_t counted =
        length == nullptr ? S : static_cast<std::int64_t>(cuda::tiles::load(length));
    return 0 <= counted && counted <= S ? counted : -1;
}

}  // namespace sixdays::day06_transformer_ops
