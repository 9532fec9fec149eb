/// @file
/// Writes a GGUF file: keys and tensors in the order given, all of it in memory
/// first. It checks nothing, so that tests can also write invalid files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "day06_transformer_ops/gpt2/file/gguf.hpp"

namespace sixdays::gpt2 {

/// A file, or a part of one.
using Bytes = std::vector<std::byte>;

/// Appends a number, its lowest byte first.
template <class T>
requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void append(Bytes& bytes, T number) {
    const std::size_t at = bytes.size();
    bytes.resize(at + sizeof number);
    std::memcpy(bytes.data() + at, &number, sizeof number);
}
/// Appends a text: its length in 64 bits, then its bytes.
inline void append(Bytes& bytes, std::string_view text) {
    append(bytes, std::uint64_t{text.size()});
    for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
}

/// The file's type of a C++ type.
template <class T>
constexpr ValueType value_type() {
    if (std::is_same_v<T, bool>) return ValueType::boolean;
    if (std::is_same_v<T, float>) return ValueType::f32;
    if (std::is_same_v<T, double>) return ValueType::f64;
    constexpr ValueType kSigned[] = {ValueType::i8, ValueType::i16, ValueType::i32, ValueType::i64};
    constexpr ValueType kUnsigned[] = {ValueType::u8, ValueType::u16, ValueType::u32,
                                       ValueType::u64};
    constexpr int log = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? kSigned[log] : kUnsigned[log];
}

/// Makes a GGUF file in memory: metadata first, then tensors. The tests write broken files with it,
/// too.
class GgufWriter {
public:
    /// Adds a number or a boolean.
    template <class T>
    void value(std::string_view key, T number) {
        head(key, value_type<T>());
        append(values_, number);
    }
    /// Adds a string.
    void text(std::string_view key, std::string_view text);
    /// Adds an array of numbers.
    template <class T>
    void array(std::string_view key, const std::vector<T>& numbers) {
        head(key, ValueType::array);
        append(values_, value_type<T>());
        append(values_, std::uint64_t{numbers.size()});
        for (const T number : numbers) append(values_, number);
    }
    /// Adds an array of strings.
    void texts(std::string_view key, const std::vector<std::string>& texts);

    /// Any bytes after the key.
    void raw(std::string_view key, ValueType type, const Bytes& value);

    /// Adds a tensor and its bytes. @param dims  as in the file: innermost first
    void tensor(std::string_view name, const std::vector<std::uint64_t>& dims, WeightType type,
                const Bytes& data);
    /// The same at an offset chosen by the caller; adds no data.
    void entry(std::string_view name, const std::vector<std::uint64_t>& dims, std::uint32_t type,
               std::uint64_t offset);

    /// Adds the key general.alignment, which sets the gaps from now on.
    void alignment(std::uint32_t bytes);

    /// Two keys that let a reader notice damage (Gguf::check_checksums()): kTensorChecksums, one
    /// for each tensor's bytes, and kFileChecksum, of all bytes that are in no tensor.
    void checksums() { checksums_ = true; }

    /// Adds bytes after the tensors.
    void pad(std::size_t bytes) { data_.resize(data_.size() + bytes); }

    std::uint32_t magic = 0x46554747, version = 3;  // "GGUF", the first four bytes; the next four
    /// The whole file.
    Bytes bytes() const;

private:
    void head(std::string_view key, ValueType type);
    Bytes with_checksums() const;

    std::uint32_t alignment_ = 32;
    std::uint64_t value_count_ = 0, tensor_count_ = 0;
    bool checksums_ = false;
    struct Part {
        std::size_t begin, size;
    };
    std::vector<Part> parts_;  // of data_: the tensors
    Bytes values_, tensors_, data_;
};

}  // namespace sixdays::gpt2
