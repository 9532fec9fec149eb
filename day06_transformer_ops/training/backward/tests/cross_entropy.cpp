// Tests of cross-entropy's backward pass: CPU reference and kernels against central differences and
// PyTorch's autograd, over every element; and argument checks, one operand at a time.
#include "day06_transformer_ops/training/backward/cross_entropy_backward.hpp"
#include "day06_transformer_ops/training/backward/tests/near.hpp"
#include "day06_transformer_ops/training/tests/rejections.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

#include "day06_transformer_ops/training/backward/tests/golden_operations.inc"

struct CrossEntropy {
    Tensor<float> logits;          // (N, V)
    Tensor<std::int64_t> targets;  // (N)
    Tensor<float> grad;            // (N)
};

// A probability p = exp(x - m) / sum, with m the row's maximum: rounding x - m makes a relative
// error of |x - m| units in exp, which adds at most 4 units; the sum of V terms adds V more. p - 1
// and the product are rounded. So the error of a gradient g (p - [j = t]) is |g| times p's units,
// and two of the result.
Bound bound_of_gradient(const CrossEntropy& c) {
    const std::int64_t N = c.logits.shape()[0], V = c.logits.shape()[1];
    Tensor<double> bounds({N, V});
    for (std::int64_t i = 0; i < N; ++i) {
        double largest = -INFINITY, least = INFINITY, sum = 0;
        for (std::int64_t j = 0; j < V; ++j) {
            largest = std::max(largest, double{c.logits(i, j)});
            least = std::min(least, double{c.logits(i, j)});
        }
        for (std::int64_t j = 0; j < V; ++j) sum += std::exp(c.logits(i, j) - largest);
        if (!std::isfinite(sum)) continue;  // a row of NaN is compared as NaN
        const double units = 2 * (largest - least) + static_cast<double>(V) + 10;
        for (std::int64_t j = 0; j < V; ++j) {
            const double p = std::exp(c.logits(i, j) - largest) / sum;
            const double left = std::fabs(j == c.targets(i) ? p - 1 : p);
            bounds(i, j) = kU * std::fabs(double{c.grad(i)}) * (units * p + 2 * left) + 2e-8;
        }
    }
    return [bounds](const Index& at) { return bounds(at); };
}

void check(const CrossEntropy& c, const Tensor<double>& want) {
    const Bound bound = bound_of_gradient(c);
    for (const Layout& layout : some_layouts(c.logits.shape())) {
        CAPTURE(to_string(layout));
        HostIn<float> x(c.logits, layout);
        HostOut<float> loop(layout);
        cross_entropy_backward_cpu(x.view(), c.targets.view(), c.grad.view(), loop.view());
        CHECK(loop.close_to(want, bound, Nans::where_expected));
        DeviceIn<float> dx(c.logits, layout), dg(c.grad);
        DeviceIn<std::int64_t> dt(c.targets);
        using Path = CrossEntropyBackwardPath;
        const View<float> out(nullptr, layout);
        for (const Path path : taken<Path>({Path::row_per_thread, Path::block_per_row},
                                           choose_cross_entropy_backward(out, out), [&](Path p) {
                                               DeviceOut<float> got(layout);
                                               check_cross_entropy_backward(
                                                   dx.view(), dt.view(), dg.view(), got.view(), p);
                                           })) {
            CAPTURE(name(path));
            DeviceOut<float> got(layout);
            cross_entropy_backward_cuda(dx.view(), dt.view(), dg.view(), got.view(),
                                        {.path = path});
            CHECK(got.close_to(want, bound, Nans::where_expected));
            CHECK(dx.unchanged());
            auto in_place = DeviceOut<float>::holding(c.logits, layout);
            cross_entropy_backward_cuda(in_place.view(), dt.view(), dg.view(), in_place.view(),
                                        {.path = path});
            CHECK(in_place.close_to(want, bound, Nans::where_expected));
        }
    }
}

Tensor<float> losses_of(const CrossEntropy& c) {
    const std::int64_t N = c.logits.shape()[0], V = c.logits.shape()[1];
    Tensor<float> losses({N});
    for (std::int64_t i = 0; i < N; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < V; ++j) sum += std::exp(double{c.logits(i, j)});
        losses(i) = static_cast<float>(std::log(sum) - double{c.logits(i, c.targets(i))});
    }
    return losses;
}

