#include "day06_transformer_ops/gpt2/cpu/host_backend.hpp"

#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/copy.hpp"

namespace sixdays::gpt2 {

using day03_views::copy_cpu;

namespace {

const Shape& checked(const Sizes& sizes, const Shape& cache) {
    check_capacity(sizes, cache[2]);
    check_cache_memory(cache);
    return cache;
}

}  // namespace

Tensor<float> as_floats(const Weight& weight) {
    Tensor<float> floats(weight.shape);
    to_float_cpu(weight, floats.view());
    return floats;
}

HostBackend::HostBackend(const Sizes& sizes, const Shape& cache)
    : sizes_(sizes),
      keys_(checked(sizes, cache)),
      values_(cache),
      cache_(keys_.view(), values_.view()),
      tokens_({cache[2] + 1}),
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
    copy_cpu(rows(x_, sizes_.channels), out);
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

Tensor<std::int64_t> HostBackend::places() const {
    Tensor<std::int64_t> places({T_});
    for (std::int64_t t = 0; t < T_; ++t) places(t) = position_ + t;
    return places;
}

void HostBackend::append_keys_and_values(std::int64_t layer) {
    const KvSlots slots = cache_.append(layer, position_, T_);
    copy_cpu(heads().k, unsqueeze(slots.keys, 0));
    copy_cpu(heads().v, unsqueeze(slots.values, 0));
}

HostBackend::Columns HostBackend::columns() {
    const View<float> all = qkv();
    const std::int64_t q = sizes_.heads * head_dim(), kv = kv_heads() * head_dim();
    return {slice(all, 1, 0, q), slice(all, 1, q, q + kv), slice(all, 1, q + kv, q + 2 * kv)};
}

// As day06_transformer_ops::heads_of(), but keys and values may have fewer heads.
day06_transformer_ops::Heads<float> HostBackend::heads() {
    const auto heads = [](const View<float>& columns, std::int64_t count) {
        return day06_transformer_ops::split_heads(unsqueeze(columns, 0), count);
    };
    const Columns of = columns();
    return {heads(of.q, sizes_.heads), heads(of.k, kv_heads()), heads(of.v, kv_heads())};
}

View<float> HostBackend::mixed_heads() {
    return day06_transformer_ops::split_heads(unsqueeze(mixed(), 0), sizes_.heads);
}

View<float> HostBackend::last_normed(std::int64_t first, std::int64_t count) {
    if (logits_.shape()[0] != count) logits_ = Tensor<float>({count, sizes_.vocabulary});
    return slice(normed(), 0, first, first + count);
}

View<float> HostBackend::rows(Tensor<float>& buffer, std::int64_t columns) {
    if (buffer.size() < T_ * columns) buffer = Tensor<float>({T_ * columns});
    return {buffer.data(), Shape{T_, columns}};
}

}  // namespace sixdays::gpt2
