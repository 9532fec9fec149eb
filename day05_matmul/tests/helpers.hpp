/// @file
/// What Day 05's test files share: operands in many layouts, and a product in double with its
/// bound.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day05_matmul/matmul.hpp"

namespace sixdays::day05_matmul {

/// How a matrix, or a stack of them, lies in memory.
enum class Lies {
    row_major,
    column_major,  // as a transposed view: a weight stored (N, K)
    column_gaps,   // the same of a wider one; columns begin at multiples of 16 bytes
    gaps,          // a slice of a wider matrix; rows still begin at multiples of 16 bytes
    odd_gaps,      // the same, and they do not
    every_other,   // the columns 0, 2, 4, ... of a matrix
    flipped,       // rows and columns backwards
};

inline const std::vector<Lies> kAllLies = {Lies::row_major, Lies::column_major, Lies::column_gaps,
                                           Lies::gaps,      Lies::odd_gaps,     Lies::every_other,
                                           Lies::flipped};

inline Layout layout_of(const Shape& shape, Lies lies) {
    const int m = shape.rank - 2, n = shape.rank - 1;
    Shape room = shape, across;
    switch (lies) {
        case Lies::row_major:
            return row_major(shape);
        case Lies::column_major:
            std::swap(room[m], room[n]);
            return transpose(row_major(room));
        case Lies::column_gaps:
            std::swap(room[m], room[n]);
            across = room;
            room[n] = (room[n] + 3) / 4 * 4 + 4;
            return transpose(Layout(across, row_major(room).strides));
        case Lies::gaps:
            room[n] = (shape[n] + 3) / 4 * 4 + 4;
            return {shape, row_major(room).strides};
        case Lies::odd_gaps:
            room[n] = shape[n] + 3 + shape[n] % 2;
            return {shape, row_major(room).strides};
        case Lies::every_other:
            room[n] = 2 * shape[n];
            return {shape, [&] {
                        Strides strides = row_major(room).strides;
                        strides[n] = 2;
                        return strides;
                    }()};
        case Lies::flipped:
            return flip(flip(row_major(shape), m).layout, n).layout;
    }
    return row_major(shape);
}

using P = MatmulPath;

inline std::vector<P> all_paths() {
    std::vector<P> paths;
    for (int i = 0; i <= static_cast<int>(P::shallow); ++i) paths.push_back(static_cast<P>(i));
    if (gpu::has_tile()) paths.push_back(P::tile);
    return paths;
}

/// Paths that take any size: of any strides, and those that want rows of quads.
inline const std::vector<P> kAnyLayout = [] {
    std::vector<P> paths = {P::one_element,     P::lanes_along_n,   P::shared_tile,
                            P::transposed_tile, P::column_a_thread, P::square_a_thread,
                            P::shallow};
    if (gpu::has_tile()) paths.push_back(P::tile);
    return paths;
}();
inline const std::vector<P> kQuads = {P::quads, P::warp_tiles};
inline const std::vector<P> kQuadsOfB = {P::ring, P::fragments, P::serpentine, P::spread_copies};

inline bool is_one_of(const std::vector<P>& paths, P path) {
    return std::find(paths.begin(), paths.end(), path) != paths.end();
}

/// These, and step 14, which takes any strides but fewer than 64 rows or columns.
inline std::vector<P> paths_for_few_rows() {
    std::vector<P> paths;
    for (const P path : all_paths()) {
        if (path != P::whole_tiles && path != P::split_k) paths.push_back(path);
    }
    return paths;
}

/// An exact sum and its bound, where `then` asks for swish: after it. Its slope is between -0.1 and
/// 1.1; exp, the addition and the division cost 16 units of 2^-24 of the result at most.
inline void through_swish(const Epilogue& then, double& value, double& bound) {
    if (!then.swish) return;
    value = value / (1 + std::exp(-value));
    bound = 1.1 * bound + 16 * std::ldexp(std::fabs(value), -24);
}

inline std::string last_kernel() {
    return gpu::last_kernel();
}

/// Whole numbers: any order of adding them gives the same bits.
inline Tensor<float> whole(const Shape& shape, std::uint64_t seed) {
    return testing::seeded_integers<float>(shape, seed, -9, 9);
}

/// A product to test: sizes, how operands and output lie, and the epilogue.
struct Size {
    std::int64_t M, N, K;
};

struct Setup {
    Lies a = Lies::row_major, b = Lies::row_major, out = Lies::row_major;
    float alpha = 1, beta = 0;
    bool bias = false, relu = false;
    Shape stack_a = {}, stack_b = {};
    testing::Lead lead = {};
};

inline Shape with(const Shape& stack, std::int64_t rows, std::int64_t columns) {
    Shape shape = stack;
    shape[shape.rank++] = rows;
    shape[shape.rank++] = columns;
    return shape;
}

// Each path gives the loop's bits: numbers are whole, so their sums are exact in any order.
inline void check_paths(const std::vector<P>& paths, std::int64_t M, std::int64_t N, std::int64_t K,
                        const Setup& s = {}) {
    using namespace testing;
    const Tensor<float> a = whole(with(s.stack_a, M, K), 1), b = whole(with(s.stack_b, K, N), 2);
    const Shape shape = with(broadcast_shapes(s.stack_a, s.stack_b), M, N);
    Tensor<float> before = whole(shape, 3);
    if (s.beta == 0) std::fill_n(before.data(), before.size(), std::nanf(""));
    const Tensor<float> bias = whole({N}, 4);
    const auto epilogue = [&](View<const float> of) {
        return Epilogue{s.alpha, s.beta, s.bias ? of : View<const float>{}, s.relu};
    };
    auto want = HostOut<float>::holding(before);
    matmul_cpu(a.view(), b.view(), epilogue(bias.view()), want.view());
    DeviceIn<float> da(a, layout_of(a.shape(), s.a), s.lead);
    DeviceIn<float> db(b, layout_of(b.shape(), s.b), s.lead), dbias(bias);
    for (const P path : paths) {
        CAPTURE(name(path), M, N, K, int(s.a), int(s.b), int(s.out), s.alpha, s.beta, s.bias);
        auto got = DeviceOut<float>::holding(before, layout_of(shape, s.out), s.lead);
        matmul_cuda(da.view(), db.view(), epilogue(dbias.view()), got.view(), {.path = path});
        CHECK(got.matches(want));
    }
    CHECK(da.unchanged());
    CHECK(db.unchanged());
    CHECK(dbias.unchanged());
}

}  // namespace sixdays::day05_matmul
