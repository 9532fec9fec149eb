// Tests of AdamW, of the gradient's norm and of the schedule: PyTorch's results, step by step.
#include "day06_transformer_ops/training/adamw/adamw.hpp"

#include "day06_transformer_ops/training/tests/rejections.hpp"
#include "day06_transformer_ops/training/tests/slopes.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

struct GoldenStep {
    std::vector<double> gradient;
    double norm, rate;
    std::vector<double> parameters;
};
#include "day06_transformer_ops/training/adamw/tests/golden_adamw.inc"

constexpr std::int64_t kDecayed = 4, kAll = 7;
const Tensor<float> kBegin({kAll}, {1, -2, 0.5f, 3, 0.25f, -1.5f, 2});
const Schedule kSchedule{0.5, 0.125, 2, 6};

AdamWOptions options_of(std::int64_t step) {
    AdamWOptions o;
    o.rate = static_cast<float>(rate_at(kSchedule, step));
    o.beta1 = 0.875f, o.beta2 = 0.96875f, o.eps = 0x1p-20f;
    o.step = step + 1, o.most = 2;
    return o;
}

// One step of the first four parameters, which decay, and one of the rest.
template <class Step>
void both(AdamWOptions o, const Step& step) {
    o.decay = 0.25f;
    step(o, 0, kDecayed);
    o.decay = 0;
    step(o, kDecayed, kAll);
}

TEST_CASE("AdamW, clipped and scheduled, matches PyTorch step by step",
          "[day06][training][small]") {
    const Tensor<float> zeros({kAll});
    auto first = HostOut<float>::holding(zeros), second = HostOut<float>::holding(zeros);
    auto parameters = HostOut<float>::holding(kBegin);
    auto d_first = DeviceOut<float>::holding(zeros), d_second = DeviceOut<float>::holding(zeros);
    auto d_parameters = DeviceOut<float>::holding(kBegin);
    auto memory = room_of(gradient_norm_workspace_bytes());
    std::int64_t step = 0;
    for (const GoldenStep& golden : golden_steps) {
        CAPTURE(step);
        CHECK(std::fabs(rate_at(kSchedule, step) - golden.rate) < 1e-11);
        const Tensor<float> gradient = tensor_of<float>(golden.gradient);
        const Tensor<double> norm_wanted({}, {golden.norm}), want({kAll}, golden.parameters);
        HostOut<double> norm(Shape{});
        gradient_norm_cpu(gradient.view(), norm.view());
        CHECK(norm.close_to(norm_wanted, 1e-11 * golden.norm));
        DeviceIn<float> d_gradient(gradient);
        DeviceOut<double> d_norm(Shape{});
        gradient_norm_cuda(d_gradient.view(), d_norm.view(), memory);
        CHECK(d_norm.close_to(norm_wanted, 1e-11 * golden.norm));
        both(options_of(step), [&](AdamWOptions o, std::int64_t begin, std::int64_t end) {
            const auto part = [&](const auto& v) { return slice(v, 0, begin, end); };
            o.norm = norm.view();
            adamw_cpu(o, part(gradient.view()), part(first.view()), part(second.view()),
                      part(parameters.view()));
            o.norm = d_norm.view();
            adamw_cuda(o, part(d_gradient.view()), part(d_first.view()), part(d_second.view()),
                       part(d_parameters.view()));
        });
        // A clip that adds 1e-6 to the norm, as in PyTorch, has an error of half of that;
        // then a few roundings of numbers up to 3 per step.
        const double bound = static_cast<double>(step + 1) * (1e-6 + 24 * kU);
        CHECK(parameters.close_to(want, bound));
        CHECK(d_parameters.close_to(want, bound));
        CHECK(d_gradient.unchanged());
        ++step;
    }
}

