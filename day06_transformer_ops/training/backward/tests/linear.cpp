// Tests of a linear layer's backward pass: CPU reference and CUDA version against central
// differences and PyTorch's autograd, over every element; and argument checks, one operand at a
// time.
#include <bit>

#include "day06_transformer_ops/training/backward/linear_backward.hpp"
#include "day06_transformer_ops/training/backward/tests/near.hpp"
#include "day06_transformer_ops/training/tests/rejections.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

#include "day06_transformer_ops/training/backward/tests/golden_operations.inc"

struct Linear {
    Tensor<float> x, weight, grad;  // (M, K), (K, N), (M, N)
};
struct LinearSlopes {
    Tensor<double> x, weight, bias;
};

// For bounds: |before| + |a| |b| elementwise, the sums of magnitudes.
Tensor<double> sizes_of(const View<const float>& a, const View<const float>& b,
                        const Tensor<float>& before) {
    Tensor<double> sizes(before.shape());
    for (std::int64_t i = 0; i < a.extent(0); ++i) {
        for (std::int64_t j = 0; j < b.extent(1); ++j) {
            sizes(i, j) = std::fabs(double{before(i, j)});
            for (std::int64_t k = 0; k < a.extent(1); ++k) {
                sizes(i, j) += std::fabs(double{a(i, k)} * double{b(k, j)});
            }
        }
    }
    return sizes;
}

void check(const Linear& c, const LinearSlopes& want) {
    const Tensor<float> weight = there_before(c.weight.shape()),
                        bias = there_before({c.grad.shape()[1]});
    const Tensor<double> dw = sum_of(weight, want.weight), db = sum_of(bias, want.bias);
    // Each product is rounded, and so is each sum that it enters, including the one with the
    // previous value.
    const std::int64_t M = c.grad.shape()[0], N = c.grad.shape()[1];
    const Bound of_x =
        rounded(sizes_of(c.grad.view(), transpose(c.weight.view()), Tensor<float>(c.x.shape())), N);
    const Bound of_w = rounded(sizes_of(transpose(c.x.view()), c.grad.view(), weight), M + 1);
    Tensor<double> of_rows({N});
    for (std::int64_t n = 0; n < N; ++n) {
        of_rows(n) = std::fabs(double{bias(n)});
        for (std::int64_t m = 0; m < M; ++m) of_rows(n) += std::fabs(double{c.grad(m, n)});
    }
    const Bound of_b = rounded(of_rows, M);
    const auto all = some_layouts(c.weight.shape());
    for (std::size_t i = 0; i < all.size(); ++i) {  // the weight and its gradient: other layouts
        CAPTURE(to_string(all[i]));
        const Layout x = some_layouts(c.x.shape())[i], g = some_layouts(c.grad.shape())[2 - i];
        HostIn<float> hx(c.x, x), hw(c.weight, all[i]), hg(c.grad, g);
        HostOut<float> loop_x(x);
        auto loop_w = HostOut<float>::holding(weight, all[2 - i]);
        auto loop_b = HostOut<float>::holding(bias);
        linear_backward_cpu(hx.view(), hw.view(), hg.view(), loop_x.view(),
                            {loop_w.view(), loop_b.view()});
        CHECK(loop_x.close_to(want.x, of_x));
        CHECK(loop_w.close_to(dw, of_w));
        CHECK(loop_b.close_to(db, of_b));
        DeviceIn<float> there(c.x, x), w(c.weight, all[i]), grad(c.grad, g);
        DeviceOut<float> d_in(x);
        auto d_weight = DeviceOut<float>::holding(weight, all[2 - i]);
        auto d_bias = DeviceOut<float>::holding(bias);
        const LinearGradients d{d_weight.view(), d_bias.view()};
        auto memory =
            room_of(linear_backward_workspace_bytes(there.view(), w.view(), grad.view(), d));
        linear_backward_cuda(there.view(), w.view(), grad.view(), d_in.view(), d, memory);
        CHECK(d_in.close_to(want.x, of_x));
        CHECK(d_weight.close_to(dw, of_w));
        CHECK(d_bias.close_to(db, of_b));
        CHECK(there.unchanged());
        CHECK(w.unchanged());
        CHECK(grad.unchanged());
    }
}

