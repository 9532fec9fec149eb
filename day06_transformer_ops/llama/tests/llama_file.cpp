// A model of the Llama family in a file: every tensor is found, and what this engine would compute
// wrongly is rejected.
#include "day06_transformer_ops/llama/llama_file.hpp"

#include <cmath>
#include <cstring>

#include "common/testing/testing.hpp"
#include "day06_transformer_ops/llama/tests/small_llama.hpp"

using namespace sixdays;
using namespace sixdays::llama;
using namespace sixdays::llama::tests;
using namespace sixdays::testing;
using day06_transformer_ops::Pairing;

TEST_CASE("every tensor of each architecture is found", "[day06][small]") {
    const std::string name = GENERATE("llama", "qwen2", "qwen3");
    const bool own_head = GENERATE(true, false);
    CAPTURE(name, own_head);
    SmallLlama small(name);
    if (!own_head) small.without_tensor("output.weight");
    const gpt2::Bytes bytes = small.bytes();
    const Gguf file(bytes, "test.gguf");
    const ModelWeights model = read_llama(file);
    const Config& c = model.config;
    CHECK((c.layers == 1 && c.context == 6 && c.channels == 8 && c.hidden == 12));
    CHECK((c.heads == 2 && c.kv_heads == 1 && c.head_dim == 4 && c.vocabulary == 5));
    CHECK(c.epsilon == 1e-5f);
    CHECK(c.qkv_columns() == 16);
    CHECK(c.cache(3) == Shape{1, 1, 3, 4});
    CHECK(c.rope.dims() == 4);
    CHECK(c.rope.frequencies == day06_transformer_ops::rotary_frequencies(4, 500));
    CHECK(c.rope.pairing == (name == "llama" ? Pairing::neighbours : Pairing::halves));

    float number = 0;  // tensor n consists of n
    const auto matrix = [&](const Weight& w, const Shape& shape) {
        CHECK(w.shape == shape);
        CHECK(w.as_f32()(0, 0) == ++number);
    };
    const auto vector = [&](const Tensor<float>& v, std::int64_t extent) {
        CHECK(v.shape() == Shape{extent});
        if (extent > 0) CHECK(v(extent - 1) == ++number);
    };
    matrix(model.token_embedding, {5, 8});
    REQUIRE(model.blocks.size() == 1);
    const BlockWeights& b = model.block(0);
    vector(b.attention_norm, 8);
    matrix(b.q.weight, {8, 8});
    vector(b.q.bias, name == "qwen2" ? 8 : 0);
    vector(b.q_norm, name == "qwen3" ? 4 : 0);
    matrix(b.k.weight, {4, 8});
    vector(b.k.bias, name == "qwen2" ? 4 : 0);
    vector(b.k_norm, name == "qwen3" ? 4 : 0);
    matrix(b.v.weight, {4, 8});
    vector(b.v.bias, name == "qwen2" ? 4 : 0);
    matrix(b.attention_output.weight, {8, 8});
    vector(b.mlp_norm, 8);
    matrix(b.gate.weight, {12, 8});
    matrix(b.up.weight, {12, 8});
    matrix(b.down.weight, {8, 12});
    vector(model.final_norm, 8);
    if (own_head) {
        matrix(model.head, {5, 8});
    } else {  // tied: the same bytes
        CHECK(model.head.data == model.token_embedding.data);
    }
}

TEST_CASE("biases are optional in llama and qwen3, each on its own", "[day06][small]") {
    const std::string name = GENERATE("llama", "qwen3");
    SmallLlama small(name);
    small.tensor("blk.0.attn_k.bias", {4});
    const gpt2::Bytes bytes = small.bytes();
    const ModelWeights model = read_llama(Gguf(bytes, "test.gguf"));
    CHECK(model.block(0).q.bias.size() == 0);
    CHECK(model.block(0).k.bias.size() == 4);
    CHECK(model.block(0).k.bias_of(3) == static_cast<float>(small.tensors.size()));
    CHECK(model.block(0).q.bias_of(3) == 0);
}

