// The Llama family built from the CPU references of six days, the reference for other backends.
// Every call mirrors its formula; none is fast. With n = RMS norm and R = the rotation by position:
//
//     q, k, v = Wq n(x), Wk n(x), Wv n(x)            then R q, R k
//     x += Wo attention(q, k, v)
//     x += Wdown (silu(Wgate n(x)) * Wup n(x))       SwiGLU
//
// (Touvron and others 2023, "LLaMA", arXiv 2302.13971, section 2.2.)
#include "common/tensor/transform.hpp"
#include "day05_matmul/matmul.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/gpt2/cpu/host_backend.hpp"
#include "day06_transformer_ops/llama/llama_backend.hpp"
#include "day06_transformer_ops/llama/rotate.hpp"

namespace sixdays::llama {
namespace {

using namespace day06_transformer_ops;
using day05_matmul::matmul_cpu;
using gpt2::as_floats, gpt2::or_none;

// A block's matrices as floats, (out, in) as in the file.
struct Matrices {
    Tensor<float> q, k, v, attention_output, gate, up, down;
};

class PlainBackend final : public gpt2::HostBackend {
public:
    PlainBackend(const ModelWeights& model, std::int64_t capacity)
        : HostBackend(model.config, model.config.cache(capacity)),
          model_(model),
          table_(rotary_table(capacity, model.config.rope.frequencies)),
          tokens_table_(as_floats(model.token_embedding)),
          head_(as_floats(model.head)),
          gate_({0}) {
        for (const BlockWeights& b : model.blocks) {
            matrices_.push_back({as_floats(b.q.weight), as_floats(b.k.weight),
                                 as_floats(b.v.weight), as_floats(b.attention_output.weight),
                                 as_floats(b.gate.weight), as_floats(b.up.weight),
                                 as_floats(b.down.weight)});
        }
    }

    std::string name() const override { return "cpu, plain loops"; }

    void embed() override { embed_cpu<float>(tokens_table_.view(), ids(), {}, {}, x()); }

    // [qkv]
    void query_key_value(std::int64_t layer) override {
        const BlockWeights& b = model_.block(layer);
        const Matrices& m = matrices(layer);
        norm(x(), b.attention_norm, normed());
        project(m.q, b.q.bias, columns().q);
        project(m.k, b.k.bias, columns().k);
        project(m.v, b.v.bias, columns().v);
        const Heads<float> of = heads();
        if (b.q_norm.size() > 0) norm(of.q, b.q_norm, of.q);
        if (b.k_norm.size() > 0) norm(of.k, b.k_norm, of.k);
        rotate(model_.config.rope, table_.view(), places().view(), of.q);
        rotate(model_.config.rope, table_.view(), places().view(), of.k);
        append_keys_and_values(layer);
    }
    // [qkv]

    // [attend]
    void attend(std::int64_t layer) override {
        const gpt2::KvSlots held = cache_.held(layer);
        const std::int64_t G = kv_heads();
        attention_cpu(grouped(heads().q, G), for_groups(unsqueeze(held.keys, 0)),
                      for_groups(unsqueeze(held.values, 0)), {}, grouped(mixed_heads(), G));
    }
    // [attend]

    void add_attention(std::int64_t layer) override {
        matmul_cpu(mixed(), transpose(matrices(layer).attention_output.view()), {1, 1}, x());
    }

    // [swiglu]
    void widen(std::int64_t layer) override {
        norm(x(), model_.block(layer).mlp_norm, normed());
        const View<float> gate = rows(gate_, sizes_.hidden);
        matmul_cpu(normed(), transpose(matrices(layer).gate.view()), gate);
        matmul_cpu(normed(), transpose(matrices(layer).up.view()), hidden());
        activate_gated_cpu<float>(Activation::silu, gate, hidden(), hidden());
    }
    // [swiglu]

    void add_mlp(std::int64_t layer) override {
        matmul_cpu(hidden(), transpose(matrices(layer).down.view()), {1, 1}, x());
    }

    void head(std::int64_t first, std::int64_t count) override {
        const View<float> last = last_normed(first, count);
        norm(slice(x(), 0, first, first + count), model_.final_norm, last);
        matmul_cpu(last, transpose(head_.view()), logits_.view());
    }

private:
    const Matrices& matrices(std::int64_t layer) const {
        return matrices_[static_cast<std::size_t>(layer)];
    }

    // [norm]
    void norm(View<const float> in, const Tensor<float>& weight, View<float> out) const {
        rms_norm_cpu(in, {weight.view(), {}, sizes_.epsilon}, out);
    }
    // [norm]

    void project(const Tensor<float>& matrix, const Tensor<float>& bias, View<float> out) {
        matmul_cpu(normed(), transpose(matrix.view()), {1, 0, or_none(bias)}, out);
    }

    const ModelWeights& model_;
    Tensor<float> table_;  // of the rotation
    Tensor<float> tokens_table_, head_;
    std::vector<Matrices> matrices_;
    Tensor<float> gate_;  // (T, hidden), as large as the largest pass so far
};

}  // namespace

std::unique_ptr<gpt2::Backend> make_plain_backend(const ModelWeights& model,
                                                  std::int64_t capacity) {
    return std::make_unique<PlainBackend>(model, capacity);
}

}  // namespace sixdays::llama