LinearSlopes slopes_of(const Linear& c) {
    Tensor<double> x = in_double(c.x), w = in_double(c.weight), b(Shape{c.grad.shape()[1]});
    const auto all = [&] {
        double sum = 0;
        for (std::int64_t m = 0; m < x.shape()[0]; ++m) {
            for (std::int64_t n = 0; n < b.size(); ++n) {
                double out = b(n);
                for (std::int64_t k = 0; k < x.shape()[1]; ++k) out += x(m, k) * w(k, n);
                sum += static_cast<double>(c.grad(m, n)) * out;
            }
        }
        return sum;
    };
    return {slopes(x, all), slopes(w, all), slopes(b, all)};
}

TEST_CASE("a linear layer's gradients match central differences", "[day06][training][small]") {
    const std::int64_t shapes[][3] = {{1, 1, 1}, {5, 3, 4}, {4, 4, 4}, {3, 17, 9}, {33, 2, 5}};
    for (const auto& [M, K, N] : shapes) {
        const Linear c{random({M, K}, 15), random({K, N}, 16), random({M, N}, 17)};
        CAPTURE(M, K, N);
        check(c, slopes_of(c));
    }
}

TEST_CASE("a linear layer's bound rejects operands of 15 bits, and a missing term",
          "[day06][training][small]") {
    Linear c{random({5, 3}, 15), random({3, 4}, 16), random({5, 4}, 17)};
    const Bound bound =
        rounded(sizes_of(c.grad.view(), transpose(c.weight.view()), Tensor<float>(c.x.shape())), 4);
    const LinearSlopes want = slopes_of(c);
    const auto d_in = [&](std::int64_t N) {
        HostOut<float> out(c.x.shape());
        Tensor<float> weight({3, 4});
        linear_backward_cpu(c.x.view(), slice(c.weight.view(), 1, 0, N),
                            slice(c.grad.view(), 1, 0, N), out.view(),
                            {slice(weight.view(), 1, 0, N), {}});
        return out.close_to(want.x, bound);
    };
    CHECK(d_in(4));
    CHECK_FALSE(d_in(3));
    for (std::int64_t i = 0; i < c.weight.size(); ++i) {
        auto bits = std::bit_cast<std::uint32_t>(c.weight.data()[i]);
        c.weight.data()[i] = std::bit_cast<float>(bits & ~std::uint32_t{0x1ff});
    }
    CHECK_FALSE(d_in(4));
}

TEST_CASE("a linear layer's gradients match PyTorch's", "[day06][training][small]") {
    const Linear c{floats({4, 4}, linear_x), floats({4, 4}, linear_weight),
                   floats({4, 4}, linear_grad)};
    check(c, {doubles({4, 4}, linear_dx), doubles({4, 4}, linear_dweight),
              doubles({4}, linear_dbias)});
}

TEST_CASE("a linear layer's leading dimensions are rows, and the bias may be absent",
          "[day06][training][small]") {
    const Linear c{random({6, 3}, 18), random({3, 4}, 19), random({6, 4}, 20)};
    const LinearSlopes want = slopes_of(c);
    const Tensor<float> before = there_before({3, 4});
    const Tensor<double> dw = sum_of(before, want.weight);
    DeviceIn<float> x(c.x), w(c.weight), g(c.grad);
    DeviceOut<float> d_in({6, 3});
    auto d_weight = DeviceOut<float>::holding(before);
    const LinearGradients d{d_weight.view(), {}};
    auto memory = room_of(linear_backward_workspace_bytes(x.view(), w.view(), g.view(), d));
    linear_backward_cuda(reshape(x.view(), {2, 3, 3}), w.view(), reshape(g.view(), {2, 3, 4}),
                         reshape(d_in.view(), {2, 3, 3}), d, memory);
    CHECK(d_in.close_to(want.x, bound_of(want.x)));
    CHECK(d_weight.close_to(dw, bound_of(dw)));
}

