// The CUDA backend compared with the CPU references: the same logits and tokens, from prompts and
// token by token, in all types of weights; and which models the decoding kernels support.
#include <cmath>
#include <optional>
#include <utility>

#include "common/gpu/device.hpp"
#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/tests/backends.hpp"
#include "day06_transformer_ops/gpt2/weights/linear.hpp"
#include "day06_transformer_ops/llama/decode.hpp"
#include "day06_transformer_ops/llama/device_model.hpp"
#include "day06_transformer_ops/llama/llama_backend.hpp"
#include "day06_transformer_ops/llama/random_llama.hpp"
#include "day06_transformer_ops/llama/tests/rounding.hpp"
#include "day06_transformer_ops/norm/norm.hpp"

using namespace sixdays;
using namespace sixdays::llama;
using namespace sixdays::llama::tests;
using namespace sixdays::testing;
using day06_transformer_ops::Pairing, day06_transformer_ops::rotary_frequencies;
using gpt2::Engine, gpt2::WeightType;
using gpt2::tests::largest, gpt2::tests::random_ids;

namespace {

Config config_of(std::int64_t layers, std::int64_t context, std::int64_t C, std::int64_t H,
                 std::int64_t G, std::int64_t D, std::int64_t F, std::int64_t V,
                 Pairing pairing = Pairing::neighbours) {
    return {{layers, context, C, H, F, V, 1e-5f}, G, D, {pairing, rotary_frequencies(D, 1000)}};
}

// A prompt, then tokens one by one: the same tokens, and logits that differ by rounding only.
void compare(const ModelWeights& model, std::int64_t prompt, std::int64_t more) {
    const Config& config = model.config;
    const auto plain = make_plain_backend(model, config.context);
    const auto cuda = make_cuda_backend(model, config.context);
    gpt2::tests::check_tokens(config, *plain, *cuda, prompt, more, rounding(config));
}

bool takes(const ModelWeights& model) {
    return DeviceModel(model).takes_one_token();
}

}  // namespace

TEST_CASE("CUDA: logits and tokens match the CPU references, in all types", "[day06][small]") {
    const Config config = config_of(2, 24, 256, 4, 2, 64, 512, 97);
    for (const WeightType type :
         {WeightType::f32, WeightType::f16, WeightType::bf16, WeightType::q8_0, WeightType::q4_0,
          WeightType::q5_0, WeightType::q4_k, WeightType::q5_k}) {
        INFO(gpt2::storage_of(type).name);
        RandomLlama model(config, type);
        CHECK(takes(model.weights()));
        compare(model.weights(), 3, 2);
    }
}

TEST_CASE("CUDA: q, k and v of two types are one kernel if files mix these types",
          "[day06][small]") {
    struct Case {
        WeightType most, values;
        const char* kernel;
    };
    const Case cases[] = {{WeightType::q4_k, WeightType::q6_k, "two_types_kernel"},
                          {WeightType::q5_k, WeightType::q6_k, "two_types_kernel"},
                          {WeightType::q5_0, WeightType::q8_0, "two_types_kernel"},
                          {WeightType::q4_0, WeightType::q6_k, "phase_kernel"},
                          {WeightType::q4_k, WeightType::q8_0, "phase_kernel"},
                          {WeightType::f16, WeightType::f32, "phase_kernel"}};
    for (const Case& c : cases) {
        CAPTURE(gpt2::storage_of(c.most).name, gpt2::storage_of(c.values).name);
        const Config config = config_of(1, 16, 256, 4, 2, 64, 256, 60);
        RandomLlama model(config, c.most, {}, c.values);
        REQUIRE(takes(model.weights()));
        CHECK(DeviceModel(model.weights()).block(0).qkv.size() == 2);  // q and k; v
        compare(model.weights(), 3, 3);
        const auto backend = make_cuda_backend(model.weights(), 16);
        backend->begin(random_ids(config, 1, 5).view(), 0);
        backend->embed();
        backend->query_key_value(0);
        CHECK(std::string(gpu::last_kernel()) == c.kernel);
        backend->wait();
    }
}

