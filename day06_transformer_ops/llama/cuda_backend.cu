// The Llama family's phases on a GPU, or on the emulator. Decoding uses one kernel per phase
// (decode.hpp); prompts use the days' own operations, in floats or on tensor cores.
#include "common/tensor/transform.hpp"
#include "day03_views/copy.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/attention/attention.hpp"
#include "day06_transformer_ops/gpt2/gpu/device_backend.hpp"
#include "day06_transformer_ops/llama/device_model.hpp"
#include "day06_transformer_ops/llama/llama_backend.hpp"

namespace sixdays::llama {
namespace {

using namespace day06_transformer_ops;

Tensor<std::int64_t> counted(std::int64_t count) {
    Tensor<std::int64_t> numbers({count});
    for (std::int64_t i = 0; i < count; ++i) numbers(i) = i;
    return numbers;
}

class CudaBackend final : public gpt2::DeviceBackend {
public:
    CudaBackend(const ModelWeights& model, std::int64_t capacity, gpt2::Prompts prompts)
        : DeviceBackend(model.config, model.config.cache(capacity),
                        std::max(2 * model.config.hidden * model.config.channels,
                                 model.config.qkv_columns() * model.config.channels)),
          rope_(model.config.rope),
          model_(model),
          gate_(capacity * sizes_.hidden),
          table_(rotary_table(capacity, rope_.frequencies)),
          angles_(rope_.dims()),
          places_(counted(capacity)) {
        token_by_token_ = model_.takes_one_token();
        if (prompts == gpt2::Prompts::tensor_cores) use_tensor_cores(matrix_types(model));
    }

    void embed() override {
        gpt2::launch_embed(model_.tokens(), {}, ids_.data(), place_.data(), stream(), queue_);
        if (one()) {
            launch_angles(table_.data(), place_.data(), rope_.dims(), angles_.data(), queue_);
        }
    }

    void query_key_value(std::int64_t layer) override {
        const DeviceModel::Block& b = model_.block(layer);
        if (one()) return query_key_value_of_one(layer);
        norm_for_product(b.attention_norm);
        std::int64_t first = 0;  // column of the part
        for (const DeviceModel::Linear& part : b.qkv) {
            product(normed(), part, 0, slice(qkv(), 1, first, first + part.bias.size()));
            first += part.bias.size();
        }
        norm_and_rotate(queries(), b.q_norm);
        norm_and_rotate(keys(), b.k_norm);
        const View<float> added = slice(cache(layer), 2, position_, position_ + T_);
        day03_views::copy_cuda<float>(keys(), select(added, 0, 0), {.stream = queue_});
        day03_views::copy_cuda<float>(values(), select(added, 0, 1), {.stream = queue_});
    }

    void attend(std::int64_t layer) override {
        const std::int64_t G = kv_heads();
        if (one()) {
            return gpt2::launch_attend(qkv_.data(), slots(layer), place_.data(), parts(), queue_,
                                       static_cast<int>(sizes_.heads / G));
        }
        if (narrow()) return narrow_->attend(queries(), held(layer), queue_);
        const View<const float> kv = unsqueeze(held(layer), 1);
        attend_tokens(grouped(unsqueeze(queries(), 0), G), for_groups(select(kv, 0, 0)),
                      for_groups(select(kv, 0, 1)), grouped(unsqueeze(heads(mixed()), 0), G));
    }

    void add_attention(std::int64_t layer) override {
        const DeviceModel::Linear& join = model_.block(layer).attention_output;
        if (one()) {
            return llama::launch_add_attention(parts(), join.linear(), stream_.data(), queue_);
        }
        product(mixed(), join, 1, stream());
    }

    void widen(std::int64_t layer) override {
        const DeviceModel::Block& b = model_.block(layer);
        if (one()) {
            return launch_gated(parameters(b.mlp_norm), b.gate_up[0].matrix(), stream_.data(),
                                hidden_.data(), queue_);
        }
        norm_for_product(b.mlp_norm);
        const View<float> gate = rows(gate_, sizes_.hidden);
        if (b.gate_up.size() == 1) {  // rows of gate and up in turn
            products_in_turn(normed(), b.gate_up[0].matrix(), {gate, hidden()});
        } else {
            DeviceBackend::product(normed(), b.gate_up[0].matrix(), {}, 0, gate);
            DeviceBackend::product(normed(), b.gate_up[1].matrix(), {}, 0, hidden());
        }
        activate_gated_cuda<float>(Activation::silu, gate, hidden(), hidden(), {.stream = queue_});
        if (narrow()) narrow_->hold(hidden(), gpt2::Before::nothing, queue_);
    }

    void add_mlp(std::int64_t layer) override {
        const DeviceModel::Linear& down = model_.block(layer).down;
        if (one()) {
            return llama::launch_add_mlp(hidden_.data(), down.linear(), stream_.data(), queue_);
        }
        product(hidden(), down, 1, stream());
    }

