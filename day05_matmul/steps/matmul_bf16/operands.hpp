/// @file
/// How the operands of a 16-bit product lie, as plain numbers for a kernel to take by value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "day05_matmul/matmul_bf16.hpp"

namespace sixdays::day05_matmul {

/// A matrix whose rows run along memory, each beginning at a multiple of 16 bytes.
template <class T>
struct Rows16 {
    const T* data = nullptr;
    std::int64_t rows = 0, columns = 0;
    std::int64_t pitch = 0;  // elements from row to row
};

/// a and b, each with rows of k's, or else across: then a's rows hold m's, and b's n's.
template <class T>
struct Operands16 {
    Rows16<T> a, b;
    bool a_across = false, b_across = false;
    std::int64_t K = 0;
};

/// May it be copied 16 bytes at a time, along its rows or along its columns, in every matrix of the
/// stack?
template <class T>
[[nodiscard]] bool lies_in_quads(const View<const T>& x);

/// May Hopper's copy engine fetch its tiles? As above, and its rows, or columns, must not overlap.
template <class T>
[[nodiscard]] bool lies_in_tiles(const View<const T>& x);

/// Matrices of rank 2 that lie_in_quads().
template <class T>
[[nodiscard]] Operands16<T> operands_of(const View<const T>& a, const View<const T>& b);

/// How steps 4 and 5 cut the outputs: 128 x 128 with three stages of 32 KiB, or 128 x 256 with four
/// of 48 KiB, which fetch a quarter less a product.
enum class RingCut { square, wide };
inline constexpr std::size_t kWideRing = 192 * 1024;

/// Wide where a block may have so much shared memory, and there is a tile for every multiprocessor.
[[nodiscard]] RingCut cut_for_ring(std::int64_t M, std::int64_t N, int multiprocessors,
                                   std::size_t most_shared);

/// How steps 6 and 7 do: wide as above. Otherwise 128 x 128: with four stages, or, where some
/// multiprocessor gets two of them, with three stages and two blocks on a multiprocessor, so that
/// one multiplies while the other waits or stores.
enum class HopperCut { square, two_blocks, wide };
[[nodiscard]] HopperCut cut_for_hopper(std::int64_t M, std::int64_t N, int multiprocessors,
                                       std::size_t most_shared);

}  // namespace sixdays::day05_matmul
