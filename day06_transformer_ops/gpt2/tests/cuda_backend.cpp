// The CUDA backend compared with the CPU references: the same logits and tokens, from prompts and
// token by token, in all types of weights.
#include <cmath>
#include <limits>

#include "common/gpu/device.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/gpu/decode.hpp"
#include "day06_transformer_ops/gpt2/gpu/device_backend.hpp"
#include "day06_transformer_ops/gpt2/gpu/device_model.hpp"
#include "day06_transformer_ops/gpt2/tests/backends.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;
using namespace sixdays::testing;

namespace {

void compare(const ModelWeights& model, std::int64_t prompt, std::int64_t more) {
    const Config& config = model.config;
    const auto plain = make_plain_backend(model, config.context);
    const auto cuda = make_cuda_backend(model, config.context);
    check_tokens(config, *plain, *cuda, prompt, more, rounding(config));
}

void compare(const Config& config, WeightType type, std::int64_t prompt, std::int64_t more) {
    const RandomModel model(config, type);
    compare(model.weights(), prompt, more);
}

}  // namespace

TEST_CASE("CUDA: logits and tokens match the CPU references, in all types", "[day06][small]") {
    const Config config = {2, 48, 64, 4, 256, 97, 1e-5f};
    for (const WeightType type :
         {WeightType::f32, WeightType::f16, WeightType::bf16, WeightType::q8_0}) {
        INFO(storage_of(type).name);
        compare(config, type, 5, 4);
    }
    compare(config, WeightType::q4_0, 5, 4);
    compare(config, WeightType::q5_0, 5, 4);
    for (const WeightType type : {WeightType::q4_k, WeightType::q5_k, WeightType::q6_k}) {
        INFO(storage_of(type).name);
        compare({1, 24, 256, 4, 1280, 97, 1e-5f}, type, 4, 3);
    }
}

TEST_CASE("CUDA: a hidden row that does not fit in 48 KiB of shared memory", "[day06][small]") {
    const Config config = {1, 4, 32, 2, 12800, 33, 1e-5f};
    const RandomModel model(config, WeightType::q8_0);
    REQUIRE(DeviceModel(model.weights()).takes_one_token());
    compare(model.weights(), 1, 1);
}

TEST_CASE("CUDA: 4,096 channels, whose norm does not fit in 48 KiB of shared memory",
          "[day06][huge]") {
    const Config config = {1, 3, 4096, 32, 16384, 33, 1e-5f};
    const RandomModel model(config, WeightType::q8_0);
    REQUIRE(DeviceModel(model.weights()).takes_one_token());
    compare(model.weights(), 1, 1);
}

TEST_CASE("CUDA: logits of 4,096 channels and of 8,320, whose norm fills a block's shared memory",
          "[day06][small]") {
    for (const std::int64_t C : {4096, 8320}) {
        CAPTURE(C);
        const Tensor<float> x = seeded<float>({1, C}, 1, -2, 2), w = seeded<float>({C}, 2, -1, 1),
                            b = seeded<float>({C}, 3, -1, 1),
                            rows = seeded<float>({4, C}, 4, -1, 1);
        const Weight head = {
            WeightType::f32, reinterpret_cast<const std::byte*>(rows.data()), {4, C}};
        Tensor<float> normed({1, C}), want({1, 4});
        day06_transformer_ops::layer_norm_cpu(x.view(), {w.view(), b.view(), 1e-5f}, normed.view());
        linear_cpu(head, normed.view(), {}, want.view());
        const DeviceWeight d_head(head);
        const DeviceIn<float> d_x(x), d_w(w), d_b(b);
        DeviceOut<float> got({1, 4});
        launch_head({d_w.view(), d_b.view(), 1e-5f}, d_head.matrix(), d_x.view().data,
                    got.view().data, 1, {});
        CHECK(got.close_to(want, 1e-4 * largest(want.view())));
    }
}

TEST_CASE("CUDA: a prompt of one token, and generation up to the last position", "[day06][small]") {
    compare({1, 40, 32, 1, 96, 33, 1e-5f}, WeightType::f32, 1, 39);
}

