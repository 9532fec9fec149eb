#include "day06_transformer_ops/llama/rotate.hpp"

#include "common/tensor/transform.hpp"

namespace sixdays::llama {

void rotate(const Rope& rope, View<const float> table, View<const std::int64_t> places,
            View<float> heads) {
    const View<float> rotated = slice(heads, 3, 0, rope.dims());
    day06_transformer_ops::rotary_cpu(rotated, table, places, rope.pairing, rotated);
}

}  // namespace sixdays::llama
