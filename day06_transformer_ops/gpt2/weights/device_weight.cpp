#include "day06_transformer_ops/gpt2/weights/device_weight.hpp"

#include <cstring>
#include <vector>

#include "common/tensor/arguments.hpp"

namespace sixdays::gpt2 {
namespace {

const Weight& as_matrix(const Weight& w) {
    if (w.shape.rank != 2) {
        reject("weights of shape ", w.shape, " are not a matrix of rows and columns");
    }
    return w;
}

// What a block becomes: bytes of data, and scales.
struct Split {
    std::int64_t bytes, scales;
};
template <class B>
Split split_of_runs() {
    return {B::kRuns * (16 + 4 * B::kHigh + (B::kRuns > 1 ? 2 : 0)), HasMinimum<B> ? 2 : 1};
}
Split split_of(WeightType type) {
    switch (type) {
        case WeightType::q8_0:
            return {kQ8Block, 1};
        case WeightType::q4_0:
            return split_of_runs<Q4Block>();
        case WeightType::q5_0:
            return split_of_runs<Q5Block>();
        case WeightType::q4_k:
            return split_of_runs<Q4KBlock>();
        case WeightType::q5_k:
            return split_of_runs<Q5KBlock>();
        case WeightType::q6_k:
            return split_of_runs<Q6KBlock>();
        default:
            return {storage_of(type).bytes, 0};
    }
}

std::int64_t blocks_in(const Weight& w) {
    return bytes_of(w.type, w.shape) / storage_of(w.type).bytes;
}

// The parts of a matrix, to be copied.
struct Parts {
    std::vector<std::byte> data;
    std::vector<f16> scales;
};

void split(View<const Q8Block> in, Parts& out) {
    for (std::int64_t b = 0; b < in.size(); ++b) {
        std::memcpy(out.data.data() + b * kQ8Block, in.data[b].quants, kQ8Block);
        out.scales[static_cast<std::size_t>(b)] = in.data[b].scale;
    }
}

// Four quants, one per byte.
using Four = std::uint32_t;

// Run number r of a row, in swizzled order. Quants have HIGH bits besides the lower 4.
template <int HIGH>
void swizzle(const std::uint8_t (&quants)[kRun], std::int64_t r, std::byte* low, std::byte* high) {
    Four in[8], lows[4] = {}, highs[2] = {};
    std::memcpy(in, quants, sizeof in);
    for (std::int64_t p = 0; p < 8; ++p) {
        const Four four = in[p ^ r % 8];
        lows[p / 2] |= (four & 0x0F0F0F0F) << 4 * (p % 2);
        highs[HIGH * p / 8] |= (four >> 4 & 0x03030303) << HIGH * p % 8;
    }
    std::memcpy(low, lows, sizeof lows);
    std::memcpy(high, highs, 4 * HIGH);
}

// The two bytes that a run of Q4_K, Q5_K and Q6_K has besides its quants.
struct Two {
    std::uint8_t bytes[2];
};
template <HasMinimum B>
Two two_of(const B& block, int run) {
    std::uint8_t scale[8], minimum[8];
    six_bits(block, scale, minimum);
    return {{scale[run], minimum[run]}};
}
Two two_of(const Q6KBlock& block, int run) {
    const auto scale = [&](int half) {
        return static_cast<std::uint8_t>(block.scales[2 * run + (half ^ run / 4)]);
    };
    return {{scale(0), scale(1)}};  // the quants from 4 (p ^ run) on: runs 4 to 7 swap the halves
}

template <class B>
void split(View<const B> in, Parts& out) {
    const std::int64_t runs = in.size() * B::kRuns, in_row = in.extent(1) * B::kRuns;
    f16* scale = out.scales.data();
    std::byte* const low = out.data.data();
    std::byte* const high = low + runs * 16;
    std::byte* const two = high + runs * 4 * B::kHigh;
    for (std::int64_t r = 0; r < runs; ++r) {
        const B& block = in.data[r / B::kRuns];
        const int run = static_cast<int>(r % B::kRuns);
        if (run == 0) *scale++ = block.scale;
        if constexpr (HasMinimum<B>) {
            if (run == 0) *scale++ = block.minimum;
        }
        std::uint8_t quants[kRun];
        unpack(block, run, quants);
        swizzle<B::kHigh>(quants, r % in_row, low + r * 16, high + r * 4 * B::kHigh);
        if constexpr (B::kRuns > 1) {
            const Two both = two_of(block, run);
            std::memcpy(two + r * 2, both.bytes, sizeof both.bytes);
        }
    }
}

void split(const Weight& w, Parts& out) {
    switch (w.type) {
        case WeightType::q8_0:
            return split(w.as_q8_0(), out);
        case WeightType::q4_0:
            return split(w.as_q4_0(), out);
        case WeightType::q5_0:
            return split(w.as_q5_0(), out);
        case WeightType::q4_k:
            return split(w.as_q4_k(), out);
        case WeightType::q5_k:
            return split(w.as_q5_k(), out);
        case WeightType::q6_k:
            return split(w.as_q6_k(), out);
        default:
            return;
    }
}

}  // namespace

std::int64_t device_row_bytes(WeightType type, std::int64_t K) {
    const std::int64_t stored = bytes_of(type, {K});
    return in_runs(type) ? K / 2 : type == WeightType::q8_0 ? K : stored;
}

DeviceWeight::DeviceWeight(const Weight& host)
    : type_(as_matrix(host).type),
      N_(host.shape[0]),
      K_(host.shape[1]),
      data_(blocks_in(host) * split_of(type_).bytes),
      scales_(blocks_in(host) * split_of(type_).scales) {
    if (split_of(type_).scales == 0) {
        data_.upload(host.data, data_.size());
        return;
    }
    Parts parts{std::vector<std::byte>(static_cast<std::size_t>(data_.size())),
                std::vector<f16>(static_cast<std::size_t>(scales_.size()))};
    split(host, parts);
    data_.upload(parts.data.data(), data_.size());
    scales_.upload(parts.scales.data(), scales_.size());
}

DeviceMatrix DeviceWeight::matrix() const noexcept {
    return {type_, data_.data(), scales_.data(), N_, K_};
}

}  // namespace sixdays::gpt2
