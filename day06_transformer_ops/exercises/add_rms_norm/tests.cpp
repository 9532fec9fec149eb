// The cases that `common/learn check` runs for add_rms_norm. Stub and solution run them too.
#include "common/testing/testing.hpp"

#include <cmath>

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/testing/practice.hpp"
#include "day06_transformer_ops/exercises/add_rms_norm/add_rms_norm.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// The squares of row m, of every step-th number from `first` on.
double squares_of(const Tensor<float>& r, std::int64_t m, std::int64_t first = 0,
                  std::int64_t step = 1) {
    double squares = 0;
    for (std::int64_t c = first; c < r.shape()[1]; c += step) {
        squares += static_cast<double>(r(m, c)) * r(m, c);
    }
    return squares;
}
// each(m, c) in double.
template <class Each>
Tensor<double> made_of(const Tensor<float>& r, const Each& each) {
    Tensor<double> y(r.shape());
    for (std::int64_t m = 0; m < r.shape()[0]; ++m) {
        for (std::int64_t c = 0; c < r.shape()[1]; ++c) y(m, c) = each(m, c);
    }
    return y;
}
// What a row r of C numbers becomes, in double; `root(squares)` is what they are divided by.
template <class Root>
Tensor<double> normed(const Tensor<float>& r, const Tensor<float>& weight, const Root& root) {
    return made_of(r, [&](std::int64_t m, std::int64_t c) {
        return r(m, c) / root(squares_of(r, m)) * weight(c);
    });
}
// Layer norm: the mean is subtracted before.
Tensor<double> layer_normed(const Tensor<float>& r, const Tensor<float>& weight, double eps) {
    const std::int64_t C = r.shape()[1];
    return made_of(r, [&](std::int64_t m, std::int64_t c) {
        double mean = 0, variance = 0;
        for (std::int64_t k = 0; k < C; ++k) mean += r(m, k) / double(C);
        for (std::int64_t k = 0; k < C; ++k) variance += std::pow(r(m, k) - mean, 2) / double(C);
        return (r(m, c) - mean) / std::sqrt(variance + eps) * weight(c);
    });
}

Told cause_of(const Tensor<float>& got, const Tensor<double>& want, const Tensor<float>& in,
              const Tensor<float>& before, const Tensor<float>& after, const Tensor<float>& weight,
              double eps) {
    const auto C = static_cast<double>(in.shape()[1]);
    const auto right = [=](double squares) { return std::sqrt(squares / C + eps); };
    Tensor<float> ones(weight.shape());
    for (std::int64_t c = 0; c < ones.size(); ++c) ones(c) = 1;
    return likely_mistake(
        got, want,
        {{"The sum of squares was not divided by C: RMS norm uses the mean square.",
          normed(after, weight, [=](double squares) { return std::sqrt(squares + eps); })},
         {"eps was added outside of the root. It belongs inside: sqrt(mean + eps).",
          normed(after, weight, [=](double squares) { return std::sqrt(squares / C) + eps; })},
         {"The root is missing: these are divided by the mean square itself.",
          normed(after, weight, [=](double squares) { return squares / C + eps; })},
         {"These are multiplied by the root. Divide by it.",
          normed(after, weight, [=](double squares) { return 1 / right(squares); })},
         {"This is the norm of `in`. Normalize the new residual, residual + in.",
          normed(in, weight, right)},
         {"This is the norm of the old residual. Normalize the new one, residual + in.",
          normed(before, weight, right)},
         {"The weight is missing: multiply column c by weight(c).", normed(after, ones, right)},
         {"Each lane used only its own sum of squares: gpu::warp_reduce(squares, gpu::Plus()) "
          "adds up those of all lanes.",
          made_of(after,
                  [&](std::int64_t m, std::int64_t c) {
                      return after(m, c) / right(squares_of(after, m, c % 32, 32)) * weight(c);
                  })},
         {"The sum of squares was divided by 32, the lanes of a warp. Divide by C, the numbers "
          "of a row.",
          normed(after, weight, [=](double squares) { return std::sqrt(squares / 32 + eps); })},
         {"Column c was multiplied by the weight of its lane: use weight[c], not weight[lane].",
          made_of(after,
                  [&](std::int64_t m, std::int64_t c) {
                      return after(m, c) / right(squares_of(after, m)) * weight(c % 32);
                  })},
         {"These are divided by the root of the mean of the squares of `in` alone. Use the "
          "squares of the new residual, residual + in.",
          made_of(after,
                  [&](std::int64_t m, std::int64_t c) {
                      return after(m, c) / right(squares_of(in, m)) * weight(c);
                  })},
         {"These are divided by the root of the mean of the squares of the old residual. Add `in` "
          "before you square.",
          made_of(after,
                  [&](std::int64_t m, std::int64_t c) {
                      return after(m, c) / right(squares_of(before, m)) * weight(c);
                  })},
         {"`in` was added a second time: the first pass has already added it to residual.",
          made_of(after,
                  [&](std::int64_t m, std::int64_t c) {
                      return (after(m, c) + in(m, c)) / right(squares_of(after, m)) * weight(c);
                  })},
         {"The mean was subtracted, as in layer norm. RMS norm subtracts nothing.",
          layer_normed(after, weight, eps)}});
}

