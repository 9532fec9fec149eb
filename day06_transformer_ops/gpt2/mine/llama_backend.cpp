// The Llama family on the kernels of the exercises, as gpt2_backend.cpp. What no exercise covers
// (the embedding, SiLU and its gate, scores of a single query, norms of heads) uses the days' CPU
// references.
#include "day06_transformer_ops/llama/llama_backend.hpp"

#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/embedding/embedding.hpp"
#include "day06_transformer_ops/gpt2/cpu/host_backend.hpp"
#include "day06_transformer_ops/gpt2/generate.hpp"
#include "day06_transformer_ops/gpt2/mine/kernels.hpp"

namespace sixdays::llama {
namespace {

using namespace day06_transformer_ops;
using gpt2::as_floats, gpt2::or_none;
namespace mine = gpt2::mine;

class MineBackend final : public gpt2::HostBackend {
public:
    MineBackend(const ModelWeights& model, std::int64_t capacity)
        : HostBackend(model.config, model.config.cache(capacity)),
          model_(model),
          table_(rotary_table(capacity, model.config.rope.frequencies)),
          tokens_table_(as_floats(model.token_embedding)),
          gate_({0}) {}

    std::string name() const override { return "the exercises' kernels"; }

    void embed() override { embed_cpu<float>(tokens_table_.view(), ids(), {}, {}, x()); }

    void query_key_value(std::int64_t layer) override {
        const BlockWeights& b = model_.block(layer);
        norm(x(), b.attention_norm, normed());
        project(b.q, columns().q);
        project(b.k, columns().k);
        project(b.v, columns().v);
        const Heads<float> of = heads();
        const NormParameters of_q{b.q_norm.view(), {}, sizes_.epsilon},
            of_k{b.k_norm.view(), {}, sizes_.epsilon};
        if (b.q_norm.size() > 0) rms_norm_cpu(View<const float>(of.q), of_q, of.q);
        if (b.k_norm.size() > 0) rms_norm_cpu(View<const float>(of.k), of_k, of.k);
        mine::rotate(model_.config.rope, table_.view(), position_, of.q);
        mine::rotate(model_.config.rope, table_.view(), position_, of.k);
        append_keys_and_values(layer);
    }

    void attend(std::int64_t layer) override {
        mine::attend(heads().q, cache_.held(layer), position_, mixed_heads());
    }

    void add_attention(std::int64_t layer) override {
        mine::add_product(mixed(), model_.block(layer).attention_output, x());
    }

    void widen(std::int64_t layer) override {
        norm(x(), model_.block(layer).mlp_norm, normed());
        const View<float> gate = rows(gate_, sizes_.hidden);
        project(model_.block(layer).gate, gate);
        project(model_.block(layer).up, hidden());
        activate_gated_cpu<float>(Activation::silu, gate, hidden(), hidden());
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
    void norm(View<const float> in, const Tensor<float>& weight, View<float> out) {
        const Tensor<float> nothing(in.shape());
        mine::norm(in, nothing.view(), weight.view(), sizes_.epsilon, out);
    }
    void project(const LinearWeights& weights, View<float> out) {
        mine::product(normed(), weights.weight, or_none(weights.bias), out);
    }

    const ModelWeights& model_;
    Tensor<float> table_;  // of the rotation
    Tensor<float> tokens_table_;
    Tensor<float> gate_;  // (T, hidden), as large as the largest pass so far
};

}  // namespace

/// Replaces the GPU backend at link time; the rest of the command is unchanged.
std::unique_ptr<gpt2::Backend> make_cuda_backend(const ModelWeights& model, std::int64_t capacity,
                                                 gpt2::Prompts prompts) {
    if (prompts == gpt2::Prompts::tensor_cores)
        reject("your kernels compute in floats. Try without --fast");
    return std::make_unique<MineBackend>(model, capacity);
}

}  // namespace sixdays::llama