TEST_CASE("keys that may be absent have the defaults of llama.cpp", "[day06][small]") {
    const auto read = [](const SmallLlama& small) {
        const gpt2::Bytes bytes = small.bytes();
        return read_llama(Gguf(bytes, "test.gguf")).config;
    };
    const auto frequencies = [&](const SmallLlama& small) { return read(small).rope.frequencies; };
    const auto usual = day06_transformer_ops::rotary_frequencies;
    SmallLlama all_heads;  // as many of keys and values as of queries
    all_heads.without("attention.head_count_kv");
    all_heads.tensor("blk.0.attn_k.weight", {8, 8}).tensor("blk.0.attn_v.weight", {8, 8});
    CHECK(read(all_heads).kv_heads == 2);
    CHECK(frequencies(SmallLlama().without("rope.freq_base")) == usual(4, 10000));
    CHECK(frequencies(SmallLlama().set("rope.dimension_count", 2u)) == usual(2, 500));
    std::vector<double> slow = usual(4, 500);
    for (double& f : slow) f /= 2.5;
    const SmallLlama factor = SmallLlama().set("rope.scaling.factor", 2.5f);
    CHECK(frequencies(factor) == slow);  // linear is the default type
    CHECK(frequencies(SmallLlama(factor).set("rope.scaling.type", "linear")) == slow);
    CHECK(frequencies(SmallLlama(factor).set("rope.scaling.type", "none")) == usual(4, 500));
    std::vector<double> divided = usual(4, 500);  // by the number of the tensor
    for (double& f : divided) f /= static_cast<double>(SmallLlama().tensors.size() + 1);
    CHECK(frequencies(SmallLlama().tensor("rope_freqs.weight", {2})) == divided);
    // Keys that change nothing.
    SmallLlama more;
    more.set("attention.key_length", 4u).set("attention.value_length", 4u).set("vocab_size", 5u);
    more.set("attention.causal", true).set("expert_count", 0u).set("expert_used_count", 0u);
    more.set("rope.scaling.original_context_length", 6u).set("rope.scaling.finetuned", true);
    for (const std::uint32_t window : {0u, 6u, 4096u}) {
        CHECK(rejection_of(more.set("attention.sliding_window", window)).empty());
    }
    // A width of heads that the channels do not have, up to 256.
    SmallLlama wide;
    wide.set("attention.key_length", 256u).set("attention.value_length", 256u);
    wide.tensor("blk.0.attn_q.weight", {512, 8}).tensor("blk.0.attn_output.weight", {8, 512});
    wide.tensor("blk.0.attn_k.weight", {256, 8}).tensor("blk.0.attn_v.weight", {256, 8});
    CHECK(read(wide).head_dim == 256);
    CHECK(read(wide.set("attention.head_count", 2u)).cache(1) == Shape{1, 1, 1, 256});
}

TEST_CASE("a key that is missing or out of range is named", "[day06][small]") {
    const std::string architecture = GENERATE("llama", "qwen2", "qwen3");
    for (const char* key : {"block_count", "context_length", "embedding_length",
                            "feed_forward_length", "attention.head_count"}) {
        const std::string full = architecture + "." + key;
        CHECK(contains(rejection_of(SmallLlama(architecture).without(key)),
                       "key '" + full + "' is not among the file's 8 keys"));
        for (const std::uint32_t bad : {0u, (1u << 24) + 1}) {
            CHECK(contains(rejection_of(SmallLlama(architecture).set(key, bad)),
                           "key '" + full + "' is " + std::to_string(bad) +
                               ", but must be a number from 1 to 16777216"));
        }
    }
    const char* const epsilon = "attention.layer_norm_rms_epsilon";
    CHECK(contains(rejection_of(SmallLlama(architecture).without(epsilon)),
                   "layer_norm_rms_epsilon' is not among"));
    for (const char* key : {epsilon, "rope.freq_base", "rope.scaling.factor"}) {
        for (const float bad : {0.0f, -2.0f, INFINITY, NAN}) {
            CHECK(contains(rejection_of(SmallLlama(architecture).set(key, bad)),
                           "but must be finite and above 0"));
        }
    }
    CHECK(contains(rejection_of(SmallLlama(architecture).set("rope.freq_base", -2.0f)),
                   "'" + architecture + ".rope.freq_base' is -2, but must be finite and above 0"));
}

