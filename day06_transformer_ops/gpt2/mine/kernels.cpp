#include "day06_transformer_ops/gpt2/mine/kernels.hpp"

#include <cmath>
#include <numeric>

#include "common/tensor/transform.hpp"
#include "day05_matmul/exercises/linear/linear.hpp"
#include "day05_matmul/matmul.hpp"
#include "day06_transformer_ops/exercises/add_rms_norm/add_rms_norm.hpp"
#include "day06_transformer_ops/exercises/causal_row/causal_row.hpp"
#include "day06_transformer_ops/exercises/decode_q4/decode_q4.hpp"
#include "day06_transformer_ops/exercises/rotate_pair/rotate_pair.hpp"
#include "day06_transformer_ops/exercises/softmax_rows/softmax_rows.hpp"
#include "day06_transformer_ops/gpt2/cpu/host_backend.hpp"
#include "day06_transformer_ops/gpt2/mine/run.hpp"
#include "day06_transformer_ops/llama/rotate.hpp"

void row_by_block(const float* in, int M, int N, int* out);
void shared_tile(const float* a, const float* b, int M, int N, int K, float* c);

namespace sixdays::gpt2::mine {
namespace {

using namespace day06_transformer_ops;

// The weights as floats, (N, K).
Tensor<float> decoded(const Weight& weight) {
    if (weight.type != WeightType::q4_k) return as_floats(weight);
    const View<const Q4KBlock> blocks = weight.as_q4_k();
    const Shape flat = {blocks.size()}, numbers = {blocks.size(), Q4KBlock::kWeights};
    gpu::Buffer<Q4KBlock> there(blocks.size());
    there.upload(blocks.data, blocks.size());
    Tensor<float> floats(weight.shape);
    run(
        "decode_q4", View<float>(floats.data(), numbers),
        [&](View<float> to) { decode_q4_cuda(there.view(flat), to); },
        [&](View<float> to) {
            decode_q4_cpu({blocks.data, flat}, to);
        });
    return floats;
}

// One query per head attends to the first n positions. q, out: (1, heads, 1, D).
void attend_one(View<const float> q, const KvSlots& held, std::int64_t n, View<float> out) {
    const std::int64_t H = q.extent(1), G = held.keys.extent(0);
    const auto seen = [&](View<const float> x) {
        return for_groups(unsqueeze(slice(x, 1, 0, n), 0));
    };
    Tensor<float> scores({1, G, H / G, 1, n}), weights(scores.shape());
    day05_matmul::Epilogue scaled;
    scaled.alpha = 1 / std::sqrt(static_cast<float>(q.extent(3)));
    day05_matmul::matmul_cpu(grouped(q, G), transpose(seen(held.keys), 3, 4), scaled,
                             scores.view());
    const View<const float> rows(scores.data(), Shape{H, n});
    const auto of_scores = sent(rows);
    run(
        "softmax_rows", View<float>(weights.data(), Shape{H, n}),
        [&](View<float> to) {
            softmax_rows_cuda(of_scores.view(Shape{H, n}), to);
        },
        [&](View<float> to) { softmax_rows_cpu(rows, to); });
    day05_matmul::matmul_cpu(weights.view(), seen(held.values), grouped(out, G));
}

}  // namespace

void norm(View<const float> in, View<const float> before, View<const float> weight, float epsilon,
          View<float> out) {
    const Shape rows = in.shape();
    const auto of_in = sent(in), of_weight = sent(weight);
    gpu::Buffer<float> residual = sent(before);
    Tensor<float> sum(rows);
    day03_views::copy_cpu(before, sum.view());
    run(
        "add_rms_norm", out,
        [&](View<float> to) {
            add_rms_norm_cuda(of_in.view(rows), of_weight.view(weight.shape()), epsilon,
                              residual.view(rows), to);
        },
        [&](View<float> to) { add_rms_norm_cpu(in, weight, epsilon, sum.view(), to); });
}

void product(View<const float> in, const Weight& weight, View<const float> bias, View<float> out) {
    const std::int64_t M = in.extent(0), K = in.extent(1), N = out.extent(1);
    const Tensor<float> floats = decoded(weight);
    const auto of_in = sent(in), of_weight = sent(floats.view());
    const float none = 0;
    const View<const float> no_bias(&none, Layout({N}, {0}));
    if (bias.data == nullptr) bias = no_bias;
    if (M == 1) {
        const auto of_bias = sent(bias);
        return run(
            "linear", out,
            [&](View<float> to) {
                day05_matmul::linear_cuda(of_in.view(Shape{M, K}), of_weight.view(Shape{N, K}),
                                          of_bias.view(Shape{N}), to);
            },
            [&](View<float> to) { day05_matmul::linear_cpu(in, floats.view(), bias, to); });
    }
    run(
        "shared_tile", out,
        [&](View<float> to) {
            shared_tile(of_in.data(), of_weight.data(), static_cast<int>(M), static_cast<int>(N),
                        static_cast<int>(K), to.data);
        },
        [&](View<float> to) { day05_matmul::linear_cpu(in, floats.view(), no_bias, to); });
    for (std::int64_t m = 0; m < M; ++m) {
        for (std::int64_t n = 0; n < N; ++n) out(m, n) += bias(n);
    }
}

void add_product(View<const float> in, const LinearWeights& weights, View<float> out) {
    Tensor<float> more(out.shape());
    product(in, weights.weight, or_none(weights.bias), more.view());
    for (std::int64_t i = 0; i < more.size(); ++i) out.data[i] += more.data()[i];
}

void rotate(const llama::Rope& rope, View<const float> table, std::int64_t first,
            View<float> heads) {
    if (rope.pairing != Pairing::neighbours || rope.dims() != heads.extent(3)) {
        Tensor<std::int64_t> places({heads.extent(2)});
        std::iota(places.data(), places.data() + places.size(), first);
        return llama::rotate(rope, table, places.view(), heads);
    }
    const View<float> by_token = permute(select(heads, 0, 0), {1, 0, 2});  // (T, heads, D)
    const auto of_heads = sent(by_token), of_table = sent(table);
    Tensor<float> before(by_token.shape());
    day03_views::copy_cpu(View<const float>(by_token), before.view());
    run(
        "rotate_pair", by_token,
        [&](View<float> to) {
            rotate_pair_cuda(of_heads.view(to.shape()), of_table.view(table.shape()), first, to);
        },
        [&](View<float> to) { rotate_pair_cpu(before.view(), table, first, to); });
}

void attend(View<const float> q, const KvSlots& held, std::int64_t first, View<float> out) {
    const std::int64_t H = q.extent(1), T = q.extent(2), D = q.extent(3);
    if (first > 0 || T == 1 || D > 32) {  // else as causal_row requires
        for (std::int64_t t = 0; t < T; ++t) {
            attend_one(slice(q, 2, t, t + 1), held, first + t + 1, slice(out, 2, t, t + 1));
        }
        return;
    }
    for (std::int64_t h = 0; h < H; ++h) {
        const std::int64_t g = h * held.keys.extent(0) / H;
        const View<const float> of_q = select(select(q, 0, 0), 0, h),
                                of_k = slice(select(held.keys, 0, g), 0, 0, T),
                                of_v = slice(select(held.values, 0, g), 0, 0, T);
        const auto q_there = sent(of_q), k_there = sent(of_k), v_there = sent(of_v);
        const Shape shape = {T, D};
        run(
            "causal_row", select(select(out, 0, 0), 0, h),
            [&](View<float> to) {
                causal_row_cuda(q_there.view(shape), k_there.view(shape), v_there.view(shape), to);
            },
            [&](View<float> to) { causal_row_cpu(of_q, of_k, of_v, to); });
    }
}

void choose(View<const float> logits, std::int64_t token) {
    const std::int64_t V = logits.size();
    const auto there = sent(logits);
    int best = -1;
    run("row_by_block", View<int>(&best, Shape{1}),
        [&](View<int> to) { row_by_block(there.data(), 1, static_cast<int>(V), to.data); });
    if (best != token) {
        not_right("row_by_block says that token " + std::to_string(best) + " has the largest of " +
                  std::to_string(V) + " logits; the loop says token " + std::to_string(token) +
                  ", whose logit is " + std::to_string(logits(token)));
    }
}

}  // namespace sixdays::gpt2::mine
