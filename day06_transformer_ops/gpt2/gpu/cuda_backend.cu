// GPT-2's phases on a GPU, or on the emulator. Decoding uses one kernel per phase (decode.hpp).
// Prompts use the days' own operations: weights of another type are widened to floats, one matrix at
// a time, for Day 05's product; or, on request, tensor cores (narrow_prompt.hpp).
#include "common/tensor/transform.hpp"
#include "day03_views/copy.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/gpt2/gpu/device_backend.hpp"
#include "day06_transformer_ops/gpt2/gpu/device_model.hpp"

namespace sixdays::gpt2 {
namespace {

using namespace day06_transformer_ops;

class CudaBackend final : public DeviceBackend {
public:
    CudaBackend(const ModelWeights& model, std::int64_t capacity, Prompts prompts)
        : DeviceBackend(
              model.config, model.config.cache(capacity),
              model.config.channels * std::max(model.config.hidden, 3 * model.config.channels)),
          model_(model) {
        token_by_token_ = model_.takes_one_token();
        if (prompts == Prompts::tensor_cores) use_tensor_cores(matrix_types(model));
    }

    void embed() override {
        launch_embed(model_.tokens(), model_.positions(), ids_.data(), place_.data(), stream(),
                     queue_);
    }

    void query_key_value(std::int64_t layer) override {
        const DeviceModel::Block& block = model_.block(layer);
        if (one()) {
            return launch_query_key_value(block.attention_norm.parameters(), block.qkv.linear(),
                                          stream_.data(), qkv_.data(), slots(layer), place_.data(),
                                          queue_);
        }
        product_of_norm(block.attention_norm, block.qkv, rows(qkv_, 3 * sizes_.channels));
        day03_views::copy_cuda<float>(slice(qkv(), 0, 1, 3),
                                      slice(cache(layer), 2, position_, position_ + T_),
                                      {.stream = queue_});
    }

    void attend(std::int64_t layer) override {
        if (one()) return launch_attend(qkv_.data(), slots(layer), place_.data(), parts(), queue_);
        const View<const float> q = select(qkv(), 0, 0), kv = held(layer);
        if (narrow()) return narrow_->attend(q, kv, queue_);
        attend_tokens(q, select(kv, 0, 0), select(kv, 0, 1), heads(mixed()));
    }

    void add_attention(std::int64_t layer) override {
        const DeviceModel::Linear& join = model_.block(layer).attention_output;
        if (one()) return launch_add_attention(parts(), join.linear(), stream_.data(), queue_);
        product(mixed(), join, 1, stream());
    }

    void widen(std::int64_t layer) override {
        const DeviceModel::Block& block = model_.block(layer);
        if (one()) {
            return launch_widen(block.mlp_norm.parameters(), block.up.linear(), stream_.data(),
                                hidden_.data(), queue_);
        }
        product_of_norm(block.mlp_norm, block.up, hidden());
        if (narrow()) return narrow_->hold(hidden(), Before::gelu, queue_);
        activate_cuda<float>(Activation::gelu_tanh, hidden(), hidden(), {.stream = queue_});
    }

    void add_mlp(std::int64_t layer) override {
        const DeviceModel::Linear& down = model_.block(layer).down;
        if (one()) return launch_add_mlp(hidden_.data(), down.linear(), stream_.data(), queue_);
        product(hidden(), down, 1, stream());
    }

    void head(std::int64_t first, std::int64_t count) override {
        const NormParameters norm = model_.final_norm().parameters();
        const unsigned blocks = token_by_token_ ? resident_head_blocks(model_.head()) : 0;
        head_of_rows(
            first, count, model_.head(),
            [&](const float* x, float* logits) {
                launch_head(norm, model_.head(), x, logits, blocks, queue_);
            },
            [&](View<const float> x, View<float> out) {
                layer_norm_cuda<float>(x, norm, out, {.stream = queue_});
            });
    }

private:
    // Queries, keys and values, each as (head, T, D).
    View<float> qkv() {
        return permute(qkv_.view({T_, 3, sizes_.heads, head_dim()}), {1, 2, 0, 3});
    }

    void product(View<const float> x, const DeviceModel::Linear& linear, float beta,
                 View<float> out) {
        DeviceBackend::product(x, linear.weight.matrix(), linear.bias.view({out.extent(1)}), beta,
                               out);
    }
    void product_of_norm(const DeviceModel::Norm& norm, const DeviceModel::Linear& linear,
                         View<float> out) {
        if (narrow()) {
            narrow_->hold_norm(stream(), norm.parameters(), queue_);
        } else {
            layer_norm_cuda<float>(stream(), norm.parameters(), normed(), {.stream = queue_});
        }
        product(normed(), linear, 0, out);
    }

    DeviceModel model_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(const ModelWeights& model, std::int64_t capacity,
                                           Prompts prompts) {
    check_capacity(model.config, capacity);
    if (prompts == Prompts::as_weights) prompts = prompts_of(model);
    if (prompts == Prompts::tensor_cores) check_tensor_cores(model.config, model.config.head_dim());
    return std::make_unique<CudaBackend>(model, capacity, prompts);
}

}  // namespace sixdays::gpt2
