// The cases that `common/learn check` runs for causal_row. Stub and solution run them too.
#include "common/testing/testing.hpp"

#include <cmath>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/practice.hpp"
#include "day06_transformer_ops/exercises/causal_row/causal_row.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// In double, with the magnitude of the sums.
struct Answer {
    Tensor<double> out, bound;
};
Answer answer(const View<const float>& q, const View<const float>& k, const View<const float>& v) {
    const std::int64_t T = q.extent(0), D = q.extent(1);
    Answer all{Tensor<double>({T, D}), Tensor<double>({T, D})};
    for (std::int64_t t = 0; t < T; ++t) {
        std::vector<double> score;
        double m = -INFINITY, far = 0, sum = 0;
        for (std::int64_t s = 0; s <= t; ++s) {
            double dot = 0, size = 0;
            for (std::int64_t d = 0; d < D; ++d) {
                dot += double(q(t, d)) * k(s, d), size += std::abs(double(q(t, d)) * k(s, d));
            }
            const double root = std::sqrt(static_cast<double>(D));
            score.push_back(dot / root);
            m = std::fmax(m, score.back());
            far = std::fmax(far, size / root);  // the error of a score is D + 2 half units of this
        }
        for (const double x : score) sum += std::exp(x - m);
        for (std::int64_t d = 0; d < D; ++d) {
            double x = 0, size = 0;
            for (std::int64_t s = 0; s <= t; ++s) {
                const double weight = std::exp(score[static_cast<std::size_t>(s)] - m) / sum;
                x += weight * v(s, d), size += weight * std::abs(v(s, d));
            }
            const double units =
                2 * far * static_cast<double>(D + 4) + 6.0 * static_cast<double>(t + 1) + 8;
            all.out(t, d) = x, all.bound(t, d) = units * 0x1p-24 * size;
        }
    }
    return all;
}

// Online softmax, key after key, with one planted bug.
struct Wrong {
    std::int64_t keys_of_0 = 1;  // how many keys token 0 sees; token t sees t more
    bool own_value = false;      // v(t, d) for v(s, d)
    bool sees_all = false, corrects_x = true, corrects_sum = true, divides = true;
    double scale = 0;                   // 0: the right one
    double sum_times = 1, e_times = 1;  // their factors, key after key
    bool counts = false;                // 1 for e in the sum
};
Tensor<double> with(const Wrong& wrong, const Tensor<float>& q, const Tensor<float>& k,
                    const Tensor<float>& v) {
    const std::int64_t T = q.shape()[0], D = q.shape()[1];
    const double scale = wrong.scale > 0 ? wrong.scale : 1 / std::sqrt(static_cast<double>(D));
    Tensor<double> y({T, D});
    for (std::int64_t t = 0; t < T; ++t) {
        double m = -INFINITY, sum = 0;
        for (std::int64_t s = 0; s < (wrong.sees_all ? T : t + wrong.keys_of_0); ++s) {
            double dot = 0;
            for (std::int64_t d = 0; d < D; ++d) dot += double(q(t, d)) * k(s, d);
            const double larger = std::fmax(m, scale * dot), old = std::exp(m - larger);
            const double e = std::exp(scale * dot - larger);
            const double more = wrong.counts ? 1 : wrong.e_times * e;
            sum = (sum * (wrong.corrects_sum ? old : 1) + more) * wrong.sum_times;
            for (std::int64_t d = 0; d < D; ++d) {
                y(t, d) =
                    y(t, d) * (wrong.corrects_x ? old : 1) + e * v(wrong.own_value ? t : s, d);
            }
            m = larger;
        }
        for (std::int64_t d = 0; d < D && wrong.divides; ++d) y(t, d) /= sum;
    }
    return y;
}

