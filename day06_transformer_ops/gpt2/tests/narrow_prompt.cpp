// Prompts on tensor cores: rounding, the error of logits, and which models are rejected.
#include <cmath>
#include <limits>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/generate.hpp"
#include "day06_transformer_ops/gpt2/gpu/narrow_prompt.hpp"
#include "day06_transformer_ops/gpt2/tests/backends.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;
using namespace sixdays::testing;

namespace {

double gelu(double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
}

// --- rounding ------------------------------------------------------------------------------------

// CPU reference and kernel: rounding is exact, so the bits equal T's own conversion. GELU is within
// 2^-20 relative or absolute, before the rounding to T.
template <class T>
void check_rounded(const Layout& in, const Layout& out) {
    const Tensor<float> x = seeded<float>(in.shape, 3, -9, 9);
    const auto check = [&](const Tensor<T>& got, const Tensor<T>& by_gelu) {
        const double u = std::is_same_v<T, f16> ? 0x1p-11 : 0x1p-8;
        for (std::int64_t i = 0; i < x.size(); ++i) {
            const float value = x.data()[i];
            CAPTURE(i, value);
            CHECK(got.data()[i].bits == T(value).bits);
            const double want = gelu(value), size = std::fabs(want) + 0x1p-14;
            CHECK(std::fabs(double{float(by_gelu.data()[i])} - want) <= (1.01 * u) * size);
        }
    };
    const HostIn<float> host(x, in);
    HostOut<T> rounded(out), rounded_gelu(out);
    narrow_cpu(host.view(), rounded.view());
    narrow_cpu(host.view(), rounded_gelu.view(), Before::gelu);
    check(rounded.values(), rounded_gelu.values());
    const DeviceIn<float> from(x, in);
    DeviceOut<T> to(out), by_gelu(out);
    narrow_cuda(from.view(), to.view());
    narrow_cuda(from.view(), by_gelu.view(), Before::gelu);
    check(to.values(), by_gelu.values());
    CHECK(from.unchanged());
}

// --- logits --------------------------------------------------------------------------------------

// How far logits may be from those of the CPU references, relative to the largest. A rounding to 16
// bits has an error of at most u, typically u / sqrt(3), and so has each term of the sums it
// enters. Signs differ, so the sum's relative error is u / sqrt(3), too. Each layer has eight
// roundings: two norms, q, k, v, the weights, attention's output and GELU; and four matrices, if
// they are of another type. They add up as squares; six standard deviations are never reached.
double rounding_of(const Config& config, WeightType of_weights, WeightType type) {
    const double u = type == WeightType::f16 ? 0x1p-11 : 0x1p-8;
    const double each = of_weights == type ? 8 : 12;
    return 6 * u * std::sqrt(each * static_cast<double>(config.layers) / 3);
}

double furthest(const View<const float>& a, const View<const float>& b) {
    double most = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) {
        const Index at = unravel(i, a.shape());
        most = std::max(most, std::fabs(double{a(at)} - double{b(at)}));
    }
    return most;
}

// A text of `count` tokens, processed in pieces that end at `cuts`; then `more` tokens, one by one.
Tensor<float> last_logits(Backend& backend, const Config& config, std::int64_t count,
                          const std::vector<std::int64_t>& cuts, int more) {
    const Tensor<std::int64_t> all = random_ids(config, count + more, 5);
    Engine engine(config, backend, config.context);
    std::int64_t begin = 0;
    const auto read_to = [&](std::int64_t end) {
        engine.read(slice(View<const std::int64_t>(all.view()), 0, begin, end));
        begin = end;
    };
    for (const std::int64_t cut : cuts) read_to(cut);
    for (int i = 0; i <= more; ++i) {
        if (count + i > begin) read_to(count + i);
    }
    Tensor<float> logits({1, config.vocabulary});
    backend.read_logits(logits.view());
    return logits;
}