TEST_CASE("a value that this engine does not compute is rejected with its key", "[day06][small]") {
    using Value = SmallLlama::Value;
    const struct {
        const char* key;
        Value value;
        const char* words;
    } cases[] = {
        {"attention.head_count_kv", 3u, "is 3, which does not divide the 2 heads of the queries"},
        {"attention.head_count", 3u, "'llama.attention.head_count_kv' is 2"},
        {"attention.key_length", 5u, "makes heads of 5 elements, but they must be even"},
        {"attention.key_length", 258u,
         "makes heads of 258 elements, but they must be even and at "
         "most 256"},
        {"attention.value_length", 8u,
         "'llama.attention.value_length' is 8, but a key has 4 elements"},
        {"rope.dimension_count", 3u, "is 3, but must be even, and at most the head's 4"},
        {"rope.dimension_count", 6u, "is 6, but must be even, and at most the head's 4"},
        {"rope.scaling.type", "yarn", "is 'yarn', but this engine knows 'none' and 'linear'"},
        {"rope.scaling.type", "longrope", "is 'longrope', but"},
        {"rope.scaling.type", 1u, "is of type uint32, but must be text"},
        {"rope.scaling.attn_factor", 1.5f, "is 1.5, which this engine does not know"},
        {"attention.sliding_window", 5u, "is 5, below the context of 6"},
        {"attention.causal", false, "is false, but must be true"},
        {"expert_count", 8u, "is 8, but must be 0: mixtures of experts"},
        {"expert_used_count", 2u, "is 2, but must be 0: mixtures of experts"},
        {"vocab_size", 6u, "is 6, but must be 5: the rows of token_embd.weight"},
        {"logit_scale", 0.25f, "'llama.logit_scale' is 0.25, which this engine does not know"},
        {"use_parallel_residual", true, "is true, which this engine does not know"},
        {"anything", "text", "'llama.anything' is 'text', which this engine does not know"},
    };
    for (const auto& one : cases) {
        INFO(one.key);
        SmallLlama small;
        if (std::string(one.key) == "attention.head_count") {
            small.set("attention.head_count_kv", 2u);
        }
        const std::string said = rejection_of(small.set(one.key, one.value));
        CAPTURE(said);
        CHECK(contains(said, "test.gguf, byte "));
        CHECK(contains(said, std::string("'llama.") + one.key));
        CHECK(contains(said, one.words));
    }
    SmallLlama three;  // heads, and nothing that says how wide they are
    three.set("attention.head_count", 3u);
    CHECK(contains(rejection_of(three),
                   "'llama.attention.head_count' is 3, which does not divide the 8 channels, and "
                   "there is no 'llama.attention.key_length'"));
    SmallLlama odd;
    odd.set("embedding_length", 6u);
    CHECK(contains(rejection_of(odd), "'llama.attention.head_count' makes heads of 3 elements"));
    SmallLlama tokens;
    tokens.tokens = {"a", "b"};
    CHECK(contains(rejection_of(tokens),
                   "'tokenizer.ggml.tokens' has 2 tokens, but token_embd.weight has 5 rows"));
    CHECK(contains(rejection_of(SmallLlama("mamba")),
                   "the architecture is 'mamba', but this engine runs 'gpt2', 'llama', 'qwen2' "
                   "and 'qwen3'"));
}

TEST_CASE("a missing, misshapen or unexpected tensor is named", "[day06][small]") {
    const std::string architecture = GENERATE("llama", "qwen2", "qwen3");
    const SmallLlama whole(architecture);
    REQUIRE(rejection_of(whole).empty());
    for (const auto& [name, shape] : whole.tensors) {
        INFO(name);
        if (name != "output.weight") {  // then the head is tied
            CHECK(contains(rejection_of(SmallLlama(whole).without_tensor(name)),
                           "tensor '" + name + "' is not among the file's"));
        }
        for (int d = 0; d < shape.rank; ++d) {
            if (name == "token_embd.weight" && d == 0) continue;  // it determines V
            Shape other = shape;
            ++other[d];
            const std::string said = rejection_of(SmallLlama(whole).tensor(name, other));
            CHECK(contains(said, "tensor '" + name + "' has shape " + to_string(other)));
            CHECK(contains(said, "but the keys of this file ask for " + to_string(shape)));
        }
    }
    const auto unexpected = [&](const std::string& name, const Shape& shape) {
        CHECK(contains(rejection_of(SmallLlama(whole).tensor(name, shape)),
                       "tensor '" + name + "' has no place in a model of the architecture '" +
                           architecture + "'"));
    };
    unexpected("blk.1.attn_norm.weight", {8});
    unexpected("blk.0.attn_output.bias", {8});
    unexpected("blk.0.ffn_gate_exps.weight", {2, 12, 8});
    if (architecture != "llama") unexpected("rope_freqs.weight", {2});
    if (architecture != "qwen3") unexpected("blk.0.attn_q_norm.weight", {4});
    CHECK(contains(rejection_of(SmallLlama(whole).tensor("blk.0.attn_q.bias", {7})),
                   "tensor 'blk.0.attn_q.bias' has shape (7)"));
}

TEST_CASE("divisors of the rotary frequencies are finite and above 0", "[day06][small]") {
    SmallLlama small;
    small.tensor("rope_freqs.weight", {3});
    CHECK(contains(rejection_of(small), "'rope_freqs.weight' has shape (3)"));
    small.tensor("rope_freqs.weight", {2});
    for (const float bad : {0.0f, -1.0f, INFINITY, NAN}) {
        gpt2::Bytes bytes = small.bytes();  // which end with the second divisor
        std::memcpy(bytes.data() + bytes.size() - sizeof bad, &bad, sizeof bad);
        const Gguf file(bytes, "test.gguf");
        const std::string said = rejection([&] { (void)read_llama(file); });
        CHECK(contains(said, "tensor 'rope_freqs.weight' has "));
        CHECK(contains(said, " at 1, but must have finite numbers above 0"));
    }
}
