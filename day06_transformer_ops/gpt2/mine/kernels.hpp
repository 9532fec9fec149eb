/// @file
/// The exercises' kernels as a model calls them, on numbers in host memory. Each result is compared
/// with the exercise's CPU reference. They are the learner's own where they have passed, our
/// solutions elsewhere (`common/learn gpt2 --mine`): the linker decides which is used.
#pragma once

#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/gpt2/cpu/host_backend.hpp"
#include "day06_transformer_ops/gpt2/weights/weight.hpp"
#include "day06_transformer_ops/llama/llama_file.hpp"

namespace sixdays::gpt2::mine {

/// add_rms_norm: the RMS norm of each row of in + before, times weight.
/// @param in, before, out  (T, C)
/// @param weight           (C)
void norm(View<const float> in, View<const float> before, View<const float> weight, float epsilon,
          View<float> out);

/// out = in weight^T + bias. Many rows use `shared_tile`; one row uses `linear`, one thread per
/// output; `decode_q4` decodes a weight in Q4_K.
/// @param in      (T, K)
/// @param weight  (N, K)
/// @param bias    (N), or a null pointer
/// @param out     (T, N)
void product(View<const float> in, const Weight& weight, View<const float> bias, View<float> out);

/// out += in weight^T + bias.
void add_product(View<const float> in, const LinearWeights& weights, View<float> out);

/// rotate_pair: rotates the heads of tokens from position `first` on, in place. Where the model does
/// not rotate all neighbours of a head, the CPU reference does it.
/// @param heads  (1, heads, T, D): queries or keys
/// @param table  rotary_table() of rope.frequencies
void rotate(const llama::Rope& rope, View<const float> table, std::int64_t first,
            View<float> heads);

/// Causal attention of the heads of T queries from position `first` on. A whole prompt uses
/// `causal_row`, one query at a time `softmax_rows` between the CPU references of two products.
/// @param q, out  (1, heads, T, D)
/// @param held    keys and values, (kv heads, positions, D); heads / kv heads queries share each
void attend(View<const float> q, const KvSlots& held, std::int64_t first, View<float> out);

/// row_by_block: must say that `token` has the largest of the logits, (V).
void choose(View<const float> logits, std::int64_t token);

/// What the backends of both architectures share.
/// @tparam Weights  gpt2::ModelWeights or llama::ModelWeights
template <class Weights>
class ExerciseBackend : public HostBackend {
public:
    std::string name() const override { return "the exercises' kernels"; }

    void attend(std::int64_t layer) override {
        mine::attend(heads().q, cache_.held(layer), position_, mixed_heads());
    }
    void add_attention(std::int64_t layer) override {
        add_product(mixed(), model_.block(layer).attention_output, x());
    }
    void add_mlp(std::int64_t layer) override {
        add_product(hidden(), model_.block(layer).down, x());
    }
    void head(std::int64_t first, std::int64_t count) override {
        const View<float> last = last_normed(first, count);
        final_norm(slice(x(), 0, first, first + count), last);
        product(last, model_.head, {}, logits_.view());
    }
    /// At temperature 0 uses the exercise's argmax, compared with the CPU reference.
    void choose() override {
        HostBackend::choose();
        if (sampler_.temperature != 0) return;
        mine::choose(select(logits_.view(), 0, logits_.shape()[0] - 1), token(position_ + T_));
    }

protected:
    /// @throws std::invalid_argument  another capacity; prompts on tensor cores
    ExerciseBackend(const Weights& model, std::int64_t capacity, Prompts prompts)
        : HostBackend(model.config, model.config.cache(capacity)),
          model_(model),
          tokens_table_(as_floats(model.token_embedding)) {
        if (prompts == Prompts::tensor_cores) {
            reject("your kernels compute in floats. Try without --fast");
        }
    }

    /// The norm before the head.
    virtual void final_norm(View<const float> in, View<float> out) = 0;

    const Weights& model_;
    Tensor<float> tokens_table_;
};

}  // namespace sixdays::gpt2::mine
