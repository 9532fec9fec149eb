// The linear layer over all types of weights: the CPU reference against double precision, the
// kernels against the CPU reference.
#include "day06_transformer_ops/gpt2/weights/linear.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/random_model.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::testing;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
Tensor<T> constant(const Shape& shape, T value) {
    Tensor<T> all(shape);
    for (T& x : std::span(all.data(), static_cast<std::size_t>(all.size()))) x = value;
    return all;
}

// Seeded weights of a type, with the bytes that store them.
struct Matrix {
    Matrix(WeightType type, std::int64_t N, std::int64_t K, std::uint64_t seed)
        : bytes(random_weights(type, N, K, 1, seed)) {
        weight = {type, bytes.data(), {N, K}};
        if (in_runs(type)) return;
        const auto values = seeded<float>({N, K}, seed, -1, 1);
        for (std::int64_t i = 0; i < N * K; ++i) {
            const float x = values.data()[i];
            if (type == WeightType::f32) put(i * 4, x);
            if (type == WeightType::f16) put(i * 2, f16(x));
            if (type == WeightType::bf16) put(i * 2, bf16(x));
            if (type != WeightType::q8_0) continue;
            const std::int64_t block = i / kQ8Block * std::int64_t{sizeof(Q8Block)};
            if (i % kQ8Block == 0) put(block, f16(0.01f + 0.01f * x));
            put(block + 2 + i % kQ8Block, static_cast<std::int8_t>(127 * x));
        }
    }
    Matrix(const Matrix&) = delete;

    template <class T>
    void put(std::int64_t at, T value) {
        std::memcpy(bytes.data() + at, &value, sizeof value);
    }

    std::vector<std::byte> bytes;
    Weight weight;
};

// The sum in double, and the sum of magnitudes, to which rounding is relative.
struct Exact {
    Tensor<double> sums, sizes;
};
Exact exact(const Weight& w, const Tensor<float>& x, const Tensor<float>& bias) {
    const std::int64_t N = w.shape[0], K = w.shape[1], T = x.shape()[0];
    Tensor<float> wide({N, K});
    to_float_cpu(w, wide.view());
    Exact e{Tensor<double>({T, N}), Tensor<double>({T, N})};
    for (std::int64_t t = 0; t < T; ++t) {
        for (std::int64_t n = 0; n < N; ++n) {
            e.sums(t, n) = bias(n);
            e.sizes(t, n) = std::abs(bias(n));
            for (std::int64_t k = 0; k < K; ++k) {
                const double part = double{wide(n, k)} * x(t, k);
                e.sums(t, n) += part;
                e.sizes(t, n) += std::abs(part);
            }
        }
    }
    return e;
}

// The bound of linear.hpp: a product is rounded once, and then in each of the K sums that it is
// part of. n roundings of 2^-24 give at most n 2^-24 / (1 - n 2^-24).
auto bound(const Exact& e, std::int64_t K) {
    return [&e, K](const Index& at) {
        const double n = std::ldexp(double(K + 1), -24);
        return n / (1 - n) * e.sizes.view()(at);
    };
}

struct Case {
    std::int64_t T, N, K;
};

}  // namespace

TEST_CASE("linear: all versions match sums in double, in all types", "[day06][small]") {
    const Case sizes[] = {
        {1, 1, 32},    {1, 7, 64},   {3, 8, 96},    {1, 9, 768},   {2, 3, 800},
        {1, 17, 1568}, {1, 5, 2304}, {1, 2, 12288}, {1, 2, 24576},  // beyond 48 KiB
        {3, 7, 256},   {2, 9, 1024}, {1, 3, 1280}};
    for (const WeightType type : weight_types()) {
        for (const Case& c : sizes) {
            if (c.K % storage_of(type).elements != 0) continue;
            INFO(storage_of(type).name << ", T " << c.T << ", N " << c.N << ", K " << c.K);
            const Matrix w(type, c.N, c.K, 3);
            const auto x = seeded<float>({c.T, c.K}, 4, -1, 1);
            const auto bias = seeded<float>({c.N}, 5, -1, 1);
            const Exact e = exact(w.weight, x, bias);
            HostOut<float> want({c.T, c.N});
            linear_cpu(w.weight, x.view(), bias.view(), want.view());
            CHECK(want.close_to(e.sums, bound(e, c.K)));

            const DeviceWeight dw(w.weight);
            DeviceIn<float> dx(x), db(bias);
            for (const LinearPath path : {LinearPath::one_output, LinearPath::warp_per_row}) {
                INFO(name(path));
                DeviceOut<float> got({c.T, c.N});
                linear_cuda(dw.matrix(), dx.view(), db.view(), got.view(), {.path = path});
                CHECK(got.close_to(e.sums, bound(e, c.K)));
            }
            CHECK(dx.unchanged());
            CHECK(db.unchanged());
        }
    }
}