Told cause_of(const Tensor<float>& got, const Tensor<double>& want, const Tensor<float>& q,
              const Tensor<float>& k, const Tensor<float>& v) {
    const auto mistake = [&](const Wrong& wrong, const char* sentence) {
        return Mistake{sentence, with(wrong, q, k, v)};
    };
    const char* lanes_added =
        "All 32 lanes added the same sum: the score is already in every lane, and so is "
        "exp(score - m). Each lane adds it locally, without gpu::warp_reduce.";
    Wrong own, self, ahead, x, sum, neither, undivided, unscaled, by_32, by_D, reduced, reduced_e,
        counted;
    neither.corrects_x = neither.corrects_sum = false;
    reduced.sum_times = reduced_e.e_times = 32, counted.counts = true;
    Tensor<double> nan(want.shape());
    for (std::int64_t i = 0; i < nan.size(); ++i) nan.data()[i] = NAN;
    own.own_value = true;
    self.keys_of_0 = 0, ahead.sees_all = true, x.corrects_x = false, sum.corrects_sum = false;
    undivided.divides = false, unscaled.scale = 1, by_32.scale = 1 / std::sqrt(32.0);
    by_D.scale = 1 / static_cast<double>(q.shape()[1]);
    return likely_mistake(
        got, want,
        {mistake(self, "Token t does not attend to itself: s runs from 0 to t inclusive."),
         mistake(own,
                 "The result is v(t, d), the query's own value. Is v(t, d) multiplied by the "
                 "attention weights instead of v(s, d), or is m never updated, so that "
                 "exp(-infinity) = 0 erases all earlier terms?"),
         mistake(counted, "Each key adds e = exp(score - m) to the sum, not 1."),
         mistake(ahead, "Tokens attend to later tokens: token t may only use s = 0 to t."),
         mistake(x,
                 "x was not rescaled when a larger score arrived: multiply it by exp(old m - new "
                 "m), like the sum."),
         mistake(sum,
                 "The sum was not rescaled when a larger score arrived: multiply it by exp(old m "
                 "- new m), like x."),
         mistake(neither,
                 "Neither sum nor x was rescaled when a larger score arrived. If you update m "
                 "before you compute exp(m - larger), the factor is exp(0) = 1: compute the "
                 "factor exp(old m - new m) first, then update m."),
         {"Does the exponent have the wrong sign? m starts at -INFINITY, so exp(new m - old m) "
          "is infinite for the first key, and infinity times a sum of 0 is NaN. The factor is "
          "exp(old m - new m), which is 0 for the first key.",
          nan},
         mistake(reduced, lanes_added),
         mistake(reduced_e, lanes_added),
         mistake(undivided, "The division of x by the sum is missing."),
         mistake(unscaled, "Scores were not divided by sqrt(D)."),
         mistake(by_32, "Scores were divided by sqrt(32), the number of lanes. Divide by sqrt(D)."),
         mistake(by_D, "Scores were divided by D. Divide by sqrt(D).")});
}

// `known`, or else which elements the launcher reads.
std::string confirmed_cause(const Told& known) {
    const std::int64_t T = 5, D = 4;
    const std::string text = confirmed(known, [&] {
        const auto q = seeded<float>({T, D}, 1, -2, 2), k = seeded<float>({T, D}, 2, -2, 2),
                   v = seeded<float>({T, D}, 3, -2, 2);
        DeviceIn<float> dq(q), dk(k), dv(v);
        DeviceOut<float> got({T, D});
        causal_row_cuda(dq.view(), dk.view(), dv.view(), got.view());
        gpu::check_pending();
        return cause_of(got.values(), answer(q.view(), k.view(), v.view()).out, q, k, v);
    });
    if (known.right || !text.empty()) return text;
    // Token 0 has one key, whose weight is 1 whatever its score is.
    const auto of_t = [](const Index& out, const Index& e) { return out[0] > 0 && e[0] == out[0]; };
    const auto seen = [](const Index& out, const Index& e) { return out[0] > 0 && e[0] <= out[0]; };
    const auto values = [](const Index& out, const Index& e) {
        return e[0] <= out[0] && e[1] == out[1];
    };
    const Shape shape{T, D};
    return read_wrongly(
        {"out", "td", shape, {{"q", shape, of_t}, {"k", shape, seen}, {"v", shape, values}}},
        [=](const auto& in, float* out) {
            causal_row_cuda({in[0], shape}, {in[1], shape}, {in[2], shape}, {out, shape});
        });
}

