// Norms of particular rows: golden values, near misses, and error messages.
#include "common/testing/catch.hpp"
#include "day06_transformer_ops/norm/norm.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

struct GoldenNorm {
    double eps;
    std::vector<double> x, weight, bias, layer_norm, rms_norm;
};
#include "day06_transformer_ops/norm/tests/golden_norm.inc"

// The norm of one row of these values.
Operation norm_of(Norm norm, std::int64_t C, const Values& x, const Values& weight,
                  const Values& bias, float eps) {
    Operation op = norm_operation<float>(norm, {1, C}, eps);
    const Values values[] = {x, weight, bias};
    for (std::size_t i = 0; i < 3; ++i) op.operands[i].values = values[i];
    return op;
}

TEST_CASE("layer norm and RMS norm match NumPy for rows of all kinds", "[day06][norm][small]") {
    for (const GoldenNorm& g : golden_norm) {
        CAPTURE(g.x, g.eps);
        for (const Norm norm : {Norm::layer_norm, Norm::rms_norm}) {
            Operation op = norm_of(norm, static_cast<std::int64_t>(g.x.size()), list(g.x),
                                   list(g.weight), list(g.bias), static_cast<float>(g.eps));
            know(op, norm == Norm::layer_norm ? g.layer_norm : g.rms_norm);
            CHECK(computes_its_result(op));
        }
    }
}

TEST_CASE("a row near 10240 keeps its variance, where E[x^2] - E[x]^2 would not",
          "[day06][norm][small]") {
    // 10240 plus small integers: all sums of differences are exact.
    const auto x = [](std::int64_t i) { return 10240 + double(i * 3 % 5); };
    double mean = 0, squares = 0;
    float sum = 0, sum_of_squares = 0;
    for (std::int64_t i = 0; i < 768; ++i) {
        mean += x(i) / 768;
        sum += static_cast<float>(x(i));
        sum_of_squares += static_cast<float>(x(i)) * static_cast<float>(x(i));
    }
    for (std::int64_t i = 0; i < 768; ++i) squares += std::pow(x(i) - mean, 2) / 768;
    const double one_pass = static_cast<double>(sum_of_squares / 768 - (sum / 768) * (sum / 768));
    CHECK(std::fabs(one_pass - squares) > 0.05 * squares);  // so the tests reject it
    Operation op = norm_of(Norm::layer_norm, 768, x, all_equal_to(1), all_equal_to(0), 1e-5f);
    CHECK(computes_its_result(op));
    op.exact = [exact = op.exact](const Inputs& inputs, int path) {
        std::vector<Expected> all = exact(inputs, path);
        for (std::int64_t i = 0; i < 768; ++i) all[0].error(0, i) = 2e-3;
        return all;
    };
    CHECK(computes_its_result(op));
}

TEST_CASE("the layer norm of a constant row is the bias, bit for bit", "[day06][norm][small]") {
    for (const std::int64_t C : {1, 3, 64, 300, 768}) {
        for (const double x : {0.1, -10240.3}) {
            const Operation some = norm_operation<float>(Norm::layer_norm, {1, C});
            Operation op = norm_of(Norm::layer_norm, C, all_equal_to(x), some.operands[1].values,
                                   some.operands[2].values, 1e-5f);
            op.exact = [C](const Inputs& inputs, int) {
                Expected bias({1, C});
                std::copy_n(inputs[2]->data(), C, bias.value.data());
                return std::vector{bias};
            };
            CHECK(computes_its_result(op));
        }
    }
}

TEST_CASE("without weight and bias, z is returned unchanged", "[day06][norm][small]") {
    for (const Norm norm : kNorms) {
        Operation op = norm_operation<float>(norm, {2, 12});
        const auto without = [](const auto& call) {
            return [call](Call c) {
                c.arguments[1].data = c.arguments[2].data = nullptr;
                call(c);
            };
        };
        op.cpu = without(op.cpu);
        op.cuda = without(op.cuda);
        op.exact = [exact = op.exact](Inputs inputs, int path) {
            inputs[1].reset();
            inputs[2].reset();
            return exact(inputs, path);
        };
        CHECK(computes_its_result(op));
    }
}

TEST_CASE("eps may be 0: rows that are not constant do not need it, and zeros become NaN",
          "[day06][norm][small]") {
    for (const Norm norm : {Norm::layer_norm, Norm::rms_norm}) {
        CHECK(computes_its_result(norm_operation<float>(norm, {2, 8}, 0)));
        CHECK(computes_its_result(
            norm_of(norm, 8, all_equal_to(0), all_equal_to(1), all_equal_to(0), 0)));
    }
}

TEST_CASE("a NaN or an infinity affects its own row and no other", "[day06][norm][small]") {
    for (const Norm norm : kNorms) {
        Operation op = norm_operation<float>(norm, {6, 64});
        op.operands[0].values = [](std::int64_t k) {
            switch (k) {
                case 2 * 64 + 63:
                    return double(NAN);
                case 4 * 64:
                    return -double(NAN);
                case 1 * 64 + 5:
                    return double(INFINITY);
                case 5 * 64:
                    return -double(INFINITY);
                default:
                    return eighths(k);
            }
        };
        CHECK(computes_its_result(op));
    }
}

