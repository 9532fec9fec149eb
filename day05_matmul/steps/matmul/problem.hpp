/// @file
/// A matrix product as plain numbers, for a kernel to take by value.
#pragma once

#include <cstdint>
#include <string>

#include "common/tensor/layout.hpp"
#include "day05_matmul/matmul.hpp"

namespace sixdays::day05_matmul {

// [problem]
// [numbers]
/// Strides are named by operand and dim: a_m is what a's offset grows by from m to m + 1.
struct Problem {
    const float* a = nullptr;
    const float* b = nullptr;
    float* out = nullptr;
    std::int64_t M = 0, N = 0, K = 0;
    std::int64_t a_m = 0, a_k = 0;
    std::int64_t b_k = 0, b_n = 0;
    std::int64_t out_m = 0, out_n = 0;
    // [numbers]

    // The epilogue, with a stride for the bias in both dims.
    float alpha = 1, beta = 0;
    bool relu = false, swish = false;
    const float* bias = nullptr;
    std::int64_t bias_m = 0, bias_n = 0;
    bool quads_a = false, quads_b = false;  // may they be read 16 bytes at a time? Set by launchers
    bool quads_out = false;                 // may out be written so?

    // The stack: extents, and what each operand's offset grows by in each of its dims. One more
    // than a view can have, for the parts of K (step 15).
    static constexpr int kMostDims = kMaxRank - 1;
    int dims = 0;
    std::int64_t extent[kMostDims] = {};
    // [problem]
    std::int64_t step_a[kMostDims] = {};
    std::int64_t step_b[kMostDims] = {};
    std::int64_t step_out[kMostDims] = {};

    // Of the device: how many blocks run at the same time.
    int multiprocessors = 1;

    // How the outputs are cut into tiles, one block each: cut_into_tiles().
    unsigned down = 0, across = 0;  // tiles of one matrix
};

/// Arguments that check_matmul() has not refused. Dims of the stack of extent 1 are left out;
/// alpha = 0 has become K = 0.
[[nodiscard]] Problem problem_of(View<const float> a, View<const float> b, const Epilogue& epilogue,
                                 View<float> out);

/// The same product seen from the other side: out^T = b^T a^T. Nothing is copied.
[[nodiscard]] Problem transposed(Problem x);

/// The same, transposed if that makes rows of out run along memory where they did not.
[[nodiscard]] Problem along_rows(const Problem& x);

/// Do an operand's rows run along memory, and begin at multiples of 16 bytes, in every matrix?
[[nodiscard]] bool a_has_quads(const Problem& x);
[[nodiscard]] bool b_has_quads(const Problem& x);
[[nodiscard]] bool out_has_quads(const Problem& x);

[[nodiscard]] bool a_columns_are_quads(const Problem& x);  // the same for columns
[[nodiscard]] bool b_columns_are_quads(const Problem& x);

/// Fewer rows, or columns, of out: step 14 takes it.
inline constexpr std::int64_t kSkinny = 64;

/// A K up to this, unless out is narrow: step 16 is the fastest.
inline constexpr std::int64_t kShallow = 32, kNarrow = 16;

/// How step 13 cuts the outputs: (128, 256), (64, 64), (32, 128).
enum class WholeTile { large, medium, small };
[[nodiscard]] WholeTile cut_for(const Problem& x);
/// Is there room for such a tile, and are there so many k's?
[[nodiscard]] bool fits(WholeTile cut, const Problem& x);

/// Can step 13 take it? One of its tiles fits, and one has so many k's.
inline constexpr std::int64_t kWholeDepth = 16;
[[nodiscard]] bool has_whole_tiles(const Problem& x);

/// Into how many parts does step 15 cut K? Parts are equal, so this divides K; at least 2, or 0 if
/// there is no such number, and then that step cannot take it.
[[nodiscard]] int parts_of(const Problem& x);

/// Is it faster in so many parts?
[[nodiscard]] bool parts_pay(const Problem& x);

/// What the parts are left in: (parts, matrices, M, N) of a workspace of so many bytes.
[[nodiscard]] View<float> room_for_parts(gpu::Carver& carver, const Problem& x);
[[nodiscard]] std::int64_t bytes_for_parts(const Problem& x);

/// The products of all parts of K, left at `parts`, each stack of sums row-major behind the other.
[[nodiscard]] Problem in_parts(const Problem& x, int count, float* parts);

/// Empty if this path can take it, else what it needs.
[[nodiscard]] std::string missing(MatmulPath path, const Problem& x);

/// What choose_matmul() says.
[[nodiscard]] MatmulPath choose(const Problem& x, std::int64_t workspace_bytes);

/// Matrices in the stack.
[[nodiscard]] std::int64_t stacked(const Problem& x);

/// Sets `down` and `across`. @returns  blocks for all tiles of all matrices
/// @throws std::invalid_argument  more than a grid has: 2^31 - 1
[[nodiscard]] unsigned cut_into_tiles(Problem& x, std::int64_t BM, std::int64_t BN);

}  // namespace sixdays::day05_matmul
