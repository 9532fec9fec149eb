/// @file
/// Shared by the CPU backends of all architectures: memory for activations, keys and values, the
/// tokens of a pass, and the choice of a token.
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

/// What the plain and the fast CPU backends share: the activations of a pass and the cache, in host
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
    /// @param cache  the shape of the keys and of the values: (layer, head, position, dim)
    /// @throws std::invalid_argument  positions not in [1, sizes.context], or too many for memory
    HostBackend(const Sizes& sizes, const Shape& cache);

    /// The tokens of the pass.
    View<const std::int64_t> ids() const;
    /// Their positions.
    Tensor<std::int64_t> places() const;
    // Activations of the pass, one row per token. With D elements per head: queries, keys and values
    // side by side; what attention mixed, (T, heads * D); the MLP's hidden layer.
    View<float> x() { return rows(x_, sizes_.channels); }
    View<float> normed() { return rows(normed_, sizes_.channels); }
    View<float> qkv() { return rows(qkv_, (sizes_.heads + 2 * kv_heads()) * head_dim()); }
    View<float> mixed() { return rows(mixed_, sizes_.heads * head_dim()); }
    View<float> hidden() { return rows(hidden_, sizes_.hidden); }
    View<float> rows(Tensor<float>& buffer, std::int64_t columns);
    /// Room for the norm of `count` tokens from `first` on, and for their logits.
    View<float> last_normed(std::int64_t first, std::int64_t count);

    /// Keys and values may have fewer heads than queries, which then share them.
    std::int64_t kv_heads() const noexcept { return keys_.shape()[1]; }
    std::int64_t head_dim() const noexcept { return keys_.shape()[3]; }
    /// qkv cut into its columns: queries (T, heads * D), keys and values (T, kv_heads * D) each.
    struct Columns {
        View<float> q, k, v;
    };
    Columns columns();
    /// qkv as heads: (1, heads, T, D), and (1, kv_heads, T, D) for keys and values.
    day06_transformer_ops::Heads<float> heads();
    /// mixed as heads, (1, heads, T, D).
    View<float> mixed_heads();
    day06_transformer_ops::NormParameters norm_of(const NormWeights& norm) const {
        return {norm.weight.view(), norm.bias.view(), sizes_.epsilon};
    }
    /// Copies the keys and values of the pass into the cache.
    void append_keys_and_values(std::int64_t layer);

    const Sizes sizes_;
    Tensor<float> keys_, values_;  // (layer, head, capacity, dim)
    KvCache cache_;
    Tensor<std::int64_t> tokens_;  // (capacity + 1), by position
    std::int64_t position_ = 0, T_ = 0;
    Tensor<float> x_, normed_, qkv_, mixed_, hidden_,
        logits_;  // as large as the largest pass so far
    SamplerOptions sampler_;
};

}  // namespace sixdays::gpt2