TEST_CASE("CUDA: an MLP wider than a block converts to integers in one iteration",
          "[day06][small]") {
    // 256 threads convert 8,192 elements at a time.
    RandomLlama model(config_of(1, 8, 32, 1, 1, 32, 9248, 40), WeightType::q4_0);
    REQUIRE(takes(model.weights()));
    compare(model.weights(), 2, 2);
}

TEST_CASE("CUDA: biases, norms of heads, halves, a separate head", "[day06][small]") {
    const Pairing pairing = GENERATE(Pairing::neighbours, Pairing::halves);
    for (const RandomParts& parts :
         {RandomParts{.biases = true}, RandomParts{.head_norms = true},
          RandomParts{.biases = true, .head_norms = true, .own_head = true}}) {
        CAPTURE(parts.biases, parts.head_norms, parts.own_head);
        // 5 heads of queries share one of keys; heads * D differs from the channels.
        RandomLlama model(config_of(1, 12, 32, 5, 1, 16, 48, 40, pairing), WeightType::f32, parts);
        REQUIRE(takes(model.weights()));
        compare(model.weights(), 3, 3);
    }
}

TEST_CASE("CUDA: a part of each head is rotated", "[day06][small]") {
    const Pairing pairing = GENERATE(Pairing::neighbours, Pairing::halves);
    Config config = config_of(1, 12, 32, 2, 2, 80, 48, 40, pairing);
    config.rope.frequencies = rotary_frequencies(32, 1000);
    RandomLlama model(config, WeightType::f32, {.head_norms = true});
    REQUIRE(takes(model.weights()));
    compare(model.weights(), 3, 3);
}

TEST_CASE("CUDA: a prompt of one token, and generation up to the last position", "[day06][small]") {
    RandomLlama model(config_of(1, 40, 32, 2, 1, 8, 96, 33), WeightType::f32);
    compare(model.weights(), 1, 39);
}

TEST_CASE("CUDA: a long prompt, whose attention is two products", "[day06][full]") {
    RandomLlama model(config_of(1, 80, 32, 4, 2, 16, 64, 40), WeightType::f16);
    compare(model.weights(), 70, 2);
}

TEST_CASE("CUDA: prompts on tensor cores differ from floats by roundings to 16 bits",
          "[day06][small]") {
    const auto check = [](const Config& config, const RandomParts& parts, WeightType type,
                          std::optional<WeightType> values, WeightType narrow) {
        RandomLlama model(config, type, parts, values);
        const auto logits = [&](gpt2::Prompts prompts) {
            const auto backend = make_cuda_backend(model.weights(), config.context, prompts);
            const bool fast = prompts == gpt2::Prompts::tensor_cores;
            CHECK(backend->name().ends_with(
                      sentence(", prompts in ", gpt2::storage_of(narrow).name)) == fast);
            Engine engine(config, *backend, config.context);
            const auto ids = random_ids(config, 9, 5);  // in two parts, then one by one
            for (const auto& [begin, end] : {std::pair{0, 5}, {5, 8}, {8, 9}}) {
                engine.read(slice(View<const std::int64_t>(ids.view()), 0, begin, end));
            }
            Tensor<float> row({1, config.vocabulary});
            backend->read_logits(row.view());
            return row;
        };
        const Tensor<float> want = logits(gpt2::Prompts::floats),
                            got = logits(gpt2::Prompts::tensor_cores);
        // At most 14 roundings per layer: of each product's operands, of q, k, v and the weights of
        // the softmax. They add up as squares; six standard deviations are never reached.
        const double u = narrow == WeightType::f16 ? 0x1p-11 : 0x1p-8;
        const double roundings = 14 * static_cast<double>(config.layers) / 3;
        const double bound = 6 * u * std::sqrt(roundings) * largest(want.view());
        CHECK(close(got.view(), want.view(), bound));
        CHECK_FALSE(close(got.view(), want.view(), bound / 100));  // it was another path
    };
    const Config config = config_of(2, 12, 64, 4, 2, 16, 96, 60);
    check(config, {}, WeightType::f16, {}, WeightType::f16);
    check(config, {.biases = true, .head_norms = true}, WeightType::bf16, {}, WeightType::bf16);
    check(config, {}, WeightType::f16, WeightType::f32, WeightType::bf16);  // gate and up are F16
    check(config_of(1, 12, 256, 4, 1, 64, 256, 60), {}, WeightType::q4_k, WeightType::q6_k,
          WeightType::bf16);
}

