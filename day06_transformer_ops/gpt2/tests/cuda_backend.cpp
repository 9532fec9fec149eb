// The CUDA backend beside the plain loops: the same logits and the same tokens, from prompts and token
// by token, in all types of weights.
#include <cmath>
#include <limits>

#include "common/gpu/device.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/engine.hpp"
#include "day06_transformer_ops/gpt2/random_model.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::testing;

namespace {

Tensor<std::int64_t> some_ids(std::int64_t T, std::int64_t V, std::uint64_t seed) {
    return seeded_integers<std::int64_t>({T}, seed, 0, V - 1);
}

// Sums of up to a few hundred numbers near 1, some ten of them one behind the other: 3e-6 was seen.
// Logits are a few units, and a bias or a norm that is left out changes them by 1e-2 and more.
constexpr double kBound = 2e-5;

void compare(const Config& config, WeightType type, std::int64_t prompt, std::int64_t more) {
    const RandomModel model(config, type);
    const std::int64_t V = config.vocabulary;
    const auto plain = make_plain_backend(model.weights(), config.context);
    const auto cuda = make_cuda_backend(model.weights(), config.context);
    Engine expected(config, *plain, config.context), got(config, *cuda, config.context);
    for (Engine* engine : {&expected, &got}) {
        engine->backend().set_sampler({.temperature = 0});
        engine->read(some_ids(prompt, V, 5).view());
    }
    for (std::int64_t i = 0; i <= more; ++i) {
        INFO("token " << expected.length());
        Tensor<float> want({1, V}), logits({1, V});
        plain->read_logits(want.view());
        cuda->read_logits(logits.view());
        CHECK(close(logits.view(), want.view(), kBound));
        REQUIRE(got.chosen() == expected.chosen());
        if (i == more) break;
        expected.next();
        got.next();
    }
}

}  // namespace

TEST_CASE("CUDA: logits and tokens of the plain loops, in all types", "[day06][small]") {
    const Config config = {2, 48, 64, 4, 256, 97, 1e-5f};
    for (const WeightType type :
         {WeightType::f32, WeightType::f16, WeightType::bf16, WeightType::q8_0}) {
        INFO(storage_of(type).name);
        compare(config, type, 5, 4);
    }
}

TEST_CASE("CUDA: a prompt of one token, and generation up to the last position", "[day06][small]") {
    compare({1, 40, 32, 1, 96, 33, 1e-5f}, WeightType::f32, 1, 39);
}

TEST_CASE("CUDA: heads of 128; rows that no quad fits take the days' operations",
          "[day06][small]") {
    compare({1, 24, 128, 1, 64, 50, 1e-5f}, WeightType::f16, 3, 3);
    compare({1, 24, 36, 6, 50, 50, 1e-5f}, WeightType::bf16, 3, 3);  // heads of 6, rows of 72 bytes
}

TEST_CASE("CUDA: a long prompt, whose attention is two products", "[day06][full]") {
    compare({1, 80, 32, 2, 64, 40, 1e-5f}, WeightType::f32, 70, 2);
    compare({1, 80, 32, 2, 64, 40, 1e-5f}, WeightType::f32, 80, 0);
}

TEST_CASE("CUDA: so many positions that a group takes them in several turns", "[day06][full]") {
    compare({1, 600, 32, 1, 32, 33, 1e-5f}, WeightType::f32, 590, 3);
}

TEST_CASE("CUDA: rows longer than a slice, heads of 80", "[day06][full]") {
    compare({1, 12, 800, 10, 1600, 301, 1e-5f}, WeightType::q8_0, 3, 2);
}

TEST_CASE("CUDA: a text can be forgotten, and its positions used again", "[day06][small]") {
    const Config config = {1, 16, 32, 2, 64, 40, 1e-5f};
    const RandomModel model(config, WeightType::f32);
    const auto cuda = make_cuda_backend(model.weights(), config.context);
    Engine engine(config, *cuda, config.context);
    cuda->set_sampler({.temperature = 0});
    const auto generate = [&](std::uint64_t seed) {
        engine.forget();
        engine.read(some_ids(4, config.vocabulary, seed).view());
        std::vector<std::int64_t> tokens;
        for (int i = 0; i < 6; ++i) {
            tokens.push_back(engine.chosen());
            engine.next();
        }
        return tokens;
    };
    const auto first = generate(1), second = generate(2), again = generate(1);
    CHECK(first == again);
    CHECK(first != second);
}