TEST_CASE("a linear layer's backward pass rejects each operand that does not match",
          "[day06][training][small]") {
    Room r[6];
    struct Operands {
        Read in, weight, grad;
        Written d_in;
        LinearGradients d;
    };
    using O = Operands&;
    const Operands right = {r[0].of({2, 3, 4}),
                            r[1].of({4, 5}),
                            r[2].of({2, 3, 5}),
                            r[3].of({2, 3, 4}),
                            {r[4].of({4, 5}), r[5].of({5})}};
    REQUIRE(rejection([&] {
                check_linear_backward(right.in, right.weight, right.grad, right.d_in, right.d);
            }).empty());
    gpu::Buffer<std::byte> memory(
        linear_backward_workspace_bytes(right.in, right.weight, right.grad, right.d));
    const auto port = [&](O o) {
        linear_backward_cuda(o.in, o.weight, o.grad, o.d_in, o.d, memory);
    };
    each_alone<Operands>(
        right, [](O o) { linear_backward_cpu(o.in, o.weight, o.grad, o.d_in, o.d); }, port,
        {{[](O o) { reshaped(o.weight, {20}); }, "weight has shape (20)"},
         {[](O o) { o.weight.data = nullptr; }, "weight is a null pointer"},
         {[](O o) { reshaped(o.in, {}); }, "in has shape ()"},
         {[](O o) {
              reshaped(o.in, {2, 4, 3});
          },
          "in has shape (2, 4, 3)"},
         {[](O o) { o.in.data = nullptr; }, "in is a null pointer"},
         {[](O o) {
              o.in = {o.in.data, Layout({2, 3, 4}, {20, 4, 1})};
          },
          "(2, 3, 4)"},
         {[](O o) {
              reshaped(o.grad, {6, 5});
          },
          "grad has shape (6, 5)"},
         {[](O o) { o.grad.data = nullptr; }, "grad is a null pointer"},
         {[](O o) {
              o.grad = {o.grad.data, Layout({2, 3, 5}, {20, 5, 1})};
          },
          "(2, 3, 5)"},
         {[](O o) {
              reshaped(o.d_in, {2, 3, 5});
          },
          "d_in has shape (2, 3, 5)"},
         {[](O o) { o.d_in.data = nullptr; }, "d_in is a null pointer"},
         {[](O o) { o.d_in = collapsed(o.d_in); }, "d_in"},
         {[](O o) {
              o.d_in = {o.d_in.data, Layout({2, 3, 4}, {20, 4, 1})};
          },
          "(2, 3, 4)"},
         {[](O o) {
              reshaped(o.d.weight, {5, 4});
          },
          "d_weight has shape (5, 4)"},
         {[](O o) { o.d.weight.data = nullptr; }, "d_weight is a null pointer"},
         {[](O o) { o.d.weight = collapsed(o.d.weight); }, "d_weight"},
         {[](O o) { reshaped(o.d.bias, {4}); }, "d_bias has shape (4)"},
         {[](O o) { o.d.bias = collapsed(o.d.bias); }, "d_bias"},
         {[](O o) { o.d_in.data = const_cast<float*>(o.in.data); }, "in overlaps d_in"},
         {[](O o) { o.d_in.data = const_cast<float*>(o.weight.data); }, "weight overlaps d_in"},
         {[](O o) { o.d_in.data = const_cast<float*>(o.grad.data); }, "grad overlaps d_in"},
         {[](O o) { o.d.weight.data = const_cast<float*>(o.in.data); }, "in overlaps d_weight"},
         {[](O o) { o.d.weight.data = const_cast<float*>(o.weight.data); },
          "weight overlaps d_weight"},
         {[](O o) { o.d.weight.data = const_cast<float*>(o.grad.data); }, "grad overlaps d_weight"},
         {[](O o) { o.d.weight.data = o.d_in.data; }, "d_in overlaps d_weight"},
         {[](O o) { o.d.bias.data = const_cast<float*>(o.in.data); }, "in overlaps d_bias"},
         {[](O o) { o.d.bias.data = const_cast<float*>(o.weight.data); }, "weight overlaps d_bias"},
         {[](O o) { o.d.bias.data = const_cast<float*>(o.grad.data); }, "grad overlaps d_bias"},
         {[](O o) { o.d.bias.data = o.d_in.data; }, "d_in overlaps d_bias"},
         {[](O o) { o.d.bias.data = o.d.weight.data; }, "d_weight overlaps d_bias"}});
    CHECK(contains(rejection([&] {
                       linear_backward_cuda(right.in, right.weight, right.grad, right.d_in, right.d,
                                            {});
                   }),
                   "linear_backward: a workspace of 0 bytes"));
    const auto bytes = [&](const std::function<void(O)>& change) {
        Operands o = right;
        change(o);
        return rejection(
            [&] { (void)linear_backward_workspace_bytes(o.in, o.weight, o.grad, o.d); });
    };
    CHECK(contains(bytes([](O o) { o.in = {o.in.data, Shape{}}; }), "in has shape ()"));
    CHECK(contains(bytes([](O o) { o.in = {o.in.data, Shape{6, 5}}; }), "in has shape (6, 5)"));
    CHECK(contains(bytes([](O o) { o.weight = {o.weight.data, Shape{5}}; }), "weight has shape"));
    CHECK(contains(bytes([](O o) { o.grad = {o.grad.data, Shape{}}; }), "grad has shape ()"));
    CHECK(contains(bytes([](O o) {
                       o.d.weight = {o.d.weight.data, Shape{5, 4}};
                   }),
                   "d_weight has shape (5, 4)"));
    CHECK(bytes([](O o) { o.in.data = o.weight.data = o.grad.data = nullptr; }).empty());
}

