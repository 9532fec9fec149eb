// Checks shared by all backends.
#include "day06_transformer_ops/gpt2/backend/backend.hpp"

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

bool tensor_cores_take(const Config& config) {
    const std::int64_t D = config.head_dim();
    return D % 8 == 0 && D <= 128 && config.hidden % 8 == 0;
}

Prompts prompts_of(const ModelWeights& model) {
    const WeightType type = model.blocks[0].qkv.weight.type;  // mixed types: floats
    const auto narrow = [&](const Weight& w) { return w.type == type; };
    bool all =
        tensor_cores_take(model.config) && (type == WeightType::f16 || type == WeightType::bf16);
    for (const BlockWeights& b : model.blocks) {
        all &= narrow(b.qkv.weight) && narrow(b.attention_output.weight) && narrow(b.up.weight) &&
               narrow(b.down.weight);
    }
    return all ? Prompts::tensor_cores : Prompts::floats;
}

void check_tensor_cores(const Config& config) {
    if (tensor_cores_take(config)) return;
    reject(
        "prompts on tensor cores need heads of 8, 16, 24, ... or 128 numbers and an MLP whose "
        "width is a multiple of 8; this model's have ",
        config.head_dim(), " and ", config.hidden, ". Try without --fast");
}

}  // namespace sixdays::gpt2
