// SentencePiece: merging by score, byte fallback, and rejected vocabularies.
#include <functional>
#include <limits>

#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"
#include "day06_transformer_ops/gpt2/text/tokenizer.hpp"
#include "day06_transformer_ops/gpt2/text/utf8.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;
using namespace sixdays::testing;

namespace {

using Ids = std::vector<std::int64_t>;

// <unk>, <s>, </s>, the 256 bytes, then pieces with scores: token 259 is the first piece.
struct PieceFile {
    std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
    std::vector<float> scores = std::vector<float>(259, 0);
    std::vector<std::int32_t> types = {2, 3, 3};
    std::function<void(GgufWriter&)> more = [](GgufWriter&) {};

    explicit PieceFile(const std::vector<std::pair<std::string, float>>& pieces) {
        for (int byte = 0; byte < 256; ++byte) {
            constexpr const char* kDigits = "0123456789ABCDEF";
            tokens.push_back(std::string("<0x") + kDigits[byte / 16] + kDigits[byte % 16] + ">");
            types.push_back(6);
        }
        for (const auto& [piece, score] : pieces) {
            tokens.push_back(piece);
            scores.push_back(score);
            types.push_back(1);
        }
    }
    Bytes bytes() const {
        GgufWriter file;
        file.text("tokenizer.ggml.model", "llama");
        file.text("tokenizer.ggml.pre", "default");
        file.texts("tokenizer.ggml.tokens", tokens);
        if (!scores.empty()) file.array("tokenizer.ggml.scores", scores);
        if (!types.empty()) file.array("tokenizer.ggml.token_type", types);
        file.value("tokenizer.ggml.bos_token_id", std::uint32_t{1});
        file.value("tokenizer.ggml.eos_token_id", std::uint32_t{2});
        more(file);
        return file.bytes();
    }
    Vocabulary vocabulary() const {
        const Bytes file = bytes();
        return Vocabulary(Gguf(file, "test.gguf"));
    }
    std::string rejection() const {
        return testing::rejection([&] { (void)vocabulary(); });
    }
};

PieceFile without_space(const std::vector<std::pair<std::string, float>>& pieces) {
    PieceFile made(pieces);
    made.more = [](GgufWriter& file) { file.value("tokenizer.ggml.add_space_prefix", false); };
    return made;
}

Ids fallback(std::string_view bytes) {
    Ids ids;
    for (const char c : bytes) ids.push_back(3 + static_cast<std::uint8_t>(c));
    return ids;
}

// SentencePiece's rule, literally: of all neighbours that together are a token, those of the highest
// score merge, the leftmost first.
Ids plainly(const Vocabulary& vocabulary, const PieceFile& pieces, const std::string& text) {
    std::vector<std::string> parts;
    for (const char c : text) parts.emplace_back(1, c);
    const auto token = [&](const std::string& part) { return vocabulary.token_of(part); };
    while (true) {
        std::size_t best = parts.size();
        float highest = -std::numeric_limits<float>::infinity();
        for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
            const auto merged = token(parts[i] + parts[i + 1]);
            if (!merged) continue;
            const float score = pieces.scores[static_cast<std::size_t>(*merged)];
            if (score > highest) highest = score, best = i;
        }
        if (best == parts.size()) break;
        parts[best] += parts[best + 1];
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    Ids ids;
    for (const std::string& part : parts) ids.push_back(token(part).value());
    return ids;
}

}  // namespace