void compare(const Config& config, WeightType type, std::int64_t count,
             const std::vector<std::int64_t>& cuts, int more) {
    const RandomModel model(config, type);
    const WeightType narrow = narrow_type(matrix_types(model.weights()));
    INFO(storage_of(type).name << " in " << storage_of(narrow).name << ", " << count << " tokens");
    const auto plain = make_plain_backend(model.weights(), config.context);
    const auto floats = make_cuda_backend(model.weights(), config.context);
    const auto fast = make_cuda_backend(model.weights(), config.context, Prompts::tensor_cores);
    CHECK(contains(fast->name(), std::string(", prompts in ") + storage_of(narrow).name));
    const Tensor<float> want = last_logits(*plain, config, count, cuts, more),
                        exact = last_logits(*floats, config, count, cuts, more),
                        got = last_logits(*fast, config, count, cuts, more);
    const double bound = rounding_of(config, type, narrow) * largest(want.view());
    CAPTURE(bound, furthest(got.view(), want.view()));
    CHECK(close(got.view(), want.view(), bound));
    // The float path is much closer, so it was really a different one.
    CHECK(furthest(exact.view(), want.view()) < furthest(got.view(), want.view()) / 8);
    CHECK(furthest(got.view(), want.view()) > bound / 60);
}

constexpr Config kSmall = {1, 48, 32, 2, 64, 97, 1e-5f};

}  // namespace

TEST_CASE("narrow: each number is rounded to nearest, in any layout of whole groups of eight",
          "[day06][small]") {
    const Layout plain = row_major({3, 16}), apart({3, 16}, {40, 1}),
                 permuted({2, 3, 8}, {8, 16, 1}), gaps({2, 3, 8}, {72, 24, 1});
    check_rounded<bf16>(plain, plain);
    check_rounded<f16>(apart, plain);
    check_rounded<bf16>(plain, apart);
    check_rounded<f16>(permuted, gaps);
    check_rounded<bf16>(gaps, permuted);
    check_rounded<bf16>(row_major({1, 8}), row_major({1, 8}));
    check_rounded<f16>(row_major({0, 8}), row_major({0, 8}));
    check_rounded<f16>(row_major({131, 8}), row_major({131, 8}));  // more than one block processes
}

TEST_CASE("narrow: NaN stays NaN, ties go to even, overflow is infinite, underflow 0",
          "[day06][small]") {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
    // f16 ends at 65504, and 65520 is halfway to the next value, which would overflow. Below
    // 2^-14 f16 has multiples of 2^-24; 2^-25 is half of one. bf16 has 8 digits: 1 + 2^-8 and 1
    // + 3 2^-8 are ties.
    const std::vector<float> some = {
        nan,        inf,        -inf,      -0.0f,     0x1p-25f,        -0x1.8p-24f,
        0x1.002p0f, 0x1.006p0f, 65519,     65520,     -7e4f,           0x1.01p0f,
        0x1.03p0f,  0x1p-126f,  0x1p-133f, 0x1p-134f, 0x1.fffffep127f, -0x1.fep127f};
    Tensor<float> x({24});
    for (std::size_t i = 0; i < some.size(); ++i) x(static_cast<std::int64_t>(i)) = some[i];
    const auto check = [&]<class T>(T) {
        const DeviceIn<float> from(x);
        DeviceOut<T> to({24});
        HostOut<T> loop({24});
        narrow_cuda(from.view(), to.view());
        narrow_cpu(x.view(), loop.view());
        const Tensor<T> got = to.values(), want = loop.values();
        for (std::int64_t i = 0; i < x.size(); ++i) {
            CAPTURE(i, x(i), float(got(i)));
            CHECK((std::isnan(x(i)) ? std::isnan(float(got(i))) : got(i).bits == T(x(i)).bits));
            CHECK((std::isnan(x(i)) ? std::isnan(float(want(i))) : want(i).bits == got(i).bits));
        }
        return got;
    };
    const Tensor<f16> halves = check(f16{});
    const float want_f16[] = {0, -0x1p-23f, 1, 0x1.008p0f, 65504, inf, -inf};
    for (std::int64_t i = 0; i < 7; ++i) CHECK(float(halves(4 + i)) == want_f16[i]);
    const Tensor<bf16> wide = check(bf16{});
    const float want_bf16[] = {1, 0x1.04p0f, 0x1p-126f, 0x1p-133f, 0, inf, -0x1.fep127f};
    for (std::int64_t i = 0; i < 7; ++i) CHECK(float(wide(11 + i)) == want_bf16[i]);
}

