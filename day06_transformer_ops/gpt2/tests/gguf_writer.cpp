#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"

#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary_writer.hpp"

namespace sixdays::gpt2::tests {
namespace {

// `count` numbers of the type: first, first + 1/8, first + 2/8, ... All are exact in bf16 below 16.
Bytes numbers(WeightType type, std::uint64_t count, float first) {
    Bytes bytes;
    for (std::uint64_t i = 0; i < count; ++i) {
        const float x = first + static_cast<float>(i % 100) / 8;
        if (type == WeightType::f32) append(bytes, x);
        if (type == WeightType::f16) append(bytes, f16(x).bits);
        if (type == WeightType::bf16) append(bytes, bf16(x).bits);
    }
    return bytes;
}

}  // namespace

std::string file_of_tests(const std::string& name) {
    return SIXDAYS_GPT2_FILES + name;
}

std::vector<std::string> tokens_with(const std::vector<std::string>& merges) {
    std::vector<std::string> tokens = byte_tokens();
    for (std::string merge : merges) tokens.push_back(merge.erase(merge.find(' '), 1));
    tokens.push_back("<|endoftext|>");
    return tokens;
}

GgufWriter small_model(WeightType type, bool own_head, const std::vector<std::string>& merges) {
    const std::vector<std::string> tokens = tokens_with(merges);
    const std::uint64_t V = tokens.size(), C = 8;
    GgufWriter file;
    file.text("general.architecture", "gpt2");
    file.value("gpt2.block_count", std::uint32_t{1});
    file.value("gpt2.context_length", std::uint32_t{5});
    file.value("gpt2.embedding_length", std::uint32_t{8});
    file.value("gpt2.feed_forward_length", std::uint32_t{32});
    file.value("gpt2.attention.head_count", std::uint32_t{2});
    file.value("gpt2.attention.layer_norm_epsilon", 1e-5f);
    write_vocabulary(file, {tokens, merges});

    float first = 0;
    const auto matrix = [&](const std::string& name, std::uint64_t in, std::uint64_t out) {
        file.tensor(name, {in, out}, type, numbers(type, in * out, first += 0.125f));
    };
    const auto vector = [&](const std::string& name, std::uint64_t extent) {
        file.tensor(name, {extent}, WeightType::f32,
                    numbers(WeightType::f32, extent, first += 0.125f));
    };
    const auto both = [&](const std::string& name, std::uint64_t in, std::uint64_t out) {
        in == 0 ? vector(name + ".weight", out) : matrix(name + ".weight", in, out);
        vector(name + ".bias", out);
    };
    matrix("token_embd.weight", C, V);
    matrix("position_embd.weight", C, 5);
    both("blk.0.attn_norm", 0, C);
    both("blk.0.attn_qkv", C, 3 * C);
    both("blk.0.attn_output", C, C);
    both("blk.0.ffn_norm", 0, C);
    both("blk.0.ffn_up", C, 32);
    both("blk.0.ffn_down", 32, C);
    both("output_norm", 0, C);
    if (own_head) matrix("output.weight", C, V);
    return file;
}

std::string rejection_of(const Bytes& bytes) {
    return testing::rejection([&] { Gguf(bytes, "test.gguf"); });
}

GgufWriter real_vocabulary() {
    const MappedFile file(file_of_tests("gpt2_merges.bin"));
    ByteReader in(file.bytes(), "gpt2_merges.bin");
    std::vector<std::string> tokens = byte_tokens(), merges;
    while (in.at() < file.bytes().size()) {
        const std::string left = tokens.at(in.number<std::uint16_t>("left"));
        const std::string right = tokens.at(in.number<std::uint16_t>("right"));
        merges.push_back(left + " " + right);
        tokens.push_back(left + right);
    }
    tokens.push_back("<|endoftext|>");
    GgufWriter writer;
    write_vocabulary(writer, {tokens, merges});
    return writer;
}

}  // namespace sixdays::gpt2::tests
