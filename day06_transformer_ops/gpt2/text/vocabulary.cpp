#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

#include <charconv>
#include <cmath>
#include <functional>

#include "common/tensor/arguments.hpp"
#include "day06_transformer_ops/gpt2/text/utf8.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr const char* kModel = "tokenizer.ggml.model";
constexpr const char* kPre = "tokenizer.ggml.pre";
constexpr const char* kTokens = "tokenizer.ggml.tokens";
constexpr const char* kTypes = "tokenizer.ggml.token_type";
constexpr const char* kMerges = "tokenizer.ggml.merges";
constexpr const char* kScores = "tokenizer.ggml.scores";
constexpr const char* kAddBegin = "tokenizer.ggml.add_bos_token";
constexpr const char* kAddSpace = "tokenizer.ggml.add_space_prefix";
constexpr const char* kBegin = "tokenizer.ggml.bos_token_id";
constexpr const char* kEnd = "tokenizer.ggml.eos_token_id";
constexpr const char* kEndOfTurn = "tokenizer.ggml.eot_token_id";
constexpr const char* kEndOfMessage = "tokenizer.ggml.eom_token_id";
constexpr const char* kArchitecture = "general.architecture";
// Few files have these two keys, so the names of the tokens count, too. In a model for conversations
// the end of text is the end of a turn, and a text may still end by the other.
constexpr const char* kEndings[] = {"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>",
                                    "<|end_of_text|>"};
constexpr std::int64_t kMostTypes = 6;

// The values of tokenizer.ggml.pre, and what llama.cpp assumes with each of them. Without the key, and
// with "default", llama.cpp guesses and warns that the text will be worse.
struct Pre {
    std::string_view name;
    PreSplit split;
    bool whole_pieces, adds_begin;
};
constexpr Pre kPres[] = {
    {"gpt-2", PreSplit::gpt2, false, false},
    {"smollm", PreSplit::smollm, false, false},
    {"llama-bpe", PreSplit::llama3, true, true},
    {"qwen2", PreSplit::qwen2, false, false},
};

std::string names_of_pres() {
    std::string names;
    for (const Pre& known : kPres) names += (names.empty() ? "" : ", ") + quoted(known.name);
    return names;
}

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

// The byte of "<0x41>"; nullopt if the text is not written like this.
std::optional<std::uint8_t> byte_from(std::string_view text) {
    if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return {};
    std::uint8_t byte = 0;
    const char* const end = text.data() + 5;
    const auto [stop, error] = std::from_chars(text.data() + 3, end, byte, 16);
    if (error != std::errc() || stop != end) return {};
    return byte;
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

std::string with_spaces(std::string_view text) {
    constexpr std::string_view kSpace = "\u2581";
    std::string spaced;
    spaced.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const bool space = text.substr(at, kSpace.size()) == kSpace;
        spaced += space ? ' ' : text[at];
        at += space ? kSpace.size() : 1;
    }
    return spaced;
}

// The values of kTypes.
enum class Vocabulary::Type { undefined, normal, unknown, control, user_defined, unused, byte };

Vocabulary::Vocabulary(const Gguf& file) {
    of_byte_.fill(-1);
    read_model(file);
    read_tokens(file);
    model_ == TokenizerModel::byte_level ? read_merges(file) : read_scores(file);
    read_ends(file);
}

void Vocabulary::read_model(const Gguf& file) {
    const std::string_view model = file.text(kModel);
    if (model == "llama") {
        model_ = TokenizerModel::sentence_piece;
        adds_begin_ = true;
        adds_space_ = !file.has(kAddSpace) || file.boolean(kAddSpace);
        return;
    }
    if (model != "gpt2") {
        file.reject(file.value(kModel).at, sentence("key ", quoted(kModel), " is ", quoted(model),
                                                    ", but must be 'gpt2' or 'llama'"));
    }
    if (!file.has(kPre)) {
        if (!file.has(kArchitecture) || file.text(kArchitecture) == "gpt2") return;
        file.reject(
            file.value(kModel).at,
            sentence("key ", quoted(kPre), " is missing, and only a ",
                     "GPT-2 can be split without it: it must be ", "one of ", names_of_pres()));
    }
    const std::string_view name = file.text(kPre);
    const auto* const pre = std::find_if(std::begin(kPres), std::end(kPres),
                                         [&](const Pre& known) { return known.name == name; });
    if (pre == std::end(kPres)) {
        file.reject(file.value(kPre).at, sentence("key ", quoted(kPre), " is ", quoted(name),
                                                  ", but must be one of ", names_of_pres()));
    }
    split_ = pre->split;
    whole_pieces_ = pre->whole_pieces;
    adds_begin_ = pre->adds_begin;
}

void Vocabulary::read_tokens(const Gguf& file) {
    const auto texts = file.texts(kTokens);
    std::vector<std::int64_t> types(texts.size(), static_cast<std::int64_t>(Type::normal));
    if (file.has(kTypes) || model_ == TokenizerModel::sentence_piece) {
        types = file.integers(kTypes, 0, kMostTypes);
    }
    if (types.size() != texts.size()) {
        file.reject(file.value(kTypes).at, sentence("key ", quoted(kTypes), " has ", types.size(),
                                                    " types for ", texts.size(), " tokens"));
    }
    for (std::size_t token = 0; token < texts.size(); ++token) {
        bytes_.push_back(add_token(file, token, texts[token], static_cast<Type>(types[token])));
    }
    if (model_ == TokenizerModel::byte_level) {
        for (std::size_t byte = 0; byte < of_byte_.size(); ++byte) {
            of_byte_[byte] = token_of(std::string(1, static_cast<char>(byte))).value_or(-1);
        }
    }
    for (auto& [first, tokens] : user_defined_) {
        std::stable_sort(tokens.begin(), tokens.end(), [this](std::int64_t a, std::int64_t b) {
            return bytes(a).size() > bytes(b).size();
        });
    }
}

