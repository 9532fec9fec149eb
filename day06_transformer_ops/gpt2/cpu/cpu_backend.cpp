// GPT-2 on the fast CPU backend (threaded_backend.hpp).
#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/gpt2/cpu/threaded_backend.hpp"

namespace sixdays::gpt2 {
namespace {

class CpuBackend final : public ThreadedBackend {
public:
    CpuBackend(const ModelWeights& model, std::int64_t capacity, int threads)
        : ThreadedBackend(model.config, model.config.cache(capacity), threads), model_(model) {}

    void embed() override {
        embed_tokens(model_.token_embedding);
        const View<float> to = x(), added = normed();
        to_float_cpu(gpt2::rows(model_.position_embedding, position_, position_ + T_), added);
        for (std::int64_t t = 0; t < T_; ++t) {
            for (std::int64_t c = 0; c < sizes_.channels; ++c) to(t, c) += added(t, c);
        }
    }

    void query_key_value(std::int64_t layer) override {
        const BlockWeights& b = model_.block(layer);
        norm(x(), b.attention_norm, normed());
        linear(b.qkv, normed(), qkv(), qkv(), [](float& to, float made) { to = made; });
        append_keys_and_values(layer);
    }

    void add_attention(std::int64_t layer) override {
        add(model_.block(layer).attention_output, mixed());
    }

    void widen(std::int64_t layer) override {
        const BlockWeights& b = model_.block(layer);
        norm(x(), b.mlp_norm, normed());
        linear(b.up, normed(), hidden(), hidden(),
               [](float& to, float made) { to = day06_transformer_ops::gelu_tanh(made); });
    }

    void add_mlp(std::int64_t layer) override { add(model_.block(layer).down, hidden()); }

    void head(std::int64_t first, std::int64_t count) override {
        const View<float> last = last_normed(first, count);
        norm(slice(x(), 0, first, first + count), model_.final_norm, last);
        product(model_.head, last, logits_.view());
    }

private:
    void norm(View<const float> in, const NormWeights& weights, View<float> out) {
        for_rows(in.extent(0), [&](std::int64_t begin, std::int64_t end) {
            day06_transformer_ops::layer_norm_cpu(slice(in, 0, begin, end), norm_of(weights),
                                                  slice(out, 0, begin, end));
        });
    }

    const ModelWeights& model_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const ModelWeights& model, std::int64_t capacity,
                                          int threads) {
    return std::make_unique<CpuBackend>(model, capacity, threads);
}

}  // namespace sixdays::gpt2
