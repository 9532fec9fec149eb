/// @file
/// For .cu files: copies of whole tiles by TMA, the tensor memory accelerator of Hopper. The host
/// describes a matrix and the size of its tiles in a TileMap; a kernel takes it by value, as `const
/// __grid_constant__ gpu::TileMap`. There one thread requests a tile, and the engine handles
/// addresses, edges and the swizzle. The arriving bytes are counted by an Mbarrier.
///
/// A tile has rows of 128 bytes, 64 16-bit elements or 32 floats, and is swizzled: the 16 bytes at
/// position c of row r are stored at c ^ (r % 8). Elements outside the matrix are 0 and count as
/// copied.
///
/// Tiles are stored the other way round: threads write one into shared memory and call
/// fence_proxy_async(), and after a barrier one of them requests the store. Elements outside the
/// matrix are not stored. Before the tile is overwritten, and before the kernel ends, that thread
/// waits with store_tiles_wait_read().
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/gpu/check.hpp"
#include "common/gpu/ptx/mbarrier.hpp"
#include "common/tensor/half.hpp"
#include "common/tensor/sentence.hpp"

#ifndef SIXDAYS_EMULATED
#include <cuda.h>

#include <stdexcept>
#include <type_traits>
#endif

namespace sixdays::gpu {

/// The swizzle repeats after eight rows of 128 bytes. A tile in shared memory must begin at a
/// multiple of that.
inline constexpr std::size_t kSwizzleBytes = 1024;

#ifdef SIXDAYS_EMULATED

using TileMap = emulator::TileMap;

template <class T>
TileMap tile_map(const T* data, std::int64_t rows, std::int64_t columns, std::int64_t pitch,
                 int rows_of_tile) {
    return {data, rows, columns, pitch, rows_of_tile, 1, 0, sizeof(T)};
}
template <class T>
TileMap tile_map_of_planes(const T* data, std::int64_t planes, std::int64_t plane_pitch,
                           std::int64_t rows, std::int64_t columns, std::int64_t pitch,
                           int rows_of_tile) {
    return {data, rows, columns, pitch, rows_of_tile, planes, plane_pitch, sizeof(T)};
}
inline void copy_tile_async(void* shared, const TileMap& map, std::int64_t row, std::int64_t column,
                            Mbarrier& barrier, emulator::Site site = emulator::Site::current()) {
    emulator::copy_tile(shared, map, 0, row, column, &barrier.word, site);
}
inline void copy_tile_of_plane_async(void* shared, const TileMap& map, std::int64_t plane,
                                     std::int64_t row, std::int64_t column, Mbarrier& barrier,
                                     emulator::Site site = emulator::Site::current()) {
    emulator::copy_tile(shared, map, plane, row, column, &barrier.word, site);
}

inline void fence_proxy_async() {
    emulator::fence_proxy();
}
inline void store_tile_async(const TileMap& map, std::int64_t row, std::int64_t column,
                             const void* shared, emulator::Site site = emulator::Site::current()) {
    emulator::store_tile(map, row, column, shared, site);
}
inline void store_tiles_commit() {
    emulator::store_commit();
}
template <int GROUPS>
inline void store_tiles_wait_read() {
    emulator::store_wait(GROUPS);
}

#else

/// A matrix in global memory and the size of its tiles, for the copy engine. A kernel takes it by
/// value, as `const __grid_constant__ gpu::TileMap`.
using TileMap = CUtensorMap;

/// The map as the driver encodes it, for tile_map() and tile_map_of_planes(). Tiles have rows of 128
/// bytes and the 128-byte swizzle; elements outside are 0.
/// @param rank     dimensions, columns first
/// @param strides  of dimensions 1 and up, in bytes
/// @throws gpu::Error, std::runtime_error  no driver, or it rejects the map
template <class T>
TileMap encoded_tile_map(const T* data, int rank, const cuuint64_t* extents,
                         const cuuint64_t* strides, int rows_of_tile) {
    // This is a driver function. The runtime looks it up, so programs need not be linked with the
    // driver library.
    static const auto encode = [] {
        void* found = nullptr;
        cudaDriverEntryPointQueryResult answer{};
#if CUDART_VERSION >= 12050
        SIXDAYS_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                                      cudaEnableDefault, &answer));
#else
        SIXDAYS_CUDA(
            cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &answer));
#endif
        if (found == nullptr) {
            throw std::runtime_error("the driver has no cuTensorMapEncodeTiled: it is too old");
        }
        return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
    }();
    constexpr auto kType = std::is_same_v<T, float>  ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                           : std::is_same_v<T, bf16> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                     : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    const cuuint32_t tile[] = {128 / sizeof(T), static_cast<cuuint32_t>(rows_of_tile), 1};
    const cuuint32_t steps[] = {1, 1, 1};
    TileMap map;
    const CUresult result =
        encode(&map, kType, static_cast<cuuint32_t>(rank), const_cast<T*>(data), extents, strides,
               tile, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) {
        throw std::runtime_error(sentence("cuTensorMapEncodeTiled rejects ", extents[1], " x ",
                                          extents[0], " numbers, rows ", strides[0],
                                          " bytes apart: error ", result));
    }
    return map;
}