TEST_CASE("CUDA: heads of 128, and rows that fit no vector and use the days' operations",
          "[day06][small]") {
    compare({1, 24, 128, 1, 64, 50, 1e-5f}, WeightType::f16, 3, 3);
    compare({1, 24, 36, 6, 50, 50, 1e-5f}, WeightType::bf16, 3, 3);  // heads of 6, rows of 72 bytes
    compare({1, 24, 32, 8, 64, 50, 1e-5f}, WeightType::f32, 3, 3);   // heads of 4
}

TEST_CASE(
    "CUDA: the days' operations replace decoding kernels that do not support one matrix or head",
    "[day06][small]") {
    // Rows of 12 are whole vectors as F32 but not as F16.
    const Config config = {2, 8, 12, 1, 12, 20, 1e-5f};
    const RandomModel vectors(config, WeightType::f32), none(config, WeightType::f16);
    REQUIRE(DeviceModel(vectors.weights()).takes_one_token());
    using Change = void (*)(ModelWeights&, const ModelWeights&);
    const struct {
        const char* what;
        Change change;
    } changes[] = {
        {"head", [](auto& to, auto& from) { to.head = from.head; }},
        {"qkv", [](auto& to, auto& from) { to.blocks[0].qkv.weight = from.blocks[0].qkv.weight; }},
        {"output",
         [](auto& to, auto& from) {
             to.blocks[1].attention_output.weight = from.blocks[1].attention_output.weight;
         }},
        {"up", [](auto& to, auto& from) { to.blocks[0].up.weight = from.blocks[0].up.weight; }},
        {"down",
         [](auto& to, auto& from) { to.blocks[1].down.weight = from.blocks[1].down.weight; }},
    };
    for (const auto& [what, change] : changes) {
        INFO(what);
        ModelWeights mixed = vectors.weights();
        change(mixed, none.weights());
        CHECK_FALSE(DeviceModel(mixed).takes_one_token());
        compare(mixed, 2, 2);
    }
    // The embeddings are read number by number, so any layout is supported.
    ModelWeights embeddings = vectors.weights();
    embeddings.token_embedding = none.weights().token_embedding;
    embeddings.position_embedding = none.weights().position_embedding;
    CHECK(DeviceModel(embeddings).takes_one_token());
    compare(embeddings, 2, 2);
    const auto takes = [](std::int64_t channels, std::int64_t heads) {
        const RandomModel model({1, 4, channels, heads, 16, 20, 1e-5f}, WeightType::f32);
        return DeviceModel(model.weights()).takes_one_token();
    };
    CHECK(takes(32, 4));
    CHECK_FALSE(takes(32, 8));  // heads of 4: fewer elements than attention has splits
    CHECK_FALSE(takes(60, 6));  // heads of 10: no whole vectors
    CHECK(takes(128, 1));
    CHECK_FALSE(takes(132, 1));  // wider than 32 lanes hold
}

TEST_CASE("CUDA: a long prompt, whose attention is two products", "[day06][small]") {
    compare({1, 80, 32, 2, 64, 40, 1e-5f}, WeightType::f32, 70, 2);
    compare({1, 80, 32, 2, 64, 40, 1e-5f}, WeightType::f32, 80, 0);
}

TEST_CASE("long prompts attend by two products as long as their scores take at most 2 GB",
          "[day06][small]") {
    CHECK_FALSE(attends_by_products(12, 63, 1024));
    CHECK(attends_by_products(12, 64, 1024));
    CHECK(attends_by_products(32, 4096, 4096));
    CHECK_FALSE(attends_by_products(32, 4096, 4097));
    CHECK_FALSE(attends_by_products(32, 131072, 131072));
}

TEST_CASE("CUDA: long prompts after other tokens, each longer than the last one",
          "[day06][small]") {
    const Config config = {1, 200, 64, 2, 1024, 20, 1e-5f};  // K of 1,024: products in parts
    const RandomModel model(config, WeightType::f32);
    const auto plain = make_plain_backend(model.weights(), config.context);
    const auto cuda = make_cuda_backend(model.weights(), config.context);
    Engine expected(config, *plain, config.context), got(config, *cuda, config.context);
    for (const std::int64_t T : {5, 64, 128}) {
        const auto ids = random_ids(config, T, static_cast<std::uint64_t>(T));
        const auto want = logits_of(expected, ids.view()), logits = logits_of(got, ids.view());
        CHECK(close(logits.view(), want.view(), rounding(config) * largest(want.view())));
    }
}

