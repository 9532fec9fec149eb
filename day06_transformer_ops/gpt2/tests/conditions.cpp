// Every condition of a choice or an argument check, violated alone, one operand at a time.
#include <cmath>
#include <cstring>
#include <functional>

#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/cpu/attend_fast.hpp"
#include "day06_transformer_ops/gpt2/gpu/decode.hpp"
#include "day06_transformer_ops/gpt2/random_model.hpp"
#include "day06_transformer_ops/gpt2/weights/linear.hpp"
#include "day06_transformer_ops/gpt2/weights/phase_shared.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::testing;

TEST_CASE("linear: which weights a warp can read in whole rows", "[day06][small]") {
    alignas(16) static const std::byte memory[64] = {};
    const std::int64_t most = std::int64_t{1} << 29;
    const struct {
        WeightType type;
        std::int64_t past, N, K;
        bool takes;
    } rows[] = {
        {WeightType::f32, 0, 8, 4, true},       {WeightType::f32, 4, 8, 4, false},
        {WeightType::f32, 8, 8, 4, false},      {WeightType::f32, 0, 8, 5, false},
        {WeightType::f32, 0, 8, 6, false},      {WeightType::f32, 0, 8, 8, true},
        {WeightType::f16, 0, 8, 8, true},       {WeightType::f16, 0, 8, 12, false},
        {WeightType::f16, 2, 8, 8, false},      {WeightType::bf16, 0, 8, 16, true},
        {WeightType::bf16, 0, 8, 4, false},     {WeightType::q8_0, 0, 8, 32, true},
        {WeightType::q8_0, 2, 8, 32, false},    {WeightType::f32, 0, most - 1, 4, true},
        {WeightType::f32, 0, most, 4, false},   {WeightType::f32, 0, 0, 4, true},
        {WeightType::f32, 0, 8, 24576, true},   {WeightType::f32, 0, 8, 24580, false},
        {WeightType::f32, 0, 8, most, false},   {WeightType::q8_0, 0, 8, most << 3, false},
        {WeightType::q4_0, 0, 8, 32, true},     {WeightType::q4_0, 8, 8, 32, false},
        {WeightType::q5_0, 0, 8, 32, true},     {WeightType::q5_k, 0, 8, 24576, true},
        {WeightType::q4_k, 0, 8, 256, true},    {WeightType::q4_k, 4, 8, 256, false},
        {WeightType::q6_k, 0, 8, 256, true},    {WeightType::q6_k, 2, 8, 256, false},
        {WeightType::q6_k, 0, 8, 24576, true},  {WeightType::q6_k, 0, 8, 24832, false},
        {WeightType::q4_0, 0, most, 32, false},
    };
    for (const auto& row : rows) {
        INFO(storage_of(row.type).name << ", " << row.past << " bytes past, N " << row.N << ", K "
                                       << row.K);
        const DeviceMatrix w = {row.type, memory + row.past, nullptr, row.N, row.K};
        CHECK((choose_linear(w) == LinearPath::warp_per_row) == row.takes);
    }
    CHECK(std::string(name(LinearPath::one_output)) == "one_output");
    CHECK(std::string(name(LinearPath::warp_per_row)) == "warp_per_row");
    for (std::int64_t D = 0; D <= 140; ++D) {
        CHECK(takes_head(D) == (D % 4 == 0 && D >= 8 && D <= 128));
    }
}

TEST_CASE("decode: rows that fit in a block's shared memory, whatever else a phase keeps there",
          "[day06][small]") {
    alignas(16) static const std::byte memory[16] = {};
    const auto matrix = [](std::int64_t N, std::int64_t K) {
        return DeviceMatrix{WeightType::f32, memory, nullptr, N, K};
    };
    // 99 KiB, 1 KiB of it for variables: x in whole slices of 768 floats, and the kept rows.
    CHECK((phase_bytes(768, 2) == 9216 && phase_bytes(772, 0) == 6144));
    const std::int64_t most[] = {24576, 12288, 8320};  // by rows kept
    for (int kept = 0; kept < 3; ++kept) {
        CAPTURE(kept);
        CHECK(phase_takes(matrix(8, most[kept]), kept));
        CHECK_FALSE(phase_takes(matrix(8, most[kept] + 4), kept));
    }
    CHECK_FALSE(phase_takes(matrix(8, 6), 0));
    // Types of 4 and 6 bits are read in slices of 1,024.
    CHECK(phase_bytes(772, 1, slice_of(WeightType::q4_0)) == 4096 + 3088);
    const auto runs = [](std::int64_t K) {
        return DeviceMatrix{WeightType::q4_0, memory, nullptr, 8, K};
    };
    CHECK((phase_takes(runs(24576), 0) && phase_takes(runs(8192), 2)));
    CHECK_FALSE(phase_takes(runs(8320), 2));
    // A GPT-2 of 6,144 channels is the widest that the phases support: its MLP has 24,576.
    const auto block = [&](std::int64_t C, std::int64_t hidden) {
        return BlockMatrices{matrix(3 * C, C), matrix(C, C), matrix(hidden, C), matrix(C, hidden)};
    };
    for (const std::int64_t C : {768, 3072, 4096, 6144}) CHECK(phases_take(block(C, 4 * C)));
    CHECK_FALSE(phases_take(block(6148, 4 * 6148)));
    CHECK(phases_take(block(8320, 8320)));
    const BlockMatrices fits = block(768, 3072);
    for (const auto part : {&BlockMatrices::qkv, &BlockMatrices::up}) {
        BlockMatrices wide = fits;
        (wide.*part).K = 8324;
        CHECK_FALSE(phases_take(wide));
    }
    for (const auto part : {&BlockMatrices::attention_output, &BlockMatrices::down}) {
        BlockMatrices wide = fits;
        (wide.*part).K = 24580;
        CHECK_FALSE(phases_take(wide));
    }
}

