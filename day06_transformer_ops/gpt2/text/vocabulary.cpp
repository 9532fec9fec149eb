#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

#include "day06_transformer_ops/gpt2/text/utf8.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr const char* kTokens = "tokenizer.ggml.tokens";
constexpr const char* kTypes = "tokenizer.ggml.token_type";
constexpr const char* kMerges = "tokenizer.ggml.merges";
constexpr std::int64_t kNormal = 1;  // of kTypes: an ordinary token that text may be encoded to
constexpr std::int64_t kMostTypes = 6;

bool prints(unsigned byte) {
    return (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
}

std::unordered_map<char32_t, char> bytes_of_letters() {
    std::unordered_map<char32_t, char> bytes;
    for (unsigned byte = 0; byte < 256; ++byte) {
        bytes[letter_of(static_cast<std::uint8_t>(byte))] = static_cast<char>(byte);
    }
    return bytes;
}

// The bytes of these letters; nullopt if one of them stands for no byte.
std::optional<std::string> bytes_from(std::string_view letters) {
    static const auto byte_of = bytes_of_letters();
    std::string bytes;
    while (!letters.empty()) {
        const Character letter = first_character(letters);
        const auto found = byte_of.find(letter.code);
        if (letter.kind != Utf8::whole || found == byte_of.end()) return {};
        bytes += found->second;
        letters.remove_prefix(letter.bytes);
    }
    return bytes;
}

std::uint64_t pair_of(std::int64_t left, std::int64_t right) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint64_t>(right);
}

}  // namespace

char32_t letter_of(std::uint8_t byte) {
    if (prints(byte)) return byte;
    char32_t letter = 0x100;
    for (unsigned before = 0; before < byte; ++before) letter += prints(before) ? 0 : 1;
    return letter;
}

Vocabulary::Vocabulary(const Gguf& file) {
    const auto demand = [&](const char* key, std::string_view wanted) {
        if (file.text(key) != wanted) {
            file.reject(file.value(key).at, "key " + quoted(key) + " is " + quoted(file.text(key)) +
                                                ", but must be " + quoted(wanted));
        }
    };
    demand("tokenizer.ggml.model", "gpt2");
    if (file.has("tokenizer.ggml.pre")) demand("tokenizer.ggml.pre", "gpt-2");
    read_tokens(file);
    read_merges(file);
    end_of_text_ = file.integer("tokenizer.ggml.eos_token_id", 0, size() - 1);
}

void Vocabulary::read_tokens(const Gguf& file) {
    const auto texts = file.texts(kTokens);
    std::vector<std::int64_t> types(texts.size(), kNormal);
    if (file.has(kTypes)) types = file.integers(kTypes, 0, kMostTypes);
    if (types.size() != texts.size()) {
        file.reject(file.value(kTypes).at, "key " + quoted(kTypes) + " has " +
                                               std::to_string(types.size()) + " types for " +
                                               std::to_string(texts.size()) + " tokens");
    }
    const auto reject = [&](std::size_t token, const std::string& why) {
        file.reject(file.value(kTokens).at,
                    "token " + std::to_string(token) + ", " + quoted(texts[token]) + ", " + why);
    };
    for (std::size_t token = 0; token < texts.size(); ++token) {
        if (types[token] != kNormal) {  // "<|endoftext|>": a name, not letters
            bytes_.emplace_back(texts[token]);
            continue;
        }
        const auto bytes = bytes_from(texts[token]);
        if (!bytes || bytes->empty()) reject(token, "is not written in GPT-2's letters for bytes");
        if (!tokens_.emplace(*bytes, token).second) {
            reject(token, "is token " + std::to_string(tokens_.at(*bytes)) + " already");
        }
        bytes_.push_back(*bytes);
    }
    for (unsigned byte = 0; byte < 256; ++byte) {
        const auto found = tokens_.find(std::string(1, static_cast<char>(byte)));
        if (found == tokens_.end()) {
            file.reject(
                file.value(kTokens).at,
                "key " + quoted(kTokens) + " has no token for byte " + std::to_string(byte));
        }
        of_byte_[byte] = found->second;
    }
}

void Vocabulary::read_merges(const Gguf& file) {
    const auto texts = file.texts(kMerges);
    const auto reject = [&](std::size_t rank, const char* why) {
        file.reject(file.value(kMerges).at,
                    "merge " + std::to_string(rank) + ", " + quoted(texts[rank]) + ", " + why);
    };
    const auto token = [&](std::size_t rank, const std::optional<std::string>& bytes) {
        const auto found = tokens_.find(bytes.value_or(""));
        if (found == tokens_.end()) reject(rank, "needs a token that does not exist");
        return found->second;
    };
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
        const std::size_t space = texts[rank].find(' ');  // a space inside a token would be Ġ
        if (space == std::string_view::npos) reject(rank, "is not two tokens separated by a space");
        const auto left = bytes_from(texts[rank].substr(0, space));
        const auto right = bytes_from(texts[rank].substr(space + 1));
        const std::uint64_t pair = pair_of(token(rank, left), token(rank, right));
        const std::int64_t result = token(rank, *left + *right);
        if (!merges_.emplace(pair, Merge{static_cast<std::int64_t>(rank), result}).second) {
            reject(rank, "was listed before");
        }
    }
}

const std::string& Vocabulary::bytes(std::int64_t token) const {
    if (token < 0 || token >= size()) {
        throw std::invalid_argument("token " + std::to_string(token) + " of a vocabulary of " +
                                    std::to_string(size()));
    }
    return bytes_[static_cast<std::size_t>(token)];
}

std::optional<Merge> Vocabulary::merge(std::int64_t left, std::int64_t right) const {
    const auto found = merges_.find(pair_of(left, right));
    if (found == merges_.end()) return {};
    return found->second;
}

}  // namespace sixdays::gpt2
