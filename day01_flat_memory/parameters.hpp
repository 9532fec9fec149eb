/// @file
/// One allocation, many tensors: where each parameter tensor of GPT-2 begins, by prefix sums.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/tensor/layout.hpp"

namespace sixdays::day01_flat_memory {

/// The sizes of a GPT-2. Defaults: the 124M model as llm.c stores it. Its vocabulary has 50,257
/// tokens; the embedding table is padded to 50,304 rows, a multiple of 128, which suits a GPU
/// better. No token uses the 47 extra rows of 768. 124,439,808 parameters become 124,475,904.
struct Gpt2Sizes {
    std::int64_t max_T = 1024;  ///< positions
    std::int64_t Vp = 50304;    ///< vocabulary, padded
    std::int64_t L = 12;        ///< layers
    std::int64_t H = 12;        ///< heads
    std::int64_t C = 768;       ///< channels; a head has C / H of them
};

/// One tensor of several in one allocation.
struct Part {
    std::string name;        ///< as llm.c calls it, such as "qkvw"
    Shape shape;             ///< its extents; row-major
    std::int64_t first = 0;  ///< offset of its first element in the one allocation
    std::int64_t count = 0;  ///< elements
};

/// The 16 parameter tensors of a GPT-2 in the order of
/// [llm.c](https://github.com/karpathy/llm.c/blob/master/train_gpt2.c), ParameterTensors; `first`
/// and `count` are still 0.
std::vector<Part> gpt2_parameters(const Gpt2Sizes& sizes = {});

/// Fills in `first` and `count` by prefix sums: each part begins where the one before it ends.
/// @return  total number of elements
/// @throws std::invalid_argument  a bad shape, or a total that does not fit in 64 bits
std::int64_t cut(std::vector<Part>& parts);

/// Bytes of a KV cache: one key and one value of D = C / H channels per layer, head and
/// position, for `T` positions.
/// @throws std::invalid_argument  a negative size, H that does not divide C, or too many bytes
[[nodiscard]] std::int64_t kv_cache_bytes(const Gpt2Sizes& sizes, std::int64_t T,
                                          std::int64_t bytes_per_element);

}  // namespace sixdays::day01_flat_memory