TEST_CASE("linear: each operand that does not match is rejected on its own", "[day06][small]") {
    const Tensor<float> weights = distinct<float>({4, 8});
    const Weight w = {WeightType::f32, reinterpret_cast<const std::byte*>(weights.data()), {4, 8}};
    Tensor<float> x({2, 8}), bias({4}), out({2, 4}), wide({4, 16});
    using Float = const float;
    struct Operands {
        Weight w;
        View<Float> x, bias;
        View<float> out;
    };
    const Operands fit = {w, x.view(), bias.view(), out.view()};
    const auto rejected = [&](const std::function<void(Operands&)>& change) {
        Operands o = fit;
        change(o);
        return rejection([&] { check_linear(o.w, o.x, o.bias, o.out); });
    };
    const auto fast = [&](const std::function<void(Operands&)>& change) {
        Operands o = fit;
        change(o);
        return rejection([&] { check_linear_fast(o.w, o.x, o.out); });
    };
    CHECK(rejected([](Operands&) {}).empty());
    CHECK(rejected([](Operands& o) { o.bias = {}; }).empty());
    CHECK(contains(rejected([&](Operands& o) { o.x = {x.data(), Shape{16}}; }), "x"));
    CHECK(contains(rejected([&](Operands& o) { o.x = {x.data(), Shape{2, 7}}; }), "(2, 7)"));
    CHECK(contains(rejected([&](Operands& o) { o.x = {x.data(), Shape{1, 8}}; }), "(1, 8)"));
    CHECK(contains(rejected([&](Operands& o) { o.out = {out.data(), Shape{8}}; }), "out"));
    CHECK(contains(rejected([&](Operands& o) { o.out = {out.data(), Shape{2, 3}}; }), "(2, 3)"));
    CHECK(contains(rejected([&](Operands& o) {
                       o.bias = {bias.data(), Shape{3}};
                   }),
                   "a bias of 3"));
    CHECK(contains(rejected([&](Operands& o) {
                       o.bias = {wide.data(), Shape{5}};
                   }),
                   "a bias of 5"));
    CHECK(contains(rejected([&](Operands& o) { o.bias = {bias.data(), Shape{2, 2}}; }), "bias"));
    CHECK(contains(rejected([](Operands& o) { o.w.data = nullptr; }), "weights are a null"));
    CHECK(contains(rejected([](Operands& o) { o.w.shape = {2, 2, 8}; }), "w has shape"));
    CHECK(contains(rejected([](Operands& o) { o.x.data = nullptr; }), "null"));
    CHECK(contains(rejected([](Operands& o) { o.out.data = nullptr; }), "null"));
    CHECK(contains(rejected([&](Operands& o) {
                       o.out = {out.data(), Layout({2, 4}, {0, 1})};
                   }),
                   "race"));
    CHECK(contains(rejected([&](Operands& o) { o.out = {x.data(), Shape{2, 4}}; }), "overlap"));
    // Only the fast loop rejects gaps.
    const View<float> gaps = slice(slice(wide.view(), 0, 0, 2), 1, 0, 8);
    const View<float> columns = slice(slice(wide.view(), 0, 0, 2), 1, 0, 8, 2);
    CHECK(rejected([&](Operands& o) { o.x = gaps; }).empty());
    CHECK(contains(fast([&](Operands& o) { o.x = gaps; }), "contiguous"));
    CHECK(rejected([&](Operands& o) { o.out = columns; }).empty());
    CHECK(contains(fast([&](Operands& o) { o.out = columns; }), "2 elements apart"));
    CHECK(fast([&](Operands& o) { o.out = slice(gaps, 1, 0, 4); }).empty());  // gapped rows
    Weight one = rows(w, 0, 1);  // a single column may have any stride
    CHECK(fast([&](Operands& o) {
              o.w = one;
              o.out = {wide.data(), Layout({2, 1}, {16, 2})};
          }).empty());
}

