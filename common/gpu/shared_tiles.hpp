/// @file
/// For .cu files: dynamic shared memory cut into tiles, one after another.
///
///     extern __shared__ __align__(16) unsigned char memory[];
///     gpu::SharedTiles tiles(memory);
///     float* a = tiles.next<float>(BM * BK);
///     float* b = tiles.next<float>(BK * BN);
///
/// and at the launch: `gpu::tile_bytes<float>(BM * BK) + gpu::tile_bytes<float>(BK * BN)` bytes.
/// On a GPU this is an addition and nothing more. The emulator keeps the tiles apart, so that an
/// index which leaves one of them is found instead of landing in the next; there the memory must
/// not be used by its own name as well.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace sixdays::gpu {

/// Every tile starts at a multiple of this, so that it may be copied 16 bytes at a time.
inline constexpr std::size_t kTileAlignment = 16;

/// What a tile of `count` elements takes: its bytes, rounded up to 16.
template <class T>
__host__ __device__ constexpr std::size_t tile_bytes(std::size_t count) {
    return (count * sizeof(T) + kTileAlignment - 1) / kTileAlignment * kTileAlignment;
}

/// All threads of a block cut the same tiles.
class SharedTiles {
public:
    /// @param memory  the dynamic shared memory, aligned to 16 bytes
    __device__ explicit SharedTiles(unsigned char* memory) : next_(memory) {}

    /// A tile of `count` elements, behind the last one. Nobody has written it yet.
#ifdef SIXDAYS_EMULATED
    template <class T>
    T* next(std::size_t count, emulator::Site site = emulator::Site::current()) {
        void* const tile = emulator::cut_shared_tile(next_, count * sizeof(T), site);
        next_ += tile_bytes<T>(count);
        return static_cast<T*>(tile);
    }
#else
    template <class T>
    __device__ T* next(std::size_t count) {
        T* const tile = reinterpret_cast<T*>(next_);
        next_ += tile_bytes<T>(count);
        return tile;
    }
#endif

private:
    unsigned char* next_;
};

}  // namespace sixdays::gpu
