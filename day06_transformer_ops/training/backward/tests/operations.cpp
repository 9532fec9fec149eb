// The proof of the ways back, one operation after the other: loop and port against central
// differences and against what PyTorch's autograd says, over every element.
#include <bit>
#include <cstring>

#include "day06_transformer_ops/training/backward/activation_backward.hpp"
#include "day06_transformer_ops/training/backward/attention_backward.hpp"
#include "day06_transformer_ops/training/backward/cross_entropy_backward.hpp"
#include "day06_transformer_ops/training/backward/embedding_backward.hpp"
#include "day06_transformer_ops/training/backward/linear_backward.hpp"
#include "day06_transformer_ops/training/backward/norm_backward.hpp"
#include "day06_transformer_ops/training/backward/tests/near.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

#include "day06_transformer_ops/training/backward/tests/golden_operations.inc"

Tensor<float> random(const Shape& shape, std::uint64_t seed) {
    return seeded<float>(shape, seed, -2, 2);
}

// --- cross-entropy -------------------------------------------------------------------------------

struct CrossEntropy {
    Tensor<float> logits;          // (N, V)
    Tensor<std::int64_t> targets;  // (N)
    Tensor<float> grad;            // (N)
};

// A share p = exp(x - m) / sum, m the largest of a row: x - m is rounded, which its exp makes a
// relative error of |x - m| units, and exp is off by 4 units at most; the sum of V such by V more.
// p - 1 and the product are rounded. So of a gradient g (p - [j = t]) it is |g| times p's units and
// two of what is left.
Bound bound_of_share(const CrossEntropy& c) {
    const std::int64_t N = c.logits.shape()[0], V = c.logits.shape()[1];
    Tensor<double> bounds({N, V});
    for (std::int64_t i = 0; i < N; ++i) {
        double largest = -INFINITY, least = INFINITY, sum = 0;
        for (std::int64_t j = 0; j < V; ++j) {
            largest = std::max(largest, double{c.logits(i, j)});
            least = std::min(least, double{c.logits(i, j)});
        }
        for (std::int64_t j = 0; j < V; ++j) sum += std::exp(c.logits(i, j) - largest);
        if (!std::isfinite(sum)) continue;  // a row of NaN is compared as such
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
    const Bound bound = bound_of_share(c);
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
        for (const Path path : taken<Path>({Path::row_a_thread, Path::block_a_row},
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

// From the losses: log_sum = loss + x(target) is off by what the loss was rounded by and by the
// sum's own rounding, and x - log_sum by one more.
void check_from_losses(const CrossEntropy& c, const Tensor<double>& want) {
    const std::int64_t N = c.logits.shape()[0], V = c.logits.shape()[1];
    Tensor<float> losses({N});
    Tensor<double> more({N, V});
    for (std::int64_t i = 0; i < N; ++i) {
        double sum = 0, farthest = 0;
        for (std::int64_t j = 0; j < V; ++j) sum += std::exp(double{c.logits(i, j)});
        const double log_sum = std::log(sum), loss = log_sum - double{c.logits(i, c.targets(i))};
        losses(i) = static_cast<float>(loss);
        for (std::int64_t j = 0; j < V; ++j) {
            farthest = std::max(farthest, std::fabs(double{c.logits(i, j)} - log_sum));
        }
        for (std::int64_t j = 0; j < V; ++j) {
            const double p = std::exp(double{c.logits(i, j)} - log_sum);
            more(i, j) = kU * std::fabs(double{c.grad(i)}) * p *
                         (std::fabs(loss) + std::fabs(log_sum) + farthest + 8);
            more(i, j) += kU * 2 * std::fabs(want(i, j)) + 2e-8;
        }
    }
    const Bound bound = [&](const Index& at) { return more(at); };
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
        CHECK(rounded.close_to(want, [&](const Index& at) {
            return more(at) + 0x1.01p-8 * (std::fabs(want(at)) + more(at));
        }));
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

// The formula itself, in double, for rows that are too long to move each logit.
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

TEST_CASE("cross-entropy's way back: central differences", "[day06][training][small]") {
    for (const std::int64_t V : {1, 2, 5, 33, 128}) {
        const CrossEntropy c{random({3, V}, 1), targets_of(3, V), random({3}, 2)};
        CAPTURE(V);
        check(c, slopes_of(c));
    }
}

TEST_CASE("cross-entropy's way back: one logit, and no row", "[day06][training][small]") {
    const CrossEntropy one{random({1, 1}, 39), targets_of(1, 1), random({1}, 40)};
    check(one, Tensor<double>({1, 1}));
    check({Tensor<float>({0, 3}), targets_of(0, 3), Tensor<float>({0})}, Tensor<double>({0, 3}));
}

TEST_CASE("cross-entropy's way back: PyTorch", "[day06][training][small]") {
    const CrossEntropy c{floats({4, 5}, cross_entropy_x), targets_of(4, 5),
                         floats({4}, cross_entropy_grad)};
    check(c, doubles({4, 5}, cross_entropy_dx));
}

TEST_CASE("cross-entropy's way back: a row for whose quads a block has too few threads",
          "[day06][training][small]") {
    for (const std::int64_t V : {259, 2048, 2049, 2601}) {  // of 64 threads, and of 512
        const CrossEntropy c{random({2, V}, 31), targets_of(2, V), random({2}, 32)};
        CAPTURE(V);
        check(c, slopes_of_rows(c));
        check_from_losses(c, slopes_of_rows(c));
    }
}

TEST_CASE("cross-entropy's way back, rounded: within half of a bf16's last place of the bound",
          "[day06][training][small]") {
    for (const std::int64_t V : {1, 33, 259, 2601}) {
        const CrossEntropy c{random({2, V}, 41), targets_of(2, V), random({2}, 42)};
        const Tensor<double> want = slopes_of_rows(c);
        const Bound exact = bound_of_share(c);
        const Bound bound = [&](const Index& at) {
            return exact(at) + 0x1.01p-8 * (std::fabs(want(at)) + exact(at));
        };
        for (const Layout& layout : {row_major({2, V}), Layout({2, V}, {V + 3, 1})}) {
            CAPTURE(to_string(layout));
            HostOut<bf16> loop(layout);
            cross_entropy_backward_bf16_cpu(c.logits.view(), c.targets.view(), c.grad.view(),
                                            loop.view());
            CHECK(loop.close_to(want, bound));
            DeviceIn<float> logits(c.logits, layout), grad(c.grad);
            DeviceIn<std::int64_t> targets(c.targets);
            DeviceOut<bf16> got(layout);
            cross_entropy_backward_bf16_cuda(logits.view(), targets.view(), grad.view(),
                                             got.view());
            CHECK(got.close_to(want, bound));
        }
    }
}

TEST_CASE("one gradient serves all rows, a NaN stays in its row, and a row's gradients add up to 0",
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

TEST_CASE("cross-entropy's way back from the losses: few logits and far ones",
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

TEST_CASE("a target that names no logit: the loop refuses it, the port fills its row with NaN",
          "[day06][training][small]") {
    const Tensor<float> logits = random({2, 3}, 4);
    Tensor<std::int64_t> targets({2}, {1, 3});
    const Tensor<float> one({}, {1});
    HostOut<float> loop({2, 3});
    const std::string said = refusal([&] {
        cross_entropy_backward_cpu(logits.view(), targets.view(), one.view(), loop.view());
    });
    CHECK(contains(said, "the target at (1) is 3, but there are 3 logits"));
    CHECK(loop.untouched());
    DeviceIn<float> dx(logits), dg(one);
    DeviceIn<std::int64_t> dt(targets);
    DeviceOut<float> got({2, 3}, {}, Poison{0x7e});
    cross_entropy_backward_cuda(dx.view(), dt.view(), dg.view(), got.view());
    targets(1) = 0;
    Tensor<double> want = slopes_of({logits, targets, Tensor<float>({2}, {1, 1})});
    for (std::int64_t j = 0; j < 3; ++j) want(1, j) = NAN;
    CHECK(got.close_to(want, bound_of(want), Nans::where_expected));
}

TEST_CASE("from the losses: no such target, a target at -infinity and a NaN stay in their rows",
          "[day06][training][small]") {
    Tensor<float> logits = random({4, 5}, 4);
    Tensor<double> want = slopes_of_rows({logits, targets_of(4, 5), random({4}, 2)});
    Tensor<std::int64_t> targets = targets_of(4, 5);
    Tensor<float> losses({4});
    for (std::int64_t i = 0; i < 4; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < 5; ++j) sum += std::exp(double{logits(i, j)});
        losses(i) = static_cast<float>(std::log(sum) - double{logits(i, targets(i))});
    }
    targets(1) = 5;  // whatever its loss says
    logits(2, targets(2)) = -INFINITY, losses(2) = INFINITY;
    logits(3, 1) = NAN, losses(3) = NAN;
    for (std::int64_t j = 0; j < 5; ++j) want(1, j) = want(2, j) = want(3, j) = NAN;
    DeviceIn<float> x(logits), of_rows(losses), grad(random({4}, 2));
    DeviceIn<std::int64_t> named(targets);
    DeviceOut<float> got({4, 5}, {}, Poison{0x7e});
    cross_entropy_backward_from_losses_cuda(x.view(), named.view(), of_rows.view(), grad.view(),
                                            got.view());
    CHECK(got.close_to(want, bound_of(want), Nans::where_expected));
    auto in_place = DeviceOut<float>::holding(logits);
    cross_entropy_backward_from_losses_cuda(View<const float>(in_place.view()), named.view(),
                                            of_rows.view(), grad.view(), in_place.view());
    CHECK(in_place.close_to(want, bound_of(want), Nans::where_expected));
}

// --- layer norm ----------------------------------------------------------------------------------

struct LayerNorm {
    Tensor<float> x, weight, grad;  // (rows, C), (C), (rows, C)
    float eps;
};

// alike: the same rows nearer to 0, whose numbers are rounded no less.
void check(const LayerNorm& c, const NormSlopes& want, const LayerNorm& alike) {
    const Shape row = {c.weight.size()};
    const Tensor<float> before = there_before(row);
    const NormNear near = norm_near(alike.x, alike.weight, alike.eps, alike.grad, before, true);
    const Bound of_x = bound_of(near.in), of_w = bound_of(near.weight), of_b = bound_of(near.bias);
    const Tensor<double> weight = sum_of(before, want.weight), bias = sum_of(before, want.bias);
    for (const Layout& layout : some_layouts(c.x.shape())) {
        CAPTURE(to_string(layout));
        HostIn<float> x(c.x, layout), g(c.grad, layout);
        HostOut<float> dx(layout);
        auto dw = HostOut<float>::holding(before), db = HostOut<float>::holding(before);
        const NormParameters parameters{c.weight.view(), {}, c.eps};
        layer_norm_backward_cpu(x.view(), parameters, g.view(), dx.view(), {dw.view(), db.view()});
        CHECK(dx.close_to(want.in, of_x));
        CHECK(dw.close_to(weight, of_w));
        CHECK(db.close_to(bias, of_b));

        DeviceIn<float> there(c.x, layout), grad(c.grad, layout), w(c.weight);
        auto memory = room_of(layer_norm_backward_workspace_bytes(there.view()));
        using Path = LayerNormBackwardPath;
        DeviceOut<float> out(layout);
        const NormParameters of_port{w.view(), {}, c.eps};
        for (const Path path : taken<Path>(
                 {Path::row_a_thread, Path::registers, Path::ahead},
                 choose_layer_norm_backward(there.view(), grad.view(), out.view()), [&](Path p) {
                     check_layer_norm_backward(there.view(), of_port, grad.view(), out.view(), {},
                                               p);
                 })) {
            CAPTURE(name(path));
            DeviceOut<float> d_in(layout);
            auto d_weight = DeviceOut<float>::holding(before, Layout(row, {2}));
            auto d_bias = DeviceOut<float>::holding(before, Layout(row, {-1}));
            layer_norm_backward_cuda(there.view(), of_port, grad.view(), d_in.view(),
                                     {d_weight.view(), d_bias.view()},
                                     {.path = path, .workspace = memory});
            CHECK(d_in.close_to(want.in, of_x));
            CHECK(d_weight.close_to(weight, of_w));
            CHECK(d_bias.close_to(bias, of_b));
        }
        CHECK(there.unchanged());
        CHECK(grad.unchanged());
        CHECK(w.unchanged());
    }
}

void check(const LayerNorm& c, const NormSlopes& want) {
    check(c, want, c);
}

NormSlopes slopes_of(const LayerNorm& c) {
    Tensor<double> x = in_double(c.x), w = in_double(c.weight), b(c.weight.shape());
    const std::int64_t rows = x.shape()[0], C = x.shape()[1];
    const auto all = [&] {
        double sum = 0;
        for (std::int64_t r = 0; r < rows; ++r) {
            double mean = 0, squares = 0;
            for (std::int64_t i = 0; i < C; ++i) mean += x(r, i) / static_cast<double>(C);
            for (std::int64_t i = 0; i < C; ++i) {
                squares += std::pow(x(r, i) - mean, 2) / static_cast<double>(C);
            }
            const double scale = 1 / std::sqrt(squares + static_cast<double>(c.eps));
            for (std::int64_t i = 0; i < C; ++i) {
                sum += static_cast<double>(c.grad(r, i)) * ((x(r, i) - mean) * scale * w(i) + b(i));
            }
        }
        return sum;
    };
    return {slopes(x, all), slopes(w, all), slopes(b, all)};
}

TEST_CASE("layer norm's way back: central differences", "[day06][training][small]") {
    for (const std::int64_t C : {1, 2, 3, 8, 33, 132}) {
        for (const std::int64_t rows : {1, 5}) {
            const LayerNorm c{random({rows, C}, 5), random({C}, 6), random({rows, C}, 7), 0.125f};
            CAPTURE(rows, C);
            check(c, slopes_of(c));
        }
    }
}

TEST_CASE("layer norm's way back: PyTorch", "[day06][training][small]") {
    const LayerNorm c{floats({3, 6}, layer_norm_x), floats({6}, layer_norm_weight),
                      floats({3, 6}, layer_norm_grad), 1e-5f};
    check(c, {doubles({3, 6}, layer_norm_dx), doubles({6}, layer_norm_dweight),
              doubles({6}, layer_norm_dbias)});
}

TEST_CASE("a row near 10240 keeps its gradient; rows by the hundred add up to one of the weight",
          "[day06][training][small]") {
    Tensor<float> x = random({300, 4}, 8);
    for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = std::round(x.data()[i] * 8) / 8;
    const LayerNorm near{x, random({4}, 9), random({300, 4}, 10), 0.125f};
    const NormSlopes want = slopes_of(near);
    check(near, want);
    LayerNorm far = near;
    for (std::int64_t i = 0; i < x.size(); ++i) far.x.data()[i] += 10240;
    check(far, want, near);  // whole eighths: their distances are exact
}

TEST_CASE("layer norm's way back: more columns than a block has threads",
          "[day06][training][small]") {
    const LayerNorm c{random({2, 300}, 5), random({300}, 6), random({2, 300}, 7), 0.125f};
    check(c, slopes_of(c));
}

TEST_CASE("layer norm's way back: more rows than warps, and rows as long as a model's",
          "[day06][training][small]") {
    for (const Shape& shape : {Shape{2057, 4}, Shape{3, 768}, Shape{3, 1024}}) {
        CAPTURE(to_string(shape));
        const LayerNorm c{random(shape, 5), random({shape[1]}, 6), random(shape, 7), 0.125f};
        check(c, norm_slopes(c.x, c.weight, c.eps, c.grad, true));
    }
}

TEST_CASE("a norm's bound refuses a variance that was found in one pass",
          "[day06][training][small]") {
    LayerNorm c{random({2, 8}, 36), random({8}, 37), random({2, 8}, 38), 0.125f};
    for (std::int64_t i = 0; i < c.x.size(); ++i) c.x.data()[i] += 1000;
    const NormSlopes want = slopes_of(c);
    const NormNear near = norm_near(c.x, c.weight, c.eps, c.grad, there_before({8}), true);
    const Bound bound = bound_of(near.in);
    // The mean of the squares less the mean's square: two numbers near a million, whose difference
    // is 1.
    const auto one_pass = [&](std::int64_t r, std::int64_t at) {
        float sum = 0, squares = 0, of_mean = 0, of_scale = 0;
        for (std::int64_t i = 0; i < 8; ++i) sum += c.x(r, i), squares += c.x(r, i) * c.x(r, i);
        const float mean = sum / 8, scale = 1 / std::sqrt(squares / 8 - mean * mean + c.eps);
        const auto h = [&](std::int64_t i) { return c.grad(r, i) * c.weight(i); };
        const auto z = [&](std::int64_t i) { return (c.x(r, i) - mean) * scale; };
        for (std::int64_t i = 0; i < 8; ++i) of_mean += h(i), of_scale += h(i) * z(i);
        return scale * (h(at) - of_mean / 8 - z(at) * (of_scale / 8));
    };
    for (std::int64_t r = 0; r < 2; ++r) {
        double worst = 0;  // of its bounds
        for (std::int64_t i = 0; i < 8; ++i) {
            const double off = std::fabs(double{one_pass(r, i)} - want.in(r, i));
            worst = std::max(worst, off / bound({r, i}));
        }
        CHECK(worst > 3);
    }
    check(c, want);
}

TEST_CASE("layer norm's way back: rows of two dims, evenly apart or not",
          "[day06][training][small]") {
    const Shape shape = {2, 3, 8};
    const LayerNorm c{random({6, 8}, 33), random({8}, 34), random({6, 8}, 35), 0.125f};
    const NormSlopes want = slopes_of(c);
    const Tensor<float> before = there_before({8});
    const Layout even = row_major(shape), apart(shape, {48, 12, 1}), exchanged(shape, {8, 16, 1});
    const Layout layouts[][3] = {{even, even, even},  // of x, grad and d_in: each alone uneven
                                 {apart, even, even},
                                 {even, exchanged, even},
                                 {even, even, apart},
                                 {exchanged, exchanged, exchanged}};
    const auto shaped = [&](const Tensor<float>& of) {
        Tensor<float> made(shape);
        std::copy_n(of.data(), of.size(), made.data());
        return made;
    };
    const NormNear near = norm_near(c.x, c.weight, c.eps, c.grad, before, true);
    Tensor<double> d_x(shape);
    std::copy_n(want.in.data(), want.in.size(), d_x.data());
    Tensor<Near> of_x(shape);
    std::copy_n(near.in.data(), near.in.size(), of_x.data());
    for (const auto& [in, g, out] : layouts) {
        CAPTURE(to_string(in), to_string(g), to_string(out));
        DeviceIn<float> x(shaped(c.x), in), grad(shaped(c.grad), g), w(c.weight);
        DeviceOut<float> d_in(out);
        auto d_weight = DeviceOut<float>::holding(before);
        auto memory = room_of(layer_norm_backward_workspace_bytes(x.view()));
        layer_norm_backward_cuda(x.view(), {w.view(), {}, c.eps}, grad.view(), d_in.view(),
                                 {d_weight.view(), {}},
                                 {.path = LayerNormBackwardPath::registers, .workspace = memory});
        CHECK(d_in.close_to(d_x, bound_of(of_x)));
        CHECK(d_weight.close_to(sum_of(before, want.weight), bound_of(near.weight)));
    }
}

TEST_CASE("layer norm's way back without weight, and with nothing to be added to",
          "[day06][training][small]") {
    LayerNorm c{random({2, 3}, 11), Tensor<float>({3}, {1, 1, 1}), random({2, 3}, 12), 0.5f};
    const NormSlopes want = slopes_of(c);
    const Bound bound =
        bound_of(norm_near(c.x, c.weight, c.eps, c.grad, there_before({3}), true).in);
    HostOut<float> loop({2, 3});
    layer_norm_backward_cpu(c.x.view(), {{}, {}, c.eps}, c.grad.view(), loop.view(), {});
    CHECK(loop.close_to(want.in, bound));
    DeviceIn<float> x(c.x), g(c.grad);
    DeviceOut<float> got({2, 3});
    auto memory = room_of(layer_norm_backward_workspace_bytes(x.view()));
    layer_norm_backward_cuda(x.view(), {{}, {}, c.eps}, g.view(), got.view(), {},
                             {.workspace = memory});
    CHECK(got.close_to(want.in, bound));
    const std::string said = refusal([&] {
        layer_norm_backward_cuda(x.view(), {{}, {}, c.eps}, g.view(), got.view(), {}, {});
    });
    CHECK(contains(said, "layer_norm_backward: a workspace of 0 bytes"));
}

// --- activations ---------------------------------------------------------------------------------

constexpr Activation kActivations[] = {Activation::relu, Activation::gelu_erf,
                                       Activation::gelu_tanh, Activation::silu};

double activated_in_double(Activation what, double x) {
    switch (what) {
        case Activation::relu:
            return x < 0 ? 0 : x;
        case Activation::gelu_erf:
            return x / 2 * std::erfc(-x / std::sqrt(2.0));
        case Activation::gelu_tanh:
            return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
        case Activation::silu:
            return x / (1 + std::exp(-x));
    }
    return 0;
}

Bound slopes_bound(Activation what, const Tensor<float>& x, const Tensor<float>& grad) {
    Tensor<Near> near(x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const Near g{double{grad.data()[i]}};
        near.data()[i] = g * slope_near(what, double{x.data()[i]}).slope;
    }
    return bound_of(near);
}

void check(Activation what, const Tensor<float>& x, const Tensor<float>& grad,
           const Tensor<double>& want) {
    CAPTURE(name(what));
    const Bound bound = slopes_bound(what, x, grad);
    for (const Layout& layout : some_layouts(x.shape())) {
        CAPTURE(to_string(layout));
        HostOut<float> loop(row_major(x.shape()));
        HostIn<float> hx(x, layout), hg(grad);
        activate_backward_cpu(what, hx.view(), hg.view(), loop.view());
        CHECK(loop.close_to(want, bound, Nans::where_expected));
        DeviceIn<float> dx(x, layout), dg(grad);
        DeviceOut<float> out(layout);
        for (const ActivationPath path : taken<ActivationPath>(
                 {ActivationPath::one_element, ActivationPath::quads},
                 choose_activation<float>(dx.view(), dg.view(), out.view()), [&](ActivationPath p) {
                     check_activate_backward(dx.view(), dg.view(), out.view(), p);
                 })) {
            CAPTURE(name(path));
            DeviceOut<float> got(layout);
            activate_backward_cuda(what, dx.view(), dg.view(), got.view(), {.path = path});
            CHECK(got.close_to(want, bound, Nans::where_expected));
            CHECK(dx.unchanged());
            CHECK(dg.unchanged());
            auto in_place = DeviceOut<float>::holding(grad, layout);
            if (choose_activation<float>(dx.view(), in_place.view(), in_place.view()) < path)
                continue;
            activate_backward_cuda(what, dx.view(), in_place.view(), in_place.view(),
                                   {.path = path});
            CHECK(in_place.close_to(want, bound, Nans::where_expected));
        }
    }
}

TEST_CASE("activations' way back: central differences", "[day06][training][small]") {
    const Tensor<float> x = seeded<float>({3, 36}, 13, -6, 6), grad = random({3, 36}, 14);
    for (const Activation what : kActivations) {
        Tensor<double> at = in_double(x);
        const Tensor<double> want = slopes(at, [&] {
            double sum = 0;
            for (std::int64_t i = 0; i < at.size(); ++i) {
                sum +=
                    static_cast<double>(grad.data()[i]) * activated_in_double(what, at.data()[i]);
            }
            return sum;
        });
        check(what, x, grad, want);
    }
}

TEST_CASE("activations' way back: PyTorch, also at 0, far from it, and at NaN",
          "[day06][training][small]") {
    const std::vector<double>* const wanted[] = {&relu_dx, &gelu_erf_dx, &gelu_tanh_dx, &silu_dx};
    const auto n = static_cast<std::int64_t>(activation_x.size());
    for (int i = 0; i < 4; ++i) {
        check(kActivations[i], floats({n}, activation_x), floats({n}, activation_grad),
              doubles({n}, *wanted[i]));
    }
}

TEST_CASE("activations' way back: in, grad and out each of a pitch of its own, by every path",
          "[day06][training][small]") {
    const Shape shape = {5, 36};
    const Layout of_x(shape, {48, 1}), of_grad(shape, {36, 1}), of_out(shape, {40, 1});
    const Tensor<float> x = seeded<float>(shape, 15, -6, 6), grad = random(shape, 16);
    HostOut<float> loop(shape);
    activate_backward_cpu(Activation::gelu_tanh, HostIn<float>(x).view(),
                          HostIn<float>(grad).view(), loop.view());
    const Tensor<double> want = in_double(loop.values());
    const Bound once = slopes_bound(Activation::gelu_tanh, x, grad);
    const Bound twice = [&](const Index& at) { return 2 * once(at); };  // two floats may differ so
    DeviceIn<float> dx(x, of_x), dg(grad, of_grad);
    for (const ActivationPath path : {ActivationPath::one_element, ActivationPath::quads}) {
        CAPTURE(name(path));
        DeviceOut<float> got(of_out);
        activate_backward_cuda(Activation::gelu_tanh, dx.view(), dg.view(), got.view(),
                               {.path = path});
        CHECK(got.close_to(want, twice));
    }
}

TEST_CASE("a slope's bound refuses 1 - s where 1 / (1 + exp(v)) belongs",
          "[day06][training][small]") {
    const float x = 4, v = 1.5957691f * (x + 0.044715f * x * x * x);
    const float dv = 1.5957691f * (1 + 0.134145f * x * x), s = 1 / (1 + std::exp(-v));
    const Near near = slope_near(Activation::gelu_tanh, double{x}).slope;
    const auto off = [&](float got) { return std::fabs(double{got} - near.value); };
    CHECK(off(slope(Activation::gelu_tanh, x)) <= near.off);
    CHECK(off(s + x * s * (1 - s) * dv) > near.off);
    // And 1 - erf where erfc belongs, below 0.
    const Near below = slope_near(Activation::gelu_erf, -4).slope;
    const float density = -4 * 0.39894228f * std::exp(-8.0f);
    CHECK(std::fabs(double{slope(Activation::gelu_erf, -4)} - below.value) <= below.off);
    const float erf = 0.5f * (1 - std::erf(4 * 0.70710678f)) + density;
    CHECK(std::fabs(double{erf} - below.value) > below.off);
}

// --- linear --------------------------------------------------------------------------------------

struct Linear {
    Tensor<float> x, weight, grad;  // (M, K), (K, N), (M, N)
};
struct LinearSlopes {
    Tensor<double> x, weight, bias;
};

// What bounds are made of: (a b)(i, j) with all signs taken off, on top of what was there.
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
    // A product is rounded, and so is each of the sums that it goes into; so is that with what was
    // there.
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

TEST_CASE("a linear layer's way back: central differences", "[day06][training][small]") {
    const std::int64_t shapes[][3] = {{1, 1, 1}, {5, 3, 4}, {4, 4, 4}, {3, 17, 9}, {33, 2, 5}};
    for (const auto& [M, K, N] : shapes) {
        const Linear c{random({M, K}, 15), random({K, N}, 16), random({M, N}, 17)};
        CAPTURE(M, K, N);
        check(c, slopes_of(c));
    }
}

TEST_CASE("a linear layer's bound refuses operands of 15 bits, and numbers of which one is missing",
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

TEST_CASE("a linear layer's way back: PyTorch", "[day06][training][small]") {
    const Linear c{floats({4, 4}, linear_x), floats({4, 4}, linear_weight),
                   floats({4, 4}, linear_grad)};
    check(c, {doubles({4, 4}, linear_dx), doubles({4, 4}, linear_dweight),
              doubles({4}, linear_dbias)});
}

TEST_CASE("a linear layer's dims before the last are rows, and a bias may be missing",
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

// --- attention -----------------------------------------------------------------------------------

struct Attention {
    Tensor<float> q, k, v, grad;  // (B, H, T, D), (B, G, S, D) with G = H or 1
    bool causal = true;
    float scale = 0;
};
struct AttentionSlopes {
    Tensor<double> q, k, v;
};
struct AttentionNear {
    Tensor<Near> q, k, v;
    Tensor<float> out, log_sums;  // what the way there leaves, rounded
};

// The formulas of attention_backward.hpp. kept: the way back begins with what the way there left.
AttentionNear near_of(const Attention& c, bool kept = false) {
    const Shape s = c.q.shape();
    const std::int64_t T = s[2], D = s[3], S = c.k.shape()[2], G = c.k.shape()[1];
    const double exact = c.scale != 0 ? double{c.scale} : 1 / std::sqrt(double(D));
    const Near scale = result(exact, 0, 4);  // a root, a quotient, and the log2 of e with exp2
    const auto of = [](const Tensor<float>& x, const Index& at) { return Near{double{x(at)}}; };
    Tensor<std::vector<Near>> terms_k(c.k.shape()), terms_v(c.k.shape());
    AttentionNear made{Tensor<Near>(s), Tensor<Near>(c.k.shape()), Tensor<Near>(c.k.shape()),
                       Tensor<float>(s), Tensor<float>({s[0], s[1], T})};
    for (std::int64_t r = 0; r < s[0] * s[1] * T; ++r) {
        const std::int64_t b = r / T / s[1], h = r / T % s[1], t = r % T, g = G == 1 ? 0 : h;
        const std::int64_t n = c.causal ? std::max<std::int64_t>(S - T + t + 1, 0) : S;
        std::vector<Near> score, e, d_share, mean;
        double m = -INFINITY, least = INFINITY;
        for (std::int64_t i = 0; i < n; ++i) {
            std::vector<Near> of_score, of_share;
            for (std::int64_t d = 0; d < D; ++d) {
                of_score.push_back(of(c.q, {b, h, t, d}) * of(c.k, {b, g, i, d}));
                of_share.push_back(of(c.grad, {b, h, t, d}) * of(c.v, {b, g, i, d}));
            }
            score.push_back(scale * total(of_score));
            d_share.push_back(total(of_share));
            m = std::max(m, score.back().value), least = std::min(least, score.back().value);
        }
        // With another m all is the same. A tile whose m is larger multiplies what was found by exp
        // of the difference, and so do threads that put theirs together.
        const double tiles = static_cast<double>(n / 64 + 2);
        const Near again = result(1, 0, tiles * 6 + 2 * (m - least));
        for (std::size_t i = 0; i < score.size(); ++i) {
            e.push_back(exp_of(score[i] - Near{m}) * again);
            mean.push_back(e[i] * d_share[i]);
        }
        const Near sum = total(e);
        Near log_sum = Near{m} + log_of(sum), delta = total(mean) / sum;
        std::vector<Near> grad_out;
        for (std::int64_t d = 0; d < D; ++d) {
            double out = 0;
            for (std::int64_t i = 0; i < n; ++i) {
                out += e[static_cast<std::size_t>(i)].value / sum.value * double{c.v(b, g, i, d)};
            }
            made.out(b, h, t, d) = static_cast<float>(out);
            grad_out.push_back(of(c.grad, {b, h, t, d}) * result(out, 0));
        }
        made.log_sums(b, h, t) = static_cast<float>(log_sum.value);
        if (kept) {
            log_sum = result(log_sum.value, 0, 3);  // left as a float, then times the log2 of e
            delta = total(grad_out);
        }
        std::vector<Near> share, d_score;
        for (std::size_t i = 0; i < score.size(); ++i) {
            share.push_back(exp_of(score[i] - log_sum));
            d_score.push_back(share[i] * (d_share[i] - delta));
        }
        for (std::int64_t d = 0; d < D; ++d) {
            std::vector<Near> terms;
            for (std::int64_t i = 0; i < n; ++i) {
                const auto at = static_cast<std::size_t>(i);
                const Near factor = scale * d_score[at];
                terms.push_back(factor * of(c.k, {b, g, i, d}));
                terms_k(b, g, i, d).push_back(factor * of(c.q, {b, h, t, d}));
                terms_v(b, g, i, d).push_back(share[at] * of(c.grad, {b, h, t, d}));
            }
            made.q(b, h, t, d) = total(terms);
        }
    }
    for (std::int64_t i = 0; i < made.k.size(); ++i) {
        made.k.data()[i] = total(terms_k.data()[i]);
        made.v.data()[i] = total(terms_v.data()[i]);
    }
    return made;
}

Tensor<double> values_of(const Tensor<Near>& all) {
    Tensor<double> values(all.shape());
    for (std::int64_t i = 0; i < all.size(); ++i) values.data()[i] = all.data()[i].value;
    return values;
}

// A view (B, H, T, D) whose memory is (B, T, H, D), as heads of one buffer are.
Layout heads_behind_tokens(const Shape& s) {
    return Layout(s, {s[1] * s[2] * s[3], s[3], s[1] * s[3], 1});
}

constexpr AttentionBackwardPath kAttentionPaths[] = {AttentionBackwardPath::row_a_thread,
                                                     AttentionBackwardPath::tiles};

// By the path 'kept', of an output and logs that are right but for a rounding; twice, to the same
// bits.
void check_kept(const Attention& c, const AttentionSlopes& want) {
    const AttentionNear near = near_of(c, true);
    const Layout q = heads_behind_tokens(c.q.shape()), k = heads_behind_tokens(c.k.shape());
    const Shape& s = c.q.shape();
    const Layout logs({s[0], s[1], s[2]}, {s[1] * s[2], 1, s[1]});
    DeviceIn<float> dq(c.q, q), dk(c.k, k), dv(c.v, k), dg(c.grad, q), out(near.out, q),
        log_sums(near.log_sums, logs);
    auto memory = room_of(attention_backward_workspace_bytes(dq.view()));
    std::vector<Tensor<float>> first;
    for (int i = 0; i < 2; ++i) {
        DeviceOut<float> got_q(q), got_k(k), got_v(k);
        attention_backward_from_left_cuda(
            dq.view(), dk.view(), dv.view(), {c.causal, c.scale}, {out.view(), log_sums.view()},
            dg.view(), {got_q.view(), got_k.view(), got_v.view()},
            {.path = AttentionBackwardPath::kept, .workspace = memory});
        CHECK(got_q.close_to(want.q, bound_of(near.q)));
        CHECK(got_k.close_to(want.k, bound_of(near.k)));
        CHECK(got_v.close_to(want.v, bound_of(near.v)));
        for (const auto* got : {&got_q, &got_k, &got_v}) first.push_back(got->values());
    }
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t bytes = static_cast<std::size_t>(first[i].size()) * sizeof(float);
        CHECK(std::memcmp(first[i].data(), first[i + 3].data(), bytes) == 0);
    }
    CHECK(out.unchanged());
    CHECK(log_sums.unchanged());
    CHECK(dg.unchanged());
}

// tiled: by tiles too, which the emulator takes seconds for.
void check(const Attention& c, const AttentionSlopes& want, bool tiled = true) {
    const AttentionOptions options{c.causal, c.scale};
    const AttentionNear near = near_of(c);
    const Bound of_q = bound_of(near.q), of_k = bound_of(near.k), of_v = bound_of(near.v);
    for (const bool plain : {true, false}) {
        const auto of = [&](const Shape& s) {
            return plain ? row_major(s) : heads_behind_tokens(s);
        };
        const Layout q = of(c.q.shape()), k = of(c.k.shape());
        HostIn<float> hq(c.q, q), hk(c.k, k), hv(c.v, k), hg(c.grad, q);
        HostOut<float> loop_q(q), loop_k(k), loop_v(k);
        attention_backward_cpu(hq.view(), hk.view(), hv.view(), options, hg.view(),
                               {loop_q.view(), loop_k.view(), loop_v.view()});
        CHECK(loop_q.close_to(want.q, of_q));
        CHECK(loop_k.close_to(want.k, of_k));
        CHECK(loop_v.close_to(want.v, of_v));
        DeviceIn<float> dq(c.q, q), dk(c.k, k), dv(c.v, k), dg(c.grad, q);
        auto memory = room_of(attention_backward_workspace_bytes(dq.view()));
        for (const auto path : kAttentionPaths) {
            if (path == AttentionBackwardPath::tiles && (plain || !tiled)) continue;
            CAPTURE(name(path));
            DeviceOut<float> got_q(q), got_k(k), got_v(k);
            attention_backward_cuda(dq.view(), dk.view(), dv.view(), options, dg.view(),
                                    {got_q.view(), got_k.view(), got_v.view()},
                                    {.path = path, .workspace = memory});
            CHECK(got_q.close_to(want.q, of_q));
            CHECK(got_k.close_to(want.k, of_k));
            CHECK(got_v.close_to(want.v, of_v));
        }
        CHECK(dq.unchanged());
        CHECK(dk.unchanged());
        CHECK(dv.unchanged());
        CHECK(dg.unchanged());
    }
    if (tiled) check_kept(c, want);
}

// Attention once more, in double and by indices alone.
double attended_in_double(const Attention& c, const Tensor<double>& q, const Tensor<double>& k,
                          const Tensor<double>& v) {
    const Shape s = q.shape();
    const std::int64_t T = s[2], D = s[3], S = k.shape()[2], G = k.shape()[1];
    const double scale = c.scale != 0 ? static_cast<double>(c.scale) : 1 / std::sqrt(double(D));
    double all = 0;
    for (std::int64_t r = 0; r < s[0] * s[1] * T; ++r) {
        const std::int64_t b = r / T / s[1], h = r / T % s[1], t = r % T, g = G == 1 ? 0 : h;
        const std::int64_t n = c.causal ? std::max<std::int64_t>(S - T + t + 1, 0) : S;
        double sum = 0;
        std::vector<double> e;
        for (std::int64_t i = 0; i < n; ++i) {
            double dot = 0;
            for (std::int64_t d = 0; d < D; ++d) dot += q(b, h, t, d) * k(b, g, i, d);
            e.push_back(std::exp(scale * dot));
            sum += e.back();
        }
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t d = 0; d < D; ++d) {
                all += static_cast<double>(c.grad(b, h, t, d)) * e[std::size_t(i)] / sum *
                       v(b, g, i, d);
            }
        }
    }
    return all;
}

AttentionSlopes slopes_of(const Attention& c) {
    Tensor<double> q = in_double(c.q), k = in_double(c.k), v = in_double(c.v);
    const auto all = [&] { return attended_in_double(c, q, k, v); };
    return {slopes(q, all), slopes(k, all), slopes(v, all)};
}

Attention random_attention(const Shape& q, const Shape& k) {
    return {random(q, 21), random(k, 22), random(k, 23), random(q, 24)};
}

TEST_CASE("attention's way back: central differences", "[day06][training][small]") {
    const Shape shapes[][2] = {{{1, 1, 1, 1}, {1, 1, 1, 1}}, {{2, 3, 5, 4}, {2, 3, 5, 4}},
                               {{1, 2, 3, 2}, {1, 2, 7, 2}}, {{1, 2, 7, 2}, {1, 2, 3, 2}},
                               {{2, 2, 1, 3}, {2, 2, 4, 3}}, {{2, 3, 4, 2}, {2, 1, 4, 2}}};
    for (const auto& [q, k] : shapes) {
        for (const bool causal : {true, false}) {
            CAPTURE(to_string(q), to_string(k), causal);
            Attention c = random_attention(q, k);
            c.causal = causal;
            check(c, slopes_of(c), false);
            c.scale = 0.75f;
            check(c, slopes_of(c), causal || q[1] == 3);
        }
    }
}

TEST_CASE("attention's bound refuses operands of 11 bits, as tensor cores take them for floats",
          "[day06][training][small]") {
    Attention c = random_attention({1, 2, 5, 4}, {1, 2, 5, 4});
    const AttentionNear near = near_of(c);
    const auto cut = [](Tensor<float>& x) {
        for (std::int64_t i = 0; i < x.size(); ++i) {
            const auto bits = std::bit_cast<std::uint32_t>(x.data()[i]);
            x.data()[i] = std::bit_cast<float>(bits & ~std::uint32_t{0x1fff});
        }
    };
    HostOut<float> q(c.q.shape()), k(c.q.shape()), v(c.q.shape());
    const auto agree = [&] {
        attention_backward_cpu(c.q.view(), c.k.view(), c.v.view(), {}, c.grad.view(),
                               {q.view(), k.view(), v.view()});
        return std::vector<bool>{bool(q.close_to(values_of(near.q), bound_of(near.q))),
                                 bool(k.close_to(values_of(near.k), bound_of(near.k))),
                                 bool(v.close_to(values_of(near.v), bound_of(near.v)))};
    };
    CHECK(agree() == std::vector<bool>{true, true, true});
    cut(c.q);  // of each gradient, what this operand reaches
    CHECK(agree() == std::vector<bool>{false, false, false});
}

TEST_CASE("attention's way back: PyTorch", "[day06][training][small]") {
    const Shape q = {1, 2, 4, 3};
    const Attention c{floats(q, attention_q), floats(q, attention_k), floats(q, attention_v),
                      floats(q, attention_grad)};
    check(c, {doubles(q, attention_dq), doubles(q, attention_dk), doubles(q, attention_dv)});
}

TEST_CASE("what a token does not see gives it no gradient, even where it is NaN",
          "[day06][training][small]") {
    Attention c = random_attention({1, 1, 4, 2}, {1, 1, 4, 2});
    const AttentionSlopes whole = slopes_of(c);
    c.k(0, 0, 3, 0) = c.v(0, 0, 3, 1) = NAN;  // only the last token sees the last key
    HostOut<float> q({1, 1, 4, 2}), k({1, 1, 4, 2}), v({1, 1, 4, 2});
    attention_backward_cpu(c.q.view(), c.k.view(), c.v.view(), {}, c.grad.view(),
                           {q.view(), k.view(), v.view()});
    DeviceIn<float> dq(c.q), dk(c.k), dv(c.v), dg(c.grad);
    std::vector<Tensor<float>> all = {q.values()};
    auto memory = room_of(attention_backward_workspace_bytes(dq.view()));
    for (const auto path : kAttentionPaths) {
        DeviceOut<float> got_q({1, 1, 4, 2}), got_k({1, 1, 4, 2}), got_v({1, 1, 4, 2});
        attention_backward_cuda(dq.view(), dk.view(), dv.view(), {}, dg.view(),
                                {got_q.view(), got_k.view(), got_v.view()},
                                {.path = path, .workspace = memory});
        all.push_back(got_q.values());
    }
    DeviceOut<float> out({1, 1, 4, 2}), log_sums({1, 1, 4}), got_q({1, 1, 4, 2}),
        got_k({1, 1, 4, 2}), got_v({1, 1, 4, 2});
    attention_and_log_sums_cuda(dq.view(), dk.view(), dv.view(), {}, out.view(), log_sums.view());
    attention_backward_from_left_cuda(dq.view(), dk.view(), dv.view(), {},
                                      {out.view(), log_sums.view()}, dg.view(),
                                      {got_q.view(), got_k.view(), got_v.view()},
                                      {.path = AttentionBackwardPath::kept, .workspace = memory});
    all.push_back(got_q.values());
    for (const Tensor<float>& made : all) {
        for (std::int64_t t = 0; t < 3; ++t) {
            for (std::int64_t d = 0; d < 2; ++d) {
                CHECK(std::fabs(static_cast<double>(made(0, 0, t, d)) - whole.q(0, 0, t, d)) <
                      1e-5);
            }
        }
        CHECK(std::isnan(made(0, 0, 3, 0)));
    }
}

TEST_CASE(
    "attention's way back in tiles: ragged edges, more keys than queries, shared heads, wide "
    "ones",
    "[day06][training][small]") {
    const Shape shapes[][2] = {{{1, 1, 65, 4}, {1, 1, 65, 4}},   {{1, 2, 70, 8}, {1, 1, 131, 8}},
                               {{1, 2, 130, 3}, {1, 2, 70, 3}},  {{1, 1, 66, 32}, {1, 1, 66, 32}},
                               {{1, 1, 66, 36}, {1, 1, 66, 36}}, {{1, 1, 66, 72}, {1, 1, 66, 72}}};
    for (const auto& [of_q, of_k] : shapes) {
        for (const bool causal : {true, false}) {
            if (!causal && of_q[3] > 4) continue;
            CAPTURE(to_string(of_q), to_string(of_k), causal);
            Attention c = random_attention(of_q, of_k);
            c.causal = causal;
            const AttentionNear near = near_of(c);  // its values are the central differences'
            check(c, {values_of(near.q), values_of(near.k), values_of(near.v)});
        }
    }
}

TEST_CASE(
    "attention's way back: tiles unless there are few queries, a head is too wide, or a block's "
    "memory too small",
    "[day06][training][small]") {
    using Path = AttentionBackwardPath;
    const auto of_head = [](std::int64_t D, std::int64_t T = 32) {
        return View<const float>(nullptr, Shape{1, 1, T, D});
    };
    CHECK(choose_attention_backward(of_head(64, 31)) == Path::row_a_thread);
    CHECK(choose_attention_backward(of_head(128)) == Path::tiles);
    CHECK(choose_attention_backward(of_head(128, 65), SIZE_MAX, true) == Path::kept);
    CHECK(choose_attention_backward(of_head(128, 64), SIZE_MAX, true) == Path::tiles);
    CHECK(choose_attention_backward(of_head(129), SIZE_MAX, true) == Path::row_a_thread);
    CHECK(choose_attention_backward(of_head(64, 31), SIZE_MAX, true) == Path::row_a_thread);
    CHECK(choose_attention_backward(of_head(129)) == Path::row_a_thread);
    CHECK(choose_attention_backward(of_head(64), 88'064) == Path::tiles);
    CHECK(choose_attention_backward(of_head(64), 88'063) == Path::row_a_thread);
    CHECK(choose_attention_backward(of_head(65), 88'064) == Path::row_a_thread);
    CHECK(choose_attention_backward(of_head(32), 55'296) == Path::tiles);
    CHECK(choose_attention_backward(of_head(32), 55'295) == Path::row_a_thread);
    CHECK(choose_attention_backward(of_head(33), 55'296) == Path::row_a_thread);
    Attention c = random_attention({1, 1, 2, 129}, {1, 1, 2, 129});
    HostOut<float> q(c.q.shape()), k(c.q.shape()), v(c.q.shape());
    const std::string said = refusal([&] {
        check_attention_backward(c.q.view(), c.k.view(), c.v.view(), {}, c.grad.view(),
                                 {q.view(), k.view(), v.view()}, Path::tiles);
    });
    CHECK(contains(said, "a head of 129 numbers; 128 is the most that the path 'tiles' takes"));
    CHECK(contains(refusal([&] {
                       check_attention_backward(c.q.view(), c.k.view(), c.v.view(), {},
                                                c.grad.view(), {q.view(), k.view(), v.view()},
                                                Path::kept);
                   }),
                   "the path 'kept' needs the output and the log of sums"));
}

// --- embedding -----------------------------------------------------------------------------------

constexpr EmbedBackwardPath kEmbedPaths[] = {EmbedBackwardPath::column_a_thread,
                                             EmbedBackwardPath::atomics,
                                             EmbedBackwardPath::word_a_block};

Tensor<double> absolute(const Tensor<float>& x) {
    Tensor<double> sizes = in_double(x);
    for (std::int64_t i = 0; i < sizes.size(); ++i) sizes.data()[i] = std::fabs(sizes.data()[i]);
    return sizes;
}

TEST_CASE("the embedding's way back: repeated tokens add up, in every layout, by all paths",
          "[day06][training][small]") {
    // 2 x 5 tokens of 4 words: each many times, one never.
    const Tensor<std::int64_t> ids({2, 5}, {1, 1, 3, 1, 0, 3, 1, 1, 0, 1}),
        places({5}, {0, 1, 2, 3, 4});
    const Tensor<float> grad = random({2, 5, 3}, 25);
    const Tensor<float> tokens = there_before({4, 3}), positions = there_before({6, 3});
    Tensor<double> want = in_double(tokens), at = in_double(positions);
    for (std::int64_t b = 0; b < 2; ++b) {
        for (std::int64_t t = 0; t < 5; ++t) {
            for (std::int64_t c = 0; c < 3; ++c) {
                want(ids(b, t), c) += static_cast<double>(grad(b, t, c));
                at(t, c) += static_cast<double>(grad(b, t, c));
            }
        }
    }
    // A word that came r times was added to r times, and each sum is rounded.
    Tensor<double> of_words = absolute(tokens), of_places = absolute(positions);
    for (std::int64_t r = 0; r < 10; ++r) {
        for (std::int64_t c = 0; c < 3; ++c) {
            const double size = std::fabs(double{grad(r / 5, r % 5, c)});
            of_words(ids(r / 5, r % 5), c) += size, of_places(r % 5, c) += size;
        }
    }
    const Bound in_tokens = rounded(of_words, 6), in_positions = rounded(of_places, 2);
    for (std::size_t i = 0; i < 3; ++i) {
        const Layout g = some_layouts(grad.shape())[i], table = some_layouts({4, 3})[i];
        HostIn<float> hg(grad, g);
        auto loop = HostOut<float>::holding(tokens, table),
             loop_at = HostOut<float>::holding(positions);
        embed_backward_cpu(hg.view(), ids.view(), places.view(), {loop.view(), loop_at.view()});
        CHECK(loop.close_to(want, in_tokens));
        CHECK(loop_at.close_to(at, in_positions));
        for (const auto path : kEmbedPaths) {
            CAPTURE(name(path), to_string(g));
            DeviceIn<float> dg(grad, g);
            DeviceIn<std::int64_t> di(ids), dp(places);
            auto got = DeviceOut<float>::holding(tokens, table);
            auto got_at = DeviceOut<float>::holding(positions);
            embed_backward_cuda(dg.view(), di.view(), dp.view(), {got.view(), got_at.view()},
                                {.path = path});
            CHECK(got.close_to(want, in_tokens));
            CHECK(got_at.close_to(at, in_positions));
            if (path != EmbedBackwardPath::atomics) CHECK(got.matches(loop));
            auto alone = DeviceOut<float>::holding(tokens, table);  // without positions
            embed_backward_cuda(dg.view(), di.view(), {}, {alone.view()}, {.path = path});
            CHECK(alone.close_to(want, in_tokens));
            CHECK(dg.unchanged());
        }
    }
}

TEST_CASE("the embedding's way back: one token of one number, and no token",
          "[day06][training][small]") {
    for (const std::int64_t tokens : {1, 0}) {
        const Tensor<std::int64_t> ids({tokens});
        Tensor<float> grad({tokens, 1});
        if (tokens == 1) grad(0, 0) = 3;
        const Tensor<float> before({2, 1}, {10, 20});
        const Tensor<float> want({2, 1}, {tokens == 1 ? 13.0f : 10.0f, 20});
        auto loop = HostOut<float>::holding(before);
        embed_backward_cpu(grad.view(), ids.view(), {}, {loop.view()});
        CHECK(loop.matches(want));
        DeviceIn<float> dg(grad);
        DeviceIn<std::int64_t> di(ids);
        for (const auto path : {EmbedBackwardPath::column_a_thread, EmbedBackwardPath::atomics}) {
            CAPTURE(tokens, name(path));
            auto got = DeviceOut<float>::holding(before);
            embed_backward_cuda(dg.view(), di.view(), {}, {got.view()}, {.path = path});
            CHECK(got.matches(want));
        }
    }
}

TEST_CASE("the embedding's way back: PyTorch", "[day06][training][small]") {
    const Tensor<std::int64_t> ids({6}, {2, 0, 2, 2, 1, 0});
    const Tensor<float> grad = floats({6, 2}, embedding_grad);
    const Tensor<double> want = doubles({4, 2}, embedding_dtokens);
    auto loop = HostOut<float>::holding(Tensor<float>({4, 2}, {9, 9, 9, 9, 9, 9, 9, 9}));
    Tensor<float> nines = loop.values();
    embed_backward_cpu(grad.view(), ids.view(), {}, {loop.view()});
    CHECK(loop.close_to(sum_of(nines, want), 1e-6 * 16));
}

TEST_CASE("a word a block: hundreds of tokens, and of columns, in their order, so the loop's bits",
          "[day06][training][small]") {
    const auto check = [](const Shape& tokens, std::int64_t C) {
        Tensor<std::int64_t> ids(tokens);
        for (std::int64_t r = 0; r < ids.size(); ++r) ids.data()[r] = r % 3 == 0 ? 5 : r * r % 41;
        Shape of_grad = tokens;
        of_grad[of_grad.rank++] = C;
        const Tensor<float> grad = random(of_grad, 27), before = there_before({41, C});
        auto loop = HostOut<float>::holding(before);
        embed_backward_cpu(grad.view(), ids.view(), {}, {loop.view()});
        DeviceIn<float> dg(grad);
        DeviceIn<std::int64_t> di(ids);
        auto got = DeviceOut<float>::holding(before);
        embed_backward_cuda(dg.view(), di.view(), {}, {got.view()});
        CHECK(last_kernel() == "embed_word_a_block_kernel");
        CHECK(got.matches(loop));
    };
    check({601}, 3);  // 512 at a time
    check({2, 2, 5}, 515);
}

TEST_CASE("an id that names no row: the loop refuses it, the ports add nothing for it",
          "[day06][training][small]") {
    const Tensor<std::int64_t> ids({3}, {0, -1, 2});
    const Tensor<float> grad = random({3, 2}, 26), before = there_before({2, 2});
    auto loop = HostOut<float>::holding(before);
    CHECK(contains(refusal([&] { embed_backward_cpu(grad.view(), ids.view(), {}, {loop.view()}); }),
                   "ids has -1 at (1), but the table has 2 rows"));
    CHECK(loop.matches(before));
    Tensor<double> want = in_double(before);
    for (std::int64_t c = 0; c < 2; ++c) want(0, c) += static_cast<double>(grad(0, c));
    DeviceIn<float> dg(grad);
    DeviceIn<std::int64_t> di(ids);
    for (const auto path : kEmbedPaths) {
        auto got = DeviceOut<float>::holding(before);
        embed_backward_cuda(dg.view(), di.view(), {}, {got.view()}, {.path = path});
        CHECK(got.close_to(want, 1e-6));
    }
}

}  // namespace
