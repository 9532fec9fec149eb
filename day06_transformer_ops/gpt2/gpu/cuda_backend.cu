// The engine's phases on a GPU, or on the emulator. Decoding uses one kernel per phase
// (decode.hpp), and the phases of a token are one CUDA graph. Prompts use the days' own operations:
// weights of another type are widened to floats, one matrix at a time, for Day 05's product; or, on
// request, tensor cores (narrow_prompt.hpp).
#include <optional>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/gpu/graph.hpp"
#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/copy.hpp"
#include "day05_matmul/matmul.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/attention/attention.hpp"
#include "day06_transformer_ops/gpt2/backend/backend.hpp"
#include "day06_transformer_ops/gpt2/gpu/choose.hpp"
#include "day06_transformer_ops/gpt2/gpu/device_model.hpp"
#include "day06_transformer_ops/gpt2/gpu/narrow_prompt.hpp"
#include "day06_transformer_ops/gpt2/weights/linear.hpp"
#include "day06_transformer_ops/softmax/softmax.hpp"

namespace sixdays::gpt2 {
namespace {

using namespace day06_transformer_ops;
using day05_matmul::Epilogue;

// From this many tokens on, two products with a softmax between them are faster than fused
// attention: the products run at full speed, and the scores still fit in memory.
constexpr std::int64_t kManyQueries = 64;

class CudaBackend : public Backend {
public:
    CudaBackend(const ModelWeights& model, std::int64_t capacity, Prompts prompts)
        : config_(model.config),
          capacity_(capacity),
          model_(model),
          token_by_token_(model_.takes_one_token()),
          ids_(capacity + 1),
          place_(1),
          options_(1),
          cache_(config_.layers * 2 * capacity * config_.channels),
          stream_(capacity * config_.channels),
          normed_(capacity * config_.channels),
          qkv_(capacity * 3 * config_.channels),
          hidden_(capacity * config_.hidden),
          wide_(config_.channels * std::max(config_.hidden, 3 * config_.channels)),
          sums_(config_.channels * kSplits),
          tops_(config_.heads * kSplits * 2),
          logits_(config_.vocabulary) {
        if (prompts == Prompts::tensor_cores) narrow_.emplace(model, capacity, wide_);
        set_sampler({});
    }

    std::string name() const override {
        const gpu::Device device = gpu::device();
        const std::string where = gpu::is_emulated() ? "on the emulator" : device.name;
        return "cuda, " + where +
               (narrow_ ? std::string(", prompts in ") + storage_of(narrow_->type()).name : "");
    }

    void begin(View<const std::int64_t> ids, std::int64_t position) override {
        T_ = ids.extent(0), position_ = position;
        std::vector<std::int64_t> host;
        for (std::int64_t t = 0; t < T_; ++t) host.push_back(ids(t));
        ids_.upload(host.data(), T_, position);
        const std::int64_t last = position + T_ - 1;
        place_.upload(&last, 1);
    }
    void advance() override { position_ += T_, T_ = 1; }  // choose() has already advanced *place_

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
        product_of_norm(block.attention_norm, block.qkv, qkv_.view({T_, 3 * config_.channels}));
        day03_views::copy_cuda<float>(slice(qkv(), 0, 1, 3),
                                      slice(cache(layer), 2, position_, position_ + T_),
                                      {.stream = queue_});
    }

    void attend(std::int64_t layer) override {
        if (one()) return launch_attend(qkv_.data(), slots(layer), place_.data(), parts(), queue_);
        const std::int64_t S = position_ + T_;
        const View<const float> q = select(qkv(), 0, 0), kv = slice(cache(layer), 2, 0, S);
        if (narrow()) return narrow_->attend(q, kv, queue_);
        const View<const float> k = select(kv, 0, 0), v = select(kv, 0, 1);
        if (T_ < kManyQueries)
            return attention_cuda(q, k, v, {}, heads(normed()), {.stream = queue_});
        const std::int64_t H = config_.heads;
        const std::int64_t pitch = (S + 3) / 4 * 4;  // rows of scores begin at whole vectors
        if (H * T_ * pitch > scores_.size()) scores_ = gpu::Buffer<float>(H * T_ * pitch);
        const View<float> scores = slice(scores_.view({H, T_, pitch}), 2, 0, S);
        Epilogue scaled;
        scaled.alpha = 1 / std::sqrt(static_cast<float>(config_.head_dim()));
        day05_matmul::matmul_cuda(q, transpose(k, 1, 2), scaled, scores, {.stream = queue_});
        causal_softmax_cuda<float>(scores, scores, {.stream = queue_});
        day05_matmul::matmul_cuda(scores, v, heads(normed()), {.stream = queue_});
    }

