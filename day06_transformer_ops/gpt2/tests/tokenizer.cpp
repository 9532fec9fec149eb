// The tokenizer against PyPI's `tokenizers`, and round trips of every byte.
#include "day06_transformer_ops/gpt2/text/tokenizer.hpp"

#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"
#include "day06_transformer_ops/gpt2/text/pre_split.hpp"
#include "day06_transformer_ops/gpt2/text/utf8.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;
using namespace std::string_view_literals;

namespace {

using Tokens = std::vector<std::int64_t>;
using Pieces = std::vector<std::string_view>;

struct GoldenText {
    std::string_view text;
    Tokens tokens;
};
enum class Class { letter, number, space, other };
struct GoldenClass {
    char32_t first, last;
    Class kind;
};
#include "day06_transformer_ops/gpt2/tests/tokenizer_golden.inc"

const Vocabulary& gpt2_vocabulary() {
    static const Bytes bytes = real_vocabulary().bytes();
    static const Vocabulary vocabulary{Gguf(bytes, "gpt2")};
    return vocabulary;
}

std::string utf8_of(char32_t c) {
    const auto tail = [&](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3F)); };
    if (c < 0x80) return {static_cast<char>(c)};
    if (c < 0x800) return {static_cast<char>(0xC0 | c >> 6), tail(0)};
    if (c < 0x10000) return {static_cast<char>(0xE0 | c >> 12), tail(6), tail(0)};
    return {static_cast<char>(0xF0 | c >> 18), tail(12), tail(6), tail(0)};
}

Class class_of(const std::string& character) {
    const auto joins = [&](char before) { return pre_split(before + character).size() == 1; };
    if (joins('a')) return Class::letter;
    if (joins('1')) return Class::number;
    return joins('!') ? Class::other : Class::space;
}

}  // namespace

TEST_CASE("difficult texts have the same tokens as in `tokenizers`", "[day06][small]") {
    for (const GoldenText& golden : golden_texts) {
        CAPTURE(golden.text);
        CHECK(encode(gpt2_vocabulary(), golden.text) == golden.tokens);
        CHECK(decode(gpt2_vocabulary(), golden.tokens) == golden.text);
    }
}

TEST_CASE("letters, numbers and spaces are Unicode's, character by character", "[day06][small]") {
    int wrong = 0, seen = 0;
    for (const GoldenClass& run : golden_classes) {
        for (char32_t c = run.first; c <= run.last; ++c, ++seen) {
            if (class_of(utf8_of(c)) == run.kind) continue;
            if (++wrong > 10) continue;
            CAPTURE(static_cast<std::uint32_t>(c));
            CHECK(class_of(utf8_of(c)) == run.kind);
        }
    }
    CHECK(wrong == 0);
    CHECK(seen == 95221);  // 95,156 characters of Unicode 3.2 and 65 controls
}

TEST_CASE("a text is split into its pieces", "[day06][small]") {
    CHECK(pre_split("I'll pay  20\u20ac") == Pieces{"I", "'ll", " pay", " ", " 20", "\u20ac"});
    CHECK(pre_split("").empty());
    CHECK(pre_split("a\0b"sv) == Pieces{"a", "\0"sv, "b"});
    CHECK(pre_split("a \n\n b") == Pieces{"a", " \n\n", " b"});
}

TEST_CASE("invalid UTF-8 becomes separate pieces", "[day06][small]") {
    CHECK(pre_split("a\xFF\xFE"
                    "b") == Pieces{"a", "\xFF\xFE", "b"});
    CHECK(pre_split("\xE2\x82") == Pieces{"\xE2\x82"});
    CHECK(pre_split("a \xF0\x9F\xA6") == Pieces{"a", " ", "\xF0\x9F\xA6"});
    CHECK(pre_split("\xED\xA0\x80"
                    "1") == Pieces{"\xED\xA0\x80", "1"});      // a surrogate
    CHECK(pre_split("  \xC0 ") == Pieces{"  ", "\xC0", " "});  // as at an end of text
    // The tokens of a byte do not depend on its neighbours.
    const Tokens tokens = encode(gpt2_vocabulary(),
                                 "\xFF"
                                 "a");
    CHECK(tokens ==
          Tokens{gpt2_vocabulary().token_of_byte(0xFF), gpt2_vocabulary().token_of_byte('a')});
}

TEST_CASE("decoding returns the encoded bytes, whatever they are", "[day06][small]") {
    const Vocabulary& vocabulary = gpt2_vocabulary();
    const std::string_view parts[] = {
        "'",          "'ll",      " ",      "  ",   "\n",     "e",
        "\u00e9",     "e\u0301",  "\u4e16", "9",    "\u00bd", "!",
        "\U0001f999", "\xF0\x9F", "\xFF",   "\x80", "\0"sv,   "<|endoftext|>",
        " the",       "\u180e",   "\u3000"};
    int wrong = 0;
    for (std::uint64_t text = 0; text < 20000; ++text) {
        std::string bytes;
        const auto random = [&](std::int64_t k) {
            return sixdays::testing::detail::random_bits(text + 1, k);
        };
        for (std::int64_t k = 1; k <= static_cast<std::int64_t>(random(0) % 24); ++k) {
            const std::uint64_t r = random(k);
            if (text % 2 == 0) {
                bytes += static_cast<char>(r >> 8);  // any byte
            } else {
                bytes += parts[r % std::size(parts)];
            }
        }
        const Tokens tokens = encode(vocabulary, bytes);
        wrong += decode(vocabulary, tokens) != bytes;
        wrong += tokens.size() > bytes.size();
        // The stream gives the same bytes, however many tokens a character takes.
        Utf8Stream stream;
        std::string streamed;
        for (const std::int64_t token : tokens) streamed += stream.push(vocabulary.bytes(token));
        wrong += streamed + stream.finish() != bytes;
        // No text is encoded as the end of text.
        for (const std::int64_t token : tokens) wrong += token == vocabulary.end_of_text();
    }
    CHECK(wrong == 0);
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    CHECK(decode(vocabulary, encode(vocabulary, all)) == all);
}

TEST_CASE("an emoji takes three tokens and is printed once", "[day06][small]") {
    const Tokens tokens = encode(gpt2_vocabulary(), "\U0001f999");
    REQUIRE(tokens.size() == 3);
    Utf8Stream stream;
    CHECK(stream.push(gpt2_vocabulary().bytes(tokens[0])).empty());
    CHECK(stream.push(gpt2_vocabulary().bytes(tokens[1])).empty());
    CHECK(stream.push(gpt2_vocabulary().bytes(tokens[2])) == "\U0001f999");
}

TEST_CASE("256 KiB of one kind of character are not slower than others", "[day06][small]") {
    for (const std::string_view part : {" ", "a", "\u4e16", "!", "a "}) {
        std::string text;
        while (text.size() < (1u << 18)) text += part;
        const Tokens tokens = encode(gpt2_vocabulary(), text);
        CHECK(decode(gpt2_vocabulary(), tokens) == text);
    }
}
