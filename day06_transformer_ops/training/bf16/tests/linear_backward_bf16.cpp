// A linear layer's backward pass from bf16: both versions against products in double.
#include "day06_transformer_ops/training/bf16/linear_backward_bf16.hpp"

#include "day06_transformer_ops/training/bf16/tests/near_bf16.hpp"
#include "day06_transformer_ops/training/tests/rejections.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

struct Case {
    std::int64_t M, K, N;
    Tensor<bf16> in = seeded<bf16>({M, K}, 1, -1, 1), weight = seeded<bf16>({K, N}, 2, -1, 1),
                 grad = seeded<bf16>({M, N}, 3, -1, 1);
    Tensor<float> before = there_before({K, N});
};
struct LinearNear {
    Tensor<Near> in, weight;
};
// @param sums_rounded  a worse version, which keeps the sum over the rows in bf16
LinearNear near_of(const Case& c, bool sums_rounded = false) {
    LinearNear made{Tensor<Near>({c.M, c.K}), Tensor<Near>({c.K, c.N})};
    for (std::int64_t k = 0; k < c.K; ++k) {
        for (std::int64_t m = 0; m < c.M; ++m) {
            std::vector<Near> terms;
            for (std::int64_t n = 0; n < c.N; ++n) {
                terms.push_back({exactly(c.grad(m, n)) * exactly(c.weight(k, n))});
            }
            made.in(m, k) = total_by_tensor_cores(terms);
        }
        for (std::int64_t n = 0; n < c.N; ++n) {
            std::vector<Near> terms = {{double{c.before(k, n)}}};
            double sum = terms[0].value;
            for (std::int64_t m = 0; m < c.M; ++m) {
                terms.push_back({exactly(c.in(m, k)) * exactly(c.grad(m, n))});
                sum = of_bits(sum + terms.back().value, 8);
            }
            made.weight(k, n) = total_by_tensor_cores(terms);
            if (sums_rounded) made.weight(k, n).value = sum;
        }
    }
    return made;
}

void check(const Case& c) {
    CAPTURE(c.M, c.K, c.N);
    const LinearNear near = near_of(c);
    // Models store matrices as (out, in) or as (in, out).
    for (const Layout& layout : {row_major({c.K, c.N}), transpose(row_major({c.N, c.K}), 0, 1)}) {
        HostIn<bf16> in(c.in), weight(c.weight, layout), grad(c.grad);
        HostOut<float> loop_in({c.M, c.K});
        auto loop_weight = HostOut<float>::holding(c.before, layout);
        linear_backward_bf16_cpu(in.view(), weight.view(), grad.view(), loop_in.view(),
                                 loop_weight.view());
        CHECK(loop_in.close_to(values_of(near.in), bound_of(near.in)));
        CHECK(loop_weight.close_to(values_of(near.weight), bound_of(near.weight)));
        DeviceIn<bf16> x(c.in), w(c.weight, layout), g(c.grad);
        DeviceOut<float> d_in({c.M, c.K});
        auto d_weight = DeviceOut<float>::holding(c.before, layout);
        linear_backward_bf16_cuda(x.view(), w.view(), g.view(), d_in.view(), d_weight.view());
        CHECK(d_in.close_to(values_of(near.in), bound_of(near.in)));
        CHECK(d_weight.close_to(values_of(near.weight), bound_of(near.weight)));
    }
}

TEST_CASE("a linear layer's backward pass from bf16", "[day06][training][small]") {
    check({5, 8, 16});
    check({3, 5, 7});  // rows that are not whole vectors
    check({40, 24, 8});
    check({1, 1, 1});  // rows and columns whose stride is never used, and not a multiple of 8
    check({1, 8, 3});
    check({16, 32, 1});
    check({9, 1, 8});
}

TEST_CASE("the bound rejects a gradient that is summed in bf16", "[day06][training][small]") {
    const Case c{40, 3, 4};
    const LinearNear near = near_of(c), worse = near_of(c, true);
    Tensor<float> got({3, 4});
    for (std::int64_t i = 0; i < got.size(); ++i) {
        got.data()[i] = float(worse.weight.data()[i].value);
    }
    CHECK_FALSE(close(got, values_of(near.weight), bound_of(near.weight)));
}

struct Operands {
    View<const bf16> in, weight, grad;
    View<float> d_in, d_weight;
};

TEST_CASE("a linear layer's backward pass from bf16 rejects operands that do not match",
          "[day06][training][small]") {
    Room memory[2];
    Tensor<bf16> halves[3] = {Tensor<bf16>({64}), Tensor<bf16>({64}), Tensor<bf16>({64})};
    const auto half = [&](int i, const Shape& s) { return View<const bf16>(halves[i].data(), s); };
    const Operands right{half(0, {2, 3}), half(1, {3, 4}), half(2, {2, 4}), memory[0].of({2, 3}),
                         memory[1].of({3, 4})};
    using O = Operands;
    const std::vector<Change<O>> rows = {
        {[](O& o) { reshaped(o.in, {}); }, "in has rank 0"},
        {[](O& o) { reshaped(o.grad, {}); }, "grad has rank 0"},
        {[](O& o) { reshaped(o.weight, {12}); }, "weight has shape (12) of rank 1"},
        {[](O& o) {
             reshaped(o.grad, {2, 5});
         },
         "grad has shape (2, 5)"},
        {[](O& o) {
             reshaped(o.d_in, {2, 4});
         },
         "d_in has shape (2, 4)"},
        {[](O& o) { laid_over(o.d_in, o.in); }, "in overlaps d_in"},
        {[](O& o) { laid_over(o.d_weight, o.weight); }, "weight overlaps d_weight"},
        {[](O& o) { laid_over(o.d_in, o.d_weight); }, "d_in overlaps d_weight"},
    };
    const auto loop = [](O o) {
        linear_backward_bf16_cpu(o.in, o.weight, o.grad, o.d_in, o.d_weight);
    };
    const auto port = [](O o) {
        linear_backward_bf16_cuda(o.in, o.weight, o.grad, o.d_in, o.d_weight);
    };
    each_alone(right, loop, port, rows, "linear_backward_bf16: ");
    // What the products check.
    each_alone(right, loop, port,
               {{[](O& o) { o.in.data = nullptr; }, "null pointer"},
                {[](O& o) { o.weight.data = nullptr; }, "null pointer"},
                {[](O& o) { o.grad.data = nullptr; }, "null pointer"},
                {[](O& o) { o.d_in.data = nullptr; }, "null pointer"},
                {[](O& o) { o.d_weight.data = nullptr; }, "null pointer"},
                {[](O& o) {
                     o.in = {o.in.data, Shape{3, 3}}, o.grad = {o.grad.data, Shape{3, 4}};
                 },
                 "d_in has shape"},
                {[](O& o) {
                     reshaped(o.d_weight, {3, 5});
                 },
                 "(3, 5)"},
                {[](O& o) { o.d_in = collapsed(o.d_in); }, "out"},
                {[](O& o) { o.d_weight = collapsed(o.d_weight); }, "out"},
                {[](O& o) { laid_over(o.d_in, o.weight); }, "overlap"},
                {[](O& o) { laid_over(o.d_in, o.grad); }, "overlap"},
                {[](O& o) { laid_over(o.d_weight, o.in); }, "overlap"},
                {[](O& o) { laid_over(o.d_weight, o.grad); }, "overlap"}});
}

}  // namespace
