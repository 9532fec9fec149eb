// The thread pool, and the fast CPU loops that it runs.
#include "day06_transformer_ops/gpt2/cpu/threads.hpp"

#include <cmath>
#include <limits>
#include <set>

#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/attention/attention.hpp"
#include "day06_transformer_ops/gpt2/cpu/attend_fast.hpp"
#include "day06_transformer_ops/gpt2/random_model.hpp"
#include "day06_transformer_ops/gpt2/weights/linear.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::testing;

TEST_CASE("every part of the work is done once, each on a different thread, round after round",
          "[day06][small]") {
    const int count = GENERATE(1, 2, 5);
    Threads threads(count);
    CHECK(threads.count() == count);
    std::vector<int> done(static_cast<std::size_t>(count));
    std::vector<std::thread::id> ids(static_cast<std::size_t>(count));
    for (int round = 1; round <= 100; ++round) {
        threads.run([&](int part) {
            ++done[static_cast<std::size_t>(part)];
            ids[static_cast<std::size_t>(part)] = std::this_thread::get_id();
        });
        REQUIRE(done == std::vector<int>(static_cast<std::size_t>(count), round));
    }
    CHECK(std::set(ids.begin(), ids.end()).size() == static_cast<std::size_t>(count));
    CHECK(Threads(0).count() >= 1);
}

TEST_CASE("threads that have slept wake up", "[day06][small]") {
    Threads threads(2);
    std::atomic<int> sum{0};
    for (int round = 0; round < 3; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        threads.run([&](int part) { sum += part + 1; });
    }
    CHECK(sum == 9);
}

TEST_CASE("parts cover everything, none twice, and as evenly as possible", "[day06][small]") {
    for (const std::int64_t count : {0, 1, 2, 7, 50257}) {
        for (const int parts : {1, 2, 3, 16}) {
            std::int64_t next = 0;
            for (int part = 0; part < parts; ++part) {
                const Range mine = part_of(count, part, parts);
                CHECK(mine.begin == next);
                CHECK(mine.end - mine.begin >= count / parts);
                CHECK(mine.end - mine.begin <= (count + parts - 1) / parts);
                next = mine.end;
            }
            CHECK(next == count);
        }
    }
}

namespace {

// Random weights of a type, and the same as floats.
struct Matrix {
    std::vector<std::byte> bytes;
    Weight weight;
    Tensor<float> floats;
};
Matrix random_matrix(WeightType type, std::int64_t N, std::int64_t K, std::uint64_t seed) {
    const Shape shape = {N, K};
    Matrix m{random_weights(type, N, K, 1, seed), {type, nullptr, shape}, Tensor<float>(shape)};
    m.weight.data = m.bytes.data();
    const auto numbers = seeded<float>(shape, seed, -1, 1);
    const auto quants = seeded_integers<float>(shape, seed, -128, 127);
    for (std::int64_t i = 0; i < N * K; ++i) {
        const float x = numbers.data()[i];
        if (type == WeightType::f32) reinterpret_cast<float*>(m.bytes.data())[i] = x;
        if (type == WeightType::f16) reinterpret_cast<f16*>(m.bytes.data())[i] = f16(x);
        if (type == WeightType::bf16) reinterpret_cast<bf16*>(m.bytes.data())[i] = bf16(x);
        if (type == WeightType::q8_0) {
            Q8Block& block = reinterpret_cast<Q8Block*>(m.bytes.data())[i / kQ8Block];
            if (i % kQ8Block == 0) block.scale = f16(x / 100);
            block.quants[i % kQ8Block] = static_cast<std::int8_t>(quants.data()[i]);
        }
    }
    to_float_cpu(m.weight, m.floats.view());
    return m;
}

struct Exact {
    Tensor<double> sums, sizes;
};
Exact exact_product(const Tensor<float>& weight, const Tensor<float>& x) {
    const std::int64_t N = weight.shape()[0], K = weight.shape()[1], T = x.shape()[0];
    Exact exact{Tensor<double>({T, N}), Tensor<double>({T, N})};
    for (std::int64_t t = 0; t < T; ++t) {
        for (std::int64_t n = 0; n < N; ++n) {
            for (std::int64_t k = 0; k < K; ++k) {
                const double product = double{weight(n, k)} * x(t, k);
                exact.sums(t, n) += product;
                exact.sizes(t, n) += std::abs(product);
            }
        }
    }
    return exact;
}

constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

}  // namespace

