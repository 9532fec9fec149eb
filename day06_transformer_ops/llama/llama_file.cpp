#include "day06_transformer_ops/llama/llama_file.hpp"

#include <cmath>
#include <string>

namespace sixdays::llama {
namespace {

using day06_transformer_ops::Pairing;
using gpt2::KeyTaker, gpt2::quoted, gpt2::TensorTaker;

// What an architecture has beyond the others.
struct Architecture {
    const char* name;
    Pairing pairing;
    bool needs_bias;   // of q, k, v
    bool norms_heads;  // q and k of each head
};

// The files of all three come from models that rotate the halves of a head: elements i and i + D/2.
// For `llama` alone, llama.cpp's converter reorders the rows of q and k within each head (0, D/2, 1,
// D/2 + 1, ...), so that the same pairs are neighbours: 2i and 2i + 1. A product of a query and a
// key does not depend on the order of their elements.
// (https://github.com/ggml-org/llama.cpp/blob/master/convert_hf_to_gguf.py, LlamaModel.permute)
constexpr Architecture kArchitectures[] = {
    {"llama", Pairing::neighbours, false, false},
    {"qwen2", Pairing::halves, true, false},
    {"qwen3", Pairing::halves, false, true},
};

const Architecture& architecture_of(const Gguf& file) {
    const char* const key = "general.architecture";
    const std::string_view name = file.text(key);
    for (const Architecture& known : kArchitectures) {
        if (name == known.name) return known;
    }
    file.reject(file.value(key).at,
                sentence("the architecture is ", quoted(name),
                         ", but this engine runs 'gpt2', 'llama', 'qwen2' and 'qwen3'"));
}

// The divisors of Llama 3.1, which slow down the rotation of long waves.
void divide_frequencies(const Gguf& file, TensorTaker& take, std::vector<double>& frequencies) {
    const std::string name = "rope_freqs.weight";
    if (!take.has(name)) return;
    const auto half = static_cast<std::int64_t>(frequencies.size());
    const Tensor<float> divisors = take.vector(name, half);
    for (std::int64_t i = 0; i < half; ++i) {
        if (!std::isfinite(divisors(i)) || divisors(i) <= 0) {
            file.reject(file.tensor(name).at,
                        sentence("tensor ", quoted(name), " has ", divisors(i), " at ", i,
                                 ", but must have finite numbers above 0"));
        }
        frequencies[static_cast<std::size_t>(i)] /= double{divisors(i)};
    }
}

Rope read_rope(KeyTaker& take, std::int64_t head_dim, Pairing pairing) {
    const std::int64_t dims = take.size("rope.dimension_count", head_dim);
    if (dims % 2 != 0 || dims > head_dim) {
        take.reject("rope.dimension_count", "is ", dims,
                    ", but must be even, and at most the head's ", head_dim);
    }
    const double base = take.positive("rope.freq_base", 10000);
    const std::string type = take.text("rope.scaling.type", "linear");
    if (type != "linear" && type != "none") {
        take.reject("rope.scaling.type", "is ", quoted(type),
                    ", but this engine knows 'none' and 'linear'");
    }
    const double factor = take.positive("rope.scaling.factor", 1);
    take.ignore("rope.scaling.original_context_length");  // only other types of scaling need it
    take.ignore("rope.scaling.finetuned");
    Rope rope = {pairing, day06_transformer_ops::rotary_frequencies(dims, base)};
    for (double& frequency : rope.frequencies) frequency /= type == "linear" ? factor : 1;
    return rope;
}

// Elements per head: a separate key, or the channels divided among the heads.
std::int64_t read_head_dim(KeyTaker& take, const Config& config) {
    if (!take.has("attention.key_length") && config.channels % config.heads != 0) {
        take.reject("attention.head_count", "is ", config.heads, ", which does not divide the ",
                    config.channels, " channels, and there is no ",
                    quoted(take.full("attention.key_length")));
    }
    const std::int64_t D = take.size("attention.key_length", config.channels / config.heads);
    const char* const key =
        take.has("attention.key_length") ? "attention.key_length" : "attention.head_count";
    if (D % 2 != 0 || D > kMostOfHead) {
        take.reject(key, "makes heads of ", D, " elements, but they must be even and at most ",
                    kMostOfHead);
    }
    if (const std::int64_t value = take.size("attention.value_length", D); value != D) {
        take.reject("attention.value_length", "is ", value, ", but a key has ", D, " elements");
    }
    return D;
}

// Keys whose usual value changes nothing. A window as large as the context hides nothing.
void check_other_keys(KeyTaker& take, const Config& config) {
    const std::int64_t window = take.size("attention.sliding_window", 0, 0);
    if (window != 0 && window < config.context) {
        take.reject("attention.sliding_window", "is ", window, ", below the context of ",
                    config.context, ": attention to a part of the text is not implemented");
    }
    take.allow("attention.causal", "true", "each token sees those before it alone");
    take.allow("expert_count", "0", "mixtures of experts are not implemented");
    take.allow("expert_used_count", "0", "mixtures of experts are not implemented");
    take.allow("vocab_size", std::to_string(config.vocabulary), "the rows of token_embd.weight");
}

Config read_config(const Gguf& file, const Architecture& architecture) {
    KeyTaker take(file);
    Config config{};
    gpt2::read_sizes(take, "attention.layer_norm_rms_epsilon", config);
    config.kv_heads = take.size("attention.head_count_kv", config.heads);
    if (config.heads % config.kv_heads != 0) {
        take.reject("attention.head_count_kv", "is ", config.kv_heads,
                    ", which does not divide the ", config.heads, " heads of the queries");
    }
    config.head_dim = read_head_dim(take, config);
    config.rope = read_rope(take, config.head_dim, architecture.pairing);
    config.vocabulary = gpt2::vocabulary_of(file);
    check_other_keys(take, config);
    take.reject_rest();
    return config;
}

LinearWeights read_linear(TensorTaker& take, const std::string& name, std::int64_t outputs,
                          std::int64_t inputs) {
    return {take.matrix(name + ".weight", {outputs, inputs}), Tensor<float>({0})};
}

BlockWeights read_block(TensorTaker& take, const std::string& blk, const Config& config,
                        const Architecture& architecture) {
    const std::int64_t C = config.channels, D = config.head_dim, hidden = config.hidden;
    const auto projection = [&](const char* name, std::int64_t heads) {
        LinearWeights linear = read_linear(take, blk + name, heads * D, C);
        const std::string bias = blk + name + ".bias";
        linear.bias = architecture.needs_bias ? take.vector(bias, heads * D)
                                              : take.vector_or_none(bias, heads * D);
        return linear;
    };
    const auto head_norm = [&](const char* name) {
        return architecture.norms_heads ? take.vector(blk + name, D) : Tensor<float>({0});
    };
    return {take.vector(blk + ".attn_norm.weight", C),
            projection(".attn_q", config.heads),
            projection(".attn_k", config.kv_heads),
            projection(".attn_v", config.kv_heads),
            head_norm(".attn_q_norm.weight"),
            head_norm(".attn_k_norm.weight"),
            read_linear(take, blk + ".attn_output", C, config.heads * D),
            take.vector(blk + ".ffn_norm.weight", C),
            read_linear(take, blk + ".ffn_gate", hidden, C),
            read_linear(take, blk + ".ffn_up", hidden, C),
            read_linear(take, blk + ".ffn_down", C, hidden)};
}

}  // namespace

ModelWeights read_llama(const Gguf& file) {
    const Architecture& architecture = architecture_of(file);
    Config config = read_config(file, architecture);
    TensorTaker take(file);
    const Weight tokens = take.matrix("token_embd.weight", {config.vocabulary, config.channels});
    if (architecture.pairing == Pairing::neighbours) {
        divide_frequencies(file, take, config.rope.frequencies);
    }
    std::vector<BlockWeights> blocks;
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        blocks.push_back(read_block(take, "blk." + std::to_string(layer), config, architecture));
    }
    Tensor<float> final_norm = take.vector("output_norm.weight", config.channels);
    const Weight head = take.head(tokens);
    take.reject_rest(sentence("a model of the architecture ", quoted(architecture.name)));
    return {std::move(config), tokens, std::move(blocks), std::move(final_norm), head};
}

}  // namespace sixdays::llama
