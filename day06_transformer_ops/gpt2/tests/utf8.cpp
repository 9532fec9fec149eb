// Where UTF-8 characters end.
#include "day06_transformer_ops/gpt2/text/utf8.hpp"

#include "common/testing/testing.hpp"

using namespace sixdays::gpt2;

namespace {

// From the bits, not from table 3-7.
std::string encoded(char32_t c) {
    const auto tail = [&](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3F)); };
    if (c < 0x80) return {static_cast<char>(c)};
    if (c < 0x800) return {static_cast<char>(0xC0 | c >> 6), tail(0)};
    if (c < 0x10000) return {static_cast<char>(0xE0 | c >> 12), tail(6), tail(0)};
    return {static_cast<char>(0xF0 | c >> 18), tail(12), tail(6), tail(0)};
}

bool is_scalar(char32_t c) {
    return c < 0xD800 || (c > 0xDFFF && c <= 0x10FFFF);
}

}  // namespace

TEST_CASE("every code point is one character, and truncated it is the beginning of one",
          "[day06][small]") {
    int wrong = 0;
    for (char32_t c = 0; c < 0x1FFFFF; ++c) {
        const std::string text = encoded(c) + "x";
        const Character first = first_character(text);
        if (!is_scalar(c)) {  // surrogates, and above U+10FFFF
            wrong += first.kind != Utf8::broken || first.bytes != 1;
            continue;
        }
        wrong += first.kind != Utf8::whole || first.code != c || first.bytes + 1 != text.size();
        for (std::size_t cut = 1; cut + 1 < text.size(); ++cut) {
            const Character part = first_character(text.substr(0, cut));
            wrong += part.kind != Utf8::cut || part.bytes != cut;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("every four bytes are classified as their bits require", "[day06][small]") {
    // All pairs of bytes, before two continuation bytes: a character only if canonical.
    int wrong = 0;
    for (int a = 0; a < 256; ++a) {
        for (int b = 0; b < 256; ++b) {
            const std::string text{static_cast<char>(a), static_cast<char>(b), '\x9F', '\x85'};
            const Character first = first_character(text);
            const bool whole = first.kind == Utf8::whole;
            wrong += whole ? text.substr(0, first.bytes) != encoded(first.code)
                           : first.kind != Utf8::broken || first.bytes != 1;
        }
    }
    CHECK(wrong == 0);
    CHECK(first_character("\xC0\x80").kind == Utf8::broken);          // an overlong form of 0
    CHECK(first_character("\xE0\x9F\xBF").kind == Utf8::broken);      // and of U+07FF
    CHECK(first_character("\xF0\x8F\xBF\xBF").kind == Utf8::broken);  // and of U+FFFF
    CHECK(first_character("\xED\xA0\x80").kind == Utf8::broken);      // U+D800
    CHECK(first_character("\xF4\x90\x80\x80").kind == Utf8::broken);  // U+110000
    CHECK(first_character("\xE2\x82"
                          "a")
              .kind == Utf8::broken);  // € without its end
    CHECK(first_character("\x80").kind == Utf8::broken);
}

TEST_CASE("a stream returns whole characters, however it is split", "[day06][small]") {
    const std::string text =
        "a\u00e9\u20ac\U0001f999\xFF\xF0\x9F"
        "b\xC3";
    for (unsigned cuts = 0; cuts < 1u << (text.size() - 1); ++cuts) {
        Utf8Stream stream;
        std::string all, part;
        bool whole = true;
        for (std::size_t i = 0; i < text.size(); ++i) {
            part += text[i];
            if ((cuts >> i & 1) == 0 && i + 1 < text.size()) continue;
            const std::string out = stream.push(part);
            // The output so far ends at a character boundary.
            all += out;
            const auto next = static_cast<unsigned char>(all.size() < 10 ? text[all.size()] : 'x');
            whole = whole && (next & 0xC0) != 0x80;
            part.clear();
        }
        REQUIRE(whole);
        REQUIRE(all == text.substr(0, text.size() - 1));  // the last byte is incomplete
        REQUIRE(stream.finish() == "\xC3");
        REQUIRE(stream.finish().empty());
    }
}

TEST_CASE("an emoji split over two tokens is printed at once", "[day06][small]") {
    Utf8Stream stream;
    CHECK(stream.push(" \xF0\x9F") == " ");
    CHECK(stream.push("\xA6\x99.") == "\U0001f999.");
    CHECK(stream.finish().empty());
}
