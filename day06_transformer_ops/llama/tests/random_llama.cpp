// Random models: the sizes of those that benchmarks use, and the parts and types that were asked
// for.
#include "day06_transformer_ops/llama/random_llama.hpp"

#include <cmath>

#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::llama;
using gpt2::WeightType;

namespace {

// Parameters of a model whose head is the token embedding and which has no biases.
std::int64_t parameters(const Config& c) {
    const std::int64_t C = c.channels;
    const std::int64_t block =
        2 * C + c.qkv_columns() * C + C * c.heads * c.head_dim + 3 * c.hidden * C;
    return c.vocabulary * C + c.layers * block + C;
}

void check_rotation(const Config& c, double base) {
    const auto& frequencies = c.rope.frequencies;
    CHECK(c.rope.pairing == day06_transformer_ops::Pairing::neighbours);
    CHECK(c.rope.dims() == c.head_dim);
    CHECK(frequencies.front() == 1);
    CHECK(std::abs(frequencies[1] * std::pow(base, 2 / static_cast<double>(c.head_dim)) - 1) <
          1e-12);
}

}  // namespace

// Numbers of parameters and config.json: https://huggingface.co/meta-llama/Llama-3.2-1B and
// https://huggingface.co/HuggingFaceTB/SmolLM2-135M
TEST_CASE("random models for benchmarks have the sizes of the published ones", "[day06][small]") {
    const Config llama = llama_1b(), smollm = smollm2_135m();
    CHECK(parameters(llama) == 1'235'814'400);
    CHECK((llama.heads == 32 && llama.kv_heads == 8 && llama.context == 131072));
    CHECK(parameters(smollm) == 134'515'008);
    CHECK((smollm.heads == 9 && smollm.kv_heads == 3 && smollm.context == 8192));
    for (const Config& c : {llama, smollm}) {
        CHECK(c.heads * c.head_dim == c.channels);
        CHECK(c.epsilon == 1e-5f);
    }
    check_rotation(llama, 500000);
    check_rotation(smollm, 100000);
}

TEST_CASE("a random model has the parts and types that were asked for, in every layer",
          "[day06][small]") {
    const bool biases = GENERATE(false, true), norms = GENERATE(false, true);
    const bool own_head = GENERATE(false, true);
    CAPTURE(biases, norms, own_head);
    const Config config = {{3, 8, 64, 4, 96, 10, 1e-5f},
                           2,
                           32,
                           {day06_transformer_ops::Pairing::halves,
                            day06_transformer_ops::rotary_frequencies(32, 1000)}};
    RandomLlama random(config, WeightType::f16, {biases, norms, own_head}, WeightType::q8_0);
    const ModelWeights& model = random.weights();
    REQUIRE(model.blocks.size() == 3);
    const auto matrix = [](const Weight& w, WeightType type, const Shape& shape) {
        CHECK((w.type == type && w.shape == shape));
    };
    const auto linear = [&](const LinearWeights& of, WeightType type, const Shape& shape,
                            bool bias) {
        matrix(of.weight, type, shape);
        CHECK(of.bias.shape() == Shape{bias ? shape[0] : 0});
    };
    for (const BlockWeights& b : model.blocks) {
        linear(b.q, WeightType::f16, {128, 64}, biases);
        linear(b.k, WeightType::f16, {64, 64}, biases);
        linear(b.v, WeightType::q8_0, {64, 64}, biases);
        CHECK(b.q_norm.shape() == Shape{norms ? 32 : 0});
        CHECK(b.k_norm.shape() == Shape{norms ? 32 : 0});
        linear(b.attention_output, WeightType::f16, {64, 128}, false);
        linear(b.gate, WeightType::f16, {96, 64}, false);
        linear(b.up, WeightType::f16, {96, 64}, false);
        linear(b.down, WeightType::q8_0, {64, 96}, false);
        CHECK(b.attention_norm.shape() == Shape{64});
        CHECK(b.mlp_norm.shape() == Shape{64});
    }
    matrix(model.token_embedding, WeightType::f16, {10, 64});
    matrix(model.head, WeightType::f16, {10, 64});
    CHECK((model.head.data != model.token_embedding.data) == own_head);
    CHECK(model.final_norm.shape() == Shape{64});
    // Without another type, every matrix has the first.
    RandomLlama one(config, WeightType::bf16);
    for (const BlockWeights& b : one.weights().blocks) {
        for (const LinearWeights* of : {&b.q, &b.v, &b.down}) {
            CHECK(of->weight.type == WeightType::bf16);
        }
    }
}
