/// @file
/// Reads consecutive numbers and strings from a buffer, never past its end.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace sixdays::gpt2 {

static_assert(std::endian::native == std::endian::little, "GGUF numbers are read as they lie");

/// A name from a file made printable: 'blk.0.attn_q?', truncated to 80 letters.
[[nodiscard]] inline std::string quoted(std::string_view name) {
    std::string text = "'";
    for (const char c : name.substr(0, 80)) text += c >= ' ' && c <= '~' ? c : '?';
    return text + (name.size() > 80 ? "...'" : "'");
}

/// The bytes of a file and a position in them.
class ByteReader {
public:
    /// @param bytes  the whole file
    /// @param file   its name, the first word of every error message
    /// @param at     where to begin, <= bytes.size()
    ByteReader(std::span<const std::byte> bytes, std::string_view file, std::size_t at = 0)
        : bytes_(bytes), file_(file), at_(at) {}

    /// The byte of the file that is read next.
    std::size_t at() const noexcept { return at_; }

    /// The next `count` bytes. @throws std::invalid_argument  the file ends earlier
    std::span<const std::byte> bytes(std::uint64_t count, std::string_view meaning) {
        if (count > bytes_.size() - at_) {
            reject(at_, std::string(meaning) + " takes " + std::to_string(count) +
                            (count == 1 ? " byte" : " bytes") + ", but the file ends at byte " +
                            std::to_string(bytes_.size()));
        }
        const auto found = bytes_.subspan(at_, static_cast<std::size_t>(count));
        at_ += found.size();
        return found;
    }

    /// The next little-endian number. Copied, because it may be at any address, and reading a
    /// 4-byte number through a misaligned pointer is undefined.
    template <class T>
    T number(std::string_view meaning) {
        static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
        T value;
        std::memcpy(&value, bytes(sizeof value, meaning).data(), sizeof value);
        return value;
    }

    /// An 8-byte length, then that many bytes of text.
    std::string_view text(std::string_view meaning) {
        const auto length = number<std::uint64_t>("the length of " + std::string(meaning));
        const auto found = bytes(length, meaning);
        return {reinterpret_cast<const char*>(found.data()), found.size()};
    }

    /// @throws std::invalid_argument  always: "tiny.gguf, byte 24: <sentence>"
    [[noreturn]] void reject(std::size_t at, const std::string& sentence) const {
        throw std::invalid_argument(std::string(file_) + ", byte " + std::to_string(at) + ": " +
                                    sentence);
    }

private:
    std::span<const std::byte> bytes_;
    std::string_view file_;
    std::size_t at_;
};

}  // namespace sixdays::gpt2
