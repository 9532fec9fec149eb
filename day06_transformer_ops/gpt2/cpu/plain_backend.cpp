// The model built from the CPU references of six days, the reference for other backends. Every call
// mirrors its formula; none is fast.
#include "common/tensor/transform.hpp"
#include "day05_matmul/matmul.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/embedding/embedding.hpp"
#include "day06_transformer_ops/gpt2/cpu/host_backend.hpp"

namespace sixdays::gpt2 {
namespace {

using namespace day06_transformer_ops;
using day05_matmul::matmul_cpu;

// A block's matrices as floats, (out, in) as in the file.
struct Matrices {
    Tensor<float> qkv, attention_output, up, down;
};

class PlainBackend final : public HostBackend {
public:
    PlainBackend(const ModelWeights& model, std::int64_t capacity)
        : HostBackend(model.config, model.config.cache(capacity)),
          model_(model),
          tokens_table_(as_floats(model.token_embedding)),
          positions_(as_floats(model.position_embedding)),
          head_(as_floats(model.head)) {
        for (const BlockWeights& b : model.blocks) {
            matrices_.push_back({as_floats(b.qkv.weight), as_floats(b.attention_output.weight),
                                 as_floats(b.up.weight), as_floats(b.down.weight)});
        }
    }

    std::string name() const override { return "cpu, plain loops"; }

    void embed() override {
        embed_cpu<float>(tokens_table_.view(), ids(), positions_.view(), places().view(), x());
    }

    // [qkv]
    void query_key_value(std::int64_t layer) override {
        const BlockWeights& b = model_.block(layer);
        layer_norm_cpu(x(), norm_of(b.attention_norm), normed());
        matmul_cpu(normed(), transpose(matrices(layer).qkv.view()), {1, 0, b.qkv.bias.view()},
                   qkv());
        append_keys_and_values(layer);
    }
    // [qkv]

    // [attend]
    void attend(std::int64_t layer) override {
        const KvSlots held = cache_.held(layer);
        attention_cpu(heads().q, held.keys, held.values, {}, mixed_heads());
    }
    // [attend]

    void add_attention(std::int64_t layer) override {
        matmul_cpu(mixed(), transpose(matrices(layer).attention_output.view()),
                   {1, 1, model_.block(layer).attention_output.bias.view()}, x());
    }

    void widen(std::int64_t layer) override {
        const BlockWeights& b = model_.block(layer);
        layer_norm_cpu(x(), norm_of(b.mlp_norm), normed());
        matmul_cpu(normed(), transpose(matrices(layer).up.view()), hidden());
        activate_biased_cpu(Activation::gelu_tanh, hidden(), b.up.bias.view(), hidden());
    }

    void add_mlp(std::int64_t layer) override {
        matmul_cpu(hidden(), transpose(matrices(layer).down.view()),
                   {1, 1, model_.block(layer).down.bias.view()}, x());
    }

    void head(std::int64_t first, std::int64_t count) override {
        const View<float> last = last_normed(first, count);
        layer_norm_cpu(slice(x(), 0, first, first + count), norm_of(model_.final_norm), last);
        matmul_cpu(last, transpose(head_.view()), logits_.view());
    }

private:
    const Matrices& matrices(std::int64_t layer) const {
        return matrices_[static_cast<std::size_t>(layer)];
    }

    const ModelWeights& model_;
    Tensor<float> tokens_table_, positions_, head_;
    std::vector<Matrices> matrices_;
};

}  // namespace

std::unique_ptr<Backend> make_plain_backend(const ModelWeights& model, std::int64_t capacity) {
    return std::make_unique<PlainBackend>(model, capacity);
}

}  // namespace sixdays::gpt2