TEST_CASE("near misses of a norm are rejected by the error bound", "[day06][norm][small]") {
    const std::int64_t C = 96;
    const Tensor<float> x = seeded<float>({1, C}, 5, -0.1, 0.1);
    const auto value = [&](std::int64_t i) { return static_cast<double>(x.data()[i]); };
    Operation op = norm_operation<float>(Norm::layer_norm, {1, C}, 1e-5f);
    op.operands[0].values = value;
    const auto weight = op.operands[1].values, bias = op.operands[2].values;
    double mean = 0, squares = 0;
    for (std::int64_t i = 0; i < C; ++i) mean += value(i) / double(C);
    for (std::int64_t i = 0; i < C; ++i) squares += (value(i) - mean) * (value(i) - mean);
    const auto accepted = [&](const auto& z) {
        op.cuda = {};
        op.cpu = [&](const Call& c) {
            for (std::int64_t i = 0; i < C; ++i) {
                c.out<float>(3)(0, i) = static_cast<float>(z(value(i)) * weight(i) + bias(i));
            }
        };
        return bool(computes_its_result(op));
    };
    const double variance = squares / double(C), eps = double(1e-5f);
    CHECK(accepted([&](double v) { return (v - mean) / std::sqrt(variance + eps); }));
    CHECK_FALSE(accepted([&](double v) {  // sample variance, divided by C - 1
        return (v - mean) / std::sqrt(squares / double(C - 1) + eps);
    }));
    CHECK_FALSE(accepted([&](double v) {  // eps outside the root
        return (v - mean) / (std::sqrt(variance) + eps);
    }));
    CHECK_FALSE(accepted([&](double v) { return (v - mean) / std::sqrt(variance); }));
    CHECK_FALSE(accepted([&](double v) {  // in bf16
        return double(float(bf16(float((v - mean) / std::sqrt(variance + eps)))));
    }));
}

TEST_CASE("layer_norm's bound holds where a row's spread is close to the rounding of its mean",
          "[day06][norm][small]") {
    // The mean, 1 + 1.5 2^-23, is not a float: its error is 1/3 of the spread, and the variance
    // around the rounded mean is 1/9 too large. So the error of z is 0.3675, not 1/3.
    const double step = 0x1p-23;
    const Operation op =
        norm_of(Norm::layer_norm, 2, list({1, 1 + 3 * step}), all_equal_to(1), all_equal_to(0), 0);
    CHECK(computes_its_result(op));
    const Inputs inputs = {Tensor<double>({1, 2}, {1, 1 + 3 * step}), {}, {}};
    const Expected want = op.exact(inputs, 0)[0];
    const Tensor<float> x({1, 2}, {1, static_cast<float>(1 + 3 * step)});
    HostOut<float> loop({1, 2});
    layer_norm_cpu(x.view(), {{}, {}, 0}, loop.view());
    const double off = std::fabs(static_cast<double>(loop.values().data()[1]) - want.value(0, 1));
    CHECK(off > 0.367);
    CHECK(off > 0.95 * want.error(0, 1));
    // A mean that is another 0.4 units in the last place larger exceeds the bound.
    const double mean = 1 + 2.4 * step, z = (1 + 3 * step - mean) / std::sqrt(2.25 + 0.81) / step;
    CHECK(std::fabs(z - want.value(0, 1)) > want.error(0, 1));
}

// --- error messages ------------------------------------------------------------------------------

TEST_CASE("a path that does not support a call names its requirement", "[day06][norm][small]") {
    alignas(16) static float memory[2][16];
    const auto rejected = [&](const Layout& in, NormPath path, bool adds = false) {
        const View<float> out(memory[1] + 1, in);
        return rejection([&] {
            static float stream[16];
            if (adds) {
                add_layer_norm_cuda({memory[0], in}, {}, {stream, in}, out, {.path = path});
            } else {
                layer_norm_cuda({memory[0], in}, {}, out, {.path = path});
            }
        });
    };
    CHECK(rejected(row_major({1, 8}), NormPath::registers) ==
          "layer_norm: the path 'registers' needs rows of whole vectors along memory that begin at "
          "multiples of 16 bytes, of 16,384 elements at most; in has shape (1, 8), strides (8, 1), "
          "out shape (1, 8), strides (8, 1)");
    CHECK(contains(rejected(row_major({1, 8}), NormPath::registers, true),
                   "add_layer_norm: the path 'registers' needs rows"));
    CHECK(contains(rejected(Layout({2, 4}, {4, -1}), NormPath::tile),
                   "layer_norm: the path 'tile' needs rows of at most 8192 elements, at one step "
                   "from each other, and no negative stride, for CUDA Tile C++ takes strides for "
                   "sizes; in has "));
    CHECK(rejected(row_major({1, 8}), NormPath::tile, true) ==
          "add_layer_norm: only layer_norm and rms_norm have the path 'tile'");
}

TEST_CASE("the norms reject an eps that is negative, infinite or NaN", "[day06][norm][small]") {
    const auto rejected = [&](float eps, const std::string& words) {
        for (const Norm norm : kNorms) {
            CAPTURE(eps, static_cast<int>(norm));
            CHECK(rejects_as_it_is(norm_operation<float>(norm, {4, 8}, eps), words));
        }
    };
    rejected(-1e-5f, "eps is -0.000010, but must be 0 or more, and finite");
    rejected(NAN, "eps is nan, but must be 0 or more, and finite");
    rejected(INFINITY, "eps is inf, but must be 0 or more, and finite");
}

}  // namespace
