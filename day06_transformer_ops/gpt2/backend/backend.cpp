// What every backend refuses.
#include "day06_transformer_ops/gpt2/backend/backend.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::gpt2 {

void check_capacity(const Config& config, std::int64_t capacity) {
    if (capacity < 1 || capacity > config.context) {
        refuse("a text of " + std::to_string(capacity) + " tokens; this model takes 1 to " +
               std::to_string(config.context));
    }
}

void check_tensor_cores(const Config& config) {
    const std::int64_t D = config.head_dim();
    if (D % 8 == 0 && D <= 128 && config.hidden % 8 == 0) return;
    refuse(
        "prompts on tensor cores need heads of 8, 16, 24, ... or 128 numbers and an MLP whose "
        "width is a multiple of 8; this model's have " +
        std::to_string(D) + " and " + std::to_string(config.hidden) + ". Try without --fast");
}

}  // namespace sixdays::gpt2