/// Describes a matrix of bf16, f16 or float, (rows, columns), for copies of tiles of (rows_of_tile,
/// 128 / sizeof(T)). It is not empty and has fewer than 2^31 rows and columns; its rows begin at
/// multiples of 16 bytes and do not overlap.
/// @param data   tiles may be stored to it only if it is writable
/// @param pitch  row stride in elements, fewer than 2^40 bytes
/// @param rows_of_tile  at most 256
/// @throws gpu::Error, std::runtime_error  no driver, or it rejects the map
template <class T>
TileMap tile_map(const T* data, std::int64_t rows, std::int64_t columns, std::int64_t pitch,
                 int rows_of_tile) {
    if (rows == 1) pitch = (columns + 7) / 8 * 8;  // a single row: its stride is unused
    const cuuint64_t extents[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
    const cuuint64_t strides[] = {static_cast<cuuint64_t>(pitch) * sizeof(T)};  // bytes
    return encoded_tile_map(data, 2, extents, strides, rows_of_tile);
}

/// Describes `planes` matrices of 16-bit elements of (rows, columns) each, for copies of tiles of
/// (rows_of_tile, 64) of one plane. As tile_map(), and:
/// @param plane_pitch  elements from one matrix to the next: a multiple of 8, fewer than 2^38
/// @throws gpu::Error, std::runtime_error  no driver, or it rejects the map
template <class T>
TileMap tile_map_of_planes(const T* data, std::int64_t planes, std::int64_t plane_pitch,
                           std::int64_t rows, std::int64_t columns, std::int64_t pitch,
                           int rows_of_tile) {
    const cuuint64_t extents[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows),
                                  static_cast<cuuint64_t>(planes)};
    const cuuint64_t strides[] = {static_cast<cuuint64_t>(pitch) * sizeof(T),
                                  static_cast<cuuint64_t>(plane_pitch) * sizeof(T)};
    return encoded_tile_map(data, 3, extents, strides, rows_of_tile);
}

/// Requests the tile that begins at this row and column, and returns at once; called by one thread.
/// Rows have 64 elements, 128 bytes, swizzled; elements outside the matrix are 0 and count as
/// copied. Only on Hopper.
/// @param shared  the destination: a multiple of kSwizzleBytes
/// @param barrier  counts the bytes of the whole tile as they arrive
__device__ __forceinline__ void copy_tile_async(void* shared, const TileMap& map, std::int64_t row,
                                                std::int64_t column, Mbarrier& barrier) {
    if constexpr (kHopper) {
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
            " [%0], [%1, {%2, %3}], [%4];" ::"r"(
                static_cast<unsigned>(__cvta_generic_to_shared(shared))),
            "l"(&map), "r"(static_cast<int>(column)), "r"(static_cast<int>(row)),
            "r"(static_cast<unsigned>(__cvta_generic_to_shared(&barrier)))
            : "memory");
    }
}
/// Requests the tile that begins at this row and column of a plane, for a map of
/// tile_map_of_planes(). Otherwise as copy_tile_async().
/// @param shared  the destination: a multiple of kSwizzleBytes
/// @param barrier  counts the bytes of the whole tile as they arrive
__device__ __forceinline__ void copy_tile_of_plane_async(void* shared, const TileMap& map,
                                                         std::int64_t plane, std::int64_t row,
                                                         std::int64_t column, Mbarrier& barrier) {
    if constexpr (kHopper) {
        asm volatile(
            "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
            " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(
                static_cast<unsigned>(__cvta_generic_to_shared(shared))),
            "l"(&map), "r"(static_cast<int>(column)), "r"(static_cast<int>(row)),
            "r"(static_cast<int>(plane)),
            "r"(static_cast<unsigned>(__cvta_generic_to_shared(&barrier)))
            : "memory");
    }
}

/// Makes what this thread has written to shared memory visible to the copy engine and to wgmma,
/// which access it through the *async proxy*; a barrier alone does not. Each thread that wrote calls
/// it, before the barrier. PTX ISA, "fence.proxy.async".
__device__ __forceinline__ void fence_proxy_async() {
    if constexpr (kHopper) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/// Requests the store of a tile to this row and column of the matrix, and returns at once; called by
/// one thread. Elements outside the matrix are not stored, but for the rest of the 16 bytes in which
/// a row ends: an H200 was seen to write them. Then store_tiles_commit(). Only on Hopper. PTX ISA,
/// "cp.async.bulk.tensor".
/// @param shared  the source, swizzled as copied tiles are: a multiple of kSwizzleBytes
__device__ __forceinline__ void store_tile_async(const TileMap& map, std::int64_t row,
                                                 std::int64_t column, const void* shared) {
    if constexpr (kHopper) {
        asm volatile(
            "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::
                "l"(&map),
            "r"(static_cast<int>(column)), "r"(static_cast<int>(row)),
            "r"(static_cast<unsigned>(__cvta_generic_to_shared(shared)))
            : "memory");
    }
}
/// Commits the stores that this thread has requested as one group.
__device__ __forceinline__ void store_tiles_commit() {
    if constexpr (kHopper) asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until at most GROUPS groups of this thread still read their tiles, which may then be
/// overwritten. The stores are complete when the kernel ends.
template <int GROUPS>
__device__ __forceinline__ void store_tiles_wait_read() {
    if constexpr (kHopper) {
        asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(GROUPS) : "memory");
    }
}

#endif

}  // namespace sixdays::gpu
