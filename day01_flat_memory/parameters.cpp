#include "day01_flat_memory/parameters.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day01_flat_memory {

std::vector<Part> gpt2_parameters(const Gpt2Sizes& sizes) {
    const std::int64_t L = sizes.L, C = sizes.C;
    return {
        {"wte", {sizes.Vp, C}},     // token embedding: one row per token id
        {"wpe", {sizes.max_T, C}},  // position embedding: one row per position
        {"ln1w", {L, C}},           // first layer norm: scale
        {"ln1b", {L, C}},           //                   shift
        {"qkvw", {L, 3 * C, C}},    // query, key and value in one matrix
        {"qkvb", {L, 3 * C}},
        {"attprojw", {L, C, C}},  // attention's output
        {"attprojb", {L, C}},
        {"ln2w", {L, C}},  // second layer norm
        {"ln2b", {L, C}},
        {"fcw", {L, 4 * C, C}},  // MLP, up to 4 * C
        {"fcb", {L, 4 * C}},
        {"fcprojw", {L, C, 4 * C}},  // MLP, back down to C
        {"fcprojb", {L, C}},
        {"lnfw", {C}},  // final layer norm
        {"lnfb", {C}},
    };
}

std::int64_t cut(std::vector<Part>& parts) {
    std::int64_t first = 0;
    for (Part& part : parts) {
        part.first = first;  // begins where the one before it ends
        part.count = size(part.shape);
        if (__builtin_add_overflow(first, part.count, &first)) {
            reject("cut: the total up to ", part.name, " does not fit in 64 bits");
        }
    }
    return first;
}

std::int64_t kv_cache_bytes(const Gpt2Sizes& sizes, std::int64_t T,
                            std::int64_t bytes_per_element) {
    if (sizes.H < 1 || sizes.C % sizes.H != 0) {
        reject("kv_cache_bytes: ", sizes.C, " channels cannot be shared by ", sizes.H, " heads");
    }
    // size() rejects negative extents and sizes that do not fit in 64 bits.
    return size({2, sizes.L, sizes.H, T, sizes.C / sizes.H, bytes_per_element});
}

}  // namespace sixdays::day01_flat_memory