TEST_CASE("attend: each operand that does not match is rejected on its own", "[day06][small]") {
    Tensor<float> q({4}), k({3, 4}), v({3, 4}), out({4}), wide({8, 8});
    struct Operands {
        View<const float> q, keys, values;
        View<float> out;
    };
    const auto rejected = [&](const std::function<void(Operands&)>& change) {
        Operands o = {q.view(), k.view(), v.view(), out.view()};
        change(o);
        return rejection([&] { check_attend_fast(o.q, o.keys, o.values, o.out); });
    };
    CHECK(rejected([](Operands&) {}).empty());
    CHECK(contains(rejected([&](Operands& o) { o.q = {q.data(), Shape{2, 2}}; }), "q"));
    CHECK(contains(rejected([&](Operands& o) { o.out = {wide.data(), Shape{5}}; }), "(5)"));
    CHECK(contains(rejected([&](Operands& o) { o.q.data = nullptr; }), "null"));
    CHECK(contains(rejected([&](Operands& o) { o.out.data = nullptr; }), "null"));
    const View<float> gaps(wide.data(), Layout({4}, {2}));
    CHECK(contains(rejected([&](Operands& o) { o.q = gaps; }), "contiguous"));
    CHECK(contains(rejected([&](Operands& o) { o.out = gaps; }), "contiguous"));
    using Rows = View<const float> Operands::*;
    for (const auto& [name, rows] :
         {std::pair<const char*, Rows>{"keys", &Operands::keys}, {"values", &Operands::values}}) {
        INFO(name);
        const auto with = [&, rows = rows](const View<const float>& other) {
            return rejected([&](Operands& o) { o.*rows = other; });
        };
        CHECK(contains(with({wide.data(), Shape{12}}), name));
        CHECK(contains(with({wide.data(), Shape{0, 4}}), name));
        CHECK(contains(with({wide.data(), Shape{3, 5}}), name));
        CHECK(contains(with({wide.data(), Layout({3, 4}, {8, 2})}), name));
        CHECK(with({wide.data(), Layout({3, 4}, {8, 1})}).empty());  // rows may have gaps
        CHECK(contains(with({nullptr, Shape{3, 4}}), "null"));
        CHECK(contains(with({out.data(), Layout({3, 4}, {0, 1})}), "overlap"));
        CHECK(contains(with({wide.data(), Shape{2, 4}}), "attend: "));
    }
    CHECK(contains(rejected([&](Operands& o) { o.out = {q.data(), Shape{4}}; }), "q and out"));
    // A single number's stride does not matter.
    Tensor<float> one({1}), to({1});
    const View<const float> apart(wide.data(), Layout({3, 1}, {8, 5}));
    CHECK(rejection([&] { check_attend_fast(one.view(), apart, apart, to.view()); }).empty());
}

TEST_CASE("a random model consists of splitmix64's numbers", "[day06][small]") {
    // The first five of seed 1234567, as Vigna's splitmix64.c prints them.
    const std::uint64_t known[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                   4593380528125082431u, 16408922859458223821u};
    const auto number = [&](int i) { return static_cast<float>(known[i] >> 40) * 0x1p-23f - 1; };
    const Config config = {1, 4, 32, 2, 64, 33, 1e-5f};
    const float size = static_cast<float>(4 / std::sqrt(32.0));  // of the token embedding
    for (const WeightType type :
         {WeightType::f32, WeightType::f16, WeightType::bf16, WeightType::q8_0}) {
        INFO(storage_of(type).name);
        const RandomModel model(config, type, 1234567);
        const Weight& tokens = model.weights().token_embedding;
        Tensor<float> wide(tokens.shape);
        to_float_cpu(tokens, wide.view());
        for (int i = 0; i < 5; ++i) {
            float want = size * number(i);
            if (type == WeightType::f16) want = static_cast<float>(f16(want));
            if (type == WeightType::bf16) want = static_cast<float>(bf16(want));
            if (type == WeightType::q8_0) {
                want = static_cast<float>(f16(size / 127)) *
                       static_cast<float>(static_cast<std::int8_t>(127 * number(i)));
            }
            CHECK(wide.data()[i] == want);
        }
        // Norms are near 1 and 0, and none is the identity.
        const NormWeights& norm = model.weights().final_norm;
        for (std::int64_t c = 0; c < 32; ++c) {
            CHECK(std::abs(norm.weight(c) - 1) <= 0.1f);
            CHECK(std::abs(norm.bias(c)) <= 0.1f);
        }
        CHECK(norm.bias(0) != norm.bias(1));
        CHECK(norm.weight(0) != 1);
    }
    for (const WeightType type : weight_types()) {
        if (!in_runs(type)) continue;
        INFO(storage_of(type).name);
        std::uint64_t state = 7;
        const auto bytes = random_weights(type, 64, 256, 0.25, state);
        Tensor<float> wide({64, 256});
        to_float_cpu({type, bytes.data(), {64, 256}}, wide.view());
        double sum = 0, squares = 0;
        for (std::int64_t i = 0; i < wide.size(); ++i) {
            sum += wide.data()[i];
            squares += wide.data()[i] * wide.data()[i];
        }
        const double mean = sum / 16384, rms = std::sqrt(squares / 16384);
        CHECK(std::abs(mean) < 0.02);
        CHECK((rms > 0.1 && rms < 0.2));  // uniform numbers have 0.25 / sqrt(3) = 0.14
    }
    const RandomModel again(config, WeightType::f32), same(config, WeightType::f32, 1);
    CHECK(std::memcmp(again.weights().head.data, same.weights().head.data, 64) == 0);
}