// Calls test() with random weights, (3, K), of each type in runs.
void with_weights_in_runs(std::int64_t K, const std::function<void(const Weight&)>& test) {
    for (const WeightType type : weight_types()) {
        if (!in_runs(type)) continue;
        std::uint64_t state = 5;
        const auto bytes = random_weights(type, 3, K, 1, state);
        test({type, bytes.data(), {3, K}});
    }
}

TEST_CASE("linear: in 4 to 6 bits, x is rounded relative to the largest of its run",
          "[day06][small]") {
    constexpr std::int64_t K = 512;
    with_weights_in_runs(K, [&](const Weight& weight) {
        Tensor<float> wide({3, K}), x = seeded<float>({1, K}, 6, -1e-6, 1e-6);
        to_float_cpu(weight, wide.view());
        for (std::int64_t k = 37; k < K; k += 64) x(0, k) = 1000;  // in every second run
        const DeviceWeight device(weight);
        const DeviceIn<float> d_x(x);
        DeviceOut<float> got({1, 3});
        linear_cuda(device.matrix(), d_x.view(), {}, got.view(), {LinearPath::warp_per_row});
        const Tensor<float> values = got.values();
        for (std::int64_t n = 0; n < 3; ++n) {
            double want = 0, size = 0, rounded = 0;
            for (std::int64_t k = 0; k < K; ++k) {
                const double w = double{wide(n, k)};
                want += w * double{x(0, k)}, size += std::abs(w * double{x(0, k)});
                rounded += 0x1p-23 * std::abs(w) * (k / 32 % 2 == 1 ? 1000 : 1e-6);
            }
            CAPTURE(storage_of(weight.type).name, n, want, values(0, n));
            CHECK(std::abs(double{values(0, n)} - want) <=
                  static_cast<double>(K + 1) * 0x1p-24 * size + rounded);
        }
    });
}

TEST_CASE("linear: the CPU reference equals a loop over widened weights", "[day06][small]") {
    const std::int64_t T = 2, N = 7, K = GENERATE(0, 32, 768);
    const auto x = seeded<float>({T, K}, 4, -1, 1);
    for (const WeightType type : weight_types()) {
        if (K % storage_of(type).elements != 0) continue;
        INFO(storage_of(type).name << ", K " << K);
        const Matrix w(type, N, K, 3);
        Tensor<float> wide({N, K}), want({T, N});
        to_float_cpu(w.weight, wide.view());
        linear_cpu({WeightType::f32, reinterpret_cast<const std::byte*>(wide.data()), {N, K}},
                   x.view(), {}, want.view());
        const HostIn<float> in(x, Layout({T, K}, {3 * K, 3}));
        HostOut<float> out(Layout({T, N}, {2, 2 * T}));
        linear_cpu(w.weight, in.view(), {}, out.view());
        CHECK(out.matches(want));
        CHECK(in.unchanged());
    }
}

TEST_CASE("linear: the bias may be absent; x and out may have any strides", "[day06][small]") {
    const Matrix w(WeightType::q8_0, 9, 64, 6);
    const auto x = seeded<float>({2, 64}, 7, -1, 1);
    const Tensor<float> none = constant({9}, 0.0f);
    const Exact e = exact(w.weight, x, none);
    const DeviceWeight dw(w.weight);
    DeviceIn<float> dx(x, permute(row_major({64, 2}), {1, 0}));
    for (const LinearPath path : {LinearPath::one_output, LinearPath::warp_per_row}) {
        INFO(name(path));
        DeviceOut<float> got(permute(row_major({9, 2}), {1, 0}));
        linear_cuda(dw.matrix(), dx.view(), {}, got.view(), {.path = path});
        CHECK(got.close_to(e.sums, bound(e, 64)));
    }
}

TEST_CASE("linear: a NaN in x reaches all outputs, one in a weight its row", "[day06][small]") {
    for (const WeightType type : {WeightType::f32, WeightType::f16, WeightType::bf16}) {
        INFO(storage_of(type).name);
        Matrix w(type, 3, 32, 8);
        auto x = seeded<float>({2, 32}, 9, -1, 1);
        x(1, 31) = kNan;
        if (type == WeightType::f32) w.put((32 + 5) * 4, kNan);
        if (type == WeightType::f16) w.put((32 + 5) * 2, f16(kNan));
        if (type == WeightType::bf16) w.put((32 + 5) * 2, bf16(kNan));
        x(0, 5) = 0;  // 0 * NaN is NaN
        Exact e = exact(w.weight, x, constant({3}, 0.0f));
        for (double& size : std::span(e.sizes.data(), 6)) size = std::isnan(size) ? 0 : size;
        const DeviceWeight dw(w.weight);
        DeviceIn<float> dx(x);
        for (const LinearPath path : {LinearPath::one_output, LinearPath::warp_per_row}) {
            DeviceOut<float> got({2, 3});
            linear_cuda(dw.matrix(), dx.view(), {}, got.view(), {.path = path});
            CHECK(got.close_to(e.sums, bound(e, 32), Nans::where_expected));
        }
    }
}

