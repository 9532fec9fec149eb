/// @file
/// The layout of the operands of a 16-bit product, as plain numbers passed to a kernel by value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "day05_matmul/matmul_bf16.hpp"

namespace sixdays::day05_matmul {

/// A matrix whose rows are contiguous and begin at multiples of 16 bytes.
template <class T>
struct Rows16 {
    const T* data = nullptr;
    std::int64_t rows = 0, columns = 0;
    std::int64_t pitch = 0;  // row stride in elements; 0 if there is one row
};

/// a and b, each K-major, with rows of k's, or MN-major ("across"): then a's rows hold m's, and b's
/// n's.
template <class T>
struct Operands16 {
    Rows16<T> a, b;
    bool a_across = false, b_across = false;
    std::int64_t K = 0;
};

/// Can it be copied in 16-byte pieces, along its rows or along its columns, in every matrix of the
/// stack?
template <class T>
[[nodiscard]] bool is_in_vectors(const View<const T>& x);

/// Can TMA, Hopper's copy engine, fetch its tiles? As above, and its rows, or columns, must not
/// overlap.
template <class T>
[[nodiscard]] bool lies_in_tiles(const View<const T>& x);

/// Do its rows, or else its columns, begin with a cache line of 128 bytes? A tile's row has 128 bytes, and
/// otherwise it is in two lines. On an H200 products of GPT-2's logits (rows 50,264 numbers apart) took
/// 1.3 to 1.7 times as long with tiles of 128 x 128 as with tiles of 128 x 256, which showed no
/// slowdown.
template <class T>
[[nodiscard]] bool begins_in_lines(const View<const T>& x);

/// For matrices of rank 2 for which is_in_vectors() holds.
template <class T>
[[nodiscard]] Operands16<T> operands_of(const View<const T>& a, const View<const T>& b);

/// How steps 4 and 5 cut the outputs: 128 x 128 with three stages of 32 KiB, or 128 x 256 with four
/// of 48 KiB, which fetch a quarter less per multiply-add. On Hopper also 64 x 64, with six of 16
/// KiB, and 128 x 192, with five of 40.
enum class RingCut { square, wide, small, middle };
inline constexpr std::size_t kWideRing = 192 * 1024, kMiddleRing = 200 * 1024;

/// Wide if a block can have that much shared memory and there is a tile for every SM.
[[nodiscard]] RingCut cut_for_ring(std::int64_t M, std::int64_t N, int multiprocessors,
                                   std::size_t most_shared);

/// How steps 6 and 7 cut them. The SM with the most tiles determines the time. Square, with six
/// stages, or middle, if that SM has a tenth less to do than with wide ones. Measured on an H200,
/// cold cache, sums stored in pairs as step 6 does, medians of 11, in microseconds:
///
///     M x N x K             square tiles per SM,  wide ones    square    wide
///     1024 x  768 x 3072                  1                1     19.5    34.7
///     1024 x 2304 x  768                  2                1     15.8    14.6
///     2048 x 2048 x 2048                  2                1     29.2    29.2
///     4096 x 2304 x  768                  5                3     35.3    40.9
///     4096 x 3072 x  768                  6                3     43.8    44.3
///     4096 x 4096 x 1024                  8                4     68.5    68.9
///
/// Small, with two blocks per SM, if that is at most half of the work with square tiles, as a small
/// tile fetches twice as much per multiply-add. For f16, in a graph, weights cold, medians of 15:
///
///     M x N x K             square tiles per SM,  small ones   square   small
///      256 x 3072 x  768                  1                2      8.4     6.4
///      512 x  768 x 3072                  1                1     20.3    11.5
///      512 x 3072 x  768                  1                3      8.6    10.1
///     1024 x  768 x  768                  1                2     10.0     7.1
///     1024 x  768 x 3072                  1                2     20.5    15.0
///     1024 x 3072 x  768                  2                6     14.5    14.7
///
/// @param middle_ring  bytes of the ring of middle tiles; on the emulator it has fewer stages
[[nodiscard]] RingCut cut_for_hopper(std::int64_t M, std::int64_t N, int multiprocessors,
                                     std::size_t most_shared,
                                     std::size_t middle_ring = kMiddleRing);

/// In step 7 an epilogue takes about as long as multiplying this many k's.
inline constexpr std::int64_t kEpilogueDepth = 192;
/// Above this K step 8 was as fast as step 7 or slower.
inline constexpr std::int64_t kMostOfTurns = 8192;

/// Can the copy engine store the last two dimensions of out? Rows must consist of whole pieces of 16
/// bytes, each at a multiple of that: an H200 was seen to write the whole last piece of a row, also
/// where it extends past the edge. Defined for float, bf16 and f16.
template <class Out>
[[nodiscard]] bool lies_in_boxes(const View<Out>& out);
/// Can step 8 compute it? Its sums begin with beta * out + bias, are not scaled, and leave through the
/// copy engine.
template <class Out>
[[nodiscard]] bool leaves_by_engine(const Epilogue& epilogue, const View<Out>& out) {
    return epilogue.alpha == 1 && !epilogue.swish && lies_in_boxes(out);
}

/// Is step 8 faster than step 7, for float outputs that leave by the engine? It hides the epilogue,
/// but it has square tiles only. Measured on an H200 in one run, medians of 7, in microseconds, without
/// an epilogue; work is counted in tiles of 64 x 64:
///
///     M x N x K              work of the busiest SM: square, least    step 7   step 8
///      1024 x   768 x  3072                        4             2      15.5     19.5
///      1024 x  2304 x   768                        8             6      12.4     13.8
///      2048 x  2048 x  8192                        8             8      94.1     93.2
///      4096 x   768 x   768                        8             6      13.1     14.0
///      4096 x   768 x  3072                        8             6      30.9     37.7
///      4096 x  2304 x   768                       20            18      29.3     27.1
///     16384 x  3072 x   768                       96            96     164.9    136.8
///      8192 x  8192 x  8192                      128           128      1684     1634
///
/// In a trial with a bias, 16384 x 3072 x 768 took 174 and 129.
[[nodiscard]] bool takes_turns(std::int64_t M, std::int64_t N, std::int64_t K, int multiprocessors);

}  // namespace sixdays::day05_matmul
