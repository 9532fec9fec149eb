// GPT-2 on the kernels of the exercises. What no exercise covers (the embedding, GELU, scores of a
// single query) uses the days' CPU references.
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/embedding/embedding.hpp"
#include "day06_transformer_ops/gpt2/generate.hpp"
#include "day06_transformer_ops/gpt2/mine/kernels.hpp"

namespace sixdays::gpt2 {
namespace {

using namespace day06_transformer_ops;

class MineBackend final : public mine::ExerciseBackend<ModelWeights> {
public:
    MineBackend(const ModelWeights& model, std::int64_t capacity, Prompts prompts)
        : ExerciseBackend(model, capacity, prompts),
          positions_(as_floats(model.position_embedding)) {}

    void embed() override {
        embed_cpu<float>(tokens_table_.view(), ids(), positions_.view(), places().view(), x());
    }

    void query_key_value(std::int64_t layer) override {
        const LinearWeights& of = model_.block(layer).qkv;
        norm(x(), model_.block(layer).attention_norm, normed());
        mine::product(normed(), of.weight, of.bias.view(), qkv());
        append_keys_and_values(layer);
    }

    void widen(std::int64_t layer) override {
        const LinearWeights& up = model_.block(layer).up;
        norm(x(), model_.block(layer).mlp_norm, normed());
        mine::product(normed(), up.weight, up.bias.view(), hidden());
        activate_cpu<float>(Activation::gelu_tanh, hidden(), hidden());
    }

private:
    void final_norm(View<const float> in, View<float> out) override {
        norm(in, model_.final_norm, out);
    }
    /// Layer norm is RMS norm of x - mean.
    void norm(View<const float> in, const NormWeights& weights, View<float> out) {
        const std::int64_t T = in.extent(0), C = in.extent(1);
        Tensor<float> below({T, C});
        for (std::int64_t t = 0; t < T; ++t) {
            float sum = 0;
            for (std::int64_t c = 0; c < C; ++c) sum += in(t, c);
            for (std::int64_t c = 0; c < C; ++c) below(t, c) = -sum / static_cast<float>(C);
        }
        mine::norm(in, below.view(), weights.weight.view(), sizes_.epsilon, out);
        for (std::int64_t t = 0; t < T; ++t) {
            for (std::int64_t c = 0; c < C; ++c) out(t, c) += weights.bias(c);
        }
    }

    Tensor<float> positions_;
};

}  // namespace

/// Replaces the GPU backend at link time; the rest of the command is unchanged.
std::unique_ptr<Backend> make_cuda_backend(const ModelWeights& model, std::int64_t capacity,
                                           Prompts prompts) {
    return std::make_unique<MineBackend>(model, capacity, prompts);
}

}  // namespace sixdays::gpt2
