// The cases that `common/learn check` runs for norm_weight. Stub and solution run them too.
#include "common/testing/testing.hpp"

#include <cmath>

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/testing/practice.hpp"
#include "day06_transformer_ops/exercises/norm_weight/norm_weight.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// In double: `before` times `kept`, and the sum over all rows of grad times z_of(m, c).
template <class Z>
Tensor<double> summed(const Tensor<float>& before, const Tensor<float>& grad, double kept,
                      const Z& z_of) {
    Tensor<double> sum(before.shape());
    for (std::int64_t c = 0; c < sum.size(); ++c) {
        sum(c) = kept * before(c);
        for (std::int64_t m = 0; m < grad.shape()[0]; ++m) {
            sum(c) += static_cast<double>(grad(m, c)) * z_of(m, c);
        }
    }
    return sum;
}

struct Case {
    Tensor<float> in, rows, grad, before;
};

double z_of(const Case& k, std::int64_t m, std::int64_t c) {
    return (static_cast<double>(k.in(m, c)) - k.rows(m, 0)) * k.rows(m, 1);
}

Tensor<float> launched(const Case& k) {
    DeviceIn<float> in(k.in), rows(k.rows), grad(k.grad);
    DeviceOut<float> got = DeviceOut<float>::holding(k.before);
    norm_weight_cuda(in.view(), rows.view(), grad.view(), got.view());
    gpu::check_pending();
    return got.values();
}

Told cause_of(const Tensor<float>& got, const Case& k) {
    const std::int64_t M = k.in.shape()[0], C = k.in.shape()[1];
    const auto z = [&](std::int64_t m, std::int64_t c) { return z_of(k, m, c); };
    const Tensor<double> want = summed(k.before, k.grad, 1, z);
    Tensor<double> first_block = want;
    for (std::int64_t c = 128; c < C; ++c) first_block(c) = k.before(c);
    const auto z_at = [&](std::int64_t m, std::int64_t c, std::int64_t mean, std::int64_t scale) {
        return (static_cast<double>(k.in(m, c)) - k.rows.data()[mean]) * k.rows.data()[scale];
    };
    const char* beside =
        "Mean and scale of a row are adjacent: row m has its mean in rows[2 * m] and its scale "
        "in rows[2 * m + 1].";
    return likely_mistake(
        got, want,
        {{"The earlier value was overwritten: gradients of a weight accumulate, so use +=.",
          summed(k.before, k.grad, 0, z)},
         {"Only the first 128 columns were written: launch one block per 128 columns (kThreads).",
          first_block},
         {"This is the gradient of a bias, the sum of grad alone: multiply grad by z.",
          summed(k.before, k.grad, 1, [](std::int64_t, std::int64_t) { return 1.0; })},
         {"The mean was not subtracted: z is (in - mean) * scale.",
          summed(k.before, k.grad, 1,
                 [&](std::int64_t m, std::int64_t c) {
                     return static_cast<double>(k.in(m, c)) * k.rows(m, 1);
                 })},
         {"The scale was applied before the mean was subtracted: z is (in - mean) * scale.",
          summed(k.before, k.grad, 1,
                 [&](std::int64_t m, std::int64_t c) {
                     return static_cast<double>(k.in(m, c)) * k.rows(m, 1) - k.rows(m, 0);
                 })},
         {"The scale is missing: z is (in - mean) * scale.",
          summed(k.before, k.grad, 1,
                 [&](std::int64_t m, std::int64_t c) {
                     return static_cast<double>(k.in(m, c)) - k.rows(m, 0);
                 })},
         {"in - mean was divided by the scale, which is already 1 / root: z is (in - mean) * "
          "scale.",
          summed(k.before, k.grad, 1,
                 [&](std::int64_t m, std::int64_t c) {
                     return (static_cast<double>(k.in(m, c)) - k.rows(m, 0)) / k.rows(m, 1);
                 })},
         {beside, summed(k.before, k.grad, 1,
                         [&](std::int64_t m, std::int64_t c) { return z_at(m, c, m, m + 1); })},
         {beside, summed(k.before, k.grad, 1,
                         [&](std::int64_t m, std::int64_t c) { return z_at(m, c, m, M + m); })},
         {"Only the first 128 rows were added. Use one thread per column, and let it iterate "
          "over all M rows.",
          summed(k.before, k.grad, 1,
                 [&](std::int64_t m, std::int64_t c) { return m < 128 ? z(m, c) : 0; })},
         {"Nothing was added: d_weight is unchanged.",
          summed(k.before, k.grad, 1, [](std::int64_t, std::int64_t) { return 0.0; })}});
}

Case seeded_case(std::int64_t M, std::int64_t C) {
    return {seeded<float>({M, C}, 1, -3, 5), seeded<float>({M, 2}, 2, 0.5, 2),
            seeded<float>({M, C}, 3, -2, 2), seeded<float>({C}, 4, -1, 1)};
}

std::string cause(const Tensor<float>& got, const Case& k) {
    const std::string known = confirmed(cause_of(got, k), [] {
        const Case larger = seeded_case(3, 5);
        return cause_of(launched(larger), larger);
    });
    if (!known.empty()) return known;
    const std::int64_t M = 3, C = 5;
    const auto column = [](const Index& out, const Index& e) { return e[1] == out[0]; };
    return read_wrongly(
        {"d_weight",
         "c",
         {C},
         {{"in", {M, C}, column}, {"rows", {M, 2}, all_elements}, {"grad", {M, C}, column}}},
        [=](const auto& in, float* out) {
            norm_weight_cuda({in[0], Shape{M, C}}, {in[1], Shape{M, 2}}, {in[2], Shape{M, C}},
                             {out, Shape{C}});
        });
}

