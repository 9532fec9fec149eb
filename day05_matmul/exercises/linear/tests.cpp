// The cases that `common/learn check` runs for linear. Stub and solution run them too.
#include "common/testing/practice.hpp"

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/transform.hpp"
#include "day05_matmul/exercises/linear/linear.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

// Integers: sums are exact, so the kernel must match the CPU reference bit for bit.
Tensor<float> whole(const Shape& shape, std::uint64_t seed) {
    return seeded_integers<float>(shape, seed, -9, 9);
}

// NaN + x is NaN: who adds to out leaves it as if it were never written. Is it right on zeros?
void reject_added(View<const float> x, View<const float> w, View<const float> bias,
                  const HostOut<float>& want) {
    auto zeros = DeviceOut<float>::holding(Tensor<float>(want.view().shape()));
    linear_cuda(x, w, bias, zeros.view());
    if (zeros.matches(want)) {
        FAIL(
            "The kernel adds to out, which is not initialized: here it holds NaN and stays NaN. "
            "Store the sum: out(t, oc) = sum.");
    }
}

// What is left out, added too often, or taken from another element.
Told cause_of(const Tensor<float>& got, const Tensor<float>& x, const Tensor<float>& w,
              const Tensor<float>& bias) {
    using I = std::int64_t;
    const I T = x.shape()[0], C = x.shape()[1], OC = w.shape()[0];
    const auto made = [&](I first, I end, double biases, const auto& weight) {
        Tensor<double> y({T, OC});
        for (I t = 0; t < T; ++t) {
            for (I oc = 0; oc < OC; ++oc) {
                y(t, oc) = biases * bias(oc);
                for (I c = std::max<I>(first, 0); c < end; ++c) {
                    const I at = weight(oc, c);
                    y(t, oc) += at < w.size() ? double(x(t, c)) * w.data()[at] : NAN;
                }
            }
        }
        return y;
    };
    Tensor<double> by_token = made(0, C, 0, [C](I oc, I c) { return oc * C + c; });
    for (I t = 0; t < T; ++t) {
        for (I oc = 0; oc < OC; ++oc) by_token(t, oc) += t < OC ? double(bias(t)) : NAN;
    }
    const auto row = [C](I oc, I c) { return oc * C + c; };
    return likely_mistake(
        got, made(0, C, 1, row),
        {{"The bias was added in every iteration, C times: add it once per output.",
          made(0, C, static_cast<double>(C), row)},
         {"The bias is missing.", made(0, C, 0, row)},
         {"The bias was indexed by token: it belongs to the output channel, bias(oc).", by_token},
         {"w was read as if it were (C, OC): row oc holds the C weights of output channel oc, "
          "w(oc, c).",
          made(0, C, 1, [OC](I oc, I c) { return c * OC + oc; })},
         {"The last channel is missing: c runs from 0 to C - 1 inclusive.", made(0, C - 1, 1, row)},
         {"The first channel is missing: c starts at 0.", made(1, C, 1, row)},
         {"Only the last product is left: each iteration overwrites the sum. Use `+=`, not `=`.",
          made(C - 1, C, 1, row)},
         {"Only the last product is left: each iteration overwrites the sum. Use `+=`, not `=`.",
          made(C - 1, C, 0, row)}});
}

// `known`, or else which elements the launcher reads.
std::string confirmed_cause(const Told& known) {
    const std::int64_t T = 3, OC = 5, C = 4;
    const std::string text = confirmed(known, [&] {
        const Tensor<float> x = whole({T, C}, 1), w = whole({OC, C}, 2), bias = whole({OC}, 3);
        DeviceIn<float> dx(x), dw(w), dbias(bias);
        DeviceOut<float> got({T, OC});
        linear_cuda(dx.view(), dw.view(), dbias.view(), got.view());
        gpu::check_pending();
        return cause_of(got.values(), x, w, bias);
    });
    if (known.right || !text.empty()) return text;
    const auto channel = [](const Index& out, const Index& e) { return e[0] == out[1]; };
    return read_wrongly(
        {"out",
         "to",
         {T, OC},
         {{"x", {T, C}, same_row}, {"w", {OC, C}, channel}, {"bias", {OC}, channel}}},
        [=](const auto& in, float* out) {
            linear_cuda({in[0], Shape{T, C}}, {in[1], Shape{OC, C}}, {in[2], Shape{OC}},
                        {out, Shape{T, OC}});
        });
}

// If no cause is known, `otherwise` is reported.
void check_port(const Tensor<float>& x, const Tensor<float>& w, const Tensor<float>& bias,
                const std::string& otherwise = "") {
    const std::int64_t T = x.shape()[0], OC = w.shape()[0], C = x.shape()[1];
    CAPTURE(T, OC, C);
    HostOut<float> want({T, OC});
    linear_cpu(x.view(), w.view(), bias.view(), want.view());
    DeviceIn<float> dx(x, Lead{1}), dw(w, Lead{3}), dbias(bias);
    DeviceOut<float> got({T, OC}, Lead{1});
    linear_cuda(dx.view(), dw.view(), dbias.view(), got.view());
    REQUIRE_NOTHROW(gpu::check_pending());
    const Comparison same = got.matches(want);
    if (!same) reject_added(dx.view(), dw.view(), dbias.view(), want);
    require(same, same || !otherwise.empty() ? otherwise
                                             : confirmed_cause(cause_of(got.values(), x, w, bias)));
    REQUIRE(dx.unchanged());
    REQUIRE(dw.unchanged());
    REQUIRE(dbias.unchanged());
}

