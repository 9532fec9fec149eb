// The cases that `common/learn check` runs for softmax_back. Stub and solution run them too.
#include "common/testing/testing.hpp"

#include <cmath>

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/testing/practice.hpp"
#include "day06_transformer_ops/exercises/softmax_back/softmax_back.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// each(m, i) in double.
template <class Each>
Tensor<double> made_of(const Tensor<float>& p, const Each& each) {
    Tensor<double> d(p.shape());
    for (std::int64_t m = 0; m < p.shape()[0]; ++m) {
        for (std::int64_t i = 0; i < p.shape()[1]; ++i) d(m, i) = each(m, i);
    }
    return d;
}
// p(i) * (grad(i) - delta) in double; delta_of(m, i): what is subtracted.
template <class Delta>
Tensor<double> back_of(const Tensor<float>& p, const Tensor<float>& grad, const Delta& delta_of) {
    return made_of(
        p, [&](std::int64_t m, std::int64_t i) { return p(m, i) * (grad(m, i) - delta_of(m, i)); });
}
// Sum of p * grad over every step-th element of row m, from `first` on.
double delta(const Tensor<float>& p, const Tensor<float>& grad, std::int64_t m,
             std::int64_t first = 0, std::int64_t step = 1) {
    double sum = 0;
    for (std::int64_t j = first; j < p.shape()[1]; j += step) {
        sum += static_cast<double>(p(m, j)) * grad(m, j);
    }
    return sum;
}

Told cause_of(const Tensor<float>& got, const Tensor<double>& want, const Tensor<float>& p,
              const Tensor<float>& grad) {
    const std::int64_t M = p.shape()[0], N = p.shape()[1];
    const auto sum = [&](std::int64_t m) {
        double all = 0;
        for (std::int64_t j = 0; j < N; ++j) all += grad(m, j);
        return all;
    };
    const auto made = [&](const auto& of_p_grad_delta) {
        return made_of(p, [&](std::int64_t m, std::int64_t i) {
            return of_p_grad_delta(double(p(m, i)), double(grad(m, i)), delta(p, grad, m));
        });
    };
    return likely_mistake(
        got, want,
        {{"Nothing was subtracted: these are p(i) * grad(i). The other probabilities shrink as "
          "this one grows.",
          back_of(p, grad, [](std::int64_t, std::int64_t) { return 0.0; })},
         {"Each lane subtracted its own part of delta, the sum of p(j) * grad(j): "
          "gpu::warp_reduce(delta, gpu::Plus()) adds up those of all lanes.",
          back_of(p, grad,
                  [&](std::int64_t m, std::int64_t i) { return delta(p, grad, m, i % 32, 32); })},
         {"delta, the sum of p(j) * grad(j), is that of another row.",
          back_of(
              p, grad,
              [&](std::int64_t m, std::int64_t) { return delta(p, grad, m == 0 ? M - 1 : 0); })},
         {"The plain mean of grad was subtracted. Weight each gradient by its probability, p(j).",
          back_of(p, grad,
                  [&](std::int64_t m, std::int64_t) { return sum(m) / static_cast<double>(N); })},
         {"The plain sum of grad was subtracted. Weight each gradient by its probability, p(j).",
          back_of(p, grad, [&](std::int64_t m, std::int64_t) { return sum(m); })},
         {"p(i) multiplies only delta, the sum of p(j) * grad(j). It must multiply grad(i) too: "
          "p(i) * (grad(i) - delta).",
          made([](double probability, double g, double all) { return g - probability * all; })},
         {"p(i) is missing: these are grad(i) - delta.",
          made([](double, double g, double all) { return g - all; })},
         {"p(i) must multiply delta too, the sum of p(j) * grad(j): p(i) * (grad(i) - delta), "
          "not p(i) * grad(i) - delta.",
          made([](double probability, double g, double all) { return probability * g - all; })},
         {"grad(i) is missing: for j = i, the sum contains grad(i) * p(i), not p(i) alone.",
          made([](double probability, double, double all) { return probability * (1 - all); })},
         {"The term of j = i is counted twice: p(i) * grad(i) * (1 - p(i)) already contains its "
          "-p(i), and so does the sum over all j.",
          made([](double probability, double g, double all) {
              return probability * g * (1 - probability) - probability * all;
          })},
         {"p(i) and grad(i) are swapped: the result is p(i) * (grad(i) - delta).",
          made([](double probability, double g, double all) { return g * (probability - all); })},
         {"The sum over j was added instead of subtracted: p(i) * (grad(i) - delta).",
          made([](double probability, double g, double all) { return probability * (g + all); })},
         {"The sign is wrong: grad(i) is positive, and the sum over all j is subtracted.",
          made([](double probability, double g, double all) { return probability * (all - g); })}});
}

Tensor<float> probabilities(std::int64_t M, std::int64_t N, std::uint64_t seed) {
    Tensor<float> p = seeded<float>({M, N}, seed, 0.1, 3);
    for (std::int64_t m = 0; m < M; ++m) {
        double sum = 0;
        for (std::int64_t n = 0; n < N; ++n) sum += p(m, n);
        for (std::int64_t n = 0; n < N; ++n) p(m, n) = static_cast<float>(p(m, n) / sum);
    }
    return p;
}

Tensor<double> right(const Tensor<float>& p, const Tensor<float>& grad) {
    return back_of(p, grad, [&](std::int64_t m, std::int64_t) { return delta(p, grad, m); });
}