// Enters a token where text can be encoded to it. @return its bytes
std::string Vocabulary::add_token(const Gguf& file, std::size_t token, std::string_view text,
                                  Type type) {
    const auto reject = [&](const std::string& why) {
        file.reject(file.value(kTokens).at,
                    sentence("token ", token, ", ", quoted(text), ", ", why));
    };
    const auto id = static_cast<std::int64_t>(token);
    const bool pieces = model_ == TokenizerModel::sentence_piece;
    if (type == Type::normal) {
        const auto bytes = pieces ? with_spaces(text) : bytes_from(text);
        if (!bytes || bytes->empty()) {
            reject(pieces ? "is empty" : "is not written in GPT-2's letters for bytes");
        }
        if (const auto [known, is_new] = tokens_.emplace(*bytes, id); !is_new) {
            reject(sentence("is token ", known->second, " already"));
        }
        return *bytes;
    }
    if (type == Type::byte && pieces) {
        const auto byte = byte_from(text);
        if (!byte) reject("is the token of a byte, but not written like '<0x41>'");
        if (of_byte_[*byte] >= 0) reject(sentence("is token ", of_byte_[*byte], " already"));
        of_byte_[*byte] = id;
        return {static_cast<char>(*byte)};
    }
    if (type == Type::control || type == Type::user_defined) special_.emplace(text, id);
    const bool is_mark = text.starts_with("<|") && text.ends_with("|>");
    if (type == Type::user_defined && !text.empty() && !is_mark) {
        user_defined_[text[0]].push_back(id);
    }
    return std::string(text);  // "<|endoftext|>": a name, not letters
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

// The merges that build each token from two others. SentencePiece merges two neighbours if together
// they are a token.
void Vocabulary::read_scores(const Gguf& file) {
    const auto scores = file.reals(kScores);
    if (scores.size() != bytes_.size()) {
        file.reject(file.value(kScores).at,
                    sentence("key ", quoted(kScores), " has ", scores.size(), " scores for ",
                             bytes_.size(), " tokens"));
    }
    std::vector<double> falling;
    for (const auto& [bytes, token] : tokens_) {
        falling.push_back(scores[static_cast<std::size_t>(token)]);
        if (std::isnan(falling.back())) {
            file.reject(file.value(kScores).at,
                        sentence("the score of token ", token, ", ", quoted(bytes), ", is NaN"));
        }
    }
    std::sort(falling.begin(), falling.end(), std::greater<>());
    for (const auto& [bytes, token] : tokens_) {
        const double score = scores[static_cast<std::size_t>(token)];
        const auto rank =  // the number of higher scores
            std::lower_bound(falling.begin(), falling.end(), score, std::greater<>()) -
            falling.begin();
        const std::string_view text = bytes;
        for (std::size_t at = first_character(text).bytes; at < text.size();
             at += first_character(text.substr(at)).bytes) {
            const auto left = token_of(text.substr(0, at)), right = token_of(text.substr(at));
            if (left && right) merges_.emplace(pair_of(*left, *right), Merge{rank, token});
        }
    }
}

void Vocabulary::read_ends(const Gguf& file) {
    const auto token = [&](const char* key) { return file.integer(key, 0, size() - 1); };
    if (file.has(kAddBegin)) adds_begin_ = file.boolean(kAddBegin);
    if (adds_begin_) begin_of_text_ = token(kBegin);
    end_of_text_ = token(kEnd);
    ends_ = {end_of_text_};
    for (const char* const key : {kEndOfTurn, kEndOfMessage}) {
        if (file.has(key)) ends_.push_back(token(key));
    }
    for (const char* const name : kEndings) {
        if (const auto ending = special(name)) ends_.push_back(*ending);
    }
}

const std::string& Vocabulary::bytes(std::int64_t token) const {
    if (token < 0 || token >= size()) {
        reject("token ", token, " of a vocabulary of ", size());
    }
    return bytes_[static_cast<std::size_t>(token)];
}

std::optional<std::int64_t> Vocabulary::token_of(std::string_view bytes) const {
    const auto found = tokens_.find(std::string(bytes));
    if (found == tokens_.end()) return {};
    return found->second;
}

std::int64_t Vocabulary::token_of_byte(std::uint8_t byte) const {
    if (of_byte_[byte] < 0) {
        reject("byte ", int{byte}, " of the text has no token in this vocabulary");
    }
    return of_byte_[byte];
}

std::optional<std::int64_t> Vocabulary::special(std::string_view name) const {
    const auto found = special_.find(std::string(name));
    if (found == special_.end()) return {};
    return found->second;
}

std::optional<std::int64_t> Vocabulary::user_defined_at(std::string_view text) const {
    const auto found = text.empty() ? user_defined_.end() : user_defined_.find(text[0]);
    if (found == user_defined_.end()) return {};
    for (const std::int64_t token : found->second) {
        if (text.starts_with(bytes(token))) return token;
    }
    return {};
}

std::optional<Merge> Vocabulary::merge(std::int64_t left, std::int64_t right) const {
    const auto found = merges_.find(pair_of(left, right));
    if (found == merges_.end()) return {};
    return found->second;
}

}  // namespace sixdays::gpt2