TEST_CASE("CUDA: tensor cores are the default only for F16 and BF16 models that they support",
          "[day06][small]") {
    const auto chosen = [](const Config& config, WeightType type,
                           std::optional<WeightType> values) {
        RandomLlama model(config, type, {}, values);
        return prompts_of(model.weights());
    };
    const Config config = config_of(1, 12, 32, 2, 1, 16, 32, 40);
    using gpt2::Prompts;
    CHECK(chosen(config, WeightType::f16, {}) == Prompts::tensor_cores);
    CHECK(chosen(config, WeightType::bf16, {}) == Prompts::tensor_cores);
    CHECK(chosen(config, WeightType::f32, {}) == Prompts::floats);
    CHECK(chosen(config, WeightType::q8_0, {}) == Prompts::floats);
    CHECK(chosen(config, WeightType::f16, WeightType::bf16) == Prompts::floats);
    const struct {
        Config config;
        const char* says;
    } unsupported[] = {{config_of(1, 12, 32, 2, 1, 12, 32, 40), "12, 32 and 32"},
                       {config_of(1, 12, 32, 2, 1, 136, 32, 40), "136, 32 and 32"},
                       {config_of(1, 12, 36, 2, 1, 16, 32, 40), "16, 36 and 32"},
                       {config_of(1, 12, 32, 2, 1, 16, 36, 40), "16, 32 and 36"}};
    for (const auto& [other, says] : unsupported) {
        CHECK(chosen(other, WeightType::f16, {}) == Prompts::floats);
        RandomLlama model(other, WeightType::f16);
        CHECK(contains(
            rejection([&] { (void)make_cuda_backend(model.weights(), 12, Prompts::tensor_cores); }),
            sentence("this model's have ", says, ". Try without --fast")));
    }
}

TEST_CASE("CUDA: long prompts after other tokens, each longer than the last one",
          "[day06][small]") {
    RandomLlama model(config_of(1, 140, 32, 4, 2, 16, 48, 20), WeightType::f16);
    const Config& config = model.weights().config;
    const auto plain = make_plain_backend(model.weights(), config.context);
    const auto cuda = make_cuda_backend(model.weights(), config.context);
    Engine expected(config, *plain, config.context), got(config, *cuda, config.context);
    for (const std::int64_t T : {5, 64, 66}) {
        const auto ids = random_ids(config, T, static_cast<std::uint64_t>(T));
        const auto want = gpt2::tests::logits_of(expected, ids.view());
        const auto logits = gpt2::tests::logits_of(got, ids.view());
        CHECK(close(logits.view(), want.view(), rounding(config) * largest(want.view())));
    }
}

TEST_CASE("CUDA: the days' operations replace decoding kernels that do not support a model",
          "[day06][small]") {
    const auto check = [](const Config& config, WeightType type, const auto& change) {
        RandomLlama model(config, type, {.head_norms = true}), other(config, WeightType::f32);
        change(model.weights(), other.weights());
        CHECK_FALSE(takes(model.weights()));
        compare(model.weights(), 3, 3);
    };
    const auto nothing = [](ModelWeights&, ModelWeights&) {};
    check(config_of(1, 12, 32, 2, 1, 256, 48, 40), WeightType::f32, nothing);  // heads of 256
    check(config_of(1, 12, 32, 4, 2, 4, 48, 40), WeightType::f32, nothing);    // heads of 4
    check(config_of(1, 12, 36, 4, 2, 16, 48, 40), WeightType::f16, nothing);   // rows of 72 bytes
    check(config_of(1, 12, 32, 4, 2, 16, 48, 40), WeightType::f16,
          [](ModelWeights& m, ModelWeights& f) { m.blocks[0].up.weight = f.blocks[0].up.weight; });
}

