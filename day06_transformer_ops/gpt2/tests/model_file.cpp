// A GPT-2 in a file: every tensor is found, and files that are not a GPT-2 are rejected.
#include "day06_transformer_ops/gpt2/file/model_file.hpp"

#include <functional>

#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;
using namespace sixdays::testing;

namespace {

std::string model_rejection(const GgufWriter& writer) {
    const Bytes bytes = writer.bytes();
    const Gguf file(bytes, "test.gguf");
    return rejection([&] { (void)read_model(file); });
}

// The keys of a model; `skip` is omitted, `change` may write something else instead.
GgufWriter keys(const std::string& skip, const std::function<void(GgufWriter&)>& change = {}) {
    GgufWriter file;
    const auto size = [&](const std::string& key, std::uint32_t n) {
        if (key != skip) file.value("gpt2." + key, n);
    };
    if (skip != "architecture") file.text("general.architecture", "gpt2");
    size("block_count", 1);
    size("context_length", 5);
    size("embedding_length", 8);
    size("feed_forward_length", 32);
    size("attention.head_count", 2);
    if (skip != "epsilon") file.value("gpt2.attention.layer_norm_epsilon", 1e-5f);
    if (change) change(file);
    if (skip != "tensors") {
        file.entry("token_embd.weight", {8, 3}, 0, 0);
        file.pad(8 * 3 * 4);
    }
    return file;
}

template <class T>
std::function<void(GgufWriter&)> with(const char* key, T number) {
    return [=](GgufWriter& file) { file.value(key, number); };
}

}  // namespace

TEST_CASE("every tensor of a model is found", "[day06][small]") {
    const WeightType type = GENERATE(WeightType::f32, WeightType::f16, WeightType::bf16);
    const bool own_head = GENERATE(false, true);
    const Bytes bytes = small_model(type, own_head, {"h e"}).bytes();
    const Gguf file(bytes, "test.gguf");
    const ModelWeights model = read_model(file);
    CHECK(model.config.layers == 1);
    CHECK(model.config.context == 5);
    CHECK(model.config.channels == 8);
    CHECK(model.config.heads == 2);
    CHECK(model.config.head_dim() == 4);
    CHECK(model.config.hidden == 32);
    CHECK(model.config.vocabulary == 258);
    CHECK(model.config.epsilon == 1e-5f);

    // small_model() numbers the tensors in steps of 1/8, in the order of the file.
    float eighth = 0;
    const auto begins = [&](const Weight& w, const Shape& shape) {
        CHECK(w.shape == shape);
        Tensor<float> values(shape);
        to_float_cpu(w, values.view());
        CHECK(values(0, 0) == (eighth += 0.125f));
        CHECK(values(1, 0) == eighth + static_cast<float>(shape[1]) / 8);  // one row later
    };
    const auto vector = [&](const Tensor<float>& v, std::int64_t extent) {
        CHECK(v.shape() == Shape{extent});
        CHECK(v(0) == (eighth += 0.125f));
        CHECK(v(extent - 1) == eighth + static_cast<float>(extent - 1) / 8);
    };
    begins(model.token_embedding, {258, 8});
    begins(model.position_embedding, {5, 8});
    REQUIRE(model.blocks.size() == 1);
    const BlockWeights& block = model.blocks[0];
    vector(block.attention_norm.weight, 8);
    vector(block.attention_norm.bias, 8);
    begins(block.qkv.weight, {24, 8});
    vector(block.qkv.bias, 24);
    begins(block.attention_output.weight, {8, 8});
    vector(block.attention_output.bias, 8);
    vector(block.mlp_norm.weight, 8);
    vector(block.mlp_norm.bias, 8);
    begins(block.up.weight, {32, 8});
    vector(block.up.bias, 32);
    begins(block.down.weight, {8, 32});
    vector(block.down.bias, 8);
    vector(model.final_norm.weight, 8);
    vector(model.final_norm.bias, 8);
    if (own_head) {
        begins(model.head, {258, 8});
    } else {  // tied: the same bytes, read the same way; nothing was transposed
        CHECK(model.head.data == model.token_embedding.data);
        CHECK(model.head.shape == Shape{258, 8});
    }
}

TEST_CASE("matrices stay in the file's memory, and a token's row is contiguous", "[day06][small]") {
    const Bytes bytes = small_model(WeightType::f32, false, {"h e"}).bytes();
    const Gguf file(bytes, "test.gguf");
    const ModelWeights model = read_model(file);
    CHECK(model.token_embedding.data == file.tensor("token_embd.weight").weight.data);
    const View<const float> embedding = model.token_embedding.as_f32();
    CHECK(is_contiguous(row(embedding, 5).layout));
    CHECK(column(embedding, 5).stride(0) == 8);  // how (C, V) would store a token
}