// One token: the order of sums is free, K/32 + 6 roundings. A prompt: one sum, K + 1 of them.
TEST_CASE("the fast product is as accurate as its order of summation allows", "[day06][small]") {
    const WeightType type = GENERATE(WeightType::f32, WeightType::f16, WeightType::bf16,
                                     WeightType::q8_0, WeightType::q4_0, WeightType::q5_0,
                                     WeightType::q4_k, WeightType::q5_k, WeightType::q6_k);
    const std::int64_t T = GENERATE(1, 3, 4, 15, 16, 17, 64, 65);
    const std::int64_t N = GENERATE(1, 5, 6, 13);
    const std::int64_t block = storage_of(type).elements;
    const std::int64_t K = block > 1 ? block * GENERATE(1, 3) : GENERATE(1, 31, 32, 45, 96);
    CAPTURE(static_cast<int>(type), T, N, K);
    const Matrix m = random_matrix(type, N, K, 3);
    const auto x = seeded<float>({T, K}, 4, -1, 1);
    const Exact exact = exact_product(m.floats, x);
    HostIn<float> in(x, Lead{1});
    HostOut<float> out(Layout({T, N}, {N + 3, 1}), Lead{1});
    linear_fast(m.weight, in.view(), out.view());
    const std::int64_t roundings = T < 4 ? K / 32 + K % 32 + 7 : K + 1;
    CHECK(out.close_to(exact.sums, [&](const Index& i) {
        return static_cast<double>(roundings) * 0x1p-24 * exact.sizes(i);
    }));
    CHECK(in.unchanged());
}

TEST_CASE("every f16 is converted exactly, up to 32 at a time", "[day06][small]") {
    // Row n has f16 number 32 n + j at position j. With x = 1 at one position and 0 elsewhere,
    // out is that weight. An infinity or a NaN would make the whole row NaN, so those are
    // tested below, with x = 1.
    std::vector<f16> all;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        if ((bits & 0x7C00) == 0x7C00) continue;
        all.push_back(f16::from_bits(static_cast<std::uint16_t>(bits)));
    }
    const auto N = static_cast<std::int64_t>(all.size()) / 32;
    const std::int64_t T = GENERATE(1, 4), last = T - 1;  // one token, a prompt: two loops
    const Weight weight{WeightType::f16, reinterpret_cast<const std::byte*>(all.data()), {N, 32}};
    Tensor<float> x({T, 32}), out({T, N});
    for (std::int64_t j = 0; j < 32; ++j) {
        x(last, j) = 1;
        linear_fast(weight, x.view(), out.view());
        x(last, j) = 0;
        for (std::int64_t n = 0; n < N; ++n) {
            if (out(last, n) != static_cast<float>(all[static_cast<std::size_t>(32 * n + j)])) {
                FAIL("f16 number " << 32 * n + j << " became " << out(last, n));
            }
        }
    }
    for (const int bits : {0x7C00, 0xFC00, 0x7C01, 0x7E00, 0xFFFF}) {
        std::vector<f16> row(32, f16(0.0f));
        row[5] = f16::from_bits(static_cast<std::uint16_t>(bits));
        const Weight one{WeightType::f16, reinterpret_cast<const std::byte*>(row.data()), {1, 32}};
        for (std::int64_t j = 0; j < 32; ++j) x(last, j) = 1;
        linear_fast(one, x.view(), slice(out.view(), 1, 0, 1));
        const auto want = static_cast<float>(row[5]);
        CHECK((std::isnan(want) ? std::isnan(out(last, 0)) : out(last, 0) == want));
    }
}

TEST_CASE("a weight of 0 does not hide a NaN in x", "[day06][small]") {
    const std::int64_t T = GENERATE(1, 16);
    const float scale = GENERATE(1.0f, 0.0f);
    Tensor<Q8Block> blocks({2, 2});
    for (std::int64_t b = 0; b < 4; ++b) blocks(b / 2, b % 2) = {f16(scale), {}};
    const Weight weight{
        WeightType::q8_0, reinterpret_cast<const std::byte*>(blocks.data()), {2, 64}};
    Tensor<float> x({T, 64}), out({T, 2});
    x(T - 1, 40) = kNotANumber;
    linear_fast(weight, x.view(), out.view());
    for (std::int64_t t = 0; t < T; ++t) {
        CHECK(std::isnan(out(t, 0)) == (t == T - 1));
        CHECK(std::isnan(out(t, 1)) == (t == T - 1));
    }
}

