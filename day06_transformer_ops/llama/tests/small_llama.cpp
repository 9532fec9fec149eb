#include "day06_transformer_ops/llama/tests/small_llama.hpp"

#include <algorithm>

#include "common/testing/testing.hpp"
#include "day06_transformer_ops/llama/llama_file.hpp"

namespace sixdays::llama::tests {
namespace {

template <class Pairs>
auto find(Pairs& pairs, const std::string& name) {
    return std::find_if(pairs.begin(), pairs.end(),
                        [&](const auto& pair) { return pair.first == name; });
}

template <class Pairs, class Value>
void put(Pairs& pairs, const std::string& name, const Value& value) {
    const auto found = find(pairs, name);
    if (found == pairs.end()) {
        pairs.emplace_back(name, value);
    } else {
        found->second = value;
    }
}

template <class Pairs>
void remove(Pairs& pairs, const std::string& name) {
    const auto found = find(pairs, name);
    REQUIRE(found != pairs.end());
    pairs.erase(found);
}

}  // namespace

std::string file_of_tests(const std::string& name) {
    return SIXDAYS_LLAMA_FILES + name;
}

SmallLlama::SmallLlama(std::string of) : architecture(std::move(of)) {
    keys = {{"block_count", 1u},          {"context_length", 6u},
            {"embedding_length", 8u},     {"feed_forward_length", 12u},
            {"attention.head_count", 2u}, {"attention.head_count_kv", 1u},
            {"rope.freq_base", 500.0f},   {"attention.layer_norm_rms_epsilon", 1e-5f}};
    tensor("token_embd.weight", {5, 8}).tensor("blk.0.attn_norm.weight", {8});
    for (const char* name : {"q", "k", "v"}) {
        const std::string full = std::string("blk.0.attn_") + name;
        const std::int64_t rows = *name == 'q' ? 8 : 4;
        tensor(full + ".weight", {rows, 8});
        if (architecture == "qwen2") tensor(full + ".bias", {rows});
        if (architecture == "qwen3" && *name != 'v') tensor(full + "_norm.weight", {4});
    }
    tensor("blk.0.attn_output.weight", {8, 8}).tensor("blk.0.ffn_norm.weight", {8});
    tensor("blk.0.ffn_gate.weight", {12, 8}).tensor("blk.0.ffn_up.weight", {12, 8});
    tensor("blk.0.ffn_down.weight", {8, 12}).tensor("output_norm.weight", {8});
    tensor("output.weight", {5, 8});
}

SmallLlama& SmallLlama::set(const std::string& name, const Value& value) {
    put(keys, name, value);
    return *this;
}

SmallLlama& SmallLlama::without(const std::string& name) {
    remove(keys, name);
    return *this;
}

SmallLlama& SmallLlama::tensor(const std::string& name, const Shape& shape) {
    put(tensors, name, shape);
    return *this;
}

SmallLlama& SmallLlama::without_tensor(const std::string& name) {
    remove(tensors, name);
    return *this;
}

gpt2::Bytes SmallLlama::bytes() const {
    gpt2::GgufWriter file;
    file.text("general.architecture", architecture);
    for (const auto& [name, value] : keys) {
        const std::string key = architecture + "." + name;
        std::visit(
            [&file, &key](const auto& of) {
                if constexpr (std::is_same_v<std::decay_t<decltype(of)>, std::string>) {
                    file.text(key, of);
                } else {
                    file.value(key, of);
                }
            },
            value);
    }
    if (!tokens.empty()) file.texts("tokenizer.ggml.tokens", tokens);
    float number = 0;
    for (const auto& [name, shape] : tensors) {
        number += 1;
        gpt2::Bytes data;
        for (std::int64_t i = 0; i < size(shape); ++i) gpt2::append(data, number);
        std::vector<std::uint64_t> dims;  // innermost first
        for (int d = shape.rank; d-- > 0;) dims.push_back(static_cast<std::uint64_t>(shape[d]));
        file.tensor(name, dims, gpt2::WeightType::f32, data);
    }
    return file.bytes();
}

std::string rejection_of(const SmallLlama& model) {
    const gpt2::Bytes bytes = model.bytes();
    return testing::rejection([&] { (void)read_llama(Gguf(bytes, "test.gguf")); });
}

}  // namespace sixdays::llama::tests
