/// @file
/// CUDA to C++: the few things that CUDA says and C++ cannot. Lines keep their numbers.
///
///     kernel<<<grid, block>>>(args)       configure("kernel", ..., grid, block)(args)
///     __shared__ float a[16], b;          a Shared<float[16]> and a Shared<float>; `a` and `b` are
///                                         references into them
///     extern __shared__ float tile[];     float* tile = dynamic_shared<float>();
///     __global__ void kernel(...) {       the body first asks whether a launch runs it
///     __device__ int counter;             also tells the runtime that this is no host memory
///     asm("mma.sync ...")                 an error of the compiler, with a sentence
///     float sum;                          on request: an Unset watches it until it has a value
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sixdays::translate {

struct Result {
    std::string text;
    bool rewritten = false;  // something other than an #include
    struct Error {
        int line;
        std::string sentence;
    };
    std::vector<Error> errors;  // what could not be translated
};

/// @param locals   watch the local variables that begin without a value
/// @param include  gives the new text for what an `#include` names, quotes or brackets included;
///                 empty: as it was
Result rewrite(std::string_view file, bool locals,
               const std::function<std::string(std::string_view named)>& include);

}  // namespace sixdays::translate