TEST_CASE("the fast product rejects operands that do not match", "[day06][small]") {
    const Matrix m = random_matrix(WeightType::f32, 6, 8, 1);
    Tensor<float> x({2, 8});
    HostOut<float> out({2, 6});
    const auto rejected = [&](const Weight& w, View<const float> in, View<float> to) {
        return rejection([&] { linear_fast(w, in, to); });
    };
    CHECK(rejected(rows(m.weight, 0, 5), x.view(), out.view()) ==
          "linear: weights of 5 rows and 8 columns, x of shape (2, 8) and out of shape (2, 6) do "
          "not fit");
    CHECK(contains(rejected(m.weight, slice(x.view(), 0, 0, 1), out.view()), "x of shape (1, 8)"));
    CHECK(contains(rejected(m.weight, slice(x.view(), 1, 0, 4), out.view()), "x of shape (2, 4)"));
    Tensor<float> wide({2, 16}), gaps({2, 12});
    CHECK(contains(rejected(m.weight, slice(wide.view(), 1, 0, 8), out.view()), "contiguous"));
    CHECK(rejected(m.weight, x.view(), slice(gaps.view(), 1, 0, 12, 2)) ==
          "linear: the columns of out are 2 elements apart, but this loop needs them contiguous");
    CHECK(contains(rejected(m.weight, {nullptr, x.shape()}, out.view()), "null pointer"));
    CHECK(contains(rejected({WeightType::f32, nullptr, {6, 8}}, x.view(), out.view()),
                   "weights are a null pointer"));
    CHECK(rejected(m.weight, x.view(), {x.data(), Shape{2, 6}}) == "linear: x and out overlap");
    CHECK(out.untouched());
}

TEST_CASE("the fast attention of a query matches the CPU reference", "[day06][small]") {
    const std::int64_t D = GENERATE(1, 7, 16, 64, 70), n = GENERATE(1, 2, 33);
    CAPTURE(D, n);
    const auto q = seeded<float>({D}, 1, -2, 2), k = seeded<float>({n, D + 5}, 2, -2, 2);
    const auto v = seeded<float>({n, D + 3}, 3, -1, 1);
    const auto keys = slice(k.view(), 1, 0, D), values = slice(v.view(), 1, 2, D + 2);
    Tensor<float> want({1, D});
    day06_transformer_ops::attention_cpu(unsqueeze(q.view(), 0), keys, values, {}, want.view());
    HostOut<float> out({D});
    std::vector<float> scores(static_cast<std::size_t>(n));
    attend_fast(q.view(), keys, values, scores.data(), out.view());
    // Scores up to |q| |k| = 4 D / sqrt(D) round D + 2 times; weights and sums n + 4 times more.
    const double size = std::sqrt(static_cast<double>(D)) * 4;
    const double bound = (size * static_cast<double>(D + 2) + static_cast<double>(n) + 4) * 0x1p-23;
    CHECK(out.close_to(select(want.view(), 0, 0), bound));
}

TEST_CASE("the fast attention handles scores whose exp would overflow", "[day06][small]") {
    // Scores 200, 0, -200 and the reverse: the largest has all the weight.
    const bool first = GENERATE(true, false);
    Tensor<float> q({1}, {20}), k({3, 1}, {10, 0, -10}), v({3, 1}, {5, 6, 7}), out({1});
    if (!first) k = Tensor<float>({3, 1}, {-10, 0, 10});
    float scores[3];
    attend_fast(q.view(), k.view(), v.view(), scores, out.view());
    CHECK(out(0) == (first ? 5 : 7));
}

TEST_CASE("the fast attention rejects operands that do not match", "[day06][small]") {
    Tensor<float> q({4}), k({3, 4}), v({3, 4});
    HostOut<float> out({4});
    float scores[3];
    const auto rejected = [&](View<const float> keys, View<const float> values) {
        return rejection([&] { attend_fast(q.view(), keys, values, scores, out.view()); });
    };
    CHECK(rejected(k.view(), slice(v.view(), 0, 0, 2)) == "attend: 3 keys, but 2 values");
    CHECK(contains(rejected(slice(k.view(), 0, 0, 0), v.view()), "keys has shape (0, 4)"));
    CHECK(contains(rejected(k.view(), slice(v.view(), 1, 0, 4, 2)), "values has shape (3, 2)"));
    CHECK(contains(rejected(transpose(Tensor<float>({4, 3}).view()), v.view()), "strides (1, 3)"));
    CHECK(contains(rejected({nullptr, Shape{3, 4}}, v.view()), "null pointer"));
    CHECK(rejection([&] {
              attend_fast(q.view(), k.view(), v.view(), scores, {q.data(), Shape{4}});
          }) == "attend: q and out overlap");
    CHECK(rejection([&] {
              attend_fast(q.view(), k.view(), v.view(), scores, {v.data(), Shape{4}});
          }) == "attend: values and out overlap");
    CHECK(out.untouched());
}
