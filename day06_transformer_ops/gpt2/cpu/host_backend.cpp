#include "day06_transformer_ops/gpt2/cpu/host_backend.hpp"

#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/copy.hpp"

namespace sixdays::gpt2 {

using day03_views::copy_cpu;

namespace {

Shape cache_shape(const Config& config, std::int64_t capacity) {
    check_cache_memory(config, capacity);
    return {config.layers, config.heads, capacity, config.head_dim()};
}

}  // namespace

Tensor<float> as_floats(const Weight& weight) {
    Tensor<float> floats(weight.shape);
    to_float_cpu(weight, floats.view());
    return floats;
}

HostBackend::HostBackend(const ModelWeights& model, std::int64_t capacity)
    : model_(model),
      keys_(cache_shape(model.config, capacity)),
      values_(keys_.shape()),
      cache_(keys_.view(), values_.view()),
      tokens_({capacity + 1}),
      x_({0}),
      normed_({0}),
      qkv_({0}),
      mixed_({0}),
      hidden_({0}),
      logits_({0}) {}

void HostBackend::begin(View<const std::int64_t> ids, std::int64_t position) {
    position_ = position;
    T_ = ids.size();
    copy_cpu(ids, slice(tokens_.view(), 0, position, position + T_));
}

void HostBackend::advance() {
    position_ += T_;
    T_ = 1;
}

void HostBackend::choose() {
    const View<const float> last = select(logits_.view(), 0, logits_.shape()[0] - 1);
    tokens_(position_ + T_) = sample(last, sampler_, static_cast<std::uint64_t>(position_ + T_));
}

void HostBackend::read_stream(View<float> out) {
    copy_cpu(rows(x_, model_.config.channels), out);
}

void HostBackend::read_logits(View<float> out) {
    copy_cpu(logits_.view(), out);
}

std::int64_t HostBackend::token(std::int64_t position) {
    return tokens_(position);
}

View<const std::int64_t> HostBackend::ids() const {
    return slice(tokens_.view(), 0, position_, position_ + T_);
}

void HostBackend::append_keys_and_values(std::int64_t layer) {
    const KvSlots slots = cache_.append(layer, position_, T_);
    copy_cpu(heads().k, unsqueeze(slots.keys, 0));
    copy_cpu(heads().v, unsqueeze(slots.values, 0));
}

day06_transformer_ops::Heads<float> HostBackend::heads() {
    return day06_transformer_ops::heads_of(unsqueeze(qkv(), 0), model_.config.heads);
}

day06_transformer_ops::NormParameters HostBackend::norm_of(const NormWeights& norm) const {
    return {norm.weight.view(), norm.bias.view(), model_.config.epsilon};
}

View<float> HostBackend::rows(Tensor<float>& buffer, std::int64_t columns) {
    if (buffer.size() < T_ * columns) buffer = Tensor<float>({T_ * columns});
    return {buffer.data(), Shape{T_, columns}};
}

}  // namespace sixdays::gpt2