TEST_CASE("CUDA: more positions than a group of lanes takes at once", "[day06][full]") {
    compare({1, 600, 32, 1, 32, 33, 1e-5f}, WeightType::f32, 590, 3);
}

TEST_CASE("CUDA: rows longer than a slice, heads of 80", "[day06][full]") {
    compare({1, 12, 800, 10, 1600, 301, 1e-5f}, WeightType::q8_0, 3, 2);
}

TEST_CASE("CUDA: rows longer than a block processes in one iteration", "[day06][small]") {
    // 256 threads process 1,024 numbers, so every loop over the input runs twice here.
    const std::int64_t K = 1088, N = 5, D = 32, heads = K / D;
    const double u = std::ldexp(1.0, -24), n = static_cast<double>(K);
    const Tensor<float> matrix = seeded<float>({N, K}, 1, -1, 1), x = seeded<float>({K}, 2, -1, 1),
                        weight = seeded<float>({K}, 3, 0.5, 1.5),
                        bias = seeded<float>({K}, 4, -1, 1), added = seeded<float>({N}, 5, -1, 1),
                        had = seeded<float>({N}, 6, -1, 1),
                        sums = seeded<float>({heads, kSplits, D}, 7, -1, 1),
                        tops = seeded<float>({heads, kSplits, 2}, 8, 1, 2);
    const DeviceIn<float> w(matrix), in(x), scale(weight), shift(bias), plus(added), part(sums),
        top(tops);
    const DeviceMatrix rows = {WeightType::f32, reinterpret_cast<const std::byte*>(w.view().data),
                               nullptr, N, K};
    // made: the phase's transformed input, in double, off by `off` of itself. The result is its
    // product with the matrix, added to `had` if `adds`; the sum has K + 3 roundings.
    const auto check = [&](const std::vector<double>& made, double off, bool adds, auto launch) {
        DeviceOut<float> got = DeviceOut<float>::holding(adds ? had : Tensor<float>({N}));
        launch(got.view().data);
        const Tensor<float> values = got.values();
        for (std::int64_t row = 0; row < N; ++row) {
            double want = adds ? double{had(row)} + double{added(row)} : 0, size = std::fabs(want);
            for (std::int64_t k = 0; k < K; ++k) {
                const double product = double{matrix(row, k)} * made[static_cast<std::size_t>(k)];
                want += product, size += std::fabs(product);
            }
            CAPTURE(row, want, values(row));
            CHECK(std::fabs(double{values(row)} - want) <= ((n + 3) * u + off) * size);
        }
    };
    std::vector<double> hidden, normed, joined;
    double mean = 0, squares = 0;
    for (std::int64_t k = 0; k < K; ++k) mean += double{x(k)} / n, hidden.push_back(x(k));
    for (std::int64_t k = 0; k < K; ++k)
        squares += (double{x(k)} - mean) * (double{x(k)} - mean) / n;
    for (std::int64_t k = 0; k < K; ++k) {
        const double z = (double{x(k)} - mean) / std::sqrt(squares + 1e-5);
        normed.push_back(z * double{weight(k)} + double{bias(k)});
        const std::int64_t head = k / D;
        double sum = 0, all = 0;
        for (std::int64_t s = 0; s < kSplits; ++s) {
            const double part_weight = std::exp(double{tops(head, s, 0)});
            sum += part_weight * double{sums(head, s, k % D)},
                all += part_weight * double{tops(head, s, 1)};
        }
        joined.push_back(sum / all);
    }
    check(hidden, 0, true, [&](float* out) {
        launch_add_mlp(in.view().data, {rows, plus.view().data}, out, {});
    });
    check(normed, 4 * (n / 2 + 8) * u, false, [&](float* out) {
        launch_head({scale.view(), shift.view(), 1e-5f}, rows, in.view().data, out, 3, {});
    });
    check(joined, 64 * u, true, [&](float* out) {
        float* const from = const_cast<float*>(part.view().data);
        launch_add_attention({from, const_cast<float*>(top.view().data), D},
                             {rows, plus.view().data}, out, {});
    });
}