TEST_CASE("characters merge by the highest score, of equal ones the leftmost", "[day06][small]") {
    const PieceFile pieces = without_space({{"a", -9},
                                            {"b", -9},
                                            {"c", -9},
                                            {"ab", -1},
                                            {"bc", -1},
                                            {"abc", -5},
                                            {"ca", -0.5f},
                                            {"aa", -2},
                                            {"aaa", -3},
                                            {"bca", -2},
                                            {"cc", -7},
                                            {"aab", -1.5f}});
    const Vocabulary vocabulary = pieces.vocabulary();
    CHECK(encode(vocabulary, "abc") == Ids{264});
    CHECK(encode(vocabulary, "bab") == Ids{260, 262});
    CHECK(encode(vocabulary, "aaa") == Ids{267});
    int wrong = 0;
    for (int length = 1, count = 3; length <= 9; ++length, count *= 3) {
        for (int number = 0; number < count; ++number) {
            std::string text;
            for (int i = 0, rest = number; i < length; ++i, rest /= 3) {
                text += static_cast<char>('a' + rest % 3);
            }
            wrong += encode(vocabulary, text) != plainly(vocabulary, pieces, text);
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("a text gets a space in front, which decoding removes", "[day06][small]") {
    const std::vector<std::pair<std::string, float>> list = {
        {"\u2581", -9}, {"a", -9}, {"\u2581a", -1}, {"\u2581\u2581", -2}};
    const Vocabulary vocabulary = PieceFile(list).vocabulary();
    CHECK(vocabulary.adds_space());
    CHECK(encode(vocabulary, "a") == Ids{261});
    CHECK(encode(vocabulary, "aa a") == Ids{261, 260, 261});
    CHECK(encode(vocabulary, " a") == Ids{259, 261});  // the score of " a" is higher than of "  "
    CHECK(encode(vocabulary, "").empty());
    CHECK(encode_beginning(vocabulary, "") == Ids{1});
    CHECK(encode_beginning(vocabulary, "a") == Ids{1, 261});
    CHECK(vocabulary.bytes(261) == " a");
    CHECK(decode(vocabulary, {261, 261}) == "a a");
    CHECK(decode(vocabulary, {259, 261}) == " a");
    CHECK(decode(vocabulary, {}).empty());
    PieceFile said(list);
    said.more = [](GgufWriter& file) {
        file.value("tokenizer.ggml.add_space_prefix", true);
        file.value("tokenizer.ggml.add_bos_token", false);
    };
    CHECK(said.vocabulary().adds_space());
    CHECK(encode_beginning(said.vocabulary(), "a") == Ids{261});
    const Vocabulary bare = without_space(list).vocabulary();
    CHECK_FALSE(bare.adds_space());
    CHECK(encode(bare, "a") == Ids{260});
    CHECK(encode(bare, " a") == Ids{261});
    CHECK(decode(bare, {261}) == " a");
    CHECK(encode(bare, "\u2581a") == Ids{261});
    CHECK(decode(bare, encode(bare, "\u2581a")) == " a");
}

TEST_CASE("a character without a token becomes its bytes", "[day06][small]") {
    const Vocabulary vocabulary = without_space({{"a", -1}, {"\u00e9", -2}}).vocabulary();
    CHECK(encode(vocabulary, "\u00e9") == Ids{260});
    CHECK(encode(vocabulary, "\u4e16") == fallback("\u4e16"));
    CHECK(encode(vocabulary, "\xC3") == fallback("\xC3"));  // half of a character that has a token
    CHECK(encode(vocabulary,
                 "\xC3"
                 "a\xA9") == Ids{3 + 0xC3, 259, 3 + 0xA9});
    CHECK(encode(vocabulary, "<0x41>") == fallback("<0x41>"));
    CHECK(encode(vocabulary, "<s>") == fallback("<s>"));
    CHECK(vocabulary.bytes(3 + 0xA9) == "\xA9");
    Utf8Stream stream;
    std::string streamed;
    for (const std::int64_t id : fallback("\u4e16")) {
        CHECK(streamed.empty());
        streamed += stream.push(vocabulary.bytes(id));
    }
    CHECK(streamed == "\u4e16");
}

TEST_CASE("special tokens of SentencePiece never come from merging", "[day06][small]") {
    PieceFile pieces =
        without_space({{"<", -9}, {"s", -9}, {">", -9}, {"<s", -1}, {"ss", -1}, {"s>", -2}});
    pieces.types.back() = 5;  // unused
    const Vocabulary vocabulary = pieces.vocabulary();
    CHECK(encode(vocabulary, "<s>") == Ids{262, 261});
    CHECK(encode(vocabulary, "ss>") == Ids{263, 261});
    CHECK(vocabulary.special("<s>") == 1);
    CHECK_FALSE(vocabulary.special("<unk>").has_value());
    CHECK(vocabulary.bytes(264) == "s>");
    CHECK(vocabulary.begin_of_text() == 1);
    CHECK(vocabulary.end_of_text() == 2);
}

TEST_CASE("an invalid SentencePiece vocabulary is rejected", "[day06][small]") {
    const auto with = [](auto change) {
        PieceFile pieces({{"a", -1}, {"b", -2}});
        change(pieces);
        return pieces.rejection();
    };
    CHECK(with([](PieceFile&) {}).empty());
    CHECK(contains(with([](PieceFile& p) { p.scores.clear(); }),
                   "key 'tokenizer.ggml.scores' is not among the file's"));
    CHECK(contains(with([](PieceFile& p) { p.types.clear(); }),
                   "key 'tokenizer.ggml.token_type' is not among the file's"));
    CHECK(contains(with([](PieceFile& p) { p.scores.pop_back(); }),
                   "key 'tokenizer.ggml.scores' has 260 scores for 261 tokens"));
    CHECK(contains(with([](PieceFile& p) { p.types.pop_back(); }), "has 260 types for 261 tokens"));
    CHECK(contains(
        with([](PieceFile& p) { p.scores[260] = std::numeric_limits<float>::quiet_NaN(); }),
        "the score of token 260, 'b', is NaN"));
    CHECK(contains(with([](PieceFile& p) { p.tokens[260] = "a"; }),
                   "token 260, 'a', is token 259 already"));
    CHECK(contains(with([](PieceFile& p) { p.tokens[260] = ""; }), "token 260, '', is empty"));
    for (const char* const bad : {"<0x4>", "<0x4G>", "<0X41>", "0x41", "<0x41]", "<0x-1>"}) {
        CHECK(contains(with([&](PieceFile& p) { p.tokens[70] = bad; }),
                       sentence("token 70, '", bad,
                                "', is the token of a byte, but not written like '<0x41>'")));
    }
    CHECK(contains(with([](PieceFile& p) { p.tokens[70] = "<0x00>"; }),
                   "token 70, '<0x00>', is token 3 already"));
    PieceFile lacking({{"a", -1}});
    lacking.types[70] = 5;
    CHECK(rejection([&] { (void)encode(lacking.vocabulary(), "C"); }) ==
          "byte 67 of the text has no token in this vocabulary");
}