TEST_CASE("norm_narrow: a layer norm in floats, then rounded", "[day06][small]") {
    const auto check = [&]<class T>(T, const Shape& shape, float far) {
        const std::int64_t C = shape[1];
        Tensor<float> x = seeded<float>(shape, 5, -2, 2);
        for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] += far;
        const Tensor<float> weight = seeded<float>({C}, 6, -3, 3),
                            bias = seeded<float>({C}, 7, -1, 1);
        const DeviceIn<float> from(x), w(weight), b(bias);
        DeviceOut<T> to(shape);
        HostOut<T> loop(shape);
        norm_narrow_cuda(from.view(), {w.view(), b.view(), 1e-5f}, to.view());
        norm_narrow_cpu(x.view(), {weight.view(), bias.view(), 1e-5f}, loop.view());
        const Tensor<T> got = to.values(), of_loop = loop.values();
        const double u = std::is_same_v<T, f16> ? 0x1p-11 : 0x1p-8;
        for (std::int64_t r = 0; r < shape[0]; ++r) {
            double mean = 0, squares = 0;
            for (std::int64_t i = 0; i < C; ++i) mean += double{x(r, i)} / static_cast<double>(C);
            for (std::int64_t i = 0; i < C; ++i) squares += (x(r, i) - mean) * (x(r, i) - mean);
            const double scale = 1 / std::sqrt(squares / static_cast<double>(C) + 1e-5);
            for (std::int64_t i = 0; i < C; ++i) {
                CAPTURE(r, i);
                const double product = (x(r, i) - mean) * scale * weight(i);
                const double want = product + bias(i);
                // The error of the float norm is some 2^-20 of its terms: x - first is exact here
                // except for x's own rounding, and C is small. Then the rounding to T.
                const double room = 0x1p-18 * (std::fabs(product) + std::fabs(double{bias(i)}) + 1);
                CHECK(std::fabs(double{float(got(r, i))} - want) <= u * std::fabs(want) + room);
                CHECK(std::fabs(double{float(of_loop(r, i))} - want) <= u * std::fabs(want) + room);
            }
        }
        CHECK(from.unchanged());
    };
    check(f16{}, {5, 8}, 0);     // fewer vectors than lanes
    check(bf16{}, {3, 136}, 0);  // some lanes have two
    check(f16{}, {9, 768}, 100);
    check(bf16{}, {0, 8}, 0);
}

TEST_CASE("norm_narrow: each operand that does not match is rejected on its own",
          "[day06][small]") {
    const DeviceIn<float> good(seeded<float>({2, 16}, 1, -1, 1)),
        row(seeded<float>({16}, 2, -1, 1));
    const DeviceIn<float> gaps(Tensor<float>({2, 16}), Layout({2, 16}, {24, 1}));
    const DeviceIn<float> every_other(Tensor<float>({16}), Layout({16}, {2})),
        fifteen(Tensor<float>({15}));
    const DeviceIn<float> flat(Tensor<float>({16}));
    DeviceOut<f16> out({2, 16}), out_gaps(Layout({2, 16}, {24, 1})), out_flat({16});
    const auto words = [&](const View<const float>& x, const View<const float>& weight,
                           const View<const float>& bias, const View<f16>& to, float eps = 0) {
        return rejection([&] { norm_narrow_cuda(x, {weight, bias, eps}, to); });
    };
    const auto w = row.view();
    CHECK(words(good.view(), w, w, out.view()).empty());
    CHECK(contains(words(gaps.view(), w, w, out.view()), "norm_narrow: in must"));
    CHECK(contains(words(good.view(), every_other.view(), w, out.view()),
                   "norm_narrow: weight must"));
    CHECK(contains(words(good.view(), {}, w, out.view()), "norm_narrow: weight"));
    CHECK(
        contains(words(good.view(), w, every_other.view(), out.view()), "norm_narrow: bias must"));
    CHECK(contains(words(good.view(), w, {}, out.view()), "norm_narrow: bias"));
    CHECK(contains(words(good.view(), w, w, out_gaps.view()), "norm_narrow: out must"));
    CHECK(contains(words(good.view(), fifteen.view(), w, out.view()),
                   "norm_narrow: weight has shape (15)"));
    CHECK(contains(words(good.view(), w, w, out.view(), -1), "eps"));
    CHECK(contains(words(flat.view(), w, w, out_flat.view()), "norm_narrow: in"));
}

