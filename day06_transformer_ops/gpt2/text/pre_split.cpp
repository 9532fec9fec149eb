#include "day06_transformer_ops/gpt2/text/pre_split.hpp"

#include <pcre2.h>  // CMakeLists.txt defines PCRE2_CODE_UNIT_WIDTH, which it requires

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "common/tensor/sentence.hpp"
#include "day06_transformer_ops/gpt2/text/utf8.hpp"

namespace sixdays::gpt2 {
namespace {

// The expression of PreSplit's text. The 25 characters of White_Space are written out, since
// PCRE2's \s has one more (U+180E).
std::string expression(PreSplit how) {
    const std::string space = R"(\x{9}-\x{D}\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A})"
                              R"(\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
    const std::string endings = "'(?:[stmd]|re|ve|ll)", spaces = "[" + space + "]+";
    const std::string signs = R"( ?[^\p{L}\p{N})" + space + "]+";
    // A run of spaces, without the last one if something follows other than `end`.
    const auto runs = [&](const std::string& end) {
        return "|" + spaces + "(?![^" + end + space + "])|" + spaces;
    };
    if (how == PreSplit::gpt2) {
        return endings + R"(| ?\p{L}+| ?\p{N}+|)" + signs + runs("");
    }
    if (how == PreSplit::smollm) {  // a number is cut off first, so spaces end before it
        return R"(\p{N}|)" + endings + R"(| ?\p{L}+|)" + signs + runs(R"(\p{N})");
    }
    const std::string number = how == PreSplit::llama3 ? R"(\p{N}{1,3})" : R"(\p{N})";
    return "(?i:" + endings + R"()|[^\r\n\p{L}\p{N}]?\p{L}+|)" + number + "|" + signs +
           R"([\r\n]*|[)" + space + R"(]*[\r\n]+)" + runs("");
}

std::string message_of(int error) {
    unsigned char text[120] = {};
    pcre2_get_error_message(error, text, sizeof text);
    return reinterpret_cast<const char*>(text);
}

struct Free {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
    void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

pcre2_code* compile(PreSplit how) {
    const std::string text = expression(how);
    int error = 0;
    std::size_t at = 0;
    pcre2_code* const code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                           PCRE2_UTF | PCRE2_ANCHORED, &error, &at, nullptr);
    if (code == nullptr) {
        throw std::runtime_error(
            sentence("PCRE2 rejects the pre-split at letter ", at, ": ", message_of(error)));
    }
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // if available: then it is faster
    return code;
}

// The length of the valid, or invalid, UTF-8 at the front of `text`.
std::size_t run_of(std::string_view text, bool utf8) {
    std::size_t end = 0;
    while (end < text.size()) {
        const Character next = first_character(text.substr(end));
        if ((next.kind == Utf8::whole) != utf8) break;
        end += next.bytes;
    }
    return end;
}

// Compiled on first use.
const pcre2_code* code_of(PreSplit how) {
    using Code = std::unique_ptr<pcre2_code, Free>;
    static const std::array<Code, 4> codes = {
        Code(compile(PreSplit::gpt2)), Code(compile(PreSplit::smollm)),
        Code(compile(PreSplit::llama3)), Code(compile(PreSplit::qwen2))};
    return codes[static_cast<std::size_t>(how)].get();
}

// Splits valid UTF-8. Every character matches one of the alternatives, so there are no gaps.
void split_utf8(std::string_view text, const pcre2_code* code,
                std::vector<std::string_view>& pieces) {
    const std::unique_ptr<pcre2_match_data, Free> match(
        pcre2_match_data_create_from_pattern(code, nullptr));
    const std::unique_ptr<pcre2_match_context, Free> limits(pcre2_match_context_create(nullptr));
    pcre2_set_match_limit(limits.get(), UINT32_MAX);  // a run of spaces takes a step per character
    for (std::size_t at = 0; at < text.size();) {
        const int found = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                      at, PCRE2_NO_UTF_CHECK, match.get(), limits.get());
        if (found < 0) {
            throw std::runtime_error(
                sentence("PCRE2 stopped at byte ", at, ": ", message_of(found)));
        }
        const std::size_t end = pcre2_get_ovector_pointer(match.get())[1];
        pieces.push_back(text.substr(at, end - at));
        at = end;
    }
}

}  // namespace

std::vector<std::string_view> pre_split(std::string_view text, PreSplit how) {
    const pcre2_code* const code = code_of(how);
    std::vector<std::string_view> pieces;
    while (!text.empty()) {
        const std::string_view utf8 = text.substr(0, run_of(text, true));
        split_utf8(utf8, code, pieces);
        text.remove_prefix(utf8.size());
        const std::string_view other = text.substr(0, run_of(text, false));
        if (!other.empty()) pieces.push_back(other);
        text.remove_prefix(other.size());
    }
    return pieces;
}

}  // namespace sixdays::gpt2