    void head(std::int64_t first, std::int64_t count) override {
        const unsigned blocks = token_by_token_ ? llama::resident_head_blocks(model_.head()) : 0;
        head_of_rows(
            first, count, model_.head(),
            [&](const float* x, float* logits) {
                launch_head(parameters(model_.final_norm()), model_.head(), x, logits, blocks,
                            queue_);
            },
            [&](View<const float> x, View<float> out) { norm(x, model_.final_norm(), out); });
    }

private:
    // Queries, keys and values of the pass, (T, (H + 2 G) D), and each as (head, T, D).
    View<float> qkv() { return rows(qkv_, (sizes_.heads + 2 * kv_heads()) * head_dim()); }
    View<float> columns(std::int64_t first, std::int64_t count) {
        return heads(slice(qkv(), 1, first * head_dim(), (first + count) * head_dim()));
    }
    View<float> queries() { return columns(0, sizes_.heads); }
    View<float> keys() { return columns(sizes_.heads, kv_heads()); }
    View<float> values() { return columns(sizes_.heads + kv_heads(), kv_heads()); }

    void query_key_value_of_one(std::int64_t layer) {
        const DeviceModel::Block& b = model_.block(layer);
        const RmsNormParameters norm = parameters(b.attention_norm);
        const Projections of = {qkv_.data(),     sizes_.heads,    kv_heads(),     head_dim(),
                                b.q_norm.data(), b.k_norm.data(), sizes_.epsilon, angles_.data(),
                                rope_.dims(),    rope_.pairing};
        Parts parts;
        for (const DeviceModel::Linear& part : b.qkv) parts.push_back(part.linear());
        if (of.rotates_at_once()) {
            return launch_project_and_rotate(norm, parts, stream_.data(), of, slots(layer),
                                             place_.data(), queue_);
        }
        launch_project(norm, parts, stream_.data(), of.raw, queue_);
        launch_rotate(of, slots(layer), place_.data(), queue_);
    }

    RmsNormParameters parameters(const gpu::Buffer<float>& weight) const {
        return {weight.data(), sizes_.epsilon};
    }
    void norm(View<const float> in, const gpu::Buffer<float>& weight, View<float> out) {
        rms_norm_cuda<float>(in, {weight.view({weight.size()}), {}, sizes_.epsilon}, out,
                             {.stream = queue_});
    }
    // The operand of the next products.
    void norm_for_product(const gpu::Buffer<float>& weight) {
        norm(stream(), weight, normed());
        if (narrow()) narrow_->hold(normed(), gpt2::Before::nothing, queue_);
    }
    void product(View<const float> x, const DeviceModel::Linear& linear, float beta,
                 View<float> out) {
        DeviceBackend::product(x, linear.weight.matrix(), linear.bias.view({out.extent(1)}), beta,
                               out);
    }
    // Both in place. @param heads  (head, T, D). @param weight  may be empty
    void norm_and_rotate(View<float> heads, const gpu::Buffer<float>& weight) {
        if (weight.size() > 0) norm(heads, weight, heads);
        const View<float> rotated = slice(heads, 2, 0, rope_.dims());
        rotary_cuda(rotated, table_.view({table_.size() / rope_.dims(), rope_.dims()}),
                    places_.view(row_major({T_}), position_), rope_.pairing, rotated, queue_);
    }

    const Rope rope_;
    DeviceModel model_;
    gpu::Buffer<float> gate_;           // (capacity, hidden)
    gpu::Buffer<float> table_;          // of the rotation, (capacity, rope_.dims())
    gpu::Buffer<float> angles_;         // its row at the token's position
    gpu::Buffer<std::int64_t> places_;  // 0, 1, ...: the positions
};

}  // namespace

std::unique_ptr<gpt2::Backend> make_cuda_backend(const ModelWeights& model, std::int64_t capacity,
                                                 gpt2::Prompts prompts) {
    gpt2::check_capacity(model.config, capacity);
    if (prompts == gpt2::Prompts::as_weights) prompts = prompts_of(model);
    if (prompts == gpt2::Prompts::tensor_cores) {
        gpt2::check_tensor_cores(model.config, model.config.head_dim);
    }
    return std::make_unique<CudaBackend>(model, capacity, prompts);
}

gpt2::Prompts prompts_of(const ModelWeights& model) {
    return gpt2::prompts_of(model.config, model.config.head_dim, matrix_types(model));
}

std::vector<gpt2::WeightType> matrix_types(const ModelWeights& model) {
    std::vector<gpt2::WeightType> types;
    for (const BlockWeights& b : model.blocks) {
        for (const LinearWeights* linear :
             {&b.q, &b.k, &b.v, &b.attention_output, &b.gate, &b.up, &b.down}) {
            types.push_back(linear->weight.type);
        }
    }
    return types;
}

}  // namespace sixdays::llama
