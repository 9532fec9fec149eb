#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"

#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

namespace sixdays::gpt2::tests {
namespace {

std::string utf8_of(char32_t letter) {
    if (letter < 0x80) return std::string(1, static_cast<char>(letter));
    return {static_cast<char>(0xC0 | letter >> 6), static_cast<char>(0x80 | (letter & 0x3F))};
}

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

void tokenizer_keys(GgufWriter& file, const std::vector<std::string>& tokens,
                    const std::vector<std::string>& merges) {
    std::vector<std::int32_t> types(tokens.size(), 1);
    types.back() = 3;
    file.text("tokenizer.ggml.model", "gpt2");
    file.text("tokenizer.ggml.pre", "gpt-2");
    file.texts("tokenizer.ggml.tokens", tokens);
    file.array("tokenizer.ggml.token_type", types);
    file.texts("tokenizer.ggml.merges", merges);
    file.value("tokenizer.ggml.eos_token_id", static_cast<std::uint32_t>(tokens.size() - 1));
}

std::vector<std::string> byte_tokens() {
    std::vector<std::string> tokens;
    for (char32_t letter = 0; letter < 0x144;
         ++letter) {  // in the letters' order, as GPT-2 has them
        for (unsigned byte = 0; byte < 256; ++byte) {
            if (letter_of(static_cast<std::uint8_t>(byte)) == letter) {
                tokens.push_back(utf8_of(letter));
            }
        }
    }
    return tokens;
}

}  // namespace

void GgufWriter::head(std::string_view key, ValueType type) {
    append(values_, key);
    append(values_, type);
    ++value_count_;
}

void GgufWriter::text(std::string_view key, std::string_view text) {
    head(key, ValueType::text);
    append(values_, text);
}

void GgufWriter::texts(std::string_view key, const std::vector<std::string>& texts) {
    head(key, ValueType::array);
    append(values_, ValueType::text);
    append(values_, std::uint64_t{texts.size()});
    for (const std::string& text : texts) append(values_, text);
}

void GgufWriter::raw(std::string_view key, ValueType type, const Bytes& value) {
    head(key, type);
    values_.insert(values_.end(), value.begin(), value.end());
}

void GgufWriter::alignment(std::uint32_t bytes) {
    alignment_ = bytes;
    value("general.alignment", bytes);
}

void GgufWriter::tensor(std::string_view name, const std::vector<std::uint64_t>& dims,
                        WeightType type, const Bytes& data) {
    data_.resize((data_.size() + alignment_ - 1) / alignment_ * alignment_);
    entry(name, dims, static_cast<std::uint32_t>(type), data_.size());
    data_.insert(data_.end(), data.begin(), data.end());
}

void GgufWriter::entry(std::string_view name, const std::vector<std::uint64_t>& dims,
                       std::uint32_t type, std::uint64_t offset) {
    append(tensors_, name);
    append(tensors_, static_cast<std::uint32_t>(dims.size()));
    for (const std::uint64_t extent : dims) append(tensors_, extent);
    append(tensors_, type);
    append(tensors_, offset);
    ++tensor_count_;
}

Bytes GgufWriter::bytes() const {
    Bytes bytes;
    append(bytes, magic);
    append(bytes, version);
    append(bytes, tensor_count_);
    append(bytes, value_count_);
    bytes.insert(bytes.end(), values_.begin(), values_.end());
    bytes.insert(bytes.end(), tensors_.begin(), tensors_.end());
    if (tensor_count_ == 0) return bytes;
    bytes.resize((bytes.size() + alignment_ - 1) / alignment_ * alignment_);
    bytes.insert(bytes.end(), data_.begin(), data_.end());
    bytes.shrink_to_fit();  // so that the sanitizer sees a read behind the last byte
    return bytes;
}

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
    tokenizer_keys(file, tokens, merges);

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

std::string refusal_of(const Bytes& bytes) {
    return testing::refusal([&] { Gguf(bytes, "test.gguf"); });
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
    tokenizer_keys(writer, tokens, merges);
    return writer;
}

}  // namespace sixdays::gpt2::tests
