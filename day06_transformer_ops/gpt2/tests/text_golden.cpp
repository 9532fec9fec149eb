// Pre-splits, byte-level merging and SentencePiece against PyPI's tokenizers and sentencepiece, with
// the small vocabularies of text_golden.py.
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/tests/golden_file.hpp"
#include "day06_transformer_ops/gpt2/text/pre_split.hpp"
#include "day06_transformer_ops/gpt2/text/tokenizer.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;

namespace {

const char* const kByteLevel[] = {"smollm", "llama3", "qwen2"};

std::vector<Tokens> tokens_of_texts(const GoldenFile& golden) {
    const Tokens counts = golden.numbers("counts"), all = golden.numbers("tokens");
    std::vector<Tokens> of_text;
    auto at = all.begin();
    for (const std::int64_t count : counts) {
        of_text.emplace_back(at, at + count);
        at += count;
    }
    REQUIRE(at == all.end());
    REQUIRE(of_text.size() == golden.texts("texts").size());
    return of_text;
}

// U+2581 stands for a space in SentencePiece, so it is decoded as one.
std::string decoded(const Vocabulary& vocabulary, std::string_view text) {
    return vocabulary.model() == TokenizerModel::byte_level ? std::string(text) : with_spaces(text);
}

// The round trip of random bytes, and of random parts that are difficult.
void check_round_trips(const Vocabulary& vocabulary) {
    using namespace std::string_view_literals;
    const std::string_view parts[] = {"'",      "'LL",        " ",        "\r",   "\n",   "e",
                                      "\u00e9", "\u4e16",     "9",        "!",    "\0"sv, "\u3000",
                                      "<tool>", "\U0001f999", "\xF0\x9F", "\xFF", " the", "<s>"};
    int wrong = 0;
    for (std::uint64_t n = 0; n < 3000; ++n) {
        std::string text;
        const auto random = [&](std::int64_t k) { return testing::detail::random_bits(n + 1, k); };
        for (std::int64_t k = 1; k <= static_cast<std::int64_t>(random(0) % 24); ++k) {
            text += n % 2 == 0 ? std::string(1, static_cast<char>(random(k) >> 8))
                               : std::string(parts[random(k) % std::size(parts)]);
        }
        wrong += decode(vocabulary, encode(vocabulary, text)) != decoded(vocabulary, text);
    }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("difficult texts have the same pieces as in `tokenizers`", "[day06][small]") {
    for (const char* const name : kByteLevel) {
        const GoldenFile golden(name);
        Tokens sizes;
        for (const std::string_view text : golden.texts("texts")) {
            for (const auto piece : pre_split(text, golden.vocabulary.split())) {
                sizes.push_back(static_cast<std::int64_t>(piece.size()));
            }
        }
        CAPTURE(name);
        CHECK(sizes == golden.numbers("pieces"));
    }
}

TEST_CASE("difficult texts have the tokens of `tokenizers` and `sentencepiece`", "[day06][small]") {
    for (const char* const name : {"smollm", "llama3", "qwen2", "llama2"}) {
        const GoldenFile golden(name);
        const std::vector<Tokens> tokens = tokens_of_texts(golden);
        const auto texts = golden.texts("texts");
        CHECK(texts.size() >= 150);
        for (std::size_t n = 0; n < tokens.size(); ++n) {
            CAPTURE(name, texts[n]);
            CHECK(encode(golden.vocabulary, texts[n]) == tokens[n]);
            CHECK(decode(golden.vocabulary, tokens[n]) == decoded(golden.vocabulary, texts[n]));
        }
        check_round_trips(golden.vocabulary);
    }
}

TEST_CASE("each pre-split cuts endings, numbers and lines in its own way", "[day06][small]") {
    using Pieces = std::vector<std::string_view>;
    const std::string_view text = "I'LL pay  1234$\n\n x";
    CHECK(pre_split(text, PreSplit::gpt2) ==
          Pieces{"I", "'", "LL", " pay", " ", " 1234", "$", "\n\n", " x"});
    CHECK(pre_split(text, PreSplit::smollm) ==
          Pieces{"I", "'", "LL", " pay", "  ", "1", "2", "3", "4", "$", "\n\n", " x"});
    CHECK(pre_split(text, PreSplit::llama3) ==
          Pieces{"I", "'LL", " pay", " ", " ", "123", "4", "$\n\n", " x"});
    CHECK(pre_split(text, PreSplit::qwen2) ==
          Pieces{"I", "'LL", " pay", " ", " ", "1", "2", "3", "4", "$\n\n", " x"});
    CHECK(pre_split("it'\u017f", PreSplit::qwen2) == Pieces{"it", "'\u017f"});  // a long s
    for (const PreSplit how : {PreSplit::smollm, PreSplit::llama3, PreSplit::qwen2}) {
        CHECK(pre_split("", how).empty());
        CHECK(pre_split("a\xFF\xFE"
                        "b",
                        how) == Pieces{"a", "\xFF\xFE", "b"});
    }
}

TEST_CASE("Llama 3 takes a whole piece that no merge makes", "[day06][small]") {
    const GoldenFile golden("llama3");
    const Vocabulary& vocabulary = golden.vocabulary;
    CHECK(vocabulary.takes_whole_pieces());
    CHECK_FALSE(GoldenFile("qwen2").vocabulary.takes_whole_pieces());
    int made_by_no_merge = 0;
    for (std::int64_t token = 256; token < vocabulary.size(); ++token) {
        const std::string& bytes = vocabulary.bytes(token);
        if (vocabulary.token_of(bytes) != token ||
            pre_split(bytes, vocabulary.split()).size() > 1) {
            continue;
        }
        CHECK(encode(vocabulary, bytes) == Tokens{token});
        bool made = false;
        for (std::size_t at = 1; at < bytes.size(); ++at) {
            const auto left = vocabulary.token_of(std::string_view(bytes).substr(0, at));
            const auto right = vocabulary.token_of(std::string_view(bytes).substr(at));
            made = made || (left && right && vocabulary.merge(*left, *right));
        }
        made_by_no_merge += made ? 0 : 1;
    }
    CHECK(made_by_no_merge > 20);
}

TEST_CASE("a mebibyte of text takes no longer per byte than a short one", "[day06][small]") {
    for (const char* const name : {"smollm", "llama3", "qwen2", "llama2"}) {
        const GoldenFile golden(name);
        for (const std::string_view part : {" \n", "a"}) {
            std::string text;
            while (text.size() < (1u << 20)) text += part;
            CAPTURE(name, part);
            CHECK(decode(golden.vocabulary, encode(golden.vocabulary, text)) == text);
        }
    }
}
