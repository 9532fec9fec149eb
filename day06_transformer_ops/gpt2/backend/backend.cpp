// Checks shared by all backends.
#include "day06_transformer_ops/gpt2/backend/backend.hpp"

#include <algorithm>

#include "common/tensor/arguments.hpp"
#include "day06_transformer_ops/gpt2/file/memory.hpp"

namespace sixdays::gpt2 {

void check_capacity(const Sizes& sizes, std::int64_t capacity) {
    if (capacity < 1 || capacity > sizes.context) {
        reject("a text of ", capacity, " tokens; this model takes 1 to ", sizes.context);
    }
}

void check_cache_memory(const Shape& cache) {
    double bytes = 2 * sizeof(float);
    for (int d = 0; d < cache.rank; ++d) bytes *= static_cast<double>(cache[d]);
    check_memory(sentence("a text of ", cache[2], " tokens in ", cache[0],
                          " layers (their keys and values)"),
                 bytes);
}

bool tensor_cores_take(const Sizes& sizes, std::int64_t head_dim) {
    return head_dim % 8 == 0 && head_dim <= 128 && sizes.channels % 8 == 0 && sizes.hidden % 8 == 0;
}

Prompts prompts_of(const Sizes& sizes, std::int64_t head_dim,
                   const std::vector<WeightType>& types) {
    const WeightType first = types.at(0);  // mixed types: floats
    const bool all = std::all_of(types.begin(), types.end(), [&](auto t) { return t == first; }) &&
                     (first == WeightType::f16 || first == WeightType::bf16);
    return all && tensor_cores_take(sizes, head_dim) ? Prompts::tensor_cores : Prompts::floats;
}

Prompts prompts_of(const ModelWeights& model) {
    return prompts_of(model.config, model.config.head_dim(), matrix_types(model));
}

std::vector<WeightType> matrix_types(const ModelWeights& model) {
    std::vector<WeightType> types;
    for (const BlockWeights& b : model.blocks) {
        for (const LinearWeights* linear : {&b.qkv, &b.attention_output, &b.up, &b.down}) {
            types.push_back(linear->weight.type);
        }
    }
    return types;
}

void check_tensor_cores(const Sizes& sizes, std::int64_t head_dim) {
    if (tensor_cores_take(sizes, head_dim)) return;
    reject(
        "prompts on tensor cores need heads of 8, 16, 24, ... or 128 numbers, and channels and an "
        "MLP whose width is a multiple of 8; this model's have ",
        head_dim, ", ", sizes.channels, " and ", sizes.hidden, ". Try without --fast");
}

}  // namespace sixdays::gpt2
