// A product as plain numbers, and how it is cut into tiles.
#include "day05_matmul/steps/matmul/problem.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "common/gpu/device.hpp"
#include "common/tensor/arguments.hpp"
#include "day05_matmul/stack.hpp"

namespace sixdays::day05_matmul {

// --- plain numbers -------------------------------------------------------------------------------

Problem problem_of(View<const float> a, View<const float> b, const Epilogue& epilogue,
                   View<float> out) {
    a = stacked_as(a, out.layout.shape);
    b = stacked_as(b, out.layout.shape);
    const int m = out.rank() - 2, n = out.rank() - 1;
    Problem x;
    x.multiprocessors = gpu::multiprocessors();
    x.a = a.data, x.b = b.data, x.out = out.data;
    x.M = out.extent(m), x.N = out.extent(n), x.K = a.extent(n);
    x.alpha = epilogue.alpha, x.beta = epilogue.beta;
    x.relu = epilogue.relu;
    x.swish = epilogue.swish;
    if (sums_nothing(a, epilogue)) {
        x.K = 0, x.alpha = 1;
        x.a = x.b = x.out;  // they are not read, so they may have null pointers
    }
    // An unused stride becomes a valid one.
    x.a_m = x.M > 1 && x.K > 0 ? a.stride(m) : 0, x.a_k = x.K > 1 ? a.stride(n) : 1;
    x.b_k = x.K > 1 ? b.stride(m) : 0, x.b_n = x.N > 1 ? b.stride(n) : 1;
    x.out_m = x.M > 1 ? out.stride(m) : 0, x.out_n = x.N > 1 ? out.stride(n) : 1;
    x.bias = epilogue.bias.data;
    if (x.bias != nullptr && x.N > 1) x.bias_n = epilogue.bias.stride(0);
    for (int d = 0; d < m; ++d) {
        if (out.extent(d) == 1) continue;
        x.extent[x.dims] = out.extent(d);
        x.step_a[x.dims] = a.stride(d);
        x.step_b[x.dims] = b.stride(d);
        x.step_out[x.dims++] = out.stride(d);
    }
    x.vectors_out = out_has_vectors(x);
    return x;
}

namespace {

// Of rows that are `pitch` apart.
bool rows_are_vectors(const Problem& x, const float* data, std::int64_t along, std::int64_t pitch,
                      const std::int64_t (&step)[Problem::kMostDims]) {
    bool yes = along == 1 && pitch % 4 == 0 && reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
    for (int d = 0; d < x.dims; ++d) yes &= step[d] % 4 == 0;
    return yes;
}

}  // namespace

bool a_has_vectors(const Problem& x) {
    return rows_are_vectors(x, x.a, x.a_k, x.a_m, x.step_a);
}
bool b_has_vectors(const Problem& x) {
    return rows_are_vectors(x, x.b, x.b_n, x.b_k, x.step_b);
}
bool out_has_vectors(const Problem& x) {
    return rows_are_vectors(x, x.out, x.out_n, x.out_m, x.step_out);
}

bool a_columns_are_vectors(const Problem& x) {
    return rows_are_vectors(x, x.a, x.a_m, x.a_k, x.step_a);
}

bool b_columns_are_vectors(const Problem& x) {
    return rows_are_vectors(x, x.b, x.b_k, x.b_n, x.step_b);
}

Problem transposed(Problem x) {
    std::swap(x.a, x.b);
    std::swap(x.M, x.N);
    std::swap(x.a_m, x.b_n);
    std::swap(x.a_k, x.b_k);
    std::swap(x.out_m, x.out_n);
    std::swap(x.bias_m, x.bias_n);
    std::swap(x.step_a, x.step_b);
    x.vectors_out = out_has_vectors(x);
    return x;
}

Problem along_rows(const Problem& x) {
    return x.out_n != 1 && x.out_m == 1 ? transposed(x) : x;
}

std::int64_t stacked(const Problem& x) {
    std::int64_t matrices = 1;
    for (int d = 0; d < x.dims; ++d) matrices *= x.extent[d];
    return matrices;
}

unsigned cut_into_tiles(Problem& x, std::int64_t BM, std::int64_t BN) {
    constexpr std::int64_t kMost = 2147483647;
    const std::int64_t down = (x.M + BM - 1) / BM, across = (x.N + BN - 1) / BN;
    std::int64_t blocks = 0;
    if (__builtin_mul_overflow(down, across, &blocks) ||
        __builtin_mul_overflow(blocks, stacked(x), &blocks) || blocks > kMost) {
        reject("matmul: ", stacked(x), " matrices of (", x.M, ", ", x.N,
               ") outputs are more than 2^31 - 1 tiles of (", BM, ", ", BN, ")");
    }
    x.down = static_cast<unsigned>(down);
    x.across = static_cast<unsigned>(across);
    return static_cast<unsigned>(blocks);
}

// --- how it is cut -------------------------------------------------------------------------------

namespace {

constexpr std::int64_t kLeastDepth = 64;  // k's per part

std::int64_t blocks_of(std::int64_t n, std::int64_t each) {
    return (n + each - 1) / each;
}

// The tiles of step 13, and how many an SM multiplies at the same time. `peak_fraction` is the
// fraction of peak multiply-adds that an H200 reached with tiles for many rounds, and
// `peak_fraction_singles` the fraction where b is copied 4 bytes at a time.
struct Tiles {
    WholeTile cut;
    std::int64_t BM, BN, at_once;
    double peak_fraction, peak_fraction_singles;
};
constexpr Tiles kTiles[] = {{WholeTile::large, 128, 256, 1, 0.80, 0.80},
                            {WholeTile::medium, 64, 64, 2, 0.70, 0.60},
                            {WholeTile::small, 32, 128, 1, 0.72, 0.52}};

// How many cycles each cut takes per k: the number of rounds of the busiest SM, at 128
// multiply-adds per cycle at best. Infinite if the matrix is smaller than a tile.
struct CutTime {
    WholeTile cut;
    double cycles;
};
CutTime fastest_cut(const Problem& product) {
    const Problem x = along_rows(product);
    CutTime best{WholeTile::large, INFINITY};
    for (const Tiles& t : kTiles) {
        if (x.M < t.BM || x.N < t.BN) continue;
        const std::int64_t tiles = blocks_of(x.M, t.BM) * blocks_of(x.N, t.BN) * stacked(x);
        const double rounds = static_cast<double>(blocks_of(tiles, x.multiprocessors * t.at_once));
        const double outputs = static_cast<double>(t.BM * t.BN * t.at_once);
        const double peak_fraction = x.b_n == 1 ? t.peak_fraction : t.peak_fraction_singles;
        const double cycles = rounds * (outputs / 128 / peak_fraction);
        if (cycles < best.cycles) best = {t.cut, cycles};
    }
    return best;
}

}  // namespace

WholeTile cut_for(const Problem& x) {
    return fastest_cut(x).cut;
}

bool fits(WholeTile cut, const Problem& product) {
    const Problem x = along_rows(product);
    return std::any_of(std::begin(kTiles), std::end(kTiles), [&](const Tiles& t) {
        return t.cut == cut && x.M >= t.BM && x.N >= t.BN && x.K >= kWholeDepth;
    });
}

bool has_whole_tiles(const Problem& x) {
    return x.K >= kWholeDepth && std::isfinite(fastest_cut(x).cycles);
}

Problem in_parts(const Problem& x, int count, float* parts) {
    Problem y = x;
    y.K = x.K / count;
    y.alpha = 1, y.beta = 0, y.relu = y.swish = false, y.bias = nullptr;
    y.out = parts;
    y.out_m = x.M > 1 ? x.N : 0, y.out_n = 1;
    // The parts are the outermost dimension of the stack.
    std::int64_t step = x.M * x.N;
    for (int d = x.dims; d > 0; --d) {
        y.extent[d] = x.extent[d - 1], y.step_a[d] = x.step_a[d - 1];
        y.step_b[d] = x.step_b[d - 1], y.step_out[d] = step;
        step *= x.extent[d - 1];
    }
    y.dims = x.dims + 1;
    y.extent[0] = count;
    y.step_a[0] = y.K * x.a_k, y.step_b[0] = y.K * x.b_k, y.step_out[0] = step;
    y.vectors_out = out_has_vectors(y);
    return y;
}

namespace {

// Model time of step 13, and of step 15 for 2 parts and more, on an H200 at 1.95 GHz, for
// comparison only. To begin and to end, a block takes as long as 16 k's; the parts are written,
// read again from the L2 cache at 3 TB/s, and added by another launch.
double seconds_in_parts(const Problem& x, int count) {
    const Problem y = count == 1 ? x : in_parts(x, count, nullptr);
    const double product = fastest_cut(y).cycles * static_cast<double>(y.K + 16) / 1.95e9;
    if (count == 1) return product;
    return product + 8.0 * static_cast<double>(stacked(y) * x.M * x.N) / 3e12 + 2.5e-6;
}

// The best number of parts of K, of at least 64 k's each, for whole tiles.
int parts_of_tiles(const Problem& x) {
    int best = 0;
    for (int count = 2; count <= 16; ++count) {
        if (x.K % count != 0 || x.K / count < kLeastDepth) continue;
        if (best == 0 || seconds_in_parts(x, count) < seconds_in_parts(x, best)) best = count;
    }
    return best;
}

// For few rows: enough parts to give each SM two of step 14's widest blocks.
int parts_of_rows(const Problem& x) {
    const std::int64_t tiles = blocks_of(x.M, 16) * blocks_of(x.N, 128) * stacked(x);
    if (tiles == 0) return 0;
    std::int64_t count = 2 * x.multiprocessors / tiles;
    while (count > 1 && (x.K % count != 0 || x.K / count < kLeastDepth)) --count;
    return count > 1 ? static_cast<int>(count) : 0;
}

}  // namespace

int parts_of(const Problem& x) {
    if (has_whole_tiles(x)) return parts_of_tiles(x);
    return x.M <= x.N && x.M < kSkinny && b_has_vectors(x) ? parts_of_rows(x) : 0;
}

bool parts_pay(const Problem& x) {
    if (x.K <= kShallow || parts_of(x) == 0) return false;
    if (has_whole_tiles(x)) return seconds_in_parts(x, parts_of(x)) < seconds_in_parts(x, 1);
    // Measured: below 2^25 multiply-adds the second launch costs more than it saves. And up to 4
    // rows step 14 alone is as fast, once each SM has 32 columns.
    const bool few_blocks = x.M > 4 || x.N < 32 * x.multiprocessors;
    return few_blocks && x.M * x.N * x.K >= 1 << 25;
}

View<float> room_for_parts(gpu::Carver& carver, const Problem& x) {
    return carver.take<float>({parts_of(x), stacked(x), x.M, x.N});
}

std::int64_t bytes_for_parts(const Problem& x) {
    return gpu::bytes_to_carve([&](gpu::Carver& carver) { return room_for_parts(carver, x); });
}

}  // namespace sixdays::day05_matmul
