// The Llama family on the fast CPU backend (gpt2/cpu/threaded_backend.hpp).
#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/gpt2/cpu/threaded_backend.hpp"
#include "day06_transformer_ops/llama/llama_backend.hpp"
#include "day06_transformer_ops/llama/rotate.hpp"

namespace sixdays::llama {
namespace {

using gpt2::Range;

class CpuBackend final : public gpt2::ThreadedBackend {
public:
    CpuBackend(const ModelWeights& model, std::int64_t capacity, int threads)
        : ThreadedBackend(model.config, model.config.cache(capacity), threads),
          model_(model),
          table_(day06_transformer_ops::rotary_table(capacity, model.config.rope.frequencies)),
          gate_({0}) {}

    void embed() override { embed_tokens(model_.token_embedding); }

    void query_key_value(std::int64_t layer) override {
        const BlockWeights& b = model_.block(layer);
        norm(x(), b.attention_norm, normed());
        const Columns of = columns();
        const auto assign = [](float& to, float made) { to = made; };
        linear(b.q, normed(), of.q, of.q, assign);
        linear(b.k, normed(), of.k, of.k, assign);
        linear(b.v, normed(), of.v, of.v, assign);
        norm_and_rotate(heads().q, b.q_norm);
        norm_and_rotate(heads().k, b.k_norm);
        append_keys_and_values(layer);
    }

    void add_attention(std::int64_t layer) override {
        add(model_.block(layer).attention_output, mixed());
    }

    void widen(std::int64_t layer) override {
        const BlockWeights& b = model_.block(layer);
        norm(x(), b.mlp_norm, normed());
        const View<float> in = normed(), up = hidden(), gate = rows(gate_, sizes_.hidden);
        threads_.run([&](int part) {
            multiply(b.gate.weight, in, gate, part);
            const Range columns = multiply(b.up.weight, in, up, part);
            for (std::int64_t t = 0; t < T_; ++t) {
                for (std::int64_t n = columns.begin; n < columns.end; ++n) {
                    up(t, n) *= day06_transformer_ops::silu(gate(t, n));
                }
            }
        });
    }

    void add_mlp(std::int64_t layer) override { add(model_.block(layer).down, hidden()); }

    void head(std::int64_t first, std::int64_t count) override {
        const View<float> last = last_normed(first, count);
        norm(slice(x(), 0, first, first + count), model_.final_norm, last);
        product(model_.head, last, logits_.view());
    }

private:
    void norm(View<const float> in, const Tensor<float>& weight, View<float> out) {
        for_rows(in.extent(0), [&](std::int64_t begin, std::int64_t end) {
            day06_transformer_ops::rms_norm_cpu(slice(in, 0, begin, end),
                                                {weight.view(), {}, sizes_.epsilon},
                                                slice(out, 0, begin, end));
        });
    }

    /// Both in place, by ranges of tokens. @param heads  (1, heads, T, D). @param weight  may be (0)
    void norm_and_rotate(View<float> heads, const Tensor<float>& weight) {
        const Tensor<std::int64_t> at = places();
        for_rows(T_, [&](std::int64_t begin, std::int64_t end) {
            const View<float> part = slice(heads, 2, begin, end);
            if (weight.size() > 0) {
                day06_transformer_ops::rms_norm_cpu(part, {weight.view(), {}, sizes_.epsilon},
                                                    part);
            }
            rotate(model_.config.rope, table_.view(), slice(at.view(), 0, begin, end), part);
        });
    }

    const ModelWeights& model_;
    Tensor<float> table_;  // of the rotation
    Tensor<float> gate_;   // (T, hidden), as large as the largest pass so far
};

}  // namespace

std::unique_ptr<gpt2::Backend> make_cpu_backend(const ModelWeights& model, std::int64_t capacity,
                                                int threads) {
    return std::make_unique<CpuBackend>(model, capacity, threads);
}

}  // namespace sixdays::llama