TEST_CASE("CUDA: tokens go on after a text was scored, whose logits need a larger buffer",
          "[day06][small]") {
    const Config config = {1, 24, 32, 2, 64, 40, 1e-5f};
    const RandomModel model(config, WeightType::f32);
    const std::int64_t V = config.vocabulary;
    const auto plain = make_plain_backend(model.weights(), config.context);
    const auto cuda = make_cuda_backend(model.weights(), config.context);
    std::vector<std::int64_t> tokens[2];
    for (int which = 0; which < 2; ++which) {
        Backend& backend = which == 0 ? *plain : *cuda;
        Engine engine(config, backend, config.context);
        backend.set_sampler({.temperature = 0});
        const auto go_on = [&](int count) {
            for (int i = 0; i < count; ++i) {
                engine.next();
                tokens[which].push_back(engine.chosen());
            }
        };
        engine.read(some_ids(2, V, 9).view());
        go_on(3);
        for (const std::int64_t scored : {2, 5, 3}) {  // larger, larger again, smaller
            engine.score(some_ids(scored, V, 10).view(), [](std::int64_t, View<const float>) {});
            engine.read(some_ids(1, V, 11).view());
            go_on(2);
        }
    }
    CHECK(tokens[1] == tokens[0]);
}

TEST_CASE("CUDA: the stream after each block, as the plain loops have it", "[day06][small]") {
    const Config config = {3, 16, 32, 2, 64, 40, 1e-5f};
    const RandomModel model(config, WeightType::f32);
    const auto plain = make_plain_backend(model.weights(), config.context);
    const auto cuda = make_cuda_backend(model.weights(), config.context);
    for (const std::int64_t T : {std::int64_t{1}, std::int64_t{4}}) {
        INFO("T " << T);
        std::vector<Tensor<float>> streams[2];
        for (int which = 0; which < 2; ++which) {
            Backend& backend = which == 0 ? *plain : *cuda;
            Engine engine(config, backend, config.context);
            engine.watch([&](std::int64_t) {
                streams[which].emplace_back(Shape{T, config.channels});
                backend.read_stream(streams[which].back().view());
            });
            engine.read(some_ids(T, config.vocabulary, 3).view());
        }
        REQUIRE(streams[0].size() == 4);
        for (std::size_t i = 0; i < 4; ++i) {
            CHECK(close(streams[1][i].view(), streams[0][i].view(), kBound));
        }
    }
}

TEST_CASE("CUDA: a text cut anywhere, and draws that are the CPU's", "[day06][small]") {
    const Config config = {1, 24, 32, 2, 64, 200, 1e-5f};
    const RandomModel model(config, WeightType::f16);
    const auto ids = some_ids(9, config.vocabulary, 6);
    const auto generate = [&](Backend& backend, std::int64_t cut) {
        Engine engine(config, backend, config.context);
        backend.set_sampler({1.2f, 50, 0.9f, 4});
        const View<const std::int64_t> all = ids.view();
        engine.read(slice(all, 0, 0, cut));
        engine.read(slice(all, 0, cut, 9));
        std::vector<std::int64_t> tokens;
        for (int i = 0; i < 8; ++i, engine.next()) tokens.push_back(engine.chosen());
        return tokens;
    };
    const auto cpu = make_cpu_backend(model.weights(), config.context, 1);
    const auto cuda = make_cuda_backend(model.weights(), config.context);
    const auto want = generate(*cpu, 4);
    CHECK(generate(*cuda, 1) == want);
    CHECK(generate(*cuda, 5) == want);
    CHECK(generate(*cuda, 8) == want);
}

TEST_CASE("CUDA: a model that makes NaN is told by the token, however many come",
          "[day06][small]") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Config config = {1, 16, 32, 2, 64, 40, nan};
    const RandomModel model(config, WeightType::f32);
    const auto cuda = make_cuda_backend(model.weights(), config.context);
    for (const float temperature : {0.0f, 1.0f}) {
        Engine engine(config, *cuda, config.context);
        cuda->set_sampler({temperature, 0, 1, 1});
        engine.read(some_ids(1, config.vocabulary, 1).view());
        engine.next();
        engine.next();
        CHECK(contains(refusal([&] { (void)engine.chosen(); }), "the logit of token 0 is NaN"));
    }
}
