/// @file
/// A matrix product as plain numbers, passed to a kernel by value.
#pragma once

#include <cstdint>
#include <string>

#include "common/tensor/layout.hpp"
#include "day05_matmul/matmul.hpp"

namespace sixdays::day05_matmul {

/// Strides are named by operand and dimension: a_m is the stride of a along m.
struct Problem {
    const float* a = nullptr;
    const float* b = nullptr;
    float* out = nullptr;
    std::int64_t M = 0, N = 0, K = 0;
    std::int64_t a_m = 0, a_k = 0;
    std::int64_t b_k = 0, b_n = 0;
    std::int64_t out_m = 0, out_n = 0;

    // The epilogue, with a stride for the bias in both dimensions.
    float alpha = 1, beta = 0;
    bool relu = false, swish = false;
    const float* bias = nullptr;
    std::int64_t bias_m = 0, bias_n = 0;
    bool vectors_a = false, vectors_b = false;  // are 128-bit loads allowed? Set by launchers
    bool vectors_out = false;                   // are 128-bit stores to out allowed?

    // The stack: extents, and the stride of each operand in each of its dimensions. One more than a
    // view can have, for the parts of K (step 15).
    static constexpr int kMostDims = kMaxRank - 1;
    int dims = 0;
    std::int64_t extent[kMostDims] = {};
    std::int64_t step_a[kMostDims] = {};
    std::int64_t step_b[kMostDims] = {};
    std::int64_t step_out[kMostDims] = {};

    // The number of blocks that the device runs at the same time.
    int multiprocessors = 1;

    // How the outputs are cut into tiles, one block each: cut_into_tiles().
    unsigned down = 0, across = 0;  // tiles of one matrix
};

/// For arguments that matmul_cuda() accepts. Dimensions of the stack of extent 1 are left out;
/// alpha = 0 becomes K = 0.
[[nodiscard]] Problem problem_of(View<const float> a, View<const float> b, const Epilogue& epilogue,
                                 View<float> out);

/// The transposed product: out^T = b^T a^T. Nothing is copied.
[[nodiscard]] Problem transposed(Problem x);

/// The same, transposed only if that makes rows of out contiguous when they were not.
[[nodiscard]] Problem along_rows(const Problem& x);

/// Are the rows of the operand contiguous, beginning at multiples of 16 bytes, in every matrix?
[[nodiscard]] bool a_has_vectors(const Problem& x);
[[nodiscard]] bool b_has_vectors(const Problem& x);
[[nodiscard]] bool out_has_vectors(const Problem& x);

[[nodiscard]] bool a_columns_are_vectors(const Problem& x);  // the same for columns
[[nodiscard]] bool b_columns_are_vectors(const Problem& x);

/// Step 14 supports products with fewer rows, or columns, of out than this.
inline constexpr std::int64_t kSkinny = 64;

/// Up to this K step 16 is the fastest, unless out is narrow.
inline constexpr std::int64_t kShallow = 32, kNarrow = 16;

/// How step 13 cuts the outputs: (128, 256), (64, 64), (32, 128).
enum class WholeTile { large, medium, small };
[[nodiscard]] WholeTile cut_for(const Problem& x);
/// Does such a tile fit, and is K long enough?
[[nodiscard]] bool fits(WholeTile cut, const Problem& x);

/// Can step 13 compute it? One of its tiles must fit, and K must be long enough.
inline constexpr std::int64_t kWholeDepth = 16;
[[nodiscard]] bool has_whole_tiles(const Problem& x);

/// Into how many parts does step 15 cut K? Parts are equal, so the number divides K; at least 2, or
/// 0 if no number does, and then step 15 does not support the product.
[[nodiscard]] int parts_of(const Problem& x);

/// Is it faster in this many parts?
[[nodiscard]] bool parts_pay(const Problem& x);

/// The workspace of the parts, (parts, matrices, M, N), and its size in bytes.
[[nodiscard]] View<float> room_for_parts(gpu::Carver& carver, const Problem& x);
[[nodiscard]] std::int64_t bytes_for_parts(const Problem& x);

/// The products of all parts of K, stored at `parts`, one row-major stack of sums after another.
[[nodiscard]] Problem in_parts(const Problem& x, int count, float* parts);

/// Empty if this path supports it, else what it needs.
[[nodiscard]] std::string missing(MatmulPath path, const Problem& x);

/// The path that choose_matmul() returns.
[[nodiscard]] MatmulPath choose(const Problem& x, std::int64_t workspace_bytes);

/// What a call of matmul_cuda() launches.
struct MatmulPlan {
    MatmulPath path;  // the one asked for, else the best
    Problem problem;
};
/// The one decision of matmul_cuda(). @throws std::invalid_argument  as matmul_cuda()
[[nodiscard]] MatmulPlan plan_matmul(View<const float> a, View<const float> b,
                                     const Epilogue& epilogue, View<float> out,
                                     const gpu::Launch<MatmulPath>& how);

/// The number of matrices in the stack.
[[nodiscard]] std::int64_t stacked(const Problem& x);

/// Sets `down` and `across`. @returns  blocks for all tiles of all matrices
/// @throws std::invalid_argument  more than a grid has: 2^31 - 1
[[nodiscard]] unsigned cut_into_tiles(Problem& x, std::int64_t BM, std::int64_t BN);

}  // namespace sixdays::day05_matmul
