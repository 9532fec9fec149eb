// The argument checks of a block, and the operations that the exercise gives: those of this day and
// of Days 03 and 05.
#include "day06_transformer_ops/exercises/one_block/one_block.hpp"

#include "common/tensor/arguments.hpp"
#include "day03_views/broadcast.hpp"
#include "day05_matmul/matmul.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/attention/attention.hpp"
#include "day06_transformer_ops/norm/norm.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

template <class T>
void require(const char* name, const View<T>& v, const Shape& shape) {
    if (v.shape() != shape) {
        reject("one_block: ", name, " has shape ", v.shape(), ", but must have ", shape);
    }
    require_memory("one_block", name, v);
}

}  // namespace

void check_one_block(const BlockWeights& w, const View<const float>& x, const View<float>& out) {
    require_rank("one_block", "x", x, 3);
    require_same_shape("one_block", "x", x, "out", out);
    require_rank("one_block", "up", w.up, 2);
    const std::int64_t C = x.extent(2), F = w.up.extent(1);
    if (w.heads < 1 || C % w.heads != 0) {
        reject("one_block: ", w.heads, " heads do not divide the ", C,
               " numbers of a token equally");
    }
    require("qkv", w.qkv, {C, 3 * C});
    require("projection", w.projection, {C, C});
    require("up", w.up, {C, F});
    require("down", w.down, {F, C});
    require_memory("one_block", "x", x);
    require_output("one_block", out);
    require_contiguous("one_block", "out", out);
    require_apart("one_block", "x", x, "out", out);
    for (const View<const float>& matrix : {w.qkv, w.projection, w.up, w.down}) {
        require_apart("one_block", "a matrix", matrix, "out", out);
    }
}

void check_buffers(const BlockWeights& w, const View<const float>& x, const BlockBuffers& use) {
    const std::int64_t B = x.extent(0), T = x.extent(1), C = x.extent(2);
    require("buffers.normed", use.normed, {B, T, C});
    require("buffers.qkv", use.qkv, {B, T, 3 * C});
    require("buffers.mixed", use.mixed, {B, T, C});
    require("buffers.hidden", use.hidden, {B, T, w.up.extent(1)});
    require("buffers.part", use.part, {B, T, C});
}

void norm(View<const float> in, View<float> out, gpu::Stream stream) {
    layer_norm_cuda(in, {}, out, {.stream = stream});
}

void product(View<const float> a, View<const float> b, View<float> out, gpu::Stream stream) {
    day05_matmul::matmul_cuda(a, b, out, {.stream = stream});
}

void attention(View<const float> q, View<const float> k, View<const float> v, double scale,
               bool causal, View<float> out, gpu::Stream stream) {
    if (!(scale > 0)) {
        reject("attention: scale is ", scale,
               ", but it must be above 0 (in C++, 1 / D of two integers is 0)");
    }
    const AttentionOptions options{.causal = causal, .scale = static_cast<float>(scale)};
    attention_cuda(q, k, v, options, out, {}, {.stream = stream});
}

void gelu(View<float> x, gpu::Stream stream) {
    activate_cuda(Activation::gelu_tanh, x, x, {.stream = stream});
}

void add(View<const float> a, View<const float> b, View<float> out, gpu::Stream stream) {
    day03_views::add_broadcast_cuda(a, b, out, {.stream = stream});
}

}  // namespace sixdays::day06_transformer_ops
