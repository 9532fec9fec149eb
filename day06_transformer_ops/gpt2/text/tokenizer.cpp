#include "day06_transformer_ops/gpt2/text/tokenizer.hpp"

#include "common/tensor/sentence.hpp"
#include "day06_transformer_ops/gpt2/text/bpe.hpp"
#include "day06_transformer_ops/gpt2/text/pre_split.hpp"

namespace sixdays::gpt2 {

namespace {

// Encodes text without user-defined tokens.
void encode_ordinary(const Vocabulary& vocabulary, std::string_view text,
                     std::vector<std::int64_t>& tokens) {
    if (vocabulary.model() == TokenizerModel::sentence_piece) {
        return encode_piece(vocabulary, with_spaces(text), tokens);
    }
    for (const std::string_view piece : pre_split(text, vocabulary.split())) {
        encode_piece(vocabulary, piece, tokens);
    }
}

}  // namespace

std::vector<std::int64_t> encode(const Vocabulary& vocabulary, std::string_view text) {
    std::string spaced;
    if (vocabulary.adds_space() && !text.empty()) text = spaced = sentence(' ', text);
    std::vector<std::int64_t> tokens;
    std::size_t begin = 0;  // of the text since the last user-defined token
    for (std::size_t at = 0; at < text.size();) {
        const auto token = vocabulary.user_defined_at(text.substr(at));
        if (!token) {
            ++at;
            continue;
        }
        encode_ordinary(vocabulary, text.substr(begin, at - begin), tokens);
        tokens.push_back(*token);
        begin = at += vocabulary.bytes(*token).size();
    }
    encode_ordinary(vocabulary, text.substr(begin), tokens);
    return tokens;
}

std::vector<std::int64_t> encode_beginning(const Vocabulary& vocabulary, std::string_view text) {
    std::vector<std::int64_t> tokens = encode(vocabulary, text);
    if (vocabulary.begin_of_text()) tokens.insert(tokens.begin(), *vocabulary.begin_of_text());
    return tokens;
}

std::string decode(const Vocabulary& vocabulary, const std::vector<std::int64_t>& tokens) {
    std::string bytes;
    for (const std::int64_t token : tokens) bytes += vocabulary.bytes(token);
    if (vocabulary.adds_space() && bytes.starts_with(' ')) bytes.erase(0, 1);
    return bytes;
}

}  // namespace sixdays::gpt2