void check_port(std::int64_t T, std::int64_t OC, std::int64_t C) {
    check_port(whole({T, C}, 1), whole({OC, C}, 2), whole({OC}, 3));
}

TEST_CASE("linear: the example of the statement", "[day05][linear][small]") {
    const Tensor<float> x({1, 3}, {1, 2, 3}), w({2, 3}, {1, 0, -1, 2, 2, 2}), bias({2}, {10, 20});
    const Tensor<float> answer({1, 2}, {8, 32});
    HostOut<float> loop({1, 2});
    linear_cpu(x.view(), w.view(), bias.view(), loop.view());
    REQUIRE(loop.matches(answer));
    DeviceIn<float> dx(x), dw(w), dbias(bias);
    DeviceOut<float> got({1, 2});
    linear_cuda(dx.view(), dw.view(), dbias.view(), got.view());
    const Comparison same = got.matches(answer);
    if (!same) reject_added(dx.view(), dw.view(), dbias.view(), loop);
    require(same, same ? "" : confirmed_cause(cause_of(got.values(), x, w, bias)));
}

TEST_CASE("linear: whole and partial blocks", "[day05][linear][small]") {
    check_port(8, 32, 5);
    check_port(16, 64, 16);
    check_port(7, 31, 3);
    check_port(9, 33, 40);
    check_port(1, 1, 1);
    check_port(3, 100, 7);
}

TEST_CASE("linear: sums that need all 24 bits of a float", "[day05][linear][small]") {
    // Multiples of 1/4 below 2^22: exact in a float.
    const auto halves = [](const Shape& shape, std::uint64_t seed) {
        Tensor<float> x = seeded_integers<float>(shape, seed, -511, 511);
        for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] /= 2;
        return x;
    };
    check_port(halves({5, 16}, 1), halves({9, 16}, 2), halves({9}, 3),
               "Sums of small integers are right, these are rounded. Is the sum kept in another "
               "type than float? A half has 11 bits, and an int has no fraction.");
}

TEST_CASE("linear: an empty sum, an empty output", "[day05][linear][small]") {
    check_port(3, 5, 0);
    check_port(0, 5, 3);
    check_port(3, 0, 2);
}

TEST_CASE("linear: views of any strides", "[day05][linear][small]") {
    INFO(
        "x, w, bias and out are views, each with its own strides: use x(t, c), w(oc, c), "
        "bias(oc) and out(t, oc), not .data.");
    const Tensor<float> x = whole({6, 9}, 1), w = whole({6, 10}, 2), bias = whole({1}, 3);
    const View<const float> tokens = transpose(x.view()), weights = transpose(w.view()),
                            all = broadcast_to(bias.view(), {10});
    HostOut<float> want({9, 10});
    linear_cpu(tokens, weights, all, want.view());
    DeviceIn<float> dx(x), dw(w), dbias(bias);
    DeviceOut<float> got(column_major({9, 10}));
    linear_cuda(transpose(dx.view()), transpose(dw.view()), broadcast_to(dbias.view(), {10}),
                got.view());
    REQUIRE(got.matches(want));
}

TEST_CASE("linear: coalesced stores", "[day05][linear][small]") {
    const std::int64_t T = 8, OC = 64, C = 1;
    DeviceIn<float> x(whole({T, C}, 1)), w(whole({OC, C}, 2)), bias(whole({OC}, 3));
    DeviceOut<float> got({T, OC});
    const auto touched =
        gpu::touched([&] { linear_cuda(x.view(), w.view(), bias.view(), got.view()); });
    // 16 warps: each reads 4 sectors of bias, 4 of w and 1 of x, and writes 4.
    REQUIRE(touched.has_value() == gpu::is_emulated());
    REQUIRE_NOTHROW(gpu::synchronize());
    if (!touched) return;  // counted by the emulator only
    const std::int64_t enough = 16 * (4 + 4 + 1 + 4);
    INFO("Memory moved "
         << touched->sectors << " sectors of 32 bytes where " << enough
         << " suffice. Does lane i compute element oc + i of a row, and is the sum accumulated "
            "in a register and stored once? Adding to out itself reads and writes it for each c.");
    REQUIRE(touched->sectors == enough);
}

TEST_CASE("linear: rejects what the CPU reference rejects", "[day05][linear][small]") {
    Tensor<float> x({2, 3}), w({4, 3}), bias({4}), out({2, 4}), other({3, 4});
    REQUIRE(both_reject([&] { linear_cpu(x.view(), other.view(), bias.view(), out.view()); },
                        [&] { linear_cuda(x.view(), other.view(), bias.view(), out.view()); },
                        "they must be (T, C), (OC, C), (OC) and (T, OC)"));
}

}  // namespace