TEST_CASE("narrow: operands that are not whole groups of eight are rejected", "[day06][small]") {
    const Layout good = row_major({2, 8});
    const Layout bad[] = {Layout({2, 8}, {12, 1}), Layout({2, 8}, {1, 8}), Layout({2, 8}, {16, 2})};
    const DeviceIn<float> x(Tensor<float>({2, 8}), good);
    DeviceOut<bf16> y(good);
    const char* const words = "in whole groups of eight numbers";
    for (const Layout& other : bad) {
        CAPTURE(to_string(other));
        const DeviceIn<float> in(Tensor<float>({2, 8}), other);
        DeviceOut<bf16> out(other);
        CHECK(contains(rejection([&] { narrow_cuda(in.view(), y.view()); }), words));
        CHECK(contains(rejection([&] { narrow_cuda(x.view(), out.view()); }), words));
    }
    const DeviceIn<float> late(Tensor<float>({2, 8}), good, Lead{4}),
        twelve(Tensor<float>({2, 12}));
    DeviceOut<bf16> late_out(good, Lead{4}), out_12({2, 12}), shared(Layout({2, 8}, {0, 1}));
    CHECK(contains(rejection([&] { narrow_cuda(late.view(), y.view()); }), words));
    CHECK(contains(rejection([&] { narrow_cuda(x.view(), late_out.view()); }), words));
    CHECK(contains(rejection([&] { narrow_cuda(twelve.view(), out_12.view()); }), words));
    CHECK(contains(rejection([&] { narrow_cuda(x.view(), out_12.view()); }), "narrow: "));
    CHECK(contains(rejection([&] { narrow_cuda(x.view(), shared.view()); }), "would race"));
    const View<bf16> over(reinterpret_cast<bf16*>(const_cast<float*>(x.view().data)), {2, 8});
    CHECK(rejection([&] { narrow_cuda(x.view(), over); }) == "narrow: in and out overlap");
    // The CPU reference accepts any strides, and rejects the rest with the same messages.
    const Tensor<float> some = seeded<float>({2, 5}, 1, -1, 1);
    Tensor<bf16> to({2, 5}), other({2, 4});
    narrow_cpu(some.view(), to.view());
    CHECK(to(1, 4).bits == bf16(some(1, 4)).bits);
    CHECK(contains(rejection([&] { narrow_cpu(some.view(), other.view()); }),
                   "narrow: in has shape"));
    CHECK(contains(rejection([&] {
                       norm_narrow_cpu(some.view(), {{}, {}, -1}, to.view());
                   }),
                   "eps"));
}

TEST_CASE("prompts on tensor cores: logits are within the rounding bound, in all types",
          "[day06][small]") {
    for (const WeightType type : weight_types()) {
        Config config = kSmall;
        if (storage_of(type).elements > config.channels) config.channels = config.hidden = 256;
        config.heads = config.channels / 16;
        compare(config, type, 5, {}, 0);
    }
    // Pieces, one of them a single token, and tokens after the prompt: keys and values of
    // all of them are in one cache.
    compare({2, 48, 32, 2, 64, 97, 1e-5f}, WeightType::f16, 9, {4, 5}, 2);
    // The minimum that tensor cores support: heads and an MLP of width 8. And heads of 24.
    compare({1, 48, 24, 3, 24, 97, 1e-5f}, WeightType::bf16, 5, {}, 0);
    compare({1, 48, 16, 2, 8, 97, 1e-5f}, WeightType::f16, 5, {}, 0);
    compare({1, 48, 48, 2, 48, 97, 1e-5f}, WeightType::f16, 7, {}, 0);
}

