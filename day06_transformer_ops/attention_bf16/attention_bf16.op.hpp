/// @file
/// Test descriptor of attention of 16-bit numbers (common/testing/operation/operation.hpp).
#pragma once

#include "day06_transformer_ops/attention/attention.op.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16.hpp"

namespace sixdays::day06_transformer_ops {

/// In units of 2^-24 of the sum of magnitudes: a tensor-core product over n numbers has an error of
/// 18 ceil(n / 8) (derived in day05_matmul/matmul.op.hpp), a loop one of n, which is less. A score
/// has 6 more: 2 where scale and log2(e) are multiplied, 2 where they multiply the score, 2 where
/// the maximum is subtracted. A weight's error is (18 ceil(D / 8) + 6) P, and 4 for exp. The sum of
/// weights has the same, hence twice. The product with the values adds 18 ceil(n / 8) <=
/// 2.25 n + 18. Each key adds to the sum and may rescale sum and values for a new maximum: 4 n,
/// and some where lanes are combined. Each weight is rounded to T, and so is the output. The least
/// f16 is 2^-24: a smaller weight's error is at most half of that, relative to a sum of at least 1.
inline double output_error_of_16_bits(const Seen& x, double y, double A, double rounding) {
    const double score = 18 * std::ceil(x.D / 8) + 6;
    return (rounding + (2 * score * x.P + 7 * x.n + 120) * kU) * A + rounding * std::fabs(y);
}
template <>
inline double output_error<bf16>(const Seen& x, double y, double A) {
    return output_error_of_16_bits(x, y, A, 0x1p-8);
}
template <>
inline double output_error<f16>(const Seen& x, double y, double A) {
    return output_error_of_16_bits(x, y, A, 0x1p-11) + (x.n * x.largest + 1) * kU;
}
/// Two more roundings: m as a multiple of log(2), and m + log(sum).
inline double log_sum_error_of_16_bits(const Seen& x) {
    const double score = 18 * std::ceil(x.D / 8) + 6;
    return (score * x.P + 2 * x.n + 20 + 4 * (std::fabs(x.m) + std::log(x.n + 1))) * kU;
}
template <>
inline double log_sum_error<bf16>(const Seen& x) {
    return log_sum_error_of_16_bits(x);
}
template <>
inline double log_sum_error<f16>(const Seen& x) {
    return log_sum_error_of_16_bits(x);
}

/// Can Hopper's copy engine address all heads as one stack of matrices? Heads less than a row apart
/// must be side by side in the rows without reaching into the next row. The others must be whole
/// multiples of the smallest distance apart.
inline bool has_planes(const Call::Argument& x) {
    const Layout& l = x.layout;
    const int s = l.rank() - 2;
    const std::int64_t D = l.extent(s + 1), pitch = l.extent(s) > 1 ? l.stride(s) : D;
    std::int64_t columns = D, nearest = 0;
    bool ok = pitch >= D;
    for (int h = 0; h < s; ++h) {
        const std::int64_t step = l.extent(h) > 1 ? l.stride(h) : 0;
        ok = ok && step >= 0;
        if (step < pitch) columns += (l.extent(h) - 1) * step;
        if (step >= pitch && (nearest == 0 || step < nearest)) nearest = step;
    }
    for (int h = 0; h < s; ++h) {
        const std::int64_t step = l.extent(h) > 1 ? l.stride(h) : 0;
        ok = ok && (step < pitch || step % nearest == 0);
    }
    return ok && columns <= pitch;
}

/// Random values of -size to size.
inline testing::Values between(std::uint64_t seed, double size) {
    return [=](std::int64_t i) { return size * (2 * testing::detail::uniform(seed, i) - 1); };
}

/// Operands: as attending().
template <class T>
testing::Operation attention_bf16_operation(const Attending& a, bool log_sums = true) {
    using namespace testing;
    using P = AttentionBf16Path;
    Operation op =
        attending<T>("attention_bf16", a, log_sums, between(1, 2), between(2, 2), between(3, 1));
    op.cpu = [=](const Call& c) {
        attention_bf16_cpu<T>(c.in<T>(0), c.in<T>(1), c.in<T>(2), options_of(a, c), c.out<T>(3),
                              log_sums_of(a, c));
    };
    op.cuda = [=](const Call& c) {
        attention_bf16_cuda<T>(c.in<T>(0), c.in<T>(1), c.in<T>(2), options_of(a, c), c.out<T>(3),
                               log_sums_of(a, c), c.how<P>());
    };

    const bool empty = size(a.q()) == 0;
    const auto vectors = [=](const Call& c) {
        bool all = a.D <= 128;
        for (const std::size_t i : {0, 1, 2, 3}) {
            const Call::Argument& x = c.arguments[i];
            all = all && (x.layout.size() == 0 || has_rows_of_vectors<T>(x, x.layout.rank() - 1));
        }
        return all;
    };
    const auto has_length = [=](const Call& c) {
        return a.counted >= 0 && c.arguments[4].data != nullptr;
    };
    const auto on_hopper = [=](const Call& c) {
        return vectors(c) && (a.D == 64 || a.D == 128) && !has_length(c) &&
               has_planes(c.arguments[0]) && has_planes(c.arguments[1]) &&
               has_planes(c.arguments[2]);
    };
    // Tiles support stacks that simplify to at most three dimensions.
    const auto has_tiles = [=](const Call& c) {
        const auto forwards = [](const Call::Argument& x) { return goes_forwards(x); };
        return gpu::has_tile() && vectors(c) &&
               std::all_of(c.arguments.begin(), c.arguments.end(), forwards);
    };
    const auto set = [&](P path, const char* kernel, std::function<bool(const Call&)> accepts) {
        op.takes(path, kernel, [=](const Call& c) { return empty || accepts(c); });
    };
    set(P::four_passes, "attention_bf16_kernel", [](const Call&) { return true; });
    set(P::tensor_cores, "attention_tensor_cores_kernel", vectors);
    set(P::guessed_maximum, "attention_guessed_maximum_kernel", vectors);
    set(P::warpgroups, "attention_warpgroups_kernel",
        [=](const Call& c) { return testing::runs_hopper() && on_hopper(c); });
    set(P::tile, "attention_bf16_tile", has_tiles);
    // Enough keys: fewer suffice if each block of 192 queries has its own SM.
    const auto is_long = [=] {
        if (a.D == 128) return a.S >= 256;
        const std::int64_t blocks = size(a.stack) * ((a.T + 191) / 192);
        return a.S >= 1536 || (a.S >= 512 && blocks <= gpu::multiprocessors());
    };
    op.best = [=](const Call& c) {
        return static_cast<int>(!vectors(c) ? P::four_passes
                                : gpu::on_hopper() && on_hopper(c) && is_long()
                                    ? P::warpgroups
                                    : P::guessed_maximum);
    };
    op.needed_bytes = [=, best = op.best](const Call& c) -> std::int64_t {
        const int path = c.path.value_or(empty ? 0 : best(c));
        const std::int64_t scores = 4 * size(a.queries()) * a.S;
        const bool needs = path == static_cast<int>(P::four_passes) && scores > 0;
        return needs ? gpu::Carver::kCounterBytes + scores : 0;
    };
    return op;
}

}  // namespace sixdays::day06_transformer_ops
