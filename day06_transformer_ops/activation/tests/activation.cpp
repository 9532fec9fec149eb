// Activations of particular numbers: golden values, all magnitudes, NaN and infinities; and error
// messages.
#include "common/testing/catch.hpp"
#include "common/testing/rejection.hpp"
#include "day06_transformer_ops/activation/activation.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

#include "day06_transformer_ops/activation/tests/golden_activation.inc"

template <class T>
Operation activation_of(Activation what, const Shape& shape, const Values& x) {
    Operation op = activate_operation<T>(Activate::plain, what, shape);
    op.operands[0].values = x;
    return op;
}

TEST_CASE("activations match float64 references", "[day06][activation][small]") {
    for (const Activation what : kActivations) {
        CAPTURE(name(what));
        const std::vector<double>& golden = golden_activated[static_cast<std::size_t>(what)];
        for (std::size_t k = 0; k < golden.size(); ++k) {
            CHECK(std::fabs(exact_activation(what, golden_x[k]) - golden[k]) <=
                  1e-11 * std::fabs(golden[k]) + 1e-99);
        }
        const auto n = static_cast<std::int64_t>(golden.size());
        CHECK(computes_its_result(activation_of<float>(what, {n}, list(golden_x))));
    }
}

// Row 0: -14 to 14, where the GELUs curve. Row 1: -100 to 100, past underflow of the results.
// Row 2: all magnitudes, both signs. Row 3: around the two points where the CPU reference and the
// vectorized kernel have their largest errors.
double of_all_sizes(std::int64_t k) {
    const auto row = k / 2048, i = k % 2048;
    const double part = static_cast<double>(i) / 2047;
    if (row == 0) return 28 * part - 14;
    if (row == 1) return 200 * part - 100;
    if (row == 2) return std::pow(10, 70 * part - 35) * (i % 2 == 0 ? 1 : -1);
    return i < 1024 ? -9.57296848 + static_cast<double>(i - 512) * 0x1p-20
                    : -34.1 + static_cast<double>(i - 1536) * 0x1p-9;
}

TEST_CASE("activations keep their error bound at all magnitudes", "[day06][activation][small]") {
    for (const Activation what : kActivations) {
        CAPTURE(name(what));
        CHECK(computes_its_result(activation_of<float>(what, {4, 2048}, of_all_sizes)));
        CHECK(computes_its_result(activation_of<bf16>(what, {4, 2048}, of_all_sizes)));
    }
}

TEST_CASE("the two GELUs are distinguished: at 2 they differ by 9.8e-5",
          "[day06][activation][small]") {
    // From the background's tables: 0.841345 and 0.841192 at 1.
    const std::vector<double> erf = {0.8413447461, 1.954499736, -0.0455002639, 2.995950306},
                              tanh = {0.8411919906, 1.954597694, -0.0454023059, 2.996362607};
    CHECK(std::fabs(tanh[1] - erf[1] - 9.7958e-5) < 1e-9);
    for (const Activation what : {Activation::gelu_erf, Activation::gelu_tanh}) {
        Operation op = activation_of<float>(what, {4}, list({1, 2, -2, 3}));
        know(op, what == Activation::gelu_erf ? erf : tanh);
        CHECK(op.exact({Tensor<double>({4}, {1, 2, -2, 3}), {}}, 0)[0].error(1) < 3e-6);
        CHECK(computes_its_result(op));
    }
}

template <class T>
void check_specials() {
    const std::vector<double> x = {NAN, INFINITY, -INFINITY, 0, 3.3e38, -3.3e38, 1e-45, -1e-38};
    for (const Activation what : kActivations) {
        CAPTURE(name(what));
        Operation op = activation_of<T>(what, {8}, list(x));
        op.exact = [what](const Inputs& inputs, int) {
            Expected want({8});
            const double lowest = what == Activation::relu ? 0 : NAN, large = inputs[0]->data()[4];
            want.value = Tensor<double>({8}, {NAN, INFINITY, lowest, 0, large, 0, 0, 0});
            // The last two inputs are the smallest numbers; halving them may round.
            for (const int k : {3, 4, 5, 6, 7}) want.error(k) = 1e-38;
            return std::vector{want};
        };
        CHECK(computes_its_result(op));
    }
}

TEST_CASE("NaN and infinity propagate, relu(-infinity) is 0, and far from 0 f is x or 0",
          "[day06][activation][small]") {
    check_specials<float>();
    check_specials<bf16>();
}

TEST_CASE("gate and input may be halves of one tensor's rows if out is in neither",
          "[day06][activation][small]") {
    alignas(16) static float memory[3 * 16 + 24];
    const auto half = [](int k) { return View<float>(memory + 8 * k, Layout({3, 8}, {16, 1})); };
    const View<float> apart(memory + 48, Shape{3, 8});
    CHECK_NOTHROW(check_activate_gated<float>(half(0), half(1), apart, ActivationPath::vectorized));
    CHECK(choose_activation<float>(half(0), half(1), apart) == ActivationPath::vectorized);
    for (const int k : {0, 1}) {
        CHECK(both_reject(
            [&] { activate_gated_cpu<float>(Activation::silu, half(0), half(1), half(k)); },
            [&] { activate_gated_cuda<float>(Activation::silu, half(0), half(1), half(k)); },
            "out overlap without being the same tensor"));
    }
}

// --- error messages ------------------------------------------------------------------------------

TEST_CASE("a path that does not support an activation names its requirement",
          "[day06][activation][small]") {
    alignas(16) static float memory[2][40];
    const View<float> out(memory[1], row_major({4, 8}));
    CHECK(
        rejection([&] {
            check_activate<float>({memory[0] + 1, out.layout}, out, ActivationPath::vectorized);
        }) ==
        "activate: the path 'vectorized' needs rows of whole vectors that begin at multiples of 16 "
        "bytes; in has shape (4, 8), strides (8, 1), the other input shape (4, 8), strides (8, "
        "1), out shape (4, 8), strides (8, 1)");
    CHECK(
        rejection([&] {
            check_activate<float>({memory[0] + 24, Layout({4, 8}, {-8, 1})}, out,
                                  ActivationPath::tile);
        }) ==
        "activate: the path 'tile' needs, after simplifying, 4 dimensions at most with no negative "
        "stride, for CUDA Tile C++ takes strides for sizes; here one has shape (4, 8), strides "
        "(-8, 1)");
}

TEST_CASE("an activation that does not exist is rejected", "[day06][activation][small]") {
    for (const Activate kind : kActivates) {
        CHECK(rejects_as_it_is(
            activate_operation<float>(kind, Activation{4}, {4, 8}, {8}),
            "activation 4 does not exist; it must be one of: relu, gelu_erf, gelu_tanh, silu"));
    }
}

}  // namespace