// From the losses: log_sum = loss + x(target) has the rounding errors of the loss and of the sum,
// and x - log_sum one more.
Bound bound_from_losses(const CrossEntropy& c, const Tensor<double>& want) {
    const std::int64_t N = c.logits.shape()[0], V = c.logits.shape()[1];
    Tensor<double> bounds({N, V});
    for (std::int64_t i = 0; i < N; ++i) {
        double sum = 0, farthest = 0;
        for (std::int64_t j = 0; j < V; ++j) sum += std::exp(double{c.logits(i, j)});
        const double log_sum = std::log(sum), loss = log_sum - double{c.logits(i, c.targets(i))};
        for (std::int64_t j = 0; j < V; ++j) {
            farthest = std::max(farthest, std::fabs(double{c.logits(i, j)} - log_sum));
        }
        for (std::int64_t j = 0; j < V; ++j) {
            const double p = std::exp(double{c.logits(i, j)} - log_sum);
            bounds(i, j) = kU * std::fabs(double{c.grad(i)}) * p *
                           (std::fabs(loss) + std::fabs(log_sum) + farthest + 8);
            bounds(i, j) += kU * 2 * std::fabs(want(i, j)) + 2e-8;
        }
    }
    return [bounds](const Index& at) { return bounds(at); };
}

// The bound of results that are also rounded to bf16.
Bound rounded_to_bf16(const Bound& exact, const Tensor<double>& want) {
    return [exact, want](const Index& at) {
        return exact(at) + 0x1.01p-8 * (std::fabs(want(at)) + exact(at));
    };
}

void check_from_losses(const CrossEntropy& c, const Tensor<double>& want) {
    const Tensor<float> losses = losses_of(c);
    const Bound bound = bound_from_losses(c, want);
    const std::int64_t N = c.logits.shape()[0], V = c.logits.shape()[1];
    for (const Layout& layout : {row_major({N, V}), Layout({N, V}, {V + 3, 1})}) {
        CAPTURE(to_string(layout));
        DeviceIn<float> x(c.logits, layout), of_rows(losses), grad(c.grad);
        DeviceIn<std::int64_t> targets(c.targets);
        DeviceOut<float> got(layout);
        cross_entropy_backward_from_losses_cuda(x.view(), targets.view(), of_rows.view(),
                                                grad.view(), got.view());
        CHECK(got.close_to(want, bound));
        auto in_place = DeviceOut<float>::holding(c.logits, layout);
        cross_entropy_backward_from_losses_cuda(View<const float>(in_place.view()), targets.view(),
                                                of_rows.view(), grad.view(), in_place.view());
        CHECK(in_place.close_to(want, bound));
        DeviceOut<bf16> rounded(layout);
        cross_entropy_backward_from_losses_cuda(x.view(), targets.view(), of_rows.view(),
                                                grad.view(), rounded.view());
        CHECK(rounded.close_to(want, rounded_to_bf16(bound, want)));
        CHECK(of_rows.unchanged());
    }
}

Tensor<std::int64_t> targets_of(std::int64_t N, std::int64_t V) {
    Tensor<std::int64_t> targets({N});
    for (std::int64_t i = 0; i < N; ++i) targets(i) = (i * 7 + V - 1) % V;
    return targets;
}

Tensor<double> slopes_of(const CrossEntropy& c) {
    Tensor<double> x = in_double(c.logits);
    const std::int64_t N = x.shape()[0], V = x.shape()[1];
    return slopes(x, [&] {
        double all = 0;
        for (std::int64_t i = 0; i < N; ++i) {
            double sum = 0;
            for (std::int64_t j = 0; j < V; ++j) sum += std::exp(x(i, j));
            all += static_cast<double>(c.grad(i)) * (std::log(sum) - x(i, c.targets(i)));
        }
        return all;
    });
}

// The formula in double, for rows that are too long for central differences.
Tensor<double> slopes_of_rows(const CrossEntropy& c) {
    Tensor<double> made(c.logits.shape());
    const std::int64_t N = made.shape()[0], V = made.shape()[1];
    for (std::int64_t i = 0; i < N; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < V; ++j) sum += std::exp(double{c.logits(i, j)});
        for (std::int64_t j = 0; j < V; ++j) {
            const double p = std::exp(double{c.logits(i, j)}) / sum;
            made(i, j) = double{c.grad(i)} * (j == c.targets(i) ? p - 1 : p);
        }
    }
    return made;
}

TEST_CASE("cross-entropy's gradients match central differences", "[day06][training][small]") {
    for (const std::int64_t V : {1, 2, 5, 33, 128}) {
        const CrossEntropy c{random({3, V}, 1), targets_of(3, V), random({3}, 2)};
        CAPTURE(V);
        check(c, slopes_of(c));
    }
}

