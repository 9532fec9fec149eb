// The model on the kernels of the exercises: the learner's own where they have passed, our
// solutions elsewhere: `common/learn gpt2 --mine`. The linker decides which is used. Numbers are in
// host memory and go to the device for one call; results are compared with the exercise's CPU
// reference. What no exercise covers (the embedding, GELU, scores of a single query) uses the days'
// CPU references.
#include <cmath>

#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"
#include "day05_matmul/exercises/linear/linear.hpp"
#include "day05_matmul/matmul.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/embedding/embedding.hpp"
#include "day06_transformer_ops/exercises/add_rms_norm/add_rms_norm.hpp"
#include "day06_transformer_ops/exercises/causal_row/causal_row.hpp"
#include "day06_transformer_ops/exercises/softmax_rows/softmax_rows.hpp"
#include "day06_transformer_ops/gpt2/cpu/host_backend.hpp"
#include "day06_transformer_ops/gpt2/mine/run.hpp"

void row_by_block(const float* in, int M, int N, int* out);
void shared_tile(const float* a, const float* b, int M, int N, int K, float* c);

namespace sixdays::gpt2 {
namespace {

using namespace day06_transformer_ops;

class MineBackend final : public HostBackend {
public:
    MineBackend(const ModelWeights& model, std::int64_t capacity)
        : HostBackend(model.config, model.config.cache(capacity)),
          model_(model),
          tokens_table_(as_floats(model.token_embedding)),
          positions_(as_floats(model.position_embedding)) {}

    std::string name() const override { return "the exercises' kernels"; }

    void embed() override {
        embed_cpu<float>(tokens_table_.view(), ids(), positions_.view(), places().view(), x());
    }

    void query_key_value(std::int64_t layer) override {
        norm(x(), model_.block(layer).attention_norm, normed());
        product(normed(), model_.block(layer).qkv.weight, model_.block(layer).qkv.bias.view(),
                qkv());
        append_keys_and_values(layer);
    }

    void attend(std::int64_t layer) override {
        const KvSlots held = cache_.held(layer);
        const View<const float> q = select(heads().q, 0, 0);
        const View<float> out = select(mixed_heads(), 0, 0);
        if (position_ == 0 && T_ > 1 && model_.config.head_dim() <= 32) {  // as causal_row requires
            for (std::int64_t h = 0; h < q.extent(0); ++h) {
                const View<const float> of_q = select(q, 0, h), of_k = select(held.keys, 0, h),
                                        of_v = select(held.values, 0, h);
                const auto q_there = sent(of_q), k_there = sent(of_k), v_there = sent(of_v);
                const Shape head = {T_, q.extent(2)};
                run(
                    "causal_row", select(out, 0, h),
                    [&](View<float> to) {
                        causal_row_cuda(q_there.view(head), k_there.view(head), v_there.view(head),
                                        to);
                    },
                    [&](View<float> to) { causal_row_cpu(of_q, of_k, of_v, to); });
            }
            return;
        }
        for (std::int64_t t = 0; t < T_; ++t) {
            attend_one(slice(q, 1, t, t + 1), held, position_ + t + 1, slice(out, 1, t, t + 1));
        }
    }

    void add_attention(std::int64_t layer) override {
        add_product(mixed(), model_.block(layer).attention_output);
    }

    void widen(std::int64_t layer) override {
        const LinearWeights& up = model_.block(layer).up;
        norm(x(), model_.block(layer).mlp_norm, normed());
        product(normed(), up.weight, up.bias.view(), hidden());
        activate_cpu<float>(Activation::gelu_tanh, hidden(), hidden());
    }

    void add_mlp(std::int64_t layer) override { add_product(hidden(), model_.block(layer).down); }

    void head(std::int64_t first, std::int64_t count) override {
        const View<float> last = last_normed(first, count);
        norm(slice(x(), 0, first, first + count), model_.final_norm, last);
        float none = 0;
        product(last, model_.head,
                View<const float>(&none, Layout({model_.config.vocabulary}, {0})), logits_.view());
    }