TEST_CASE("linear: in 4 to 6 bits, a NaN or an infinity in x makes its outputs NaN",
          "[day06][small]") {
    constexpr std::int64_t K = 512;
    with_weights_in_runs(K, [&](const Weight& w) {
        const DeviceWeight weight(w);
        for (const float value : {kNan, std::numeric_limits<float>::infinity(),
                                  -std::numeric_limits<float>::infinity()}) {
            for (const std::int64_t at : {0, 13, 31, 37, 255, 511}) {
                CAPTURE(storage_of(w.type).name, value, at);
                auto x = seeded<float>({2, K}, 6, -1, 1);
                x(1, at) = value;
                const DeviceIn<float> d_x(x);
                DeviceOut<float> got({2, 3});
                linear_cuda(weight.matrix(), d_x.view(), {}, got.view(),
                            {.path = LinearPath::warp_per_row});
                const Tensor<float> values = got.values();
                for (std::int64_t n = 0; n < 3; ++n) {
                    CHECK(std::isfinite(values(0, n)));
                    CHECK(std::isnan(values(1, n)));
                }
            }
        }
    });
}

TEST_CASE("linear: rows that are not whole vectors use the twin", "[day06][small]") {
    const Matrix w(WeightType::f16, 4, 30, 10);  // rows of 60 bytes
    const auto x = seeded<float>({1, 30}, 11, -1, 1);
    const auto bias = seeded<float>({4}, 12, -1, 1);
    const Exact e = exact(w.weight, x, bias);
    const DeviceWeight dw(w.weight);
    DeviceIn<float> dx(x), db(bias);
    DeviceOut<float> got({1, 4}), rejected({1, 4});
    linear_cuda(dw.matrix(), dx.view(), db.view(), got.view());
    CHECK(got.close_to(e.sums, bound(e, 30)));
    CHECK(contains(rejection([&] {
                       linear_cuda(dw.matrix(), dx.view(), db.view(), rejected.view(),
                                   {.path = LinearPath::warp_per_row});
                   }),
                   "30 columns make a row"));
    CHECK(rejected.untouched());

    DeviceMatrix late = DeviceWeight(Matrix(WeightType::f32, 4, 32, 1).weight).matrix();
    late.data += 4;
    CHECK(choose_linear(late) == LinearPath::one_output);
}

TEST_CASE("linear: empty operands launch nothing, or leave the bias", "[day06][small]") {
    const DeviceWeight none({WeightType::f16, nullptr, {0, 8}});
    const DeviceWeight narrow({WeightType::f16, nullptr, {3, 0}});
    DeviceIn<float> no_tokens(Tensor<float>({0, 8})), token(constant({1, 8}, 1.0f));
    DeviceIn<float> nothing(Tensor<float>({1, 0}));
    const auto bias = distinct<float>({3});
    DeviceIn<float> db(bias);
    DeviceOut<float> a({1, 0}), b({1, 3});
    linear_cuda(none.matrix(), token.view(), {}, a.view());
    linear_cuda(none.matrix(), no_tokens.view(), {}, DeviceOut<float>({0, 0}).view());
    for (const LinearPath path : {LinearPath::one_output, LinearPath::warp_per_row}) {
        DeviceOut<float> got({1, 3});
        linear_cuda(narrow.matrix(), nothing.view(), db.view(), got.view(), {.path = path});
        CHECK(got.matches(unsqueeze(bias.view(), 0)));
    }
}