    void add_attention(std::int64_t layer) override {
        const DeviceModel::Linear& join = model_.block(layer).attention_output;
        if (one()) return launch_add_attention(parts(), join.linear(), stream_.data(), queue_);
        if (narrow()) return narrow_->product(join, 1, stream(), queue_);  // the result of attend()
        product(normed(), join, 1, stream());
    }

    void widen(std::int64_t layer) override {
        const DeviceModel::Block& block = model_.block(layer);
        if (one()) {
            return launch_widen(block.mlp_norm.parameters(), block.up.linear(), stream_.data(),
                                hidden_.data(), queue_);
        }
        product_of_norm(block.mlp_norm, block.up, hidden());
        if (narrow()) return narrow_->hold_gelu(hidden(), queue_);
        activate_cuda<float>(Activation::gelu_tanh, hidden(), hidden(), {.stream = queue_});
    }

    void add_mlp(std::int64_t layer) override {
        const DeviceModel::Linear& down = model_.block(layer).down;
        if (one()) return launch_add_mlp(hidden_.data(), down.linear(), stream_.data(), queue_);
        if (narrow()) return narrow_->product(down, 1, stream(), queue_);
        product(hidden(), down, 1, stream());
    }

    void head(std::int64_t first, std::int64_t count) override {
        const std::int64_t V = config_.vocabulary, C = config_.channels;
        if (count * V > logits_.size()) {
            logits_ = gpu::Buffer<float>(count * V);
            graph_.reset();  // it contains the old buffer's address
        }
        rows_ = count;
        const unsigned blocks = token_by_token_ ? resident_head_blocks(model_.head()) : 0;
        for (std::int64_t row = 0; row < count; ++row) {
            const float* x = stream_.data() + (first + row) * C;
            if (token_by_token_) {
                launch_head(model_.final_norm().parameters(), model_.head(), x,
                            logits_.data() + row * V, blocks, queue_);
                continue;
            }
            const View<float> normed = normed_.view({1, C});
            layer_norm_cuda<float>(View<const float>{x, {1, C}}, model_.final_norm().parameters(),
                                   normed, {.stream = queue_});
            linear_cuda(model_.head(), normed, {}, logits_.view(row_major({1, V}), row * V),
                        {.stream = queue_});
        }
    }

    void choose() override {
        launch_choose(
            logits_.view(row_major({config_.vocabulary}), (rows_ - 1) * config_.vocabulary),
            options_.data(), ids_.data(), place_.data(), queue_);
    }

    void set_sampler(const SamplerOptions& options) override { options_.upload(&options, 1); }

    void replay(const std::function<void()>& pass) override {
        if (!token_by_token_) return pass();
        if (!graph_) {
            const std::int64_t position = position_, T = T_;
            graph_.emplace(
                [&](gpu::Stream queue) {
                    queue_ = queue;
                    pass();
                    queue_ = {};
                },
                gpu::Start::early);
            position_ = position, T_ = T;
        }
        advance();
        rows_ = 1;
        graph_->launch();
    }

    void wait() override { gpu::synchronize(); }

    void read_stream(View<float> out) override { read(stream_, T_ * config_.channels, out); }
    void read_logits(View<float> out) override { read(logits_, rows_ * config_.vocabulary, out); }

    std::int64_t token(std::int64_t position) override {
        const std::int64_t token = ids_.download(position, 1)[0];
        if (token < 0) reject_logits(token, config_.vocabulary, advice());
        return token;
    }
    std::string advice() const override {
        if (!narrow_ || narrow_->type() != WeightType::f16) return "";
        return ". A number may have been too large to be rounded to f16, which ends at 65504. Try "
               "--floats";
    }

private:
    bool one() const { return T_ == 1 && token_by_token_; }
    bool narrow() const { return T_ > 1 && narrow_; }

