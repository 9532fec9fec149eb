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

}  // namespace sixdays::gpt2