TEST_CASE("cross-entropy's backward pass: one logit, and no rows", "[day06][training][small]") {
    const CrossEntropy one{random({1, 1}, 39), targets_of(1, 1), random({1}, 40)};
    check(one, Tensor<double>({1, 1}));
    check({Tensor<float>({0, 3}), targets_of(0, 3), Tensor<float>({0})}, Tensor<double>({0, 3}));
}

TEST_CASE("cross-entropy's gradients match PyTorch's", "[day06][training][small]") {
    const CrossEntropy c{floats({4, 5}, cross_entropy_x), targets_of(4, 5),
                         floats({4}, cross_entropy_grad)};
    check(c, doubles({4, 5}, cross_entropy_dx));
}

TEST_CASE("cross-entropy's backward pass: a row with more vectors than a block has threads",
          "[day06][training][small]") {
    for (const std::int64_t V : {259, 2048, 2049, 2601}) {  // blocks of 64 threads, and of 512
        const CrossEntropy c{random({2, V}, 31), targets_of(2, V), random({2}, 32)};
        CAPTURE(V);
        check(c, slopes_of_rows(c));
        check_from_losses(c, slopes_of_rows(c));
    }
}

TEST_CASE("cross-entropy's backward pass to bf16 adds at most half a unit in the last place",
          "[day06][training][small]") {
    for (const std::int64_t V : {1, 33, 259, 2601}) {
        const CrossEntropy c{random({2, V}, 41), targets_of(2, V), random({2}, 42)};
        const Tensor<double> want = slopes_of_rows(c);
        for (const Layout& layout : {row_major({2, V}), Layout({2, V}, {V + 3, 1})}) {
            CAPTURE(to_string(layout));
            HostOut<bf16> loop(layout);
            cross_entropy_backward_bf16_cpu(c.logits.view(), c.targets.view(), c.grad.view(),
                                            loop.view());
            CHECK(loop.close_to(want, rounded_to_bf16(bound_of_gradient(c), want)));
            DeviceIn<float> logits(c.logits, layout), losses(losses_of(c)), grad(c.grad);
            DeviceIn<std::int64_t> targets(c.targets);
            DeviceOut<bf16> got(layout);
            cross_entropy_backward_from_losses_cuda(logits.view(), targets.view(), losses.view(),
                                                    grad.view(), got.view());
            CHECK(got.close_to(want, rounded_to_bf16(bound_from_losses(c, want), want)));
        }
    }
}

TEST_CASE(
    "one gradient serves all rows, a NaN stays in its row, and gradients of a row add up to 0",
    "[day06][training][small]") {
    Tensor<float> logits = random({3, 7}, 3);
    const Tensor<std::int64_t> targets = targets_of(3, 7);
    const Tensor<float> third({}, {1.0f / 3});
    HostOut<float> mean({3, 7});
    cross_entropy_backward_cpu(logits.view(), targets.view(), third.view(), mean.view());
    const Tensor<float> made = mean.values();
    for (std::int64_t i = 0; i < 3; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < 7; ++j) sum += static_cast<double>(made(i, j));
        CHECK(std::fabs(sum) < 1e-7);
        CHECK(made(i, targets(i)) < 0);
    }
    logits(1, 2) = NAN;
    Tensor<double> want = in_double(made);
    for (std::int64_t j = 0; j < 7; ++j) want(1, j) = NAN;
    const Tensor<float> thirds({3}, {1.0f / 3, 1.0f / 3, 1.0f / 3});
    check({logits, targets, thirds}, want);
}

TEST_CASE("cross-entropy's backward pass from losses: few logits, and large ones",
          "[day06][training][small]") {
    for (const std::int64_t V : {1, 2, 5, 33, 128}) {
        CrossEntropy c{random({3, V}, 1), targets_of(3, V), random({3}, 2)};
        CAPTURE(V);
        check_from_losses(c, slopes_of_rows(c));
        for (std::int64_t i = 0; i < c.logits.size(); ++i) c.logits.data()[i] += 64;
        check_from_losses(c, slopes_of_rows(c));
    }
    const CrossEntropy c{random({2, 5}, 4), Tensor<std::int64_t>({2}, {1, 5}), random({2}, 2)};
    DeviceIn<float> x(c.logits), grad(c.grad), losses(Tensor<float>({2}, {1, NAN}));
    DeviceIn<std::int64_t> targets(c.targets);
    DeviceOut<float> got({2, 5}, {}, Poison{0x7e});
    cross_entropy_backward_from_losses_cuda(x.view(), targets.view(), losses.view(), grad.view(),
                                            got.view());
    for (std::int64_t j = 0; j < 5; ++j) {
        CHECK(std::isnan(got.values()(1, j)));
        CHECK_FALSE(std::isnan(got.values()(0, j)));
    }
}