TEST_CASE("the rounded copy is that of the new parameters, and does not affect them",
          "[day06][training][small]") {
    const Tensor<float> gradient = seeded<float>({300}, 1, -1, 1),
                        begin = seeded<float>({300}, 2, -1, 1);
    Tensor<float> zeros({300});
    for (std::int64_t i = 0; i < 300; ++i) zeros.data()[i] = 0;
    AdamWOptions o;
    o.rate = 1e-4f;  // a step below the resolution of most bf16
    Tensor<float> alone = begin, m = zeros, v = zeros;
    for (o.step = 1; o.step <= 3; ++o.step) {
        adamw_cpu(o, gradient.view(), m.view(), v.view(), alone.view());
    }
    const auto rounded = [](const Tensor<float>& x) {
        Tensor<bf16> out({x.size()});
        for (std::int64_t i = 0; i < x.size(); ++i) out.data()[i] = bf16(x.data()[i]);
        return out;
    };
    CHECK_FALSE(equal(rounded(alone), rounded(begin)));
    Tensor<float> p = begin;
    Tensor<bf16> half({300});
    m = zeros, v = zeros;
    DeviceIn<float> d_gradient(gradient);
    auto d_m = DeviceOut<float>::holding(zeros), d_v = DeviceOut<float>::holding(zeros);
    auto d_p = DeviceOut<float>::holding(begin);
    DeviceOut<bf16> d_half({300});
    for (o.step = 1; o.step <= 3; ++o.step) {
        adamw_cpu(o, gradient.view(), m.view(), v.view(), p.view(), half.view());
        adamw_cuda(o, d_gradient.view(), d_m.view(), d_v.view(), d_p.view(), d_half.view());
    }
    CHECK(equal(p, alone));
    CHECK(equal(half, rounded(alone)));
    CHECK(d_p.close_to(in_double(alone), 12 * kU));
    CHECK(equal(d_half.values(), rounded(d_p.values())));
}