TEST_CASE("linear: all versions reject operands that do not match", "[day06][small]") {
    const Matrix w(WeightType::bf16, 4, 32, 1);
    const DeviceWeight dw(w.weight);
    HostIn<float> x(constant({1, 31}, 1.0f)), bias(constant({3}, 1.0f));
    HostIn<float> fits(constant({1, 32}, 1.0f));
    HostOut<float> out({1, 4});
    CHECK(both_reject([&] { linear_cpu(w.weight, x.view(), {}, out.view()); },
                      [&] { linear_cuda(dw.matrix(), x.view(), {}, out.view()); },
                      "4 rows and 32 columns, x of shape (1, 31)"));
    CHECK(both_reject([&] { linear_cpu(w.weight, fits.view(), bias.view(), out.view()); },
                      [&] { linear_cuda(dw.matrix(), fits.view(), bias.view(), out.view()); },
                      "a bias of 3 for 4 outputs"));
    CHECK(both_reject(
        [&] {
            linear_cpu(w.weight, fits.view(), {}, {nullptr, {1, 4}});
        },
        [&] {
            linear_cuda(dw.matrix(), fits.view(), {}, {nullptr, {1, 4}});
        },
        "null pointer"));
    CHECK(both_reject(
        [&] {
            linear_cpu({WeightType::bf16, nullptr, {4, 32}}, fits.view(), {}, out.view());
        },
        [&] {
            linear_cuda({WeightType::bf16, nullptr, nullptr, 4, 32}, fits.view(), {}, out.view());
        },
        "the weights are a null pointer"));
    CHECK(contains(
        rejection([&] {
            linear_cpu({WeightType::f32, w.bytes.data(), {2, 2, 32}}, fits.view(), {}, out.view());
        }),
        "w has shape (2, 2, 32)"));
    CHECK(contains(rejection([&] {
                       (void)DeviceWeight({WeightType::f32, nullptr, {0, 1, 1}});
                   }),
                   "not a matrix"));
}

TEST_CASE("linear: the bound includes a bias that dominates the sum, and rejects x as bf16",
          "[day06][small]") {
    const Matrix w(WeightType::f32, 5, 32, 3);
    auto x = seeded<float>({1, 32}, 4, -0x1p-12f, 0x1p-12f);
    const auto bias = seeded<float>({5}, 5, 1, 1000);
    const Exact e = exact(w.weight, x, bias);
    HostOut<float> got({1, 5}), worse({1, 5});
    linear_cpu(w.weight, x.view(), bias.view(), got.view());
    CHECK(got.close_to(e.sums, bound(e, 32)));
    const Exact alone = exact(w.weight, x, constant({5}, 0.0f));
    CHECK_FALSE(got.close_to(e.sums, bound(alone, 32)));  // so the bound must include the bias
    for (float& number : std::span(x.data(), 32)) number = static_cast<float>(bf16(number));
    linear_cpu(w.weight, x.view(), {}, worse.view());
    CHECK_FALSE(worse.close_to(alone.sums, bound(alone, 32)));
}

TEST_CASE("linear: unknown types, and rows of partial blocks, are rejected by all",
          "[day06][small]") {
    const std::vector<std::byte> bytes(4096);
    HostIn<float> x(constant({1, 33}, 1.0f));
    HostOut<float> out({1, 4}), wide({4, 33});
    const struct {
        WeightType type;
        const char* sentence;
    } wrong[] = {{static_cast<WeightType>(3), "ggml's type 3 is not read here"},
                 {WeightType::q8_0, "rows of 33 elements do not divide into blocks of 32"},
                 {WeightType::q4_0, "rows of 33 elements do not divide into blocks of 32"},
                 {WeightType::q4_k, "rows of 33 elements do not divide into blocks of 256"},
                 {WeightType::q6_k, "rows of 33 elements do not divide into blocks of 256"}};
    for (const auto& [type, sentence] : wrong) {
        const Weight w = {type, bytes.data(), {4, 33}};
        const DeviceMatrix dw = {type, bytes.data(), nullptr, 4, 33};
        CHECK(both_reject([&] { linear_cpu(w, x.view(), {}, out.view()); },
                          [&] { linear_cuda(dw, x.view(), {}, out.view()); }, sentence));
        CHECK(contains(rejection([&] { linear_fast(w, x.view(), out.view()); }), sentence));
        CHECK(both_reject([&] { to_float_cpu(w, wide.view()); },
                          [&] { to_float_cuda(dw, wide.view()); }, sentence));
        CHECK(contains(rejection([&] { (void)DeviceWeight(w); }), sentence));
    }
    CHECK(contains(rejection([&] {
                       (void)Weight{WeightType::q8_0, bytes.data(), {4, 33}}.as_q8_0();
                   }),
                   "33 elements"));
    CHECK(out.untouched());
    CHECK(wide.untouched());
}

TEST_CASE("to_float: converts every weight to a float, exactly", "[day06][small]") {
    for (const WeightType type : weight_types()) {
        // 159 weights: not whole pieces of 4 or 8. The others have only whole blocks.
        const std::int64_t block = storage_of(type).elements, K = block > 1 ? 3 * block : 53;
        INFO(storage_of(type).name);
        const Matrix w(type, 3, K, 13);
        HostOut<float> want({3, K});
        to_float_cpu(w.weight, want.view());
        const DeviceWeight dw(w.weight);
        DeviceOut<float> got({3, K}), late({3, K}, Lead{1});
        to_float_cuda(dw.matrix(), got.view());
        CHECK(got.matches(want));
        CHECK(contains(rejection([&] { to_float_cuda(dw.matrix(), late.view()); }),
                       "out 4 bytes past"));
    }
}
