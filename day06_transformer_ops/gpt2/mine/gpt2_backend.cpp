// GPT-2 on the kernels of the exercises: the learner's own where they have passed, our solutions
// elsewhere: `common/learn gpt2 --mine`. The linker decides which is used. What no exercise covers
// (the embedding, GELU, scores of a single query) uses the days' CPU references.
#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/embedding/embedding.hpp"
#include "day06_transformer_ops/gpt2/cpu/host_backend.hpp"
#include "day06_transformer_ops/gpt2/generate.hpp"
#include "day06_transformer_ops/gpt2/mine/kernels.hpp"

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
        const LinearWeights& qkv_of = model_.block(layer).qkv;
        norm(x(), model_.block(layer).attention_norm, normed());
        mine::product(normed(), qkv_of.weight, qkv_of.bias.view(), qkv());
        append_keys_and_values(layer);
    }

    void attend(std::int64_t layer) override {
        mine::attend(heads().q, cache_.held(layer), position_, mixed_heads());
    }

    void add_attention(std::int64_t layer) override {
        mine::add_product(mixed(), model_.block(layer).attention_output, x());
    }

    void widen(std::int64_t layer) override {
        const LinearWeights& up = model_.block(layer).up;
        norm(x(), model_.block(layer).mlp_norm, normed());
        mine::product(normed(), up.weight, up.bias.view(), hidden());
        activate_cpu<float>(Activation::gelu_tanh, hidden(), hidden());
    }

    void add_mlp(std::int64_t layer) override {
        mine::add_product(hidden(), model_.block(layer).down, x());
    }

    void head(std::int64_t first, std::int64_t count) override {
        const View<float> last = last_normed(first, count);
        norm(slice(x(), 0, first, first + count), model_.final_norm, last);
        mine::product(last, model_.head, {}, logits_.view());
    }

    /// At temperature 0 uses the exercise's argmax, compared with the CPU reference.
    void choose() override {
        HostBackend::choose();
        if (sampler_.temperature != 0) return;
        mine::choose(select(logits_.view(), 0, logits_.shape()[0] - 1), token(position_ + T_));
    }

private:
    /// Layer norm is RMS norm of x - mean.
    void norm(View<const float> in, const NormWeights& weights, View<float> out) {
        const std::int64_t T = in.extent(0), C = in.extent(1);
        Tensor<float> below({T, C});
        for (std::int64_t t = 0; t < T; ++t) {
            float sum = 0;
            for (std::int64_t c = 0; c < C; ++c) sum += in(t, c);
            for (std::int64_t c = 0; c < C; ++c) below(t, c) = -sum / static_cast<float>(C);
        }
        mine::norm(in, below.view(), weights.weight.view(), model_.config.epsilon, out);
        for (std::int64_t t = 0; t < T; ++t) {
            for (std::int64_t c = 0; c < C; ++c) out(t, c) += weights.bias(c);
        }
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
