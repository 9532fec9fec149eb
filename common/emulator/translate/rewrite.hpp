/// @file
/// Translates CUDA to C++: only the constructs that C++ lacks. Line numbers are preserved.
///
///     kernel<<<grid, block>>>(args)       configure("kernel", ..., grid, block)(args)
///     __shared__ float a[16], b;          a Shared<float[16]> and a Shared<float>; `a` and `b` are
///                                         references into them
///     extern __shared__ float tile[];     float* tile = dynamic_shared<float>();
///     __global__ void kernel(...) {       the body first checks that a launch runs it
///     __device__ int counter;             also registers the variable as device memory
///     asm("mma.sync ...")                 calls of PTX functions, or a compile-time error
///     float sum;                          on request: an Unset tracks it until initialized
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sixdays::translate {

struct Result {
    std::string text;
    bool rewritten = false;  // changed anything except #includes
    struct Error {
        int line;
        std::string sentence;
    };
    std::vector<Error> errors;  // constructs that cannot be translated
};

/// @param locals   track uninitialized local variables
/// @param include  maps the operand of an `#include`, with its quotes or brackets, to the new
///                 operand; empty: unchanged
Result rewrite(std::string_view file, bool locals,
               const std::function<std::string(std::string_view named)>& include);

}  // namespace sixdays::translate
