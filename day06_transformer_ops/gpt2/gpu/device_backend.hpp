/// @file
/// Shared by the CUDA backends of all architectures: activations, keys and values in device memory,
/// the tokens of a text, the choice of the next one, and the graph that replays a pass of one token.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "common/gpu/buffer.hpp"
#include "common/gpu/graph.hpp"
#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/gpt2/backend/backend.hpp"
#include "day06_transformer_ops/gpt2/gpu/decode.hpp"
#include "day06_transformer_ops/gpt2/gpu/narrow_prompt.hpp"

namespace sixdays::gpt2 {

/// Does a pass of T tokens that see S positions attend by two products with a softmax between them?
/// From 64 tokens on, that is faster than fused attention, because the products run at full speed.
/// But only as long as their scores, (heads, T, S) floats, take at most 2 GB.
[[nodiscard]] constexpr bool attends_by_products(std::int64_t heads, std::int64_t T,
                                                 std::int64_t S) {
    return T >= 64 && heads * T * S <= std::int64_t{1} << 29;
}

/// What the CUDA backends share. A pass of one token is one kernel per phase (decode.hpp) where the
/// kernels support the model; other passes consist of the days' operations.
class DeviceBackend : public Backend {
public:
    std::string name() const override;
    void begin(View<const std::int64_t> ids, std::int64_t position) override;
    void advance() override { position_ += T_, T_ = 1; }  // choose() has already advanced *place_
    void choose() override;
    void set_sampler(const SamplerOptions& options) override { options_.upload(&options, 1); }
    void replay(const std::function<void()>& pass) override;
    void wait() override;
    void read_stream(View<float> out) override { read(stream_, T_ * sizes_.channels, out); }
    void read_logits(View<float> out) override { read(logits_, rows_ * sizes_.vocabulary, out); }
    std::int64_t token(std::int64_t position) override;
    std::string advice() const override;

protected:
    /// @param cache    the shape of the keys and of the values: (layer, head, position, dim)
    /// @param largest  elements of a block's largest matrix, for product()
    /// @throws std::invalid_argument  positions not in [1, sizes.context]; on the emulator, too many
    /// for memory
    /// @throws std::runtime_error  no usable GPU
    DeviceBackend(const Sizes& sizes, const Shape& cache, std::int64_t largest);

    /// Computes prompts on tensor cores. @param types  of all matrices of the blocks
    void use_tensor_cores(const std::vector<WeightType>& types) {
        narrow_.emplace(sizes_, cache_shape_, types, wide_);
    }

    /// Is this pass one token, processed by decode.hpp's kernels?
    bool one() const { return T_ == 1 && token_by_token_; }
    /// Is it several tokens, on tensor cores?
    bool narrow() const { return T_ > 1 && narrow_; }

    std::int64_t kv_heads() const { return cache_shape_[1]; }
    std::int64_t head_dim() const { return cache_shape_[3]; }

    // Activations of the pass, one row per token. What attention mixed, (T, heads * D), is in the
    // memory of normed(), which is no longer needed then.
    View<float> rows(gpu::Buffer<float>& of, std::int64_t columns) {
        return of.view({T_, columns});
    }
    View<float> stream() { return rows(stream_, sizes_.channels); }
    View<float> normed() { return rows(normed_, sizes_.channels); }
    View<float> mixed() { return rows(normed_, sizes_.heads * head_dim()); }
    View<float> hidden() { return rows(hidden_, sizes_.hidden); }
    /// Columns of a matrix (T, count * D) as heads, (count, T, D).
    View<float> heads(const View<float>& x) const;

    /// Keys and values of all positions: (2, head, capacity, D).
    View<float> cache(std::int64_t layer);
    /// The same apart, (head, capacity, D) each.
    KvSlots slots(std::int64_t layer);
    /// Partial results of one token's attention.
    AttentionParts parts() { return {sums_.data(), tops_.data(), head_dim()}; }
    /// Keys and values of the positions up to the end of the pass: (2, head, S, D).
    View<const float> held(std::int64_t layer) { return slice(cache(layer), 2, 0, position_ + T_); }

    /// out = beta * out + x . weightT + bias, for a matrix of any type, which is widened to floats
    /// first; on tensor cores, x is what they hold.
    /// @param weight  (N, K) @param bias  (N), or null
    void product(View<const float> x, const DeviceMatrix& weight, View<const float> bias,
                 float beta, View<float> out);
    /// outs[i] = x . rowsT with rows i, i + n, ... of the weight, for n outs: matrices whose rows
    /// are in turn.
    void products_in_turn(View<const float> x, const DeviceMatrix& weight,
                          const std::vector<View<float>>& outs);
    /// Causal attention of the pass's queries. @param q, out  (..., T, D) @param k, v  (..., S, D)
    void attend_tokens(View<const float> q, View<const float> k, View<const float> v,
                       View<float> out);
    /// Logits of `count` tokens from `first` on: by `head` for one token, where the kernels of
    /// decode.hpp support the model, or else by `norm` and a product.
    /// @param head  launches launch_head()
    /// @param norm  from a token's row (1, C) to another
    void head_of_rows(std::int64_t first, std::int64_t count, const DeviceMatrix& weight,
                      const std::function<void(const float* x, float* logits)>& head,
                      const std::function<void(View<const float> x, View<float> out)>& norm);

    const Sizes sizes_;
    const Shape cache_shape_;
    bool token_by_token_ = false;  // do the kernels of decode.hpp support the model?

    gpu::Buffer<std::int64_t> ids_;    // (capacity + 1), by position
    gpu::Buffer<std::int64_t> place_;  // position of the last token of the pass
    gpu::Buffer<SamplerOptions> options_;
    gpu::Buffer<float> cache_;  // (layer, keys or values, head, capacity, dim)
    gpu::Buffer<float> stream_, normed_, qkv_, hidden_;
    gpu::Buffer<float> wide_;  // a matrix of another type, widened to floats
    gpu::Buffer<float> sums_, tops_, logits_;
    gpu::Buffer<float> scores_{0};         // (head, T, S) of a long prompt
    gpu::Buffer<std::byte> workspace_{0};  // of Day 05's product

    std::optional<NarrowPrompt> narrow_;  // of prompts on tensor cores

    std::int64_t T_ = 0, position_ = 0, rows_ = 1;
    gpu::Stream queue_ = {};

private:
    void product(View<const float> x, View<const float> weight, View<const float> bias, float beta,
                 View<float> out);
    void reserve_logits(std::int64_t count);
    static void read(const gpu::Buffer<float>& from, std::int64_t count, View<float> out);

    std::optional<gpu::Graph> graph_;
};

}  // namespace sixdays::gpt2