TEST_CASE("a file without a key, or with another architecture, is not a model", "[day06][small]") {
    for (const char* key : {"block_count", "context_length", "embedding_length",
                            "feed_forward_length", "attention.head_count"}) {
        CHECK(contains(model_rejection(keys(key)),
                       "key 'gpt2." + std::string(key) + "' is not among the file's 6 keys"));
        for (const std::uint32_t bad : {0u, (1u << 24) + 1}) {
            const std::string full = "gpt2." + std::string(key);
            const auto change = [&](GgufWriter& file) { file.value(full, bad); };
            CHECK(contains(
                model_rejection(keys(key, change)),
                "' is " + std::to_string(bad) + ", but must be a number from 1 to 16777216"));
        }
    }
    CHECK(
        contains(model_rejection(keys("architecture")), "key 'general.architecture' is not among"));
    CHECK(contains(model_rejection(keys("epsilon")), "layer_norm_epsilon' is not among"));
    CHECK(contains(model_rejection(keys("tensors")),
                   "tensor 'token_embd.weight' is not among the file's 0 tensors"));
    CHECK(contains(
        model_rejection(keys("architecture",
                             [](GgufWriter& file) { file.text("general.architecture", "llama"); })),
        "the architecture is 'llama', but must be 'gpt2'"));
}

TEST_CASE("sizes that contradict each other are rejected", "[day06][small]") {
    CHECK(contains(
        model_rejection(keys("attention.head_count", with("gpt2.attention.head_count", 3u))),
        "'gpt2.attention.head_count' is 3, which does not divide the 8 channels"));
    CHECK(contains(model_rejection(keys("", with("gpt2.attention.head_count_kv", 1u))),
                   "differs from the 2 heads of the queries"));
    CHECK(contains(model_rejection(keys("", with("gpt2.attention.head_count_kv", 2u))),
                   "tensor 'position_embd.weight' is not among"));  // the next thing missing
    for (const float bad : {0.0f, -1e-5f, 1e-5f / 0.0f, 0.0f / 0.0f}) {
        CHECK(contains(
            model_rejection(keys("epsilon", with("gpt2.attention.layer_norm_epsilon", bad))),
            "but must be finite and above 0"));
    }
    CHECK(contains(model_rejection(keys("",
                                        [](GgufWriter& file) {
                                            file.texts("tokenizer.ggml.tokens", {"a", "b"});
                                        })),
                   "'tokenizer.ggml.tokens' has 2 tokens, but token_embd.weight has 3 rows"));
}

TEST_CASE("a missing, misshapen or unexpected tensor is named", "[day06][small]") {
    // Every tensor of a model in turn.
    const Bytes whole = small_model(WeightType::f32, true, {"h e"}).bytes();
    const Gguf file(whole, "test.gguf");
    for (const FileTensor& victim : file.tensors()) {
        const std::string name(victim.name);
        Bytes misnamed = whole, misshapen = whole;
        const auto at = static_cast<std::ptrdiff_t>(victim.at) + 8;
        misnamed[static_cast<std::size_t>(at) + name.size() - 1] = std::byte{'T'};
        const Gguf one(misnamed, "test.gguf");
        const std::string missing = rejection([&] { (void)read_model(one); });
        const std::string other = name.substr(0, name.size() - 1) + "T";
        CHECK(contains(missing, name == "output.weight"  // then the head is tied
                                    ? "tensor '" + other + "' has no place in a GPT-2"
                                    : "tensor '" + name + "' is not among the file's 17 tensors"));
        // One element less in the outermost dimension: still inside the file.
        const std::size_t dims = static_cast<std::size_t>(at) + name.size() + 4;
        const std::size_t last = dims + 8 * static_cast<std::size_t>(victim.weight.shape.rank - 1);
        misshapen[last] = static_cast<std::byte>(static_cast<int>(misshapen[last]) - 1);
        const Gguf two(misshapen, "test.gguf");
        const std::string wrong = rejection([&] { (void)read_model(two); });
        if (name == "token_embd.weight") {  // its shape determines the number of tokens
            CHECK(contains(wrong, "has 258 tokens, but token_embd.weight has 257 rows"));
        } else {
            CHECK(contains(wrong, "tensor '" + name + "' has shape "));
            CHECK(contains(wrong,
                           "but the keys of this file ask for " + to_string(victim.weight.shape)));
        }
    }
}

TEST_CASE("a bias may be absent or have any number of elements", "[day06][small]") {
    for (const std::int64_t extent : {0, 1, 3}) {
        const LinearWeights linear = {{}, seeded<float>({extent}, 1, 2, 3)};
        const View<const float> view = or_none(linear.bias);
        CHECK(view.data == (extent > 0 ? linear.bias.data() : nullptr));
        for (std::int64_t n = 0; n < 3; ++n) {
            if (extent == 0) CHECK(linear.bias_of(n) == 0);
            if (n < extent) CHECK(linear.bias_of(n) == linear.bias(n));
        }
    }
}