void check_port(const Case& k) {
    const std::int64_t M = k.in.shape()[0], C = k.in.shape()[1];
    CAPTURE(M, C);
    const auto z = [&](std::int64_t m, std::int64_t c) { return z_of(k, m, c); };
    const Tensor<double> want = summed(k.before, k.grad, 1, z);
    // Each of M + 1 terms is off by three roundings at most, and so is each of as many sums by one:
    // M + 4 half units of what all the terms add up to without their signs.
    const auto bound = [&](const Index& at) {
        double size = std::abs(k.before(at[0]));
        for (std::int64_t m = 0; m < M; ++m) size += std::abs(k.grad(m, at[0]) * z(m, at[0]));
        return static_cast<double>(M + 4) * 0x1p-24 * size;
    };
    HostOut<float> loop = HostOut<float>::holding(k.before);
    norm_weight_cpu(k.in.view(), k.rows.view(), k.grad.view(), loop.view());
    REQUIRE(loop.close_to(want, bound));
    DeviceIn<float> in(k.in, Lead{1}), rows(k.rows, Lead{2}), grad(k.grad, Lead{3});
    DeviceOut<float> got = DeviceOut<float>::holding(k.before, Lead{1});
    norm_weight_cuda(in.view(), rows.view(), grad.view(), got.view());
    REQUIRE_NOTHROW(gpu::check_pending());
    const Comparison same = got.close_to(want, bound);
    require(same, same ? "" : cause(got.values(), k));
    REQUIRE(in.unchanged());
    REQUIRE(rows.unchanged());
    REQUIRE(grad.unchanged());
}

void check_shape(std::int64_t M, std::int64_t C) {
    check_port(seeded_case(M, C));
}

TEST_CASE("norm_weight: the example of the statement", "[day06][norm_weight][small]") {
    check_port({Tensor<float>({2, 2}, {1, 3, 5, 7}), Tensor<float>({2, 2}, {2, 1, 6, 1}),
                Tensor<float>({2, 2}, {10, 20, -3, -3}), Tensor<float>({2}, {100, 1000})});
}

TEST_CASE("norm_weight: more rows and more columns than threads per block",
          "[day06][norm_weight][small]") {
    for (const std::int64_t M : {1, 2, 7, 150}) {
        for (const std::int64_t C : {1, 33, 128, 129, 300}) check_shape(M, C);
    }
    check_shape(0, 5);
    check_shape(5, 0);
}

TEST_CASE("norm_weight: coalesced loads, and each weight is written once",
          "[day06][norm_weight][small]") {
    const std::int64_t M = 16, C = 256, row = C / 8;  // sectors of a row
    DeviceIn<float> in(seeded<float>({M, C}, 7, -4, 4)), grad(seeded<float>({M, C}, 8, -4, 4));
    DeviceIn<float> rows(seeded<float>({M, 2}, 9, 1, 2));
    DeviceOut<float> got = DeviceOut<float>::holding(seeded<float>({C}, 10, -1, 1));
    const auto touched =
        gpu::touched([&] { norm_weight_cuda(in.view(), rows.view(), grad.view(), got.view()); });
    REQUIRE(touched.has_value() == gpu::is_emulated());
    if (touched) {  // counted by the emulator only
        // in, grad; mean and scale: one sector per row and warp; d_weight, read and written.
        const std::int64_t enough = 2 * M * row + 2 * M * (C / 32) + 2 * row;
        INFO("Memory moved " << touched->sectors << " sectors of 32 bytes where " << enough
                             << " suffice. If it is more, the accesses are uncoalesced (the "
                                "lanes of a warp need adjacent columns), or d_weight is updated "
                                "for every row instead of once at the end.");
        REQUIRE(touched->sectors <= enough);
    }
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("norm_weight: one thread per column, and no surplus blocks",
          "[day06][norm_weight][small]") {
    for (const std::int64_t C : {256, 300}) {
        CAPTURE(C);
        DeviceIn<float> in(seeded<float>({5, C}, 1, -3, 5)), rows(seeded<float>({5, 2}, 2, 1, 2));
        DeviceOut<float> got = DeviceOut<float>::holding(seeded<float>({C}, 4, -1, 1));
        const bool one_each = gpu::run_last_block(
            C, [&] { norm_weight_cuda(in.view(), rows.view(), in.view(), got.view()); });
        INFO(
            "The values are right, but the grid has blocks without any work, or threads with "
            "several columns: C columns need gpu::blocks_for(C, kThreads) blocks. Rows need no "
            "blocks.");
        REQUIRE((one_each || !gpu::is_emulated()));
    }
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("norm_weight: rejects what the CPU reference rejects", "[day06][norm_weight][small]") {
    Tensor<float> x({4, 3}), g({4, 3}), rows({4, 2}), three({3}), four({4});
    const auto rejected = [&](View<const float> of_rows, View<const float> grad, View<float> d,
                              const char* words) {
        return both_reject([&] { norm_weight_cpu(x.view(), of_rows, grad, d); },
                           [&] { norm_weight_cuda(x.view(), of_rows, grad, d); }, words);
    };
    REQUIRE(
        rejected(rows.view(), g.view(), four.view(), "so d_weight must have shape (3), not (4)"));
    REQUIRE(
        rejected(four.view(), g.view(), three.view(), "so rows must have shape (4, 2), not (4)"));
    REQUIRE(rejected(rows.view(), rows.view(), three.view(), "they must be equal"));
    REQUIRE(rejected(rows.view(), g.view(), {g.data(), Shape{3}}, "grad and d_weight overlap"));
}

}  // namespace