void check_port(const Tensor<float>& q, const Tensor<float>& k, const Tensor<float>& v) {
    const std::int64_t T = q.shape()[0], D = q.shape()[1];
    CAPTURE(T, D);
    const Answer want = answer(q.view(), k.view(), v.view());
    const auto bound = [&](const Index& at) { return want.bound(at[0], at[1]); };
    HostOut<float> loop({T, D});
    causal_row_cpu(q.view(), k.view(), v.view(), loop.view());
    REQUIRE(loop.close_to(want.out, bound));
    DeviceIn<float> dq(q, Lead{1}), dk(k, Lead{1}), dv(v, Lead{1});
    DeviceOut<float> got({T, D}, Lead{3});
    causal_row_cuda(dq.view(), dk.view(), dv.view(), got.view());
    REQUIRE_NOTHROW(gpu::check_pending());
    const Comparison same = got.close_to(want.out, bound);
    const bool written = same.text.find("Never written") == std::string::npos;
    const bool ask = written && !same;
    require(same, ask ? confirmed_cause(cause_of(got.values(), want.out, q, k, v)) : "");
}

void check_shape(std::int64_t T, std::int64_t D) {
    check_port(seeded<float>({T, D}, 1, -2, 2), seeded<float>({T, D}, 2, -2, 2),
               seeded<float>({T, D}, 3, -2, 2));
}

TEST_CASE("causal_row: the example of the statement", "[day06][causal_row][small]") {
    check_port(Tensor<float>({2, 1}, {5, 1}), Tensor<float>({2, 1}, {0, std::log(3.0f)}),
               Tensor<float>({2, 1}, {4, 8}));
}

TEST_CASE("causal_row: the first token attends to itself only", "[day06][causal_row][small]") {
    INFO(
        "Token t attends to tokens 0 to t. Token 0 has only one key, so its output is v(0, :), "
        "bit for bit.");
    const Tensor<float> q = seeded<float>({3, 32}, 1, -2, 2), v = seeded<float>({3, 32}, 2, -2, 2);
    DeviceIn<float> dq(q), dv(v);
    DeviceOut<float> got({3, 32});
    causal_row_cuda(dq.view(), dq.view(), dv.view(), got.view());
    REQUIRE_NOTHROW(gpu::check_pending());
    const Tensor<float> y = got.values();
    for (std::int64_t d = 0; d < 32; ++d) REQUIRE(y(0, d) == v(0, d));
}

TEST_CASE("causal_row: heads of 32 channels, many tokens", "[day06][causal_row][small]") {
    check_shape(2, 32);
    check_shape(40, 32);
}

TEST_CASE("causal_row: fewer channels, one token, no token", "[day06][causal_row][small]") {
    for (const std::int64_t D : {1, 2, 16, 17, 31}) check_shape(9, D);
    for (const std::int64_t T : {0, 1, 7, 8, 17}) check_shape(T, 8);
}

TEST_CASE("causal_row: the maximum comes late or early", "[day06][causal_row][small]") {
    const std::int64_t T = 40;
    Tensor<float> one({T, 1}), rising({T, 1}), falling({T, 1});
    for (std::int64_t t = 0; t < T; ++t) {
        one(t, 0) = 1;
        rising(t, 0) = static_cast<float>(t) / 2;
        falling(t, 0) = static_cast<float>(T - t) / 2;
    }
    const Tensor<float> v = seeded<float>({T, 1}, 4, 1, 2);
    check_port(one, rising, v);
    check_port(one, falling, v);
}

TEST_CASE("causal_row: scores whose exp overflows float", "[day06][causal_row][small]") {
    INFO(
        "Apply exp to score - m only, never to a score: exp(89) overflows float. And start m at "
        "minus infinity, because all scores may be far below 0.");
    const Tensor<float> one({3, 1}, {1, 1, 1}), v({3, 1}, {4, 8, 2});
    check_port(one, Tensor<float>({3, 1}, {1000, 1001, 999}), v);
    check_port(one, Tensor<float>({3, 1}, {-20000, -20001, -19999}), v);
}

