/// @file
/// Helpers for the tests of this day. Tags: [small] runs everywhere, [full] not under sanitizers,
/// [huge] only on a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/tile.hpp"
#include "common/testing/testing.hpp"
#include "day01_flat_memory/elementwise.hpp"
#include "day01_flat_memory/indices.hpp"
#include "day01_flat_memory/picture.hpp"

namespace sixdays::day01_flat_memory {

inline constexpr std::int64_t kTwo31 = std::int64_t{1} << 31;

/// One below, at and one above a warp, a block, two blocks of float4; primes.
inline const std::vector<std::int64_t> kSizes = {
    0,   1,    2,    3,    4,    5,    6,    7,    8,    31,   32,   33,   127,  255,  256,
    257, 1021, 1023, 1024, 1025, 2047, 2048, 2049, 2051, 4096, 4099, 8192, 8193, 20011};

/// nullptr: the default path.
using AskedPath = const ElementwisePath*;

/// Whether this path needs addresses that are equal modulo 16.
inline bool needs_vectors(AskedPath path) {
    return path && *path == ElementwisePath::vectorized;
}

/// All paths of this build: an older nvcc omits `tile`.
inline std::vector<ElementwisePath> elementwise_paths() {
    std::vector<ElementwisePath> paths(std::begin(kElementwisePaths), std::end(kElementwisePaths));
    if (gpu::has_tile()) paths.push_back(ElementwisePath::tile);
    return paths;
}

/// The kernel that a path launches, for an operation of that name.
inline std::string kernel_of(ElementwisePath path, const std::string& op) {
    switch (path) {
        case ElementwisePath::one_element:
            return op + "_kernel";
        case ElementwisePath::grid_stride:
            return "grid_stride_kernel";
        case ElementwisePath::vectorized:
            return "vectorized_kernel";
        case ElementwisePath::any_address:
            return "any_address_kernel";
        case ElementwisePath::tile:
            return op + "_tile";
    }
    return "";
}

/// An operation on floats: CPU reference and kernel. With a single input, y is ignored.
struct Operation {
    const char* name;
    int inputs;
    std::function<void(View<const float> x, View<const float> y, View<float> out)> loop;
    std::function<void(AskedPath path, View<const float> x, View<const float> y, View<float> out,
                       gpu::Stream stream)>
        port;
};

/// add, square, scale and saxpy. @param alpha  for the last two
inline std::vector<Operation> operations(float alpha) {
    using In = View<const float>;
    using To = View<float>;
    return {{"add", 2, [](In x, In y, To out) { add_cpu(x, y, out); },
             [](AskedPath path, In x, In y, To out, gpu::Stream stream) {
                 path ? add_cuda(x, y, out, {.path = *path, .stream = stream})
                      : add_cuda(x, y, out, {.stream = stream});
             }},
            {"square", 1, [](In x, In, To out) { square_cpu(x, out); },
             [](AskedPath path, In x, In, To out, gpu::Stream stream) {
                 path ? square_cuda(x, out, {.path = *path, .stream = stream})
                      : square_cuda(x, out, {.stream = stream});
             }},
            {"scale", 1, [=](In x, In, To out) { scale_cpu(alpha, x, out); },
             [=](AskedPath path, In x, In, To out, gpu::Stream stream) {
                 path ? scale_cuda(alpha, x, out, {.path = *path, .stream = stream})
                      : scale_cuda(alpha, x, out, {.stream = stream});
             }},
            {"saxpy", 2, [=](In x, In y, To out) { saxpy_cpu(alpha, x, y, out); },
             [=](AskedPath path, In x, In y, To out, gpu::Stream stream) {
                 path ? saxpy_cuda(alpha, x, y, out, {.path = *path, .stream = stream})
                      : saxpy_cuda(alpha, x, y, out, {.stream = stream});
             }}};
}

}  // namespace sixdays::day01_flat_memory