TEST_CASE("CUDA: a text can be forgotten, and its positions reused", "[day06][small]") {
    const Config config = {1, 16, 32, 2, 64, 40, 1e-5f};
    const RandomModel model(config, WeightType::f32);
    const auto cuda = make_cuda_backend(model.weights(), config.context);
    Engine engine(config, *cuda, config.context);
    cuda->set_sampler({.temperature = 0});
    const auto generate = [&](std::uint64_t seed) {
        engine.forget();
        engine.read(random_ids(config, 4, seed).view());
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

TEST_CASE("CUDA: generation continues after scoring, whose logits need a larger buffer",
          "[day06][small]") {
    const Config config = {1, 24, 32, 2, 64, 40, 1e-5f};
    const RandomModel model(config, WeightType::f32);
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
        engine.read(random_ids(config, 2, 9).view());
        go_on(3);
        for (const std::int64_t scored : {2, 5, 3}) {  // larger, larger again, smaller
            engine.score(random_ids(config, scored, 10).view(),
                         [](std::int64_t, View<const float>) {});
            engine.read(random_ids(config, 1, 11).view());
            go_on(2);
        }
    }
    CHECK(tokens[1] == tokens[0]);
}

TEST_CASE("CUDA: the stream after each block matches the CPU references", "[day06][small]") {
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
            engine.read(random_ids(config, T, 3).view());
        }
        REQUIRE(streams[0].size() == 4);
        for (std::size_t i = 0; i < 4; ++i) {
            const View<const float> want = streams[0][i].view();
            CHECK(close(streams[1][i].view(), want, rounding(config) * largest(want)));
        }
    }
}

TEST_CASE("CUDA: prompts split anywhere give the same text, and draws are the CPU's",
          "[day06][small]") {
    const Config config = {1, 24, 32, 2, 64, 200, 1e-5f};
    const RandomModel model(config, WeightType::f16);
    const auto ids = random_ids(config, 9, 6);
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

TEST_CASE("CUDA: without other options, draws are the CPU's with the default options",
          "[day06][small]") {
    const Config config = {1, 24, 32, 2, 64, 200, 1e-5f};
    const RandomModel model(config, WeightType::f32);
    const auto generate = [&](Backend& backend) {
        Engine engine(config, backend, config.context);
        engine.read(random_ids(config, 3, 7).view());
        std::vector<std::int64_t> tokens;
        for (int i = 0; i < 12; ++i, engine.next()) tokens.push_back(engine.chosen());
        return tokens;
    };
    const auto cpu = make_cpu_backend(model.weights(), config.context, 1);
    const auto cuda = make_cuda_backend(model.weights(), config.context);
    CHECK(generate(*cuda) == generate(*cpu));
    const std::string device = gpu::is_emulated() ? "on the emulator" : gpu::device().name;
    CHECK(cuda->name() == "cuda, " + device);
}

TEST_CASE("CUDA: on the emulator, keys and values must fit in the machine's memory",
          "[day06][small]") {
    const RandomModel small({1, 1, 32, 1, 32, 4, 1e-5f}, WeightType::f32);
    ModelWeights model = small.weights();
    model.config.context = std::int64_t{1} << 40;
    if (!gpu::is_emulated()) {
        SUCCEED("on a GPU, its own memory is the limit");
        return;
    }
    CHECK(contains(rejection([&] { (void)make_cuda_backend(model, model.config.context); }),
                   "a text of 1099511627776 tokens in 1 layers (their keys and values) needs "));
}

TEST_CASE("CUDA: the first NaN logit is reported by its token, however many follow",
          "[day06][small]") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Config config = {1, 16, 32, 2, 64, 40, nan};
    const RandomModel model(config, WeightType::f32);
    const auto cuda = make_cuda_backend(model.weights(), config.context);
    for (const float temperature : {0.0f, 1.0f}) {
        Engine engine(config, *cuda, config.context);
        cuda->set_sampler({temperature, 0, 1, 1});
        engine.read(random_ids(config, 1, 1).view());
        engine.next();
        engine.next();
        CHECK(contains(rejection([&] { (void)engine.chosen(); }), "the logit of token 0 is NaN"));
    }
}
