// The Llama family on the kernels of the exercises. What no exercise covers (the embedding, SiLU and
// its gate, scores of a single query, norms of heads) uses the days' CPU references.
#include "day06_transformer_ops/llama/llama_backend.hpp"

#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/embedding/embedding.hpp"
#include "day06_transformer_ops/gpt2/generate.hpp"
#include "day06_transformer_ops/gpt2/mine/kernels.hpp"

namespace sixdays::llama {
namespace {

using namespace day06_transformer_ops;
using gpt2::or_none;
namespace mine = gpt2::mine;

class MineBackend final : public mine::ExerciseBackend<ModelWeights> {
public:
    MineBackend(const ModelWeights& model, std::int64_t capacity, gpt2::Prompts prompts)
        : ExerciseBackend(model, capacity, prompts),
          table_(rotary_table(capacity, model.config.rope.frequencies)),
          gate_({0}) {}

    void embed() override { embed_cpu<float>(tokens_table_.view(), ids(), {}, {}, x()); }

    void query_key_value(std::int64_t layer) override {
        const BlockWeights& b = model_.block(layer);
        norm(x(), b.attention_norm, normed());
        project(b.q, columns().q);
        project(b.k, columns().k);
        project(b.v, columns().v);
        position(b.q_norm, heads().q);
        position(b.k_norm, heads().k);
        append_keys_and_values(layer);
    }

    void widen(std::int64_t layer) override {
        norm(x(), model_.block(layer).mlp_norm, normed());
        const View<float> gate = rows(gate_, sizes_.hidden);
        project(model_.block(layer).gate, gate);
        project(model_.block(layer).up, hidden());
        activate_gated_cpu<float>(Activation::silu, gate, hidden(), hidden());
    }

private:
    void final_norm(View<const float> in, View<float> out) override {
        norm(in, model_.final_norm, out);
    }
    void norm(View<const float> in, const Tensor<float>& weight, View<float> out) {
        const Tensor<float> nothing(in.shape());
        mine::norm(in, nothing.view(), weight.view(), sizes_.epsilon, out);
    }
    void project(const LinearWeights& weights, View<float> out) {
        mine::product(normed(), weights.weight, or_none(weights.bias), out);
    }
    // Queries or keys: Qwen3's norm of each head, then the rotation.
    void position(const Tensor<float>& weight, View<float> of_heads) {
        if (weight.size() > 0) {
            rms_norm_cpu(View<const float>(of_heads), {weight.view(), {}, sizes_.epsilon},
                         of_heads);
        }
        mine::rotate(model_.config.rope, table_.view(), position_, of_heads);
    }

    Tensor<float> table_;  // of the rotation
    Tensor<float> gate_;   // (T, hidden), as large as the largest pass so far
};

}  // namespace

/// Replaces the GPU backend at link time; the rest of the command is unchanged.
std::unique_ptr<gpt2::Backend> make_cuda_backend(const ModelWeights& model, std::int64_t capacity,
                                                 gpt2::Prompts prompts) {
    return std::make_unique<MineBackend>(model, capacity, prompts);
}

}  // namespace sixdays::llama