TEST_CASE("a bias's backward pass rejects each operand that does not match, on its own",
          "[day06][training][small]") {
    Room r[2];
    struct Operands {
        Read grad;
        Written d_bias;
    };
    using O = Operands&;
    const Operands right = {r[0].of({2, 3, 5}), r[1].of({5})};
    gpu::Buffer<std::byte> memory(bias_backward_workspace_bytes(right.grad));
    const auto port = [&](O o) { bias_backward_cuda(o.grad, o.d_bias, memory); };
    const auto check = [](O o) { check_bias_backward(o.grad, o.d_bias); };
    each_alone<Operands>(
        right, check, port,
        {{[](O o) { reshaped(o.grad, {}); }, "grad has rank 0"},
         {[](O o) { o.grad.data = nullptr; }, "grad is a null pointer"},
         {[](O o) {
              o.grad = {o.grad.data, Layout({2, 3, 5}, {20, 5, 1})};
          },
          "(2, 3, 5)"},
         {[](O o) { reshaped(o.d_bias, {4}); }, "d_bias has shape (4)"},
         {[](O o) { o.d_bias.data = nullptr; }, "d_bias is a null pointer"},
         {[](O o) { o.d_bias = collapsed(o.d_bias); }, "d_bias has "},
         {[](O o) { o.d_bias.data = const_cast<float*>(o.grad.data); }, "grad overlaps d_bias"}});
    CHECK(rejection([&] { check_bias_backward(right.grad, right.d_bias); }).empty());
    CHECK(contains(rejection([&] { bias_backward_cuda(right.grad, right.d_bias, {}); }),
                   "bias_backward: a workspace of 0 bytes"));
}

}  // namespace
