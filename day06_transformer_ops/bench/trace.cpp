// The memory that the warps access, for --trace.
#include "common/gpu/buffer.hpp"
#include "common/lesson/lesson.hpp"
#include "day06_transformer_ops/attention/attention.hpp"
#include "day06_transformer_ops/bench/bench.hpp"
#include "day06_transformer_ops/norm/norm.hpp"
#include "day06_transformer_ops/softmax/softmax.hpp"

namespace sixdays::day06_transformer_ops {

void trace_all() {
    const std::int64_t T = 32, H = 2, D = 16, C = H * D;
    gpu::Buffer<float> qkv(T * 3 * C), mixed(T * C);
    qkv.fill_bytes(0x3f);
    const Heads of = heads_of(qkv.view({1, T, 3 * C}), H);
    gpu::Buffer<std::byte> memory(
        attention_workspace_bytes(of.q, of.k, of.v, AttentionPath::four_passes));
    memory.fill_bytes(0);
    const auto attention = [&](const char* title, AttentionPath path, std::int64_t queries) {
        const View<float> out = split_heads(mixed.view({1, T, C}), H);
        lesson::trace(title, [&] {
            attention_cuda(slice(of.q, 2, T - queries, T), of.k, of.v, {},
                           slice(out, 2, T - queries, T), {}, {.path = path, .workspace = memory});
        });
    };
    attention("attention of 32 tokens, 2 heads of 16, one thread per query",
              AttentionPath::four_passes, T);
    attention("fused, one warp per query", AttentionPath::fused, T);
    attention("one new token, its 32 keys split among warps", AttentionPath::split_keys, 1);

    const std::int64_t rows = 32, n = 64;
    gpu::Buffer<float> x(rows * n), y(rows * n);
    x.fill_bytes(0x3f);
    const auto softmax = [&](const char* title, SoftmaxPath path) {
        lesson::trace(title, [&] {
            softmax_cuda<float>(x.view({rows, n}), -1, y.view({rows, n}), {.path = path});
        });
    };
    softmax("softmax of 32 rows of 64 floats, one thread per row", SoftmaxPath::thread_per_row);
    softmax("one warp per row", SoftmaxPath::warp_per_row);
    softmax("one block per row, online", SoftmaxPath::online);
    softmax("the row in registers, 128-bit loads", SoftmaxPath::registers);
    lesson::trace("layer norm of the same rows, in registers", [&] {
        layer_norm_cuda<float>(x.view({rows, n}), {}, y.view({rows, n}),
                               {.path = NormPath::registers});
    });
}

}  // namespace sixdays::day06_transformer_ops