    AttentionParts parts() { return {sums_.data(), tops_.data(), config_.head_dim()}; }

    View<float> stream() { return stream_.view({T_, config_.channels}); }
    View<float> normed() { return normed_.view({T_, config_.channels}); }
    // Queries, keys and values, each as (head, T, D).
    View<float> qkv() {
        return permute(qkv_.view({T_, 3, config_.heads, config_.head_dim()}), {1, 2, 0, 3});
    }
    View<float> hidden() { return hidden_.view({T_, config_.hidden}); }

    // (T, C) as (head, T, D).
    View<float> heads(const View<float>& x) const {
        return permute(reshape(x, {T_, config_.heads, config_.head_dim()}), {1, 0, 2});
    }
    // Keys and values of all positions, each as (head, capacity, D).
    View<float> cache(std::int64_t layer) {
        const Shape shape = {config_.layers, 2, config_.heads, capacity_, config_.head_dim()};
        return select(cache_.view(shape), 0, layer);
    }
    KvSlots slots(std::int64_t layer) {
        return {select(cache(layer), 0, 0), select(cache(layer), 0, 1)};
    }

    // out = beta * out + x . weightT + bias
    void product(View<const float> x, const DeviceModel::Linear& linear, float beta,
                 View<float> out) {
        const DeviceMatrix weight = linear.weight.matrix();
        const View<const float> across = transpose(as_floats(weight, wide_, queue_), 0, 1);
        Epilogue epilogue;
        epilogue.beta = beta;
        epilogue.bias = linear.bias.view({out.extent(1)});
        const std::int64_t bytes = day05_matmul::matmul_workspace_bytes(x, across, out);
        if (bytes > workspace_.size()) {
            workspace_ = gpu::Buffer<std::byte>(bytes);
            workspace_.fill_bytes(0);  // its counters
        }
        day05_matmul::matmul_cuda(x, across, epilogue, out,
                                  {.workspace = workspace_, .stream = queue_});
    }
    void product_of_norm(const DeviceModel::Norm& norm, const DeviceModel::Linear& linear,
                         View<float> out) {
        if (narrow()) {
            narrow_->hold_norm(stream(), norm.parameters(), queue_);
            return narrow_->product(linear, 0, out, queue_);
        }
        layer_norm_cuda<float>(stream(), norm.parameters(), normed(), {.stream = queue_});
        product(normed(), linear, 0, out);
    }

    static void read(const gpu::Buffer<float>& from, std::int64_t count, View<float> out) {
        const std::vector<float> host = from.download(0, count);
        for (std::int64_t i = 0; i < count; ++i) out(unravel(i, out.shape())) = host[i];
    }

    Config config_;
    std::int64_t capacity_;
    DeviceModel model_;
    bool token_by_token_;
    std::optional<NarrowPrompt> narrow_;

    gpu::Buffer<std::int64_t> ids_;    // (capacity + 1), by position
    gpu::Buffer<std::int64_t> place_;  // position of the last token of the pass
    gpu::Buffer<SamplerOptions> options_;
    gpu::Buffer<float> cache_;  // (layer, keys or values, head, capacity, dim)
    gpu::Buffer<float> stream_, normed_, qkv_, hidden_;
    gpu::Buffer<float> wide_;  // a matrix of another type, widened to floats
    gpu::Buffer<float> sums_, tops_, logits_;
    gpu::Buffer<float> scores_{0};         // (head, T, S) of a long prompt
    gpu::Buffer<std::byte> workspace_{0};  // of Day 05's product

    std::int64_t T_ = 0, position_ = 0, rows_ = 1;
    gpu::Stream queue_ = {};
    std::optional<gpu::Graph> graph_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(const ModelWeights& model, std::int64_t capacity,
                                           Prompts prompts) {
    check_capacity(model.config, capacity);
    if (prompts == Prompts::as_weights) prompts = prompts_of(model);
    if (prompts == Prompts::tensor_cores) check_tensor_cores(model.config);
    if (gpu::is_emulated()) check_cache_memory(model.config.cache(capacity));
    if (const std::string why = gpu::why_unavailable(); !why.empty()) {
        throw std::runtime_error(why);
    }
    return std::make_unique<CudaBackend>(model, capacity, prompts);
}

}  // namespace sixdays::gpt2
