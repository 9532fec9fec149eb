// Exercise 8: one transformer block.
// Specification:    day06_transformer_ops/exercises/one_block/one_block.hpp
// CPU reference:    day06_transformer_ops/exercises/one_block/one_block_cpu.cpp
// Hints:            common/learn hint day06 one_block
#include <cmath>

#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/exercises/one_block/one_block.hpp"

namespace sixdays::day06_transformer_ops {

void one_block_cuda(const BlockWeights& weights, View<const float> x, const BlockBuffers& buffers,
                    View<float> out, gpu::Stream stream) {
    check_one_block(weights, x, out);
    check_buffers(weights, x, buffers);
    if (out.size() == 0) return;
    const std::int64_t B = x.extent(0), T = x.extent(1), C = x.extent(2);
    // your code: the two halves of the block, with views by heads of two buffers
    const std::int64_t H = weights.heads, D = C / H;
    const auto heads = [&](const View<float>& v) {  // (B, T, C) as (B, H, T, D)
        return transpose(reshape(v, {B, T, H, D}), 1, 2);
    };
    const auto third = [&](std::int64_t i) {
        return heads(slice(buffers.qkv, 2, i * C, (i + 1) * C));
    };
    const double scale = 1 / std::sqrt(static_cast<double>(D));

    norm(x, buffers.normed, stream);
    product(buffers.normed, weights.qkv, buffers.qkv, stream);
    attention(third(0), third(1), third(2), scale, true, heads(buffers.mixed), stream);
    product(buffers.mixed, weights.projection, buffers.part, stream);
    add(x, buffers.part, out, stream);

    norm(out, buffers.normed, stream);
    product(buffers.normed, weights.up, buffers.hidden, stream);
    gelu(buffers.hidden, stream);
    product(buffers.hidden, weights.down, buffers.part, stream);
    add(out, buffers.part, out, stream);
    // wrong 123456789: const std::int64_t H = weights.heads, D = C / H;
    // wrong 123456789: const auto heads = [&](const View<float>& v) {
    // wrong 12345678:     return transpose(reshape(v, {B, T, H, D}), 1, 2);
    // wrong 9:     return permute(reshape(v, {B, T, D, H}), {0, 3, 1, 2});
    // wrong 123456789: };
    // wrong 123456789: const auto third = [&](std::int64_t i) {
    // wrong 12345679:     return heads(slice(buffers.qkv, 2, i * C, (i + 1) * C));
    // wrong 8:     const std::int64_t first = i * B * T * C;
    // wrong 8:     return heads(View<float>(buffers.qkv.data + first, Shape{B, T, C}));
    // wrong 123456789: };
    // wrong 12346789: const double scale = 1 / std::sqrt(static_cast<double>(D));
    // wrong 5: const double scale = 1 / std::sqrt(static_cast<double>(C));
    // wrong 1: product(x, weights.qkv, buffers.qkv, stream);
    // wrong 23456789: norm(x, buffers.normed, stream);
    // wrong 23456789: product(buffers.normed, weights.qkv, buffers.qkv, stream);
    // wrong 1235789: attention(third(0), third(1), third(2), scale, true,
    // wrong 1235789:           heads(buffers.mixed), stream);
    // wrong 4: const View<float> to = reshape(buffers.mixed, {B, H, T, D});
    // wrong 4: attention(third(0), third(1), third(2), scale, true, to, stream);
    // wrong 6: attention(third(0), third(1), third(2), scale, false,
    // wrong 6:           heads(buffers.mixed), stream);
    // wrong 13456789: product(buffers.mixed, weights.projection, buffers.part, stream);
    // wrong 1: add(x, buffers.part, buffers.part, stream);
    // wrong 1: norm(buffers.part, out, stream);
    // wrong 1: product(out, weights.up, buffers.hidden, stream);
    // wrong 2: product(buffers.mixed, weights.projection, out, stream);
    // wrong 3456789: add(x, buffers.part, out, stream);
    // wrong 2345689: norm(out, buffers.normed, stream);
    // wrong 7: norm(x, buffers.normed, stream);
    // wrong 23456789: product(buffers.normed, weights.up, buffers.hidden, stream);
    // wrong 123456789: gelu(buffers.hidden, stream);
    // wrong 123456789: product(buffers.hidden, weights.down, buffers.part, stream);
    // wrong 1: add(out, buffers.part, buffers.part, stream);
    // wrong 1: norm(buffers.part, out, stream);
    // wrong 2456789: add(out, buffers.part, out, stream);
    // wrong 3: add(x, buffers.part, out, stream);
    // told: The norms come after the additions
    // told 2: The first residual is missing
    // told 3: The second residual adds x
    // told 4: mixed was only reshaped to (B, H, T, D)
    // told 5: by sqrt(C)
    // told 6: Tokens attend to later tokens
    // told 7: The second norm reads x, or is missing
    // told 8: as if the queries of all tokens came first
    // told 9: Each head takes every H-th number
    // end of your code
}

}  // namespace sixdays::day06_transformer_ops
