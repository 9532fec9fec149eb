#include "day06_transformer_ops/gpt2/text/utf8.hpp"

#include <utility>

namespace sixdays::gpt2 {

Character first_character(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return {Utf8::whole, 1, lead};
    // 110xxxxx 1110xxxx 11110xxx; C0, C1 and F5 to FF are never valid.
    if (lead < 0xC2 || lead > 0xF4) return {Utf8::broken, 1, 0};
    const std::size_t bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;

    // The second byte's range excludes overlong forms, surrogates and code points above U+10FFFF.
    unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    char32_t code = lead & (0xFFu >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        if (i == text.size()) return {Utf8::cut, i, 0};
        if (byte(i) < low || byte(i) > high) return {Utf8::broken, 1, 0};
        code = code << 6 | (byte(i) & 0x3F);
        low = 0x80, high = 0xBF;
    }
    return {Utf8::whole, bytes, code};
}

std::string Utf8Stream::push(std::string_view bytes) {
    held_ += bytes;
    std::size_t end = 0;
    while (end < held_.size()) {
        const Character next = first_character(std::string_view(held_).substr(end));
        if (next.kind == Utf8::cut) break;
        end += next.bytes;
    }
    std::string rest = held_.substr(end);
    held_.resize(end);
    return std::exchange(held_, std::move(rest));
}

std::string Utf8Stream::finish() {
    return std::exchange(held_, {});
}

}  // namespace sixdays::gpt2
