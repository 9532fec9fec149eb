// Which arguments matmul_bf16 rejects, and which path it takes.
#include "day05_matmul/matmul_bf16.hpp"

#include <algorithm>

#include "common/tensor/arguments.hpp"
#include "common/tensor/names.hpp"
#include "common/tensor/transform.hpp"
#include "common/tensor/vectorized.hpp"
#include "day05_matmul/stack.hpp"
#include "day05_matmul/steps/matmul_bf16/operands.hpp"
#include "day05_matmul/tiles.hpp"

namespace sixdays::day05_matmul {

// --- what is rejected ----------------------------------------------------------------------------
namespace {

// The others store only floats.
bool stores_16_bits(MatmulBf16Path path) {
    return path == MatmulBf16Path::one_element || path == MatmulBf16Path::shared_tiles ||
           path == MatmulBf16Path::fragments_ahead || path == MatmulBf16Path::ping_pong;
}

template <class T, class Out>
std::string missing(MatmulBf16Path path, View<const T> a, View<const T> b, const Epilogue& epilogue,
                    View<Out> out) {
    if (!std::is_same_v<Out, float> && !stores_16_bits(path)) return "an out of floats";
    switch (path) {
        case MatmulBf16Path::one_element:
            return out.extent(out.rank() - 2) <= kMostRows
                       ? ""
                       : "at most " + std::to_string(kMostRows) + " rows of out";
        case MatmulBf16Path::one_warp:
            return out.extent(out.rank() - 2) <= 8 * kMostRows
                       ? ""
                       : "at most " + std::to_string(8 * kMostRows) + " rows of out";
        case MatmulBf16Path::shared_tiles:
            return "";
        case MatmulBf16Path::ring:
        case MatmulBf16Path::fragments_ahead:
            return is_in_vectors(a) && is_in_vectors(b)
                       ? ""
                       : "a and b whose rows, or columns, are contiguous and begin at multiples "
                         "of 16 bytes";
        case MatmulBf16Path::warpgroups:
        case MatmulBf16Path::persistent:
        case MatmulBf16Path::ping_pong:
            if (!gpu::on_hopper() && !gpu::is_emulated()) {
                return "a GPU of compute capability 9.0 (Hopper), or the emulator";
            }
            if (!lies_in_tiles(a) || !lies_in_tiles(b)) {
                return "a and b whose rows, or columns, are contiguous, begin at multiples of 16 "
                       "bytes and do not overlap";
            }
            return path != MatmulBf16Path::ping_pong || leaves_by_engine(epilogue, out)
                       ? ""
                       : "alpha = 1, no swish, and an out whose rows are contiguous, begin and end "
                         "at multiples of 16 bytes and do not overlap";
        case MatmulBf16Path::tile:
            return missing_for_tiles(a.layout, b.layout, epilogue, out.layout);
    }
    return "a path that exists";
}

}  // namespace

template <class T, class Out>
void check_matmul_bf16(View<const T> a, View<const T> b, const Epilogue& epilogue, View<Out> out,
                       std::optional<MatmulBf16Path> path) {
    require_product("matmul_bf16", a, b, epilogue, out);
    require_known_path("matmul_bf16", path);
    if (!path || out.size() == 0) return;  // nothing will be launched for an empty `out`
    const std::string needs = missing(*path, a, b, epilogue, out);
    if (needs.empty()) return;
    reject("matmul_bf16: the path '", name(*path), "' needs ", needs, "; a has ", a.layout, ", b ",
           b.layout, ", out ", out.layout);
}

// --- which path ----------------------------------------------------------------------------------

namespace {

// Can a tile map describe these rows? The stride of a single one is never used.
bool fits_a_tile_map(std::int64_t rows, std::int64_t columns, std::int64_t pitch,
                     std::int64_t element_bytes) {
    constexpr std::int64_t kMost = std::int64_t{1} << 31, kFar = std::int64_t{1} << 39;  // bytes
    return rows < kMost && columns < kMost &&
           (rows == 1 || (pitch >= columns && pitch < kFar / element_bytes));
}

// Are the rows of these matrices contiguous, each from a multiple of 16 bytes?
template <class T>
bool rows_vectorized(const View<const T>& x) {
    const int k = x.rank() - 1;
    return (x.stride(k) == 1 || x.extent(k) == 1) && rows_begin_at(x.data, x.layout, sizeof(T));
}

}  // namespace

template <class T>
bool is_in_vectors(const View<const T>& x) {
    if (x.size() == 0) return true;  // nothing is copied
    return rows_vectorized(x) || rows_vectorized(transpose(x, x.rank() - 2, x.rank() - 1));
}

template <class T>
bool begins_in_lines(const View<const T>& x) {
    const int k = x.rank() - 1;
    const Layout rows = rows_vectorized(x) ? x.layout : transpose(x, k - 1, k).layout;
    return rows_begin_at(x.data, rows, sizeof(T), 128);
}

template <class T>
bool lies_in_tiles(const View<const T>& x) {
    if (x.size() == 0) return true;
    if (!is_in_vectors(x)) return false;
    const int row = x.rank() - (rows_vectorized(x) ? 2 : 1), column = 2 * x.rank() - 3 - row;
    return fits_a_tile_map(x.extent(row), x.extent(column), x.stride(row), sizeof(T));
}

template <class Out>
bool lies_in_boxes(const View<Out>& out) {
    const int m = out.rank() - 2, n = m + 1;
    return has_wider(out.data, out.layout, sizeof(Out)) &&
           fits_a_tile_map(out.extent(m), out.extent(n), out.stride(m), sizeof(Out));
}

template <class T>
Operands16<T> operands_of(const View<const T>& a, const View<const T>& b) {
    const auto rows_of = [](const View<const T>& x, bool along) -> Rows16<T> {
        const int row = along ? 0 : 1;
        // The stride of a single row is never used and may have any value. But a tile also
        // addresses rows beyond the last one, and each must begin at a multiple of 16 bytes.
        const std::int64_t pitch = x.extent(row) == 1 ? 0 : x.stride(row);
        return {x.data, x.extent(row), x.extent(1 - row), pitch};
    };
    const bool a_along_k = rows_vectorized(a), b_along_n = rows_vectorized(b);
    return {rows_of(a, a_along_k), rows_of(b, b_along_n), !a_along_k, b_along_n, a.extent(1)};
}

RingCut cut_for_ring(std::int64_t M, std::int64_t N, int multiprocessors, std::size_t most_shared) {
    const std::int64_t tiles = (M + 127) / 128 * ((N + 255) / 256);
    return most_shared >= kWideRing && tiles >= multiprocessors ? RingCut::wide : RingCut::square;
}

namespace {

// The work of the SM with the most tiles, in units of small tiles.
struct MostForOne {
    std::int64_t small, square, middle, wide;
};
MostForOne most_for_one(std::int64_t M, std::int64_t N, int multiprocessors) {
    const auto most = [&](std::int64_t rows, std::int64_t columns) {
        const std::int64_t tiles = (M + rows - 1) / rows * ((N + columns - 1) / columns);
        return (tiles + multiprocessors - 1) / multiprocessors * (rows / 64) * (columns / 64);
    };
    return {most(64, 64), most(128, 128), most(128, 192), most(128, 256)};
}

}  // namespace

RingCut cut_for_hopper(std::int64_t M, std::int64_t N, int multiprocessors, std::size_t most_shared,
                       std::size_t middle_ring) {
    const auto [small, square, middle, wide] = most_for_one(M, N, multiprocessors);
    if (2 * small <= square) return RingCut::small;
    if (most_shared < middle_ring) return RingCut::square;
    const bool wide_fits = most_shared >= kWideRing;  // false on the emulator
    if (wide_fits && 10 * std::min(square, middle) >= 9 * wide) return RingCut::wide;
    return square < middle ? RingCut::square : RingCut::middle;
}

bool takes_turns(std::int64_t M, std::int64_t N, std::int64_t K, int multiprocessors) {
    const auto [small, square, middle, wide] = most_for_one(M, N, multiprocessors);
    if (2 * small <= square) return false;  // step 7 takes small tiles
    if (K > kMostOfTurns) return false;     // the epilogue is short, and wide tiles fetch less
    return square * K < std::min({square, middle, wide}) * (K + kEpilogueDepth);
}

template <class T, class Out>
MatmulBf16Path choose_matmul_bf16(View<const T> a, View<const T> b, const Epilogue& epilogue,
                                  View<Out> out, bool on_hopper) {
    if (on_hopper && lies_in_tiles(a) && lies_in_tiles(b)) {
        const int m = out.rank() - 2, k = a.rank() - 1;
        constexpr bool kFloats = std::is_same_v<Out, float>;
        const bool faster =
            begins_in_lines(a) && begins_in_lines(b) &&
            takes_turns(out.extent(m), out.extent(m + 1), a.extent(k), gpu::multiprocessors());
        if (leaves_by_engine(epilogue, out) && (faster || !kFloats)) {
            return MatmulBf16Path::ping_pong;
        }
        if (kFloats) return MatmulBf16Path::persistent;
    }
    return is_in_vectors(a) && is_in_vectors(b) ? MatmulBf16Path::fragments_ahead
                                                : MatmulBf16Path::shared_tiles;
}

const char* name(MatmulBf16Path path) {
    static constexpr Named<MatmulBf16Path> kNames[] = {
        {MatmulBf16Path::one_element, "one element"},
        {MatmulBf16Path::one_warp, "one warp"},
        {MatmulBf16Path::shared_tiles, "shared tiles"},
        {MatmulBf16Path::ring, "ring"},
        {MatmulBf16Path::fragments_ahead, "fragments ahead"},
        {MatmulBf16Path::warpgroups, "warpgroups"},
        {MatmulBf16Path::persistent, "persistent"},
        {MatmulBf16Path::ping_pong, "ping-pong"},
        {MatmulBf16Path::tile, "tile"},
    };
    return name_in(kNames, path);
}

template bool lies_in_boxes(const View<float>&);
#define SIXDAYS_FOR(T)                                   \
    template bool is_in_vectors(const View<const T>&);   \
    template bool lies_in_tiles(const View<const T>&);   \
    template bool begins_in_lines(const View<const T>&); \
    template bool lies_in_boxes(const View<T>&);         \
    template Operands16<T> operands_of(const View<const T>&, const View<const T>&);
SIXDAYS_FOR(bf16)
SIXDAYS_FOR(f16)
#undef SIXDAYS_FOR
#define SIXDAYS_FOR(T, Out)                                                                   \
    template void check_matmul_bf16(View<const T>, View<const T>, const Epilogue&, View<Out>, \
                                    std::optional<MatmulBf16Path>);                           \
    template MatmulBf16Path choose_matmul_bf16(View<const T>, View<const T>, const Epilogue&, \
                                               View<Out>, bool);
SIXDAYS_FOR(bf16, float)
SIXDAYS_FOR(bf16, bf16)
SIXDAYS_FOR(f16, float)
SIXDAYS_FOR(f16, f16)
#undef SIXDAYS_FOR

}  // namespace sixdays::day05_matmul
