/// @file
/// Shared by both CPU backends: memory for activations, keys and values, the tokens of a pass, and
/// the choice of a token.
#pragma once

#include <vector>

#include "common/tensor/tensor.hpp"
#include "day06_transformer_ops/attention/attention.hpp"
#include "day06_transformer_ops/gpt2/backend/backend.hpp"
#include "day06_transformer_ops/gpt2/backend/kv_cache.hpp"
#include "day06_transformer_ops/norm/norm.hpp"

namespace sixdays::gpt2 {

/// A weight of the file, whatever its type, (out, in).
[[nodiscard]] Tensor<float> as_floats(const Weight& weight);

/// What the plain and the fast CPU backend share: the activations of a pass and the cache, in host
/// memory.
class HostBackend : public Backend {
public:
    void begin(View<const std::int64_t> ids, std::int64_t position) override;
    void advance() override;
    void choose() override;
    void set_sampler(const SamplerOptions& options) override { sampler_ = options; }
    void read_stream(View<float> out) override;
    void read_logits(View<float> out) override;
    std::int64_t token(std::int64_t position) override;

protected:
    HostBackend(const ModelWeights& model, std::int64_t capacity);

    const BlockWeights& block(std::int64_t layer) const {
        return model_.blocks[static_cast<std::size_t>(layer)];
    }
    /// The tokens of the pass.
    View<const std::int64_t> ids() const;
    // Activations of the pass, one row per token.
    View<float> x() { return rows(x_, model_.config.channels); }
    View<float> normed() { return rows(normed_, model_.config.channels); }
    View<float> qkv() { return rows(qkv_, 3 * model_.config.channels); }
    View<float> mixed() { return rows(mixed_, model_.config.channels); }
    View<float> hidden() { return rows(hidden_, model_.config.hidden); }
    View<float> rows(Tensor<float>& buffer, std::int64_t columns);

    /// qkv as heads, (1, H, T, D) each.
    day06_transformer_ops::Heads<float> heads();
    day06_transformer_ops::NormParameters norm_of(const NormWeights& norm) const;
    /// Copies the keys and values of the pass into the cache.
    void append_keys_and_values(std::int64_t layer);

    const ModelWeights& model_;
    Tensor<float> keys_, values_;  // (layer, head, capacity, dim)
    KvCache cache_;
    Tensor<std::int64_t> tokens_;  // (capacity + 1), by position
    std::int64_t position_ = 0, T_ = 0;
    Tensor<float> x_, normed_, qkv_, mixed_, hidden_,
        logits_;  // as large as the largest pass so far
    SamplerOptions sampler_;
};

}  // namespace sixdays::gpt2
