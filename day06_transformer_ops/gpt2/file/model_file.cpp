#include "day06_transformer_ops/gpt2/file/model_file.hpp"

#include <string>

namespace sixdays::gpt2 {
namespace {

Config read_config(const Gguf& file) {
    const std::string_view architecture = file.text("general.architecture");
    if (architecture != "gpt2") {
        file.reject(file.value("general.architecture").at,
                    sentence("the architecture is ", quoted(architecture), ", but must be 'gpt2'"));
    }
    KeyTaker take(file);
    Config config{};
    read_sizes(take, "attention.layer_norm_epsilon", config);
    if (config.channels % config.heads != 0) {
        take.reject("attention.head_count", "is ", config.heads, ", which does not divide the ",
                    config.channels, " channels");
    }
    if (take.size("attention.head_count_kv", config.heads) != config.heads) {
        take.reject("attention.head_count_kv", "differs from the ", config.heads,
                    " heads of the queries, and GPT-2 has as many of each");
    }
    config.vocabulary = vocabulary_of(file);
    return config;
}

NormWeights norm(TensorTaker& take, const std::string& name, std::int64_t channels) {
    return {take.vector(name + ".weight", channels), take.vector(name + ".bias", channels)};
}

LinearWeights linear(TensorTaker& take, const std::string& name, std::int64_t outputs,
                     std::int64_t inputs) {
    return {take.matrix(name + ".weight", {outputs, inputs}), take.vector(name + ".bias", outputs)};
}

}  // namespace

ModelWeights read_model(const Gguf& file) {
    const Config config = read_config(file);
    const std::int64_t C = config.channels, V = config.vocabulary;
    TensorTaker take(file);
    const Weight tokens = take.matrix("token_embd.weight", {V, C});
    const Weight positions = take.matrix("position_embd.weight", {config.context, C});
    std::vector<BlockWeights> blocks;
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        const std::string blk = "blk." + std::to_string(layer);
        blocks.push_back(
            {norm(take, blk + ".attn_norm", C), linear(take, blk + ".attn_qkv", 3 * C, C),
             linear(take, blk + ".attn_output", C, C), norm(take, blk + ".ffn_norm", C),
             linear(take, blk + ".ffn_up", config.hidden, C),
             linear(take, blk + ".ffn_down", C, config.hidden)});
    }
    NormWeights final_norm = norm(take, "output_norm", C);
    const Weight head = take.head(tokens);
    take.reject_rest("a GPT-2");
    return {config, tokens, positions, std::move(blocks), std::move(final_norm), head};
}

}  // namespace sixdays::gpt2