TEST_CASE("prompts on tensor cores: overflow of f16 is reported, with the remedy",
          "[day06][small]") {
    const RandomModel model(kSmall, WeightType::f16);
    ModelWeights large = model.weights();
    for (std::int64_t i = 0; i < 32; ++i) large.blocks[0].attention_norm.weight(i) = 1e6f;
    const auto ids = random_ids(kSmall, 5, 1);
    const auto chosen = [&](Prompts prompts) {
        const auto backend = make_cuda_backend(large, 48, prompts);
        Engine engine(kSmall, *backend, 48);
        engine.read(ids.view());
        return rejection([&] { (void)engine.chosen(); });
    };
    const auto foreseen = [&](Prompts prompts) {
        const auto backend = make_cuda_backend(large, 48, prompts);
        Engine engine(kSmall, *backend, 48);
        return rejection([&] { (void)perplexity(engine, {ids.data(), ids.data() + 5}); });
    };
    const char* const way_out = "rounded to f16, which ends at 65504. Try --floats";
    CHECK(chosen(Prompts::floats).empty());
    CHECK(contains(chosen(Prompts::tensor_cores), "is NaN or infinite"));
    CHECK(contains(chosen(Prompts::tensor_cores), way_out));
    CHECK(foreseen(Prompts::floats).empty());
    CHECK(contains(foreseen(Prompts::tensor_cores), "perplexity: a logit after token 0"));
    CHECK(contains(foreseen(Prompts::tensor_cores), way_out));
    // With bf16, which does not overflow, a NaN must come from the weights.
    const RandomModel other(kSmall, WeightType::bf16);
    ModelWeights broken = other.weights();
    broken.blocks[0].attention_norm.weight(3) = std::nanf("");
    const auto backend = make_cuda_backend(broken, 48, Prompts::tensor_cores);
    Engine engine(kSmall, *backend, 48);
    engine.read(ids.view());
    const std::string told = rejection([&] { (void)engine.chosen(); });
    CHECK(contains(told, "is NaN or infinite"));
    CHECK_FALSE(contains(told, "--floats"));
}

TEST_CASE("prompts on tensor cores: tokens after the prompt are computed in floats",
          "[day06][small]") {
    const RandomModel model(kSmall, WeightType::f16);
    const auto fast = make_cuda_backend(model.weights(), 48, Prompts::tensor_cores);
    const auto kernel_of = [&](std::int64_t tokens, std::int64_t position) {
        const auto ids = random_ids(kSmall, tokens, 1);
        fast->begin(ids.view(), position);
        fast->embed();
        fast->query_key_value(0);
        fast->attend(0);
        return std::string(gpu::last_kernel());
    };
    CHECK(kernel_of(2, 0) == "attention_guessed_maximum_kernel");
    CHECK(kernel_of(3, 2) == "attention_guessed_maximum_kernel");
    CHECK(kernel_of(1, 5) != "attention_guessed_maximum_kernel");
    const auto floats = make_cuda_backend(model.weights(), 48);
    const auto one = [&](Backend& backend) { return last_logits(backend, kSmall, 1, {}, 3); };
    const Tensor<float> a = one(*fast), b = one(*floats);
    CHECK(furthest(a.view(), b.view()) == 0);  // bit for bit, if no prompt has two tokens
}

// A block's matrices, one at a time, from another model.
using Change = void (*)(BlockWeights&, const BlockWeights&);
constexpr Change kOneMatrix[] = {
    [](auto& to, auto& from) { to.qkv.weight = from.qkv.weight; },
    [](auto& to, auto& from) { to.attention_output.weight = from.attention_output.weight; },
    [](auto& to, auto& from) { to.up.weight = from.up.weight; },
    [](auto& to, auto& from) { to.down.weight = from.down.weight; },
};

TEST_CASE("prompts on tensor cores: f16 only if all matrices are F16", "[day06][small]") {
    const Config config = {2, 8, 16, 1, 32, 20, 1e-5f};
    const RandomModel f16s(config, WeightType::f16), bf16s(config, WeightType::bf16);
    CHECK(narrow_type(matrix_types(f16s.weights())) == WeightType::f16);
    CHECK(narrow_type(matrix_types(bf16s.weights())) == WeightType::bf16);
    for (const Change change : kOneMatrix) {
        for (const std::size_t block : {0, 1}) {
            ModelWeights mixed = f16s.weights();
            change(mixed.blocks[block], bf16s.weights().blocks[block]);
            CHECK(narrow_type(matrix_types(mixed)) == WeightType::bf16);
            // The other matrices are rounded in each pass.
            const auto fast = make_cuda_backend(mixed, 8, Prompts::tensor_cores);
            const auto plain = make_plain_backend(mixed, 8);
            const Tensor<float> got = last_logits(*fast, config, 3, {}, 0),
                                want = last_logits(*plain, config, 3, {}, 0);
            const double bound = rounding_of(config, WeightType::f16, WeightType::bf16);
            CHECK(close(got.view(), want.view(), bound * largest(want.view())));
        }
    }
}