// `known`, or else which elements the launcher reads.
std::string confirmed_cause(const Told& known) {
    const std::int64_t M = 3, N = 40;
    const std::string text = confirmed(known, [&] {
        const Tensor<float> p = probabilities(M, N, 1), grad = seeded<float>({M, N}, 2, -2, 2);
        DeviceIn<float> in(p), g(grad);
        DeviceOut<float> got({M, N});
        softmax_back_cuda(in.view(), g.view(), got.view());
        gpu::check_pending();
        return cause_of(got.values(), right(p, grad), p, grad);
    });
    if (known.right || !text.empty()) return text;
    return read_wrongly(
        {"d_in", "mi", {M, N}, {{"p", {M, N}, same_row}, {"grad", {M, N}, same_row}}},
        [=](const auto& in, float* out) {
            softmax_back_cuda({in[0], Shape{M, N}}, {in[1], Shape{M, N}}, {out, Shape{M, N}});
        });
}

void check_port(const Tensor<float>& p, const Tensor<float>& grad) {
    const std::int64_t M = p.shape()[0], N = p.shape()[1];
    CAPTURE(M, N);
    const Tensor<double> want = right(p, grad);
    // The loop adds up N terms, each of three roundings; their sizes add up to p(i) times |grad(i)|
    // and the sum of |p grad| at most. The kernel's delta has as many additions, and two roundings
    // follow.
    const auto bound = [&](const Index& at) {
        double size = std::abs(grad(at[0], at[1]));
        for (std::int64_t j = 0; j < N; ++j) size += std::abs(p(at[0], j) * grad(at[0], j));
        return static_cast<double>(N + 4) * 0x1p-24 * p(at[0], at[1]) * size + 1e-44;
    };
    HostOut<float> loop({M, N});
    softmax_back_cpu(p.view(), grad.view(), loop.view());
    REQUIRE(loop.close_to(want, bound));
    DeviceIn<float> in(p, Lead{1}), g(grad, Lead{2});
    DeviceOut<float> got({M, N}, Lead{3});
    softmax_back_cuda(in.view(), g.view(), got.view());
    REQUIRE_NOTHROW(gpu::check_pending());
    const Comparison same = got.close_to(want, bound);
    require(same, same ? "" : confirmed_cause(cause_of(got.values(), want, p, grad)));
    REQUIRE(in.unchanged());
    REQUIRE(g.unchanged());
}

TEST_CASE("softmax_back: the example of the statement", "[day06][softmax_back][small]") {
    check_port(Tensor<float>({1, 2}, {0.25f, 0.75f}), Tensor<float>({1, 2}, {8, 4}));
}

TEST_CASE("softmax_back: rows of 32 elements", "[day06][softmax_back][small]") {
    check_port(probabilities(1, 32, 1), seeded<float>({1, 32}, 2, -4, 4));
    check_port(probabilities(9, 32, 3), seeded<float>({9, 32}, 4, -4, 4));
}

TEST_CASE("softmax_back: shorter, longer and empty rows", "[day06][softmax_back][small]") {
    for (const std::int64_t N : {1, 2, 31, 33, 64, 65, 127}) {
        check_port(probabilities(5, N, 5), seeded<float>({5, N}, 6, -9, 1));
    }
    for (const std::int64_t M : {0, 1, 7, 8, 17}) {
        check_port(probabilities(M, 40, 7), seeded<float>({M, 40}, 8, -4, 4));
    }
    check_port(Tensor<float>({3, 0}), Tensor<float>({3, 0}));
}

TEST_CASE("softmax_back: a NaN affects its own row only", "[day06][softmax_back][small]") {
    Tensor<float> grad = seeded<float>({3, 70}, 9, -4, 4);
    grad(1, 69) = NAN;
    DeviceIn<float> p(probabilities(3, 70, 10)), g(grad);
    DeviceOut<float> got({3, 70});
    softmax_back_cuda(p.view(), g.view(), got.view());
    const Tensor<float> d = got.values();
    REQUIRE(std::isnan(d(1, 0)));
    REQUIRE(std::isfinite(d(0, 69)));
    REQUIRE(std::isfinite(d(2, 0)));
}

TEST_CASE("softmax_back: a warp reads its row twice and writes it once",
          "[day06][softmax_back][small]") {
    const std::int64_t M = 16, N = 256, row = N / 8;  // sectors of a row
    DeviceIn<float> p(probabilities(M, N, 11)), grad(seeded<float>({M, N}, 12, -4, 4));
    DeviceOut<float> got({M, N});
    const auto touched =
        gpu::touched([&] { softmax_back_cuda(p.view(), grad.view(), got.view()); });
    REQUIRE(touched.has_value() == gpu::is_emulated());
    if (touched) {  // counted by the emulator only
        INFO("Memory moved " << touched->sectors << " sectors of 32 bytes where " << M * row * 5
                             << " suffice: p and grad twice, and d_in once. If it is more, the "
                                "accesses are uncoalesced, the sum over j is recomputed for each "
                                "i, or all 32 lanes process the whole row.");
        REQUIRE(touched->sectors <= M * row * 5);
    }
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("softmax_back: the last of more than 2^32 elements", "[day06][softmax_back][small]") {
    check_far_rows([](View<const float> in, View<float> out) { softmax_back_cuda(in, in, out); });
}

TEST_CASE("softmax_back: rejects what the CPU reference rejects", "[day06][softmax_back][small]") {
    Tensor<float> a({4, 4}), b({4, 4}), wide({2, 8});
    const auto rejected = [&](View<const float> grad, View<float> out, const char* words) {
        return both_reject([&] { softmax_back_cpu(a.view(), grad, out); },
                           [&] { softmax_back_cuda(a.view(), grad, out); }, words);
    };
    REQUIRE(rejected(wide.view(), b.view(), "they must be equal"));
    REQUIRE(rejected(b.view(), wide.view(), "they must be equal"));
    REQUIRE(rejected(b.view(), a.view(), "p and d_in overlap"));
    REQUIRE(rejected(b.view(), b.view(), "grad and d_in overlap"));
}

}  // namespace
