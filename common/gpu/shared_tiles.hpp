/// @file
/// For .cu files: dynamic shared memory cut into tiles, one after another.
///
///     extern __shared__ __align__(16) unsigned char memory[];
///     gpu::SharedTiles tiles(memory);
///     float* a = tiles.next<float>(BM * BK);
///     float* b = tiles.next<float>(BK * BN);
///
/// and at the launch: `gpu::tile_bytes<float>(BM * BK) + gpu::tile_bytes<float>(BK * BN)` bytes.
/// On a GPU this only adds an offset. The emulator keeps the tiles apart and reports an index that
/// leaves one of them, instead of letting it reach the next; there the memory must not also be used
/// by its own name.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace sixdays::gpu {

/// Every tile starts at a multiple of this, so that it may be copied 16 bytes at a time.
inline constexpr std::size_t kTileAlignment = 16;

/// The bytes that a tile of `count` elements takes, rounded up to 16.
template <class T>
__host__ __device__ constexpr std::size_t tile_bytes(std::size_t count) {
    return (count * sizeof(T) + kTileAlignment - 1) / kTileAlignment * kTileAlignment;
}

/// Dynamic shared memory cut into tiles, one after another. All threads of a block must cut the
/// same tiles. The emulator keeps them apart and reports an index that leaves one of them; there
/// the memory must not also be used by its own name.
class SharedTiles {
public:
    /// @param memory  the dynamic shared memory, aligned to 16 bytes
    __device__ explicit SharedTiles(unsigned char* memory) : next_(memory) {}

    /// The next tile, of `count` uninitialized elements.
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
