// What the CUDA backends of all architectures do in the same way.
#include "day06_transformer_ops/gpt2/gpu/device_backend.hpp"

#include <cmath>

#include "common/gpu/device.hpp"
#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"
#include "day05_matmul/matmul.hpp"
#include "day06_transformer_ops/attention/attention.hpp"
#include "day06_transformer_ops/gpt2/gpu/choose.hpp"
#include "day06_transformer_ops/gpt2/weights/linear.hpp"
#include "day06_transformer_ops/softmax/softmax.hpp"

namespace sixdays::gpt2 {
namespace {

using namespace day06_transformer_ops;
using day05_matmul::Epilogue;

// The checks, before any memory is allocated.
const Sizes& checked(const Sizes& sizes, const Shape& cache) {
    check_capacity(sizes, cache[2]);
    if (gpu::is_emulated()) check_cache_memory(cache);
    if (const std::string why = gpu::why_unavailable(); !why.empty()) throw std::runtime_error(why);
    return sizes;
}

}  // namespace

DeviceBackend::DeviceBackend(const Sizes& sizes, const Shape& cache, std::int64_t largest)
    : sizes_(checked(sizes, cache)),
      cache_shape_(cache),
      ids_(cache[2] + 1),
      place_(1),
      options_(1),
      cache_(2 * size(cache)),
      stream_(cache[2] * sizes.channels),
      normed_(cache[2] * std::max(sizes.channels, sizes.heads * cache[3])),
      qkv_(cache[2] * (sizes.heads + 2 * cache[1]) * cache[3]),
      hidden_(cache[2] * sizes.hidden),
      wide_(largest),
      sums_(sizes.heads * cache[3] * kSplits),
      tops_(sizes.heads * kSplits * 2),
      logits_(sizes.vocabulary) {
    set_sampler({});
}

std::string DeviceBackend::name() const {
    const gpu::Device device = gpu::device();
    return sentence("cuda, ", gpu::is_emulated() ? "on the emulator" : device.name,
                    token_by_token_ ? "" : ", one token by the days' operations",
                    narrow_ ? ", prompts in " : "",
                    narrow_ ? storage_of(narrow_->type()).name : "");
}

std::string DeviceBackend::advice() const {
    if (!narrow_ || narrow_->type() != WeightType::f16) return "";
    return ". A number may have been too large to be rounded to f16, which ends at 65504. Try "
           "--floats";
}

void DeviceBackend::begin(View<const std::int64_t> ids, std::int64_t position) {
    T_ = ids.extent(0), position_ = position;
    std::vector<std::int64_t> host;
    for (std::int64_t t = 0; t < T_; ++t) host.push_back(ids(t));
    ids_.upload(host.data(), T_, position);
    const std::int64_t last = position + T_ - 1;
    place_.upload(&last, 1);
}

void DeviceBackend::choose() {
    const std::int64_t V = sizes_.vocabulary;
    launch_choose(logits_.view(row_major({V}), (rows_ - 1) * V), options_.data(), ids_.data(),
                  place_.data(), queue_);
}

void DeviceBackend::replay(const std::function<void()>& pass) {
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

void DeviceBackend::wait() {
    gpu::synchronize();
}

std::int64_t DeviceBackend::token(std::int64_t position) {
    const std::int64_t token = ids_.download(position, 1)[0];
    if (token < 0) reject_logits(token, sizes_.vocabulary, advice());
    return token;
}

View<float> DeviceBackend::heads(const View<float>& x) const {
    return permute(reshape(x, {T_, x.extent(1) / head_dim(), head_dim()}), {1, 0, 2});
}

View<float> DeviceBackend::cache(std::int64_t layer) {
    const Shape& of = cache_shape_;
    return select(cache_.view({of[0], 2, of[1], of[2], of[3]}), 0, layer);
}

KvSlots DeviceBackend::slots(std::int64_t layer) {
    return {select(cache(layer), 0, 0), select(cache(layer), 0, 1)};
}

void DeviceBackend::product(View<const float> x, View<const float> weight, View<const float> bias,
                            float beta, View<float> out) {
    const View<const float> across = transpose(weight, 0, 1);
    Epilogue epilogue;
    epilogue.beta = beta;
    epilogue.bias = bias;
    const std::int64_t bytes = day05_matmul::matmul_workspace_bytes(x, across, out);
    if (bytes > workspace_.size()) {
        workspace_ = gpu::Buffer<std::byte>(bytes);
        workspace_.fill_bytes(0);  // its counters
    }
    day05_matmul::matmul_cuda(x, across, epilogue, out,
                              {.workspace = workspace_, .stream = queue_});
}

void DeviceBackend::product(View<const float> x, const DeviceMatrix& weight, View<const float> bias,
                            float beta, View<float> out) {
    if (narrow()) return narrow_->product(weight, bias, beta, out, queue_);
    product(x, as_floats(weight, wide_, queue_), bias, beta, out);
}

void DeviceBackend::products_in_turn(View<const float> x, const DeviceMatrix& weight,
                                     const std::vector<View<float>>& outs) {
    const int turns = static_cast<int>(outs.size());
    View<const float> floats;
    if (!narrow()) floats = as_floats(weight, wide_, queue_);
    for (int turn = 0; turn < turns; ++turn) {
        const View<float>& out = outs[static_cast<std::size_t>(turn)];
        if (narrow()) {
            narrow_->product(weight, {}, 0, out, queue_, turns, turn);
        } else {
            product(x, slice(floats, 0, turn, weight.N, turns), {}, 0, out);
        }
    }
}

void DeviceBackend::attend_tokens(View<const float> q, View<const float> k, View<const float> v,
                                  View<float> out) {
    const std::int64_t S = position_ + T_;
    if (!attends_by_products(sizes_.heads, T_, S)) {
        return attention_cuda(q, k, v, {}, out, {}, {.stream = queue_});
    }
    Shape padded = q.shape();  // (..., T, S), and rows of scores begin at whole vectors
    padded[padded.rank - 1] = (S + 3) / 4 * 4;
    if (size(padded) > scores_.size()) {
        scores_ = gpu::Buffer<float>(0);  // not both at a time
        scores_ = gpu::Buffer<float>(size(padded));
    }
    const View<float> scores = slice(scores_.view(padded), padded.rank - 1, 0, S);
    Epilogue scaled;
    scaled.alpha = 1 / std::sqrt(static_cast<float>(head_dim()));
    day05_matmul::matmul_cuda(q, transpose(k, k.rank() - 2, k.rank() - 1), scaled, scores,
                              {.stream = queue_});
    causal_softmax_cuda<float>(scores, scores, {.stream = queue_});
    day05_matmul::matmul_cuda(scores, v, out, {.stream = queue_});
}

void DeviceBackend::reserve_logits(std::int64_t count) {
    rows_ = count;
    if (count * sizes_.vocabulary <= logits_.size()) return;
    logits_ = gpu::Buffer<float>(count * sizes_.vocabulary);
    graph_.reset();  // it contains the old buffer's address
}

void DeviceBackend::head_of_rows(
    std::int64_t first, std::int64_t count, const DeviceMatrix& weight,
    const std::function<void(const float* x, float* logits)>& head,
    const std::function<void(View<const float> x, View<float> out)>& norm) {
    const std::int64_t V = sizes_.vocabulary;
    reserve_logits(count);
    for (std::int64_t row = 0; row < count; ++row) {
        const View<const float> x = slice(stream(), 0, first + row, first + row + 1);
        const View<float> logits = logits_.view(row_major({1, V}), row * V);
        if (token_by_token_) {
            head(x.data, logits.data);
            continue;
        }
        const View<float> normed = normed_.view({1, sizes_.channels});
        norm(x, normed);
        linear_cuda(weight, normed, {}, logits, {.stream = queue_});
    }
}

void DeviceBackend::read(const gpu::Buffer<float>& from, std::int64_t count, View<float> out) {
    const std::vector<float> host = from.download(0, count);
    for (std::int64_t i = 0; i < count; ++i) {
        out(unravel(i, out.shape())) = host[static_cast<std::size_t>(i)];
    }
}

}  // namespace sixdays::gpt2
