#include "day06_transformer_ops/gpt2/file/model_file.hpp"

#include <cmath>
#include <string>
#include <unordered_set>

namespace sixdays::gpt2 {
namespace {

// Larger sizes mean a damaged file, not a GPT-2; products of them fit in 63 bits.
constexpr std::int64_t kMost = std::int64_t{1} << 24;

// Takes tensors by name and shape, and remembers which it took.
class Taker {
public:
    explicit Taker(const Gguf& file) : file_(file) {}

    Weight matrix(const std::string& name, const Shape& shape) {
        const FileTensor& found = file_.tensor(name);
        if (found.weight.shape != shape) {
            file_.reject(found.at, "tensor " + quoted(name) + " has shape " +
                                       to_string(found.weight.shape) +
                                       ", but the keys of this file ask for " + to_string(shape));
        }
        taken_.insert(found.name);
        return found.weight;
    }

    Tensor<float> vector(const std::string& name, std::int64_t extent) {
        Tensor<float> vector({extent});
        to_float_cpu(matrix(name, {extent}), vector.view());
        return vector;
    }

    NormWeights norm(const std::string& name, std::int64_t channels) {
        return {vector(name + ".weight", channels), vector(name + ".bias", channels)};
    }

    LinearWeights linear(const std::string& name, std::int64_t outputs, std::int64_t inputs) {
        return {matrix(name + ".weight", {outputs, inputs}), vector(name + ".bias", outputs)};
    }

    // An unused tensor means that the file is another model, so the result would be wrong.
    void reject_rest() const {
        for (const FileTensor& tensor : file_.tensors()) {
            if (taken_.contains(tensor.name)) continue;
            file_.reject(tensor.at, "tensor " + quoted(tensor.name) + " has no place in a GPT-2");
        }
    }

private:
    const Gguf& file_;
    std::unordered_set<std::string_view> taken_;
};

Config read_config(const Gguf& file) {
    const std::string_view architecture = file.text("general.architecture");
    if (architecture != "gpt2") {
        file.reject(
            file.value("general.architecture").at,
            "the architecture is " + quoted(architecture) + ", but this engine runs 'gpt2'");
    }
    const auto size = [&](const char* key) { return file.integer(key, 1, kMost); };
    Config config{};
    config.layers = size("gpt2.block_count");
    config.context = size("gpt2.context_length");
    config.channels = size("gpt2.embedding_length");
    config.heads = size("gpt2.attention.head_count");
    config.hidden = size("gpt2.feed_forward_length");
    config.vocabulary = file.tensor("token_embd.weight").weight.shape[0];
    config.epsilon = static_cast<float>(file.real("gpt2.attention.layer_norm_epsilon"));

    const auto reject = [&](const char* key, const std::string& sentence) {
        file.reject(file.value(key).at, quoted(key) + sentence);
    };
    if (config.channels % config.heads != 0) {
        reject("gpt2.attention.head_count", " is " + std::to_string(config.heads) +
                                                ", which does not divide the " +
                                                std::to_string(config.channels) + " channels");
    }
    if (const char* key = "gpt2.attention.head_count_kv"; file.has(key)) {
        if (size(key) != config.heads) {
            reject(key, " differs from the " + std::to_string(config.heads) +
                            " heads of the queries, and GPT-2 has as many of each");
        }
    }
    if (!std::isfinite(config.epsilon) || config.epsilon <= 0) {
        reject("gpt2.attention.layer_norm_epsilon",
               " is " + std::to_string(config.epsilon) + ", but must be finite and above 0");
    }
    if (const char* key = "tokenizer.ggml.tokens"; file.has(key)) {
        const std::uint64_t tokens = file.value(key).count;  // before reading any of them
        if (tokens != static_cast<std::uint64_t>(config.vocabulary)) {
            reject(key, " has " + std::to_string(tokens) + " tokens, but token_embd.weight has " +
                            std::to_string(config.vocabulary) + " rows");
        }
    }
    return config;
}

}  // namespace

ModelWeights read_model(const Gguf& file) {
    const Config config = read_config(file);
    const std::int64_t C = config.channels, V = config.vocabulary;
    Taker take(file);
    const Weight tokens = take.matrix("token_embd.weight", {V, C});
    const Weight positions = take.matrix("position_embd.weight", {config.context, C});
    std::vector<BlockWeights> blocks;
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        const std::string blk = "blk." + std::to_string(layer);
        blocks.push_back({take.norm(blk + ".attn_norm", C),
                          take.linear(blk + ".attn_qkv", 3 * C, C),
                          take.linear(blk + ".attn_output", C, C), take.norm(blk + ".ffn_norm", C),
                          take.linear(blk + ".ffn_up", config.hidden, C),
                          take.linear(blk + ".ffn_down", C, config.hidden)});
    }
    NormWeights final_norm = take.norm("output_norm", C);
    const bool tied = !file.has_tensor("output.weight");
    const Weight head = tied ? tokens : take.matrix("output.weight", {V, C});
    take.reject_rest();
    return {config, tokens, positions, std::move(blocks), std::move(final_norm), head};
}

}  // namespace sixdays::gpt2