TEST_CASE("target out of range: the CPU reference rejects it, the kernels fill its row with NaN",
          "[day06][training][small]") {
    const Tensor<float> logits = random({2, 3}, 4), one({}, {1});
    Tensor<double> want =
        slopes_of({logits, Tensor<std::int64_t>({2}, {1, 0}), Tensor<float>({2}, {1, 1})});
    for (std::int64_t j = 0; j < 3; ++j) want(1, j) = NAN;
    for (const std::int64_t none : {3, -1}) {
        const Tensor<std::int64_t> targets({2}, {1, none});
        HostOut<float> loop({2, 3});
        const std::string said = rejection([&] {
            cross_entropy_backward_cpu(logits.view(), targets.view(), one.view(), loop.view());
        });
        CHECK(contains(
            said, "the target at (1) is " + std::to_string(none) + ", but there are 3 logits"));
        CHECK(loop.untouched());
        DeviceIn<float> dx(logits), dg(one);
        DeviceIn<std::int64_t> dt(targets);
        using Path = CrossEntropyBackwardPath;
        for (const Path path : {Path::row_per_thread, Path::block_per_row}) {
            CAPTURE(none, name(path));
            DeviceOut<float> got({2, 3}, {}, Poison{0x7e});
            cross_entropy_backward_cuda(dx.view(), dt.view(), dg.view(), got.view(),
                                        {.path = path});
            CHECK(got.close_to(want, bound_of(want), Nans::where_expected));
        }
    }
}

TEST_CASE("from losses: an invalid target, one at -infinity and a NaN stay in their rows",
          "[day06][training][small]") {
    Tensor<float> logits = random({5, 5}, 4);
    const Tensor<float> grads = random({5}, 2);
    Tensor<std::int64_t> targets = targets_of(5, 5);
    Tensor<double> want = slopes_of_rows({logits, targets, grads});
    Tensor<float> losses = losses_of({logits, targets, grads});
    targets(1) = 5, targets(4) = -1;  // whatever their losses are
    logits(2, targets(2)) = -INFINITY, losses(2) = INFINITY;
    logits(3, 1) = NAN, losses(3) = NAN;
    for (std::int64_t i = 1; i < 5; ++i) {
        for (std::int64_t j = 0; j < 5; ++j) want(i, j) = NAN;
    }
    DeviceIn<float> x(logits), of_rows(losses), grad(grads);
    DeviceIn<std::int64_t> named(targets);
    DeviceOut<float> got({5, 5}, {}, Poison{0x7e});
    cross_entropy_backward_from_losses_cuda(x.view(), named.view(), of_rows.view(), grad.view(),
                                            got.view());
    CHECK(got.close_to(want, bound_of(want), Nans::where_expected));
    auto in_place = DeviceOut<float>::holding(logits);
    cross_entropy_backward_from_losses_cuda(View<const float>(in_place.view()), named.view(),
                                            of_rows.view(), grad.view(), in_place.view());
    CHECK(in_place.close_to(want, bound_of(want), Nans::where_expected));
}

TEST_CASE("cross-entropy's backward pass rejects each operand that does not match, on its own",
          "[day06][training][small]") {
    Room r[4];
    struct Operands {
        Read logits;
        Ids targets;
        Read grad;
        Written out;
    };
    using O = Operands&;
    const Operands right = {r[0].of({3, 5}), r[1].ids({3}), r[2].of({3}), r[3].of({3, 5})};
    REQUIRE(rejection([&] {
                check_cross_entropy_backward(right.logits, right.targets, right.grad, right.out);
            }).empty());
    each_alone<Operands>(
        right, [](O o) { cross_entropy_backward_cpu(o.logits, o.targets, o.grad, o.out); },
        [](O o) { cross_entropy_backward_cuda(o.logits, o.targets, o.grad, o.out); },
        {{[](O o) { reshaped(o.logits, {}); }, "logits have shape ()"},
         {[](O o) {
              reshaped(o.logits, {3, 0});
          },
          "logits have shape (3, 0)"},
         {[](O o) {
              reshaped(o.logits, {3, 4});
          },
          "logits has shape (3, 4)"},
         {[](O o) { o.logits.data = nullptr; }, "logits is a null pointer"},
         {[](O o) { reshaped(o.targets, {2}); }, "targets has shape (2)"},
         {[](O o) { o.targets.data = nullptr; }, "targets is a null pointer"},
         {[](O o) { reshaped(o.grad, {2}); }, "grad: "},
         {[](O o) { o.grad.data = nullptr; }, "grad is a null pointer"},
         {[](O o) {
              reshaped(o.out, {2, 5});
          },
          "out has shape (2, 5)"},
         {[](O o) { o.out.data = nullptr; }, "out is a null pointer"},
         {[](O o) { o.out = collapsed(o.out); }, "race"},
         {[](O o) { o.out.data = const_cast<float*>(o.logits.data) + 1; }, "logits and out"},
         {[](O o) { o.out.data = const_cast<float*>(o.grad.data); }, "grad overlaps out"},
         {[](O o) { o.targets.data = reinterpret_cast<const std::int64_t*>(o.out.data); },
          "targets overlaps out"}});
}