TEST_CASE("CUDA: the days' operations replace decoding kernels that do not support one matrix",
          "[day06][small]") {
    // Rows of 12 are whole vectors as F32 but not as F16.
    const Config config = config_of(2, 8, 12, 2, 1, 12, 12, 20);
    RandomLlama vectors(config, WeightType::f32, {.biases = true, .own_head = true});
    RandomLlama none(config, WeightType::f16);
    REQUIRE(takes(vectors.weights()));
    const auto check = [&](const char* what, const auto& change) {
        INFO(what);
        ModelWeights mixed = vectors.weights();
        change(mixed, none.weights());
        CHECK_FALSE(takes(mixed));
        compare(mixed, 2, 2);
    };
    check("head", [](ModelWeights& to, ModelWeights& from) { to.head = from.head; });
    const auto of_block = [&](const char* what, std::size_t layer, auto member) {
        check(what, [&](ModelWeights& to, ModelWeights& from) {
            (to.blocks[layer].*member).weight = (from.blocks[layer].*member).weight;
        });
    };
    of_block("q", 0, &BlockWeights::q);
    of_block("k", 1, &BlockWeights::k);
    of_block("v", 0, &BlockWeights::v);
    of_block("gate", 1, &BlockWeights::gate);
    of_block("up", 0, &BlockWeights::up);
    of_block("down", 1, &BlockWeights::down);
    check("gate and up", [](ModelWeights& to, ModelWeights& from) {
        to.blocks[1].gate = from.blocks[1].gate, to.blocks[1].up = from.blocks[1].up;
    });
    // 3 heads of 12: rows of 36.
    const Config three = config_of(2, 8, 12, 3, 1, 12, 12, 20);
    RandomLlama wide(three, WeightType::f32), narrow(three, WeightType::f16);
    REQUIRE(takes(wide.weights()));
    wide.weights().blocks[1].attention_output = narrow.weights().blocks[1].attention_output;
    CHECK_FALSE(takes(wide.weights()));
    compare(wide.weights(), 2, 2);
    // Embeddings are read number by number, so any layout is supported.
    ModelWeights embedding = vectors.weights();
    embedding.token_embedding = none.weights().token_embedding;
    CHECK(takes(embedding));
    compare(embedding, 2, 2);
}

TEST_CASE("CUDA: the widest rows that decoding kernels hold in shared memory", "[day06][small]") {
    const auto model_of = [](std::int64_t C, std::int64_t H, std::int64_t D, std::int64_t F) {
        return RandomLlama(config_of(1, 4, C, H, 1, D, F, 4), WeightType::f32);
    };
    // A norm keeps its weight: 16 slices of 768.
    CHECK(takes(model_of(12288, 1, 8, 8).weights()));
    CHECK_FALSE(takes(model_of(12292, 1, 8, 8).weights()));
    // Attention's result and the MLP's hidden row are alone: 32 slices.
    CHECK(takes(model_of(8, 192, 128, 8).weights()));
    CHECK_FALSE(takes(model_of(8, 193, 128, 8).weights()));
    CHECK(takes(model_of(8, 1, 8, 24576).weights()));
    CHECK_FALSE(takes(model_of(8, 1, 8, 24580).weights()));
}