TEST_CASE("prompts on tensor cores: unsupported heads and rows are rejected", "[day06][small]") {
    const auto words = [](std::int64_t channels, std::int64_t heads, std::int64_t hidden) {
        const Config config = {1, 8, channels, heads, hidden, 20, 1e-5f};
        const RandomModel model(config, WeightType::f32);
        return rejection(
            [&] { (void)make_cuda_backend(model.weights(), 8, Prompts::tensor_cores); });
    };
    CHECK(words(16, 1, 8).empty());
    CHECK(words(128, 1, 8).empty());
    const std::string all = "prompts on tensor cores need heads of 8, 16, 24, ... or 128 numbers";
    CHECK(words(36, 6, 8) ==
          all +
              ", and channels and an MLP whose width is a multiple of 8; this model's have 6, 36 "
              "and 8. Try without --fast");
    CHECK(contains(words(136, 1, 8), "this model's have 136, 136 and 8"));
    CHECK(contains(words(16, 2, 12), "this model's have 8, 16 and 12"));
    // Before memory is allocated: no device has this much.
    const RandomModel sixes({1, 8, 36, 6, 8, 20, 1e-5f}, WeightType::f32);
    ModelWeights long_text = sixes.weights();
    constexpr std::int64_t kLong = std::int64_t{1} << 40;
    long_text.config.context = kLong;
    CHECK(contains(
        rejection([&] { (void)make_cuda_backend(long_text, kLong, Prompts::tensor_cores); }), all));
}

TEST_CASE("prompts on tensor cores: widening a matrix needs no additional buffer",
          "[day06][small]") {
    const Config config = {1, 1, 128, 1, 16384, 20, 1e-5f};
    const RandomModel model(config, WeightType::q8_0);
    const auto bytes = [&](Prompts prompts) {
        const std::int64_t before = gpu::free_bytes();
        const auto backend = make_cuda_backend(model.weights(), 1, prompts);
        return before - gpu::free_bytes();
    };
    // Only the 16-bit matrix is additional, and little else.
    const std::int64_t weights = config.channels * config.hidden;
    CHECK(bytes(Prompts::tensor_cores) - bytes(Prompts::floats) < 4 * weights);
}

TEST_CASE("prompts on tensor cores: the default only for supported F16 and BF16 models",
          "[day06][small]") {
    const auto of = [](WeightType type, std::int64_t channels, std::int64_t hidden) {
        const RandomModel model({1, 8, channels, 1, hidden, 20, 1e-5f}, type);
        return prompts_of(model.weights());
    };
    CHECK(of(WeightType::f16, 32, 64) == Prompts::tensor_cores);
    CHECK(of(WeightType::bf16, 128, 64) == Prompts::tensor_cores);
    CHECK(of(WeightType::f32, 32, 64) == Prompts::floats);
    CHECK(of(WeightType::q8_0, 32, 64) == Prompts::floats);
    CHECK(of(WeightType::f16, 136, 64) == Prompts::floats);
    CHECK(of(WeightType::f16, 36, 64) == Prompts::floats);
    CHECK(of(WeightType::f16, 32, 60) == Prompts::floats);
    const Config config = {2, 8, 16, 1, 32, 20, 1e-5f};
    const RandomModel f16s(config, WeightType::f16), floats(config, WeightType::f32),
        bf16s(config, WeightType::bf16);
    const auto named = [](const RandomModel& model, Prompts prompts) {
        return contains(make_cuda_backend(model.weights(), 8, prompts)->name(), ", prompts in F16");
    };
    CHECK(named(f16s, Prompts::as_weights));
    CHECK_FALSE(named(f16s, Prompts::floats));
    CHECK_FALSE(named(floats, Prompts::as_weights));
    for (const Change change : kOneMatrix) {
        for (const std::size_t block : {0, 1}) {
            for (const RandomModel* other : {&floats, &bf16s}) {  // F16 in BF16 would lose digits
                ModelWeights mixed = f16s.weights();
                change(mixed.blocks[block], other->weights().blocks[block]);
                CHECK(prompts_of(mixed) == Prompts::floats);
            }
        }
    }
}

TEST_CASE("prompts on tensor cores: more than a tile of tokens, heads of 128", "[day06][full]") {
    compare({1, 150, 128, 2, 256, 97, 1e-5f}, WeightType::f16, 140, {}, 1);
    compare({1, 150, 256, 2, 512, 97, 1e-5f}, WeightType::bf16, 140, {70}, 0);
}
