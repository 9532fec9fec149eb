#include "day06_transformer_ops/gpt2/text/tokenizer.hpp"

#include "day06_transformer_ops/gpt2/text/bpe.hpp"
#include "day06_transformer_ops/gpt2/text/pre_split.hpp"

namespace sixdays::gpt2 {

std::vector<std::int64_t> encode(const Vocabulary& vocabulary, std::string_view text) {
    std::vector<std::int64_t> tokens;
    for (const std::string_view piece : pre_split(text)) encode_piece(vocabulary, piece, tokens);
    return tokens;
}

std::string decode(const Vocabulary& vocabulary, const std::vector<std::int64_t>& tokens) {
    std::string bytes;
    for (const std::int64_t token : tokens) bytes += vocabulary.bytes(token);
    return bytes;
}

}  // namespace sixdays::gpt2
