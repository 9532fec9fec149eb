// The memory-bound CPU backend: weights in the file's type, their rows split into one
// view per thread. A thread also applies the epilogue to its results: bias, GELU, residual.
#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/gpt2/cpu/attend_fast.hpp"
#include "day06_transformer_ops/gpt2/cpu/host_backend.hpp"
#include "day06_transformer_ops/gpt2/cpu/threads.hpp"
#include "day06_transformer_ops/gpt2/weights/linear.hpp"

namespace sixdays::gpt2 {
namespace {

using day06_transformer_ops::Heads;
using day06_transformer_ops::layer_norm_cpu;

class CpuBackend final : public HostBackend {
public:
    CpuBackend(const ModelWeights& model, std::int64_t capacity, int threads)
        : HostBackend(model, capacity), threads_(threads), scores_({threads_.count(), capacity}) {}

    std::string name() const override {
        return "cpu, " + std::to_string(threads_.count()) +
               (threads_.count() == 1 ? " thread" : " threads");
    }

    void embed() override {
        for (std::int64_t t = 0; t < T_; ++t) {
            const std::int64_t id = ids()(t), place = position_ + t;
            const View<float> row = slice(x(), 0, t, t + 1), added = slice(normed(), 0, t, t + 1);
            to_float_cpu(gpt2::rows(model_.token_embedding, id, id + 1), row);
            to_float_cpu(gpt2::rows(model_.position_embedding, place, place + 1), added);
            for (std::int64_t c = 0; c < model_.config.channels; ++c) row(0, c) += added(0, c);
        }
    }

    void query_key_value(std::int64_t layer) override {
        const BlockWeights& b = block(layer);
        norm(x(), b.attention_norm, normed());
        linear(b.qkv, normed(), qkv(), qkv(), [](float& to, float made) { to = made; });
        append_keys_and_values(layer);
    }

    void attend(std::int64_t layer) override {
        const Heads of = heads();
        const KvSlots held = cache_.held(layer);
        const View<float> out =
            day06_transformer_ops::split_heads(unsqueeze(mixed(), 0), model_.config.heads);
        threads_.run([&](int part) {
            // Queries of all heads, distributed; query t also sees the position_ tokens before.
            const Range queries = part_of(model_.config.heads * T_, part, threads_.count());
            for (std::int64_t i = queries.begin; i < queries.end; ++i) {
                const std::int64_t h = i / T_, t = i % T_, n = position_ + t + 1;
                const auto row = [&](const auto& x) {
                    return select(select(select(x, 0, 0), 0, h), 0, t);
                };
                attend_fast(row(of.q), slice(select(held.keys, 0, h), 0, 0, n),
                            slice(select(held.values, 0, h), 0, 0, n), &scores_(part, 0), row(out));
            }
        });
    }

    void add_attention(std::int64_t layer) override { add(block(layer).attention_output, mixed()); }

    void widen(std::int64_t layer) override {
        norm(x(), block(layer).mlp_norm, normed());
        linear(block(layer).up, normed(), hidden(), hidden(),
               [](float& to, float made) { to = day06_transformer_ops::gelu_tanh(made); });
    }

    void add_mlp(std::int64_t layer) override { add(block(layer).down, hidden()); }

    void head(std::int64_t first, std::int64_t count) override {
        if (logits_.shape()[0] != count) logits_ = Tensor<float>({count, model_.config.vocabulary});
        const View<float> last = slice(normed(), 0, first, first + count);
        norm(slice(x(), 0, first, first + count), model_.final_norm, last);
        threads_.run([&](int part) { multiply(model_.head, last, logits_.view(), part); });
    }

private:
    void norm(View<const float> in, const NormWeights& weights, View<float> out) {
        threads_.run([&](int part) {
            const Range tokens = part_of(in.extent(0), part, threads_.count());
            if (tokens.begin == tokens.end) return;
            layer_norm_cpu(slice(in, 0, tokens.begin, tokens.end), norm_of(weights),
                           slice(out, 0, tokens.begin, tokens.end));
        });
    }

    // This thread's rows of the weights, and so its columns of out.
    Range multiply(const Weight& weight, View<const float> in, View<float> out, int part) {
        const Range columns = part_of(weight.shape[0], part, threads_.count());
        linear_fast(gpt2::rows(weight, columns.begin, columns.end), in,
                    slice(out, 1, columns.begin, columns.end));
        return columns;
    }

    // finish(out(t, n), product + bias); the product itself is written to `made`
    template <class Finish>
    void linear(const LinearWeights& weights, View<const float> in, View<float> made,
                View<float> out, Finish finish) {
        threads_.run([&](int part) {
            const Range columns = multiply(weights.weight, in, made, part);
            for (std::int64_t t = 0; t < T_; ++t) {
                for (std::int64_t n = columns.begin; n < columns.end; ++n) {
                    finish(out(t, n), made(t, n) + weights.bias(n));
                }
            }
        });
    }

    void add(const LinearWeights& weights, View<const float> in) {
        linear(weights, in, normed(), x(), [](float& to, float made) { to += made; });
    }

    Threads threads_;
    Tensor<float> scores_;  // (threads, capacity): one query's at a time
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const ModelWeights& model, std::int64_t capacity,
                                          int threads) {
    return std::make_unique<CpuBackend>(model, capacity, threads);
}

}  // namespace sixdays::gpt2