// `known`, or else which elements the launcher reads. eps is 1e-5 here.
std::string confirmed_cause(const Told& known) {
    const std::int64_t M = 3, C = 40;
    const auto in = seeded_integers<float>({M, C}, 1, -9, 9),
               before = seeded_integers<float>({M, C}, 2, -9, 9),
               weight = seeded_integers<float>({C}, 3, 1, 5);
    const std::string text = confirmed(known, [&] {
        DeviceIn<float> x(in), scale(weight);
        DeviceOut<float> residual = DeviceOut<float>::holding(before), got({M, C});
        add_rms_norm_cuda(x.view(), scale.view(), 1e-5f, residual.view(), got.view());
        gpu::check_pending();
        Tensor<float> after({M, C});
        for (std::int64_t i = 0; i < M * C; ++i) after.data()[i] = before.data()[i] + in.data()[i];
        const Tensor<double> want = normed(
            after, weight, [=](double squares) { return std::sqrt(squares / double(C) + 1e-5); });
        return cause_of(got.values(), want, in, before, after, weight, 1e-5);
    });
    if (known.right || !text.empty()) return text;
    const auto column = [](const Index& out, const Index& e) { return e[0] == out[1]; };
    return read_wrongly(
        {"out",
         "mc",
         {M, C},
         {{"in", {M, C}, same_row}, {"weight", {C}, column}, {"residual", {M, C}, same_row}}},
        [=](const auto& inputs, float* out) {
            auto* residual = const_cast<float*>(inputs[2]);  // of this launch alone
            add_rms_norm_cuda({inputs[0], Shape{M, C}}, {inputs[1], Shape{C}}, 1e-5f,
                              {residual, Shape{M, C}}, {out, Shape{M, C}});
        });
}

// Small integers and powers of two, so that the residual stream is exact.
void check_port(const Tensor<float>& in, const Tensor<float>& before, const Tensor<float>& weight,
                float eps) {
    const std::int64_t M = in.shape()[0], C = in.shape()[1];
    CAPTURE(M, C);
    INFO("eps := " << eps);  // CAPTURE would make 0.0 of 1e-12
    Tensor<float> after({M, C});
    for (std::int64_t i = 0; i < after.size(); ++i) {
        after.data()[i] = before.data()[i] + in.data()[i];
    }
    const Tensor<double> want = normed(after, weight, [=](double squares) {
        return std::sqrt(squares / static_cast<double>(C) + eps);
    });
    // The sum of C squares has an error of at most C half units, and its root half of that.
    const auto bound = [&](const Index& at) {
        return (static_cast<double>(C) / 2 + 6) * 0x1p-24 * std::abs(want(at[0], at[1]));
    };
    const View<const float> w = weight.view();
    Tensor<float> stream = before;
    HostOut<float> loop({M, C});
    add_rms_norm_cpu(in.view(), w, eps, stream.view(), loop.view());
    REQUIRE(loop.close_to(want, bound));
    DeviceIn<float> x(in, Lead{1}), scale(weight, Lead{1});
    DeviceOut<float> residual = DeviceOut<float>::holding(before, Lead{3});
    DeviceOut<float> got({M, C}, Lead{1});
    add_rms_norm_cuda(x.view(), scale.view(), eps, residual.view(), got.view());
    REQUIRE_NOTHROW(gpu::check_pending());
    {
        INFO(
            "The wrong tensor is residual. It must become residual + in and be stored: add to "
            "it, do not overwrite it.");
        REQUIRE(residual.matches(after));
    }
    const Comparison same = got.close_to(want, bound);
    require(
        same,
        same ? "" : confirmed_cause(cause_of(got.values(), want, in, before, after, weight, eps)));
    REQUIRE(x.unchanged());
    REQUIRE(scale.unchanged());
}