TEST_CASE("CUDA: logits of 12,288 channels, whose norm fills a block's shared memory",
          "[day06][small]") {
    const std::int64_t C = 12288;
    RandomLlama model(config_of(0, 4, C, 1, 1, 8, 8, 4), WeightType::f32);
    const Weight& head = model.weights().head;
    const Tensor<float> x = seeded<float>({1, C}, 1, -2, 2), w = seeded<float>({C}, 2, -1, 1);
    Tensor<float> normed({1, C}), want({1, 4});
    day06_transformer_ops::rms_norm_cpu(x.view(), {w.view(), {}, 1e-5f}, normed.view());
    gpt2::linear_cpu(head, normed.view(), {}, want.view());
    const gpt2::DeviceWeight d_head(head);
    const DeviceIn<float> d_x(x), d_w(w);
    DeviceOut<float> got({1, 4});
    launch_head({d_w.view().data, 1e-5f}, d_head.matrix(), d_x.view().data, got.view().data, 1, {});
    CHECK(got.close_to(want, rounding(model.weights().config) * largest(want.view())));
}

TEST_CASE("CUDA: each of q, k and v may lack its bias", "[day06][small]") {
    const WeightType values = GENERATE(WeightType::f32, WeightType::f16);  // joined, or apart
    const int with = GENERATE(0, 1, 2);
    CAPTURE(values == WeightType::f32, with);
    RandomLlama model(config_of(1, 8, 32, 2, 1, 16, 32, 20), WeightType::f32, {.biases = true},
                      values);
    BlockWeights& b = model.weights().blocks[0];
    LinearWeights* const all[] = {&b.q, &b.k, &b.v};
    for (int i = 0; i < 3; ++i) {
        if (i != with) all[i]->bias = Tensor<float>({0});
    }
    REQUIRE(takes(model.weights()));
    compare(model.weights(), 2, 2);
}

TEST_CASE("joined matrices: rows one after another, or in turn", "[day06][small]") {
    const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
    const auto weight = [](const float* of, const Shape& shape) {
        return Weight{WeightType::f32, reinterpret_cast<const std::byte*>(of), shape};
    };
    const auto values = [&](bool in_turn) {
        std::vector<std::byte> room;
        const Weight all = joined({weight(a, {2, 2}), weight(b, {2, 2})}, in_turn, room);
        REQUIRE(all.shape == Shape{4, 2});
        const View<const float> of = all.as_f32();
        return std::vector<float>(of.data, of.data + 8);
    };
    CHECK(values(false) == std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(values(true) == std::vector<float>{1, 2, 5, 6, 3, 4, 7, 8});
    std::vector<std::byte> room;
    CHECK(joined({weight(a, {2, 2}), weight(b, {1, 2})}, false, room).shape == Shape{3, 2});
    CHECK(rejection([&] { (void)joined({}, false, room); }) == "joined: no matrix");
    const std::string begins = "joined: a matrix of shape ";
    CHECK(rejection([&] {
              (void)joined({weight(a, {2, 2}), weight(b, {1, 2})}, true, room);
          }) == begins + "(1, 2) in F32 does not fit one of shape (2, 2) in F32");
    CHECK(rejection([&] {
              (void)joined({weight(a, {2, 2}), weight(b, {1, 4})}, false, room);
          }) == begins + "(1, 4) in F32 does not fit one of shape (2, 2) in F32");
    Weight other = weight(b, {2, 2});
    other.type = WeightType::f16;
    CHECK(rejection([&] {
              (void)joined({weight(a, {2, 2}), other}, false, room);
          }) == begins + "(2, 2) in F16 does not fit one of shape (2, 2) in F32");
}

TEST_CASE("CUDA: capacities that a model does not have are rejected", "[day06][small]") {
    RandomLlama model(config_of(1, 12, 32, 2, 1, 8, 48, 40), WeightType::f32);
    for (const std::int64_t capacity : {0, 13}) {
        CHECK(rejection([&] { (void)make_cuda_backend(model.weights(), capacity); }) ==
              "a text of " + std::to_string(capacity) + " tokens; this model takes 1 to 12");
    }
}