TEST_CASE("causal_row: later tokens are not read", "[day06][causal_row][small]") {
    INFO("Token t must not use keys and values of later tokens: s runs from 0 to t inclusive.");
    Tensor<float> q = seeded<float>({5, 4}, 1, -2, 2), k = q, v = q;
    k(4, 0) = NAN, v(4, 1) = NAN;
    DeviceIn<float> dq(q), dk(k), dv(v);
    DeviceOut<float> got({5, 4});
    causal_row_cuda(dq.view(), dk.view(), dv.view(), got.view());
    const Tensor<float> y = got.values();
    for (std::int64_t t = 0; t < 5; ++t) {
        CAPTURE(t);
        REQUIRE(std::isnan(y(t, 0)) == (t == 4));
    }
}

TEST_CASE("causal_row: views of one buffer, like heads", "[day06][causal_row][small]") {
    INFO(
        "q, k, v and out are views, each with its own strides: use q(t, d), k(s, d), v(s, d) "
        "and out(t, d).");
    const std::int64_t T = 6, D = 5;
    const Tensor<float> qkv = seeded<float>({T, 3 * D}, 6, -2, 2);
    const auto third = [&](const View<const float>& all, std::int64_t i) {
        return slice(all, 1, i * D, (i + 1) * D);
    };
    const View<const float> host = qkv.view();
    const Answer want = answer(third(host, 0), third(host, 1), third(host, 2));
    DeviceIn<float> device(qkv);
    DeviceOut<float> got(column_major({T, D}));
    causal_row_cuda(third(device.view(), 0), third(device.view(), 1), third(device.view(), 2),
                    got.view());
    REQUIRE(got.close_to(want.out, [&](const Index& at) { return want.bound(at[0], at[1]); }));
}

TEST_CASE("causal_row: one pass without intermediate stores", "[day06][causal_row][small]") {
    const std::int64_t T = 24, row = 4;  // sectors of 32 floats
    DeviceIn<float> q(seeded<float>({T, 32}, 1, -2, 2));
    DeviceOut<float> got({T, 32});
    const auto touched =
        gpu::touched([&] { causal_row_cuda(q.view(), q.view(), q.view(), got.view()); });
    REQUIRE(touched.has_value() == gpu::is_emulated());
    if (touched) {  // counted by the emulator only
        const std::int64_t pairs = T * (T + 1) / 2, enough = row * (2 * T + 2 * pairs);
        const bool query_anew = touched->sectors == row * (T + 3 * pairs);
        INFO("Memory moved " << touched->sectors << " sectors of 32 bytes where " << enough
                             << " suffice: each query once, each key and value once per token "
                                "that attends to it, and the output. "
                             << (query_anew
                                     ? "This number is what you get if q(t, d) is loaded again "
                                       "for each key: load it once, before the loop over s."
                                     : "If it is more, q(t, d) is loaded in the loop over s, "
                                       "keys are read in two passes, keys of later tokens are "
                                       "read (s ends at t), scores are stored, or the accesses "
                                       "are not coalesced along d."));
        REQUIRE(touched->sectors <= enough);
    }
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("causal_row: rejects what the CPU reference rejects", "[day06][causal_row][small]") {
    Tensor<float> a({4, 8}), out({4, 8}), wide({2, 33}), far({2, 33});
    REQUIRE(both_reject([&] { causal_row_cpu(a.view(), a.view(), a.view(), wide.view()); },
                        [&] { causal_row_cuda(a.view(), a.view(), a.view(), wide.view()); },
                        "they must be equal"));
    REQUIRE(both_reject([&] { causal_row_cpu(wide.view(), wide.view(), wide.view(), far.view()); },
                        [&] { causal_row_cuda(wide.view(), wide.view(), wide.view(), far.view()); },
                        "a head must have 1 to 32 channels here"));
    REQUIRE(both_reject([&] { causal_row_cpu(a.view(), a.view(), a.view(), a.view()); },
                        [&] { causal_row_cuda(a.view(), a.view(), a.view(), a.view()); },
                        "out overlaps an input"));
}

}  // namespace