void check_shape(std::int64_t M, std::int64_t C) {
    check_port(seeded_integers<float>({M, C}, 1, -9, 9), seeded_integers<float>({M, C}, 2, -9, 9),
               seeded_integers<float>({C}, 3, 1, 5), 1e-5f);
}

TEST_CASE("add_rms_norm: the example of the statement", "[day06][add_rms_norm][small]") {
    check_port(Tensor<float>({1, 2}, {2, 6}), Tensor<float>({1, 2}, {1, 2}),
               Tensor<float>({2}, {1, 10}), 1e-12f);
}

TEST_CASE("add_rms_norm: eps is inside the root", "[day06][add_rms_norm][small]") {
    const Tensor<float> small({2, 3}, {0.5f, -0.25f, 0.125f, 0, 0, 0}), none({2, 3});
    check_port(small, none, Tensor<float>({3}, {1, 2, 4}), 0.25f);
}

TEST_CASE("add_rms_norm: rows of 32 elements", "[day06][add_rms_norm][small]") {
    check_shape(1, 32);
    check_shape(9, 32);
}

TEST_CASE("add_rms_norm: shorter, longer and empty rows", "[day06][add_rms_norm][small]") {
    for (const std::int64_t C : {1, 2, 31, 33, 64, 65, 127, 300}) check_shape(5, C);
    for (const std::int64_t M : {0, 1, 7, 8, 17}) check_shape(M, 40);
    check_shape(3, 0);
}

TEST_CASE("add_rms_norm: coalesced loads and stores", "[day06][add_rms_norm][small]") {
    const std::int64_t M = 16, C = 256, row = C / 8;  // sectors of a row
    DeviceIn<float> in(seeded_integers<float>({M, C}, 7, -9, 9)), weight(Tensor<float>({C}));
    DeviceOut<float> residual = DeviceOut<float>::holding(seeded_integers<float>({M, C}, 8, -9, 9));
    DeviceOut<float> got({M, C});
    const auto touched = gpu::touched(
        [&] { add_rms_norm_cuda(in.view(), weight.view(), 1, residual.view(), got.view()); });
    REQUIRE(touched.has_value() == gpu::is_emulated());
    if (touched) {  // counted by the emulator only
        const std::int64_t enough = M * row * 6;
        INFO("Memory moved " << touched->sectors << " sectors of 32 bytes where " << enough
                             << " suffice: read in, weight and residual (twice), write residual "
                                "and out. If it is more, the accesses are uncoalesced, or a row "
                                "is read in an extra pass.");
        REQUIRE(touched->sectors <= enough);
    }
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("add_rms_norm: rejects what the CPU reference rejects", "[day06][add_rms_norm][small]") {
    Tensor<float> x({4, 4}), r({4, 4}), y({4, 4}), four({4}), three({3});
    const auto rejected = [&](View<const float> weight, float eps, View<float> out,
                              const char* words) {
        return both_reject([&] { add_rms_norm_cpu(x.view(), weight, eps, r.view(), out); },
                           [&] { add_rms_norm_cuda(x.view(), weight, eps, r.view(), out); }, words);
    };
    REQUIRE(rejected(three.view(), 1, y.view(), "so weight must have shape (4), not (3)"));
    REQUIRE(rejected(four.view(), 0, y.view(), "must be positive"));
    REQUIRE(rejected(four.view(), 1, r.view(), "residual and out overlap"));
}

}  // namespace
