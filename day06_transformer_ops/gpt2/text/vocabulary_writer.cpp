#include "day06_transformer_ops/gpt2/text/vocabulary_writer.hpp"

#include <algorithm>

#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

namespace sixdays::gpt2 {
namespace {

std::string utf8_of(char32_t letter) {
    if (letter < 0x80) return std::string(1, static_cast<char>(letter));
    return {static_cast<char>(0xC0 | letter >> 6), static_cast<char>(0x80 | (letter & 0x3F))};
}

}  // namespace

std::vector<std::string> byte_tokens() {
    std::vector<std::string> tokens;
    for (char32_t letter = 0; letter < 0x144; ++letter) {  // in the letters' order, as in GPT-2
        for (unsigned byte = 0; byte < 256; ++byte) {
            if (letter_of(static_cast<std::uint8_t>(byte)) == letter) {
                tokens.push_back(utf8_of(letter));
            }
        }
    }
    return tokens;
}

std::int64_t byte_token(std::uint8_t byte) {
    std::int64_t before = 0;
    for (unsigned other = 0; other < 256; ++other) {
        before += letter_of(static_cast<std::uint8_t>(other)) < letter_of(byte) ? 1 : 0;
    }
    return before;
}

std::string in_letters(std::string_view bytes) {
    std::string letters;
    for (const char byte : bytes) letters += utf8_of(letter_of(static_cast<std::uint8_t>(byte)));
    return letters;
}

NewVocabulary vocabulary_of_words(const std::vector<std::string>& words) {
    NewVocabulary made{byte_tokens(), {}};
    for (const std::string& word : words) {
        for (std::size_t length = 1; length < word.size(); ++length) {
            const std::string left = in_letters(word.substr(0, length));
            const std::string right = in_letters(word.substr(length, 1));
            const std::string merge = left + " " + right;
            if (std::find(made.merges.begin(), made.merges.end(), merge) != made.merges.end()) {
                continue;  // an earlier word begins the same way
            }
            made.merges.push_back(merge);
            made.tokens.push_back(left + right);
        }
    }
    made.tokens.push_back("<|endoftext|>");
    return made;
}

void write_vocabulary(GgufWriter& file, const NewVocabulary& vocabulary) {
    std::vector<std::int32_t> types(vocabulary.tokens.size(), 1);
    types.back() = 3;
    file.text("tokenizer.ggml.model", "gpt2");
    file.text("tokenizer.ggml.pre", "gpt-2");
    file.texts("tokenizer.ggml.tokens", vocabulary.tokens);
    file.array("tokenizer.ggml.token_type", types);
    file.texts("tokenizer.ggml.merges", vocabulary.merges);
    file.value("tokenizer.ggml.eos_token_id", static_cast<std::uint32_t>(vocabulary.end_of_text()));
}

}  // namespace sixdays::gpt2