TEST_CASE("cross-entropy's backward pass to bf16 rejects each operand that does not match",
          "[day06][training][small]") {
    Room r[4];
    Tensor<bf16> halves({64});
    const Read losses = r[3].of({3});
    struct Operands {
        Read logits;
        Ids targets;
        Read grad;
        View<bf16> out;
    };
    using O = Operands&;
    const Operands right = {
        r[0].of({3, 5}), r[1].ids({3}), r[2].of({3}), {halves.data(), Shape{3, 5}}};
    REQUIRE(rejection([&] {
                check_cross_entropy_backward_bf16(right.logits, right.targets, right.grad,
                                                  right.out);
            }).empty());
    each_alone<Operands>(
        right, [](O o) { cross_entropy_backward_bf16_cpu(o.logits, o.targets, o.grad, o.out); },
        [&](O o) {
            cross_entropy_backward_from_losses_cuda(o.logits, o.targets, losses, o.grad, o.out);
        },
        {{[](O o) { reshaped(o.logits, {}); }, "logits has rank 0"},
         {[](O o) {
              o.logits = {o.logits.data, Shape{3, 0}};
              o.out = {o.out.data, Shape{3, 0}};
          },
          "rows of at least one logit"},
         {[](O o) {
              o.logits.layout = Layout({3, 5}, {1, 3});
          },
          "rows of at least one logit"},
         {[](O o) {
              o.out.layout = Layout({3, 5}, {1, 3});
          },
          "rows of at least one logit"},
         {[](O o) { o.logits.data = nullptr; }, "logits is a null pointer"},
         {[](O o) { reshaped(o.targets, {2}); }, "targets has shape (2)"},
         {[](O o) { o.targets.data = nullptr; }, "targets is a null pointer"},
         {[](O o) { reshaped(o.grad, {2}); }, "grad: "},
         {[](O o) { o.grad.data = nullptr; }, "grad is a null pointer"},
         {[](O o) {
              reshaped(o.out, {2, 5});
          },
          "out has shape (2, 5)"},
         {[](O o) { o.out.data = nullptr; }, "out is a null pointer"},
         {[](O o) { o.out = collapsed(o.out); }, "race"},
         {[](O o) { o.logits.data = reinterpret_cast<const float*>(o.out.data); },
          "logits overlaps out"},
         {[](O o) { o.grad.data = reinterpret_cast<const float*>(o.out.data); },
          "grad overlaps out"},
         {[](O o) { o.targets.data = reinterpret_cast<const std::int64_t*>(o.out.data); },
          "targets overlaps out"}},
        "cross_entropy_backward_bf16: ");
}

TEST_CASE("cross-entropy's backward pass from losses rejects each operand that does not match",
          "[day06][training][small]") {
    Room r[5];
    Tensor<bf16> halves({64});
    const Read logits = r[0].of({3, 5}), losses = r[2].of({3}), grad = r[3].of({3});
    const Ids targets = r[1].ids({3});
    const auto says = [&](const Read& of_rows, const auto& out, const char* words) {
        CAPTURE(words);
        CHECK(contains(rejection([&] {
                           cross_entropy_backward_from_losses_cuda(logits, targets, of_rows, grad,
                                                                   out);
                       }),
                       words));
    };
    const auto each = [&](const auto& right) {
        auto out = right;
        Read wrong = losses;
        reshaped(wrong, {2});
        says(wrong, right, "losses has shape (2)");
        wrong = losses, wrong.data = nullptr;
        says(wrong, right, "losses is a null pointer");
        wrong = losses, wrong.data = reinterpret_cast<const float*>(right.data);
        says(wrong, right, "losses overlaps out");
        out.layout = Layout({3, 5}, {1, 3});
        says(losses, out, "along memory");
    };
    each(r[4].of({3, 5}));
    each(View<bf16>(halves.data(), Shape{3, 5}));
}

}  // namespace