    /// At temperature 0 uses the exercise's argmax, compared with the CPU reference.
    void choose() override {
        HostBackend::choose();
        if (sampler_.temperature != 0) return;
        const std::int64_t V = model_.config.vocabulary, right = token(position_ + T_);
        const View<const float> last = select(logits_.view(), 0, logits_.shape()[0] - 1);
        const auto logits = sent(last);
        int best = -1;
        run("row_by_block", View<int>(&best, Shape{1}),
            [&](View<int> to) { row_by_block(logits.data(), 1, static_cast<int>(V), to.data); });
        if (best != right) {
            not_right("row_by_block says that token " + std::to_string(best) +
                      " has the largest of " + std::to_string(V) + " logits; the loop says token " +
                      std::to_string(right) + ", whose logit is " + std::to_string(last(right)));
        }
    }

private:
    /// Layer norm is RMS norm of x - mean: add_rms_norm() adds x to rows of -mean.
    void norm(View<const float> in, const NormWeights& weights, View<float> out) {
        const std::int64_t T = in.extent(0), C = in.extent(1);
        Tensor<float> below({T, C});
        for (std::int64_t t = 0; t < T; ++t) {
            float sum = 0;
            for (std::int64_t c = 0; c < C; ++c) sum += in(t, c);
            for (std::int64_t c = 0; c < C; ++c) below(t, c) = -sum / static_cast<float>(C);
        }
        const auto of_in = sent(in), weight = sent(weights.weight.view());
        gpu::Buffer<float> residual(below);
        run(
            "add_rms_norm", out,
            [&](View<float> to) {
                add_rms_norm_cuda(of_in.view(Shape{T, C}), weight.view(Shape{C}),
                                  model_.config.epsilon, residual.view(Shape{T, C}), to);
            },
            [&](View<float> to) {
                add_rms_norm_cpu(in, weights.weight.view(), model_.config.epsilon, below.view(),
                                 to);
            });
        for (std::int64_t t = 0; t < T; ++t) {
            for (std::int64_t c = 0; c < C; ++c) out(t, c) += weights.bias(c);
        }
    }

    /// Many rows use tiles; one row uses one thread per output.
    void product(View<const float> in, const Weight& weight, View<const float> bias,
                 View<float> out) {
        const std::int64_t M = in.extent(0), K = in.extent(1), N = out.extent(1);
        const Tensor<float> floats = as_floats(weight);
        const auto of_in = sent(in), of_weight = sent(floats.view());
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
        const float none = 0;
        const View<const float> no_bias(&none, Layout({N}, {0}));
        run(
            "shared_tile", out,
            [&](View<float> to) {
                shared_tile(of_in.data(), of_weight.data(), static_cast<int>(M),
                            static_cast<int>(N), static_cast<int>(K), to.data);
            },
            [&](View<float> to) { day05_matmul::linear_cpu(in, floats.view(), no_bias, to); });
        for (std::int64_t m = 0; m < M; ++m) {
            for (std::int64_t n = 0; n < N; ++n) out(m, n) += bias(n);
        }
    }

    void add_product(View<const float> in, const LinearWeights& weights) {
        Tensor<float> more(x().shape());
        product(in, weights.weight, weights.bias.view(), more.view());
        for (std::int64_t i = 0; i < more.size(); ++i) x().data[i] += more.data()[i];
    }

    /// One query per head, (H, 1, D), attends to the first n positions.
    void attend_one(View<const float> q, const KvSlots& held, std::int64_t n, View<float> out) {
        const std::int64_t H = q.extent(0);
        Tensor<float> scores({H, 1, n});
        day05_matmul::Epilogue scaled;
        scaled.alpha = 1 / std::sqrt(static_cast<float>(q.extent(2)));
        day05_matmul::matmul_cpu(q, transpose(slice(held.keys, 1, 0, n), 1, 2), scaled,
                                 scores.view());
        Tensor<float> weights({H, 1, n});
        const View<const float> rows(scores.data(), Shape{H, n});
        const auto of_scores = sent(rows);
        run(
            "softmax_rows", View<float>(weights.data(), Shape{H, n}),
            [&](View<float> to) {
                softmax_rows_cuda(of_scores.view(Shape{H, n}), to);
            },
            [&](View<float> to) { softmax_rows_cpu(rows, to); });
        day05_matmul::matmul_cpu(weights.view(), slice(held.values, 1, 0, n), out);
    }

    const ModelWeights& model_;
    Tensor<float> tokens_table_, positions_;
};

}  // namespace

/// Replaces the GPU backend at link time; the rest of the command is unchanged.
std::unique_ptr<Backend> make_cuda_backend(const ModelWeights& model, std::int64_t capacity,
                                           Prompts prompts) {
    if (prompts == Prompts::tensor_cores)
        reject("your kernels compute in floats. Try without --fast");
    return std::make_unique<MineBackend>(model, capacity);
}

}  // namespace sixdays::gpt2
