#include "day06_transformer_ops/gpt2/weights/device_weight.hpp"

#include <cstring>

#include "common/tensor/arguments.hpp"

namespace sixdays::gpt2 {
namespace {

const Weight& as_matrix(const Weight& w) {
    if (w.shape.rank != 2) {
        reject("weights of shape ", w.shape, " are not a matrix of rows and columns");
    }
    return w;
}

std::int64_t blocks_in(const Weight& w) {
    return w.type == WeightType::q8_0 ? bytes_of(w.type, w.shape) / std::int64_t{sizeof(Q8Block)}
                                      : 0;
}

std::int64_t data_bytes(const Weight& w) {
    return w.type == WeightType::q8_0 ? blocks_in(w) * kQ8Block : bytes_of(w.type, w.shape);
}

}  // namespace

DeviceWeight::DeviceWeight(const Weight& host)
    : type_(as_matrix(host).type),
      N_(host.shape[0]),
      K_(host.shape[1]),
      data_(data_bytes(host)),
      scales_(blocks_in(host)) {
    if (type_ != WeightType::q8_0) {
        data_.upload(host.data, data_.size());
        return;
    }
    const View<const Q8Block> in = host.as_q8_0();
    std::vector<std::byte> quants(static_cast<std::size_t>(data_.size()));
    std::vector<f16> scales(static_cast<std::size_t>(scales_.size()));
    for (std::int64_t b = 0; b < in.size(); ++b) {
        std::memcpy(quants.data() + b * kQ8Block, in.data[b].quants, kQ8Block);
        scales[static_cast<std::size_t>(b)] = in.data[b].scale;
    }
    data_.upload(quants.data(), data_.size());
    scales_.upload(scales.data(), scales_.size());
}

DeviceMatrix DeviceWeight::matrix() const noexcept {
    return {type_, data_.data(), scales_.data(), N_, K_};
}

}  // namespace sixdays::gpt2