TEST_CASE("the norm of many gradients is the same in every run, and large ones do not overflow",
          "[day06][training][small]") {
    Tensor<float> gradient = seeded<float>({200'003}, 31, -1e25, 1e25);
    double squares = 0;
    for (std::int64_t k = 0; k < gradient.size(); ++k) {
        squares += std::pow(static_cast<double>(gradient(k)), 2);
    }
    const Tensor<double> want({}, {std::sqrt(squares)});
    DeviceIn<float> in(gradient);
    auto memory = room_of(gradient_norm_workspace_bytes());
    DeviceOut<double> once(Shape{}), again(Shape{});
    gradient_norm_cuda(in.view(), once.view(), memory);
    gradient_norm_cuda(in.view(), again.view(), memory);
    CHECK(once.close_to(want, 1e-12 * want()));
    CHECK(again.matches(once.values()));
    HostOut<double> loop(Shape{});
    gradient_norm_cpu(gradient.view(), loop.view());
    CHECK(loop.close_to(want, 1e-12 * want()));
}

TEST_CASE("the rate has a linear warmup and a cosine decay", "[day06][training][small]") {
    const Schedule s{1, 0.2, 4, 12};
    CHECK(rate_at(s, 0) == 0.25);
    CHECK(rate_at(s, 3) == 1);
    CHECK(rate_at(s, 4) == 1);
    CHECK(std::fabs(rate_at(s, 8) - 0.6) < 1e-12);
    CHECK(rate_at(s, 12) == 0.2);
    CHECK(rate_at(s, 99) == 0.2);
    CHECK(rate_at({1, 1, 0, 0}, 0) == 1);
}

TEST_CASE("AdamW with default options neither decays nor clips", "[day06][training][small]") {
    const Tensor<float> gradient({2}, {0, 1e6f}), zeros({2}), begin({2}, {3, 3});
    auto first = HostOut<float>::holding(zeros), second = HostOut<float>::holding(zeros);
    auto parameters = HostOut<float>::holding(begin);
    adamw_cpu({}, gradient.view(), first.view(), second.view(), parameters.view());
    // Without a gradient nothing moves; a first step is the rate, however large the gradient.
    CHECK(parameters.view()(0) == 3);
    CHECK(std::fabs(parameters.view()(1) - (3 - 1e-3)) < 1e-6);
    CHECK(std::fabs(first.view()(1) - 1e5f) < 1);  // not clipped
}

TEST_CASE("AdamW: a NaN norm makes every number NaN, and an infinite one clips all gradients to 0",
          "[day06][training][small]") {
    const Tensor<float> gradient({3}, {1, -4, 0.5f}), begin({3}, {3, 3, -3}), some({3}, {1, 1, 1});
    struct After {
        Tensor<float> first, second, parameters;
    };
    const auto step = [&](double norm, float most, const auto& check) {
        CAPTURE(norm, most);
        AdamWOptions o;
        o.rate = 0.25f, o.beta1 = 0.5f, o.beta2 = 0.75f, o.most = most;
        const Tensor<double> of_host(Shape{}, {norm});
        auto first = HostOut<float>::holding(some), second = HostOut<float>::holding(some);
        auto parameters = HostOut<float>::holding(begin);
        o.norm = of_host.view();
        adamw_cpu(o, gradient.view(), first.view(), second.view(), parameters.view());
        check(After{first.values(), second.values(), parameters.values()});
        const DeviceIn<double> of_device(of_host);
        const DeviceIn<float> d_gradient(gradient);
        auto d_first = DeviceOut<float>::holding(some), d_second = DeviceOut<float>::holding(some);
        auto d_parameters = DeviceOut<float>::holding(begin);
        o.norm = of_device.view();
        adamw_cuda(o, d_gradient.view(), d_first.view(), d_second.view(), d_parameters.view());
        check(After{d_first.values(), d_second.values(), d_parameters.values()});
    };
    const auto first_is = [&](float clip) {
        return [&, clip](const After& a) {
            for (std::int64_t k = 0; k < 3; ++k) {
                CHECK(a.first(k) == 0.5f + 0.5f * (clip * gradient(k)));
                CHECK(std::isfinite(a.second(k)));
                CHECK(std::isfinite(a.parameters(k)));
                CHECK(a.parameters(k) != begin(k));
            }
        };
    };
    step(NAN, 1, [&](const After& a) {
        for (std::int64_t k = 0; k < 3; ++k) {
            CHECK(std::isnan(a.first(k)));
            CHECK(std::isnan(a.second(k)));
            CHECK(std::isnan(a.parameters(k)));
        }
    });
    step(NAN, 0, first_is(1));  // nothing is clipped, so the norm is not read
    step(INFINITY, 1, first_is(0));
    step(2, 2, first_is(1));
    step(4, 2, first_is(0.5f));
    step(0, 2, first_is(1));
}

TEST_CASE("AdamW: CPU reference and kernel reject invalid options and operands",
          "[day06][training][small]") {
    Tensor<float> g({3}), m({3}), v({3}), p({3});
    const auto rejected = [&](const AdamWOptions& o, const char* words) {
        CHECK(both_reject([&] { adamw_cpu(o, g.view(), m.view(), v.view(), p.view()); },
                          [&] { adamw_cuda(o, g.view(), m.view(), v.view(), p.view()); }, words));
    };
    AdamWOptions o;
    o.beta2 = 1;
    rejected(o, "beta2 is 1.000000, but must be 0 or more and below 1");
    o = {};
    o.rate = NAN;
    rejected(o, "rate is nan");
    o = {};
    o.step = 0;
    rejected(o, "step is 0, but steps are counted from 1");
    o = {};
    o.most = 1;
    rejected(o, "clipping to 1.000000 needs the norm");
    const std::string same =
        rejection([&] { adamw_cpu({}, g.view(), m.view(), m.view(), p.view()); });
    CHECK(contains(same, "adamw: first overlaps second"));
    const std::string shape =
        rejection([&] { adamw_cpu({}, slice(g.view(), 0, 0, 2), m.view(), v.view(), p.view()); });
    CHECK(contains(shape, "gradient has shape (2), but must have (3)"));
}

}  // namespace

TEST_CASE("AdamW and the gradients' norm reject each operand that does not match, on its own",
          "[day06][training][small]") {
    Room r[5];
    Tensor<double> norm(Shape{}, {1.0}), norms({2});
    struct Operands {
        AdamWOptions o;
        Read gradient;
        Written first, second, parameters;
        View<bf16> rounded;
    };
    using O = Operands&;
    const View<bf16> halves(reinterpret_cast<bf16*>(r[4].numbers.data()), Shape{6});
    Operands right = {{}, r[0].of({6}), r[1].of({6}), r[2].of({6}), r[3].of({6}), halves};
    const auto beside = [](auto& x, const auto& other) {
        x.data = reinterpret_cast<bf16*>(const_cast<float*>(other.data));
    };
    right.o.most = 1, right.o.norm = norm.view();
    REQUIRE(rejection([&] {
                check_adamw(right.o, right.gradient, right.first, right.second, right.parameters);
            }).empty());
    const auto in_gaps = [](auto& v) { v = {v.data, Layout({6}, {2})}; };
    std::vector<Change<Operands>> rows = {
        {[](O x) { x.o.beta1 = 1; }, "beta1 is 1"},
        {[](O x) { x.o.beta1 = -0.1f; }, "beta1 is -0.1"},
        {[](O x) { x.o.beta1 = NAN; }, "beta1 is nan"},
        {[](O x) { x.o.beta2 = 1; }, "beta2 is 1"},
        {[](O x) { x.o.beta2 = -0.1f; }, "beta2 is -0.1"},
        {[](O x) { x.o.rate = -1; }, "rate is -1"},
        {[](O x) { x.o.rate = INFINITY; }, "rate is inf"},
        {[](O x) { x.o.decay = -1; }, "decay is -1"},
        {[](O x) { x.o.decay = NAN; }, "decay is nan"},
        {[](O x) { x.o.eps = -1; }, "eps is -1"},
        {[](O x) { x.o.eps = INFINITY; }, "eps is inf"},
        {[](O x) { x.o.most = -1; }, "most is -1"},
        {[](O x) { x.o.most = NAN; }, "most is nan"},
        {[](O x) { x.o.step = 0; }, "step is 0"},
        {[](O x) { x.o.norm.data = nullptr; }, "needs the norm of all gradients"},
        {[&](O x) { x.o.norm = norms.view(); }, "needs the norm of all gradients"},
        {[](O x) {
             x.gradient = {x.gradient.data, Shape{5}};
         },
         "gradient has shape (5)"},
        {[](O x) { x.gradient.data = nullptr; }, "gradient is a null pointer"},
        {[&](O x) { in_gaps(x.gradient); }, "gradient"},
        {[](O x) { x.gradient.data = x.first.data; }, "gradient overlaps first"},
        {[](O x) { x.gradient.data = x.second.data; }, "gradient overlaps second"},
        {[](O x) { x.gradient.data = x.parameters.data; }, "gradient overlaps parameters"},
        {[](O x) { x.first.data = x.second.data; }, "first overlaps second"},
        {[](O x) { x.first.data = x.parameters.data; }, "first overlaps parameters"},
        {[](O x) { x.second.data = x.parameters.data; }, "second overlaps parameters"},
        {[](O x) {
             x.rounded = {x.rounded.data, Shape{5}};
         },
         "rounded has shape (5)"},
        {[&](O x) { in_gaps(x.rounded); }, "rounded"},
        {[&](O x) { beside(x.rounded, x.gradient); }, "gradient overlaps rounded"},
        {[&](O x) { beside(x.rounded, x.first); }, "first overlaps rounded"},
        {[&](O x) { beside(x.rounded, x.second); }, "second overlaps rounded"},
        {[&](O x) { beside(x.rounded, x.parameters); }, "parameters overlaps rounded"}};
    const std::pair<const char*, Written Operands::*> outs[] = {
        {"first", &Operands::first},
        {"second", &Operands::second},
        {"parameters", &Operands::parameters}};
    for (const auto& [name, out] : outs) {
        rows.push_back({[out = out](O x) { (x.*out).data = nullptr; }, name});
        rows.push_back({[out = out, in_gaps](O x) { in_gaps(x.*out); }, name});
        rows.push_back({[out = out](O x) { x.*out = {(x.*out).data, Shape{3}}; }, "has shape"});
    }
    each_alone<Operands>(
        right, [](O x) { adamw_cpu(x.o, x.gradient, x.first, x.second, x.parameters, x.rounded); },
        [](O x) { adamw_cuda(x.o, x.gradient, x.first, x.second, x.parameters, x.rounded); }, rows);
    Operands unclipped = right;
    unclipped.o.most = 0, unclipped.o.norm = {};
    CHECK(rejection([&] {
              check_adamw(unclipped.o, right.gradient, right.first, right.second, right.parameters);
          }).empty());

    Tensor<double> out(Shape{});
    gpu::Buffer<std::byte> memory(gradient_norm_workspace_bytes());
    const auto rejected = [&](const Read& gradient, const View<double>& to, const char* words) {
        CAPTURE(words);
        CHECK(both_reject([&] { gradient_norm_cpu(gradient, to); },
                          [&] { gradient_norm_cuda(gradient, to, memory); }, words));
    };
    rejected({r[0].numbers.data(), Layout({6}, {2})}, out.view(), "gradient");
    rejected({nullptr, Shape{6}}, out.view(), "gradient is a null pointer");
    rejected(right.gradient, {nullptr, Shape{}}, "out is a null pointer");
    rejected(right.gradient, norms.view(), "out has shape (2)");
    rejected(right.gradient, {reinterpret_cast<double*>(r[0].numbers.data()), Shape{}},
             "gradient overlaps out");
    CHECK(contains(rejection([&] { gradient_norm_cuda(right.gradient, out.view(), {}); }),
                   "gradient_norm: a workspace of 0 bytes"));
}
