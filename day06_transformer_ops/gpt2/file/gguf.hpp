/// @file
/// GGUF, version 3: the file format of llama.cpp. One file holds everything: numbers and strings
/// under keys ("metadata"), then a list of tensors, then their bytes.
///
///     "GGUF"  version  number of tensors  number of keys      4 + 4 + 8 + 8 bytes
///     key, type, value                                        for each key
///     name, rank, dimensions, type, offset                    for each tensor
///     gap up to a multiple of the alignment
///     the tensors' bytes, each at its offset from here
///
/// Two conventions to know. Dimensions are listed innermost first: what we call (V, C) is stored
/// as C, V, over the same row-major bytes. And nothing is aligned before the tensors.
///
/// The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
///
/// A file is untrusted input: every count, length and offset is checked
/// against the actual bytes before it is used. Errors are std::invalid_argument and
/// name the file, the byte, the key or tensor, and what was expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "day06_transformer_ops/gpt2/file/byte_reader.hpp"
#include "day06_transformer_ops/gpt2/weights/weight.hpp"

namespace sixdays::gpt2 {

/// The type of a value, with the numbers used in the file.
enum class ValueType : std::uint32_t {
    u8,       // unsigned, 8 bits
    i8,       // signed, 8 bits
    u16,      // unsigned, 16 bits
    i16,      // signed, 16 bits
    u32,      // unsigned, 32 bits
    i32,      // signed, 32 bits
    f32,      // float
    boolean,  // one byte, 0 or 1
    text,     // a length of 64 bits, then that many bytes
    array,    // a type, a count of 64 bits, then that many elements
    u64,      // unsigned, 64 bits
    i64,      // signed, 64 bits
    f64       // double
};
/// "uint32"; "type 99" for an unknown number.
[[nodiscard]] std::string to_string(ValueType type);

/// A value of the metadata, at its location in the file. Checked for completeness on reading.
struct Value {
    ValueType type;           // how its bytes are read
    std::size_t at;           // byte of the file where it begins
    ValueType element{};      // of an array: the type of its elements
    std::uint64_t count = 0;  // of an array: element count; they begin 12 bytes after `at`
};

/// A tensor's entry in the list.
struct FileTensor {
    std::string_view name;  // in the file
    std::size_t at;         // byte of the file where its entry begins
    std::uint64_t offset;   // of its bytes, relative to the first tensor
    Weight weight;          // its type, its bytes in the mapped file, and its shape
};

/// Key of the checksums of each tensor's bytes, in files that have them: GgufWriter::checksums().
inline constexpr std::string_view kTensorChecksums = "checksum.tensors";
/// Key of the checksum of all bytes that are in no tensor.
inline constexpr std::string_view kFileChecksum = "checksum.file";

/// The contents of a file, or of all parts of a split one. Holds pointers into their bytes and
/// copies none.
class Gguf {
public:
    /// @param bytes  the whole file; must outlive this object
    /// @param file   its name in error messages
    /// @throws std::invalid_argument  any violation of the format
    Gguf(std::span<const std::byte> bytes, std::string file);

    /// Adds the tensors of another part of a split model, whose keys are ignored. Its bytes are
    /// numbered after all bytes that are here already: `at` of its tensors, as reject() takes it.
    /// @throws std::invalid_argument  a tensor of a name that is here already
    void append(const Gguf& part);
    /// The file's name in error messages; of the first part.
    const std::string& file_name() const noexcept { return parts_.front().file; }

    /// Every tensor begins at a multiple of this many bytes.
    std::uint32_t alignment() const noexcept { return alignment_; }
    /// The names of the metadata, in the order of the file.
    const std::vector<std::string_view>& keys() const noexcept { return keys_; }
    /// The tensors, in the order of the file.
    const std::vector<FileTensor>& tensors() const noexcept { return tensors_; }

    /// Is there such a key?
    bool has(std::string_view key) const { return values_.contains(key); }
    /// The value of a key. @throws std::invalid_argument  no such key
    const Value& value(std::string_view key) const;

    /// A number of any integer type. @throws std::invalid_argument  no such key, another
    /// type, or not least <= number <= most
    std::int64_t integer(std::string_view key, std::int64_t least, std::int64_t most) const;
    /// A float32 or float64. @throws std::invalid_argument  no such key, or another type
    double real(std::string_view key) const;
    /// A boolean. @throws std::invalid_argument  no such key, or another type
    bool boolean(std::string_view key) const;
    /// A string, in the bytes of the file. @throws std::invalid_argument  no such key, or another
    /// type
    std::string_view text(std::string_view key) const;

    /// Arrays. @throws std::invalid_argument  no such key, not an array, elements of another kind
    std::vector<std::int64_t> integers(std::string_view key, std::int64_t least,
                                       std::int64_t most) const;
    std::vector<double> reals(std::string_view key) const;
    std::vector<std::string_view> texts(std::string_view key) const;

    /// The value of any key as text, for messages: 8, 0.5, true, 'linear', "an array of 3 uint32".
    /// @throws std::invalid_argument  no such key
    std::string shown(std::string_view key) const;

    /// Is there such a tensor?
    bool has_tensor(std::string_view name) const { return by_name_.contains(name); }
    /// The tensor of a name. @throws std::invalid_argument  no tensor of that name
    const FileTensor& tensor(std::string_view name) const;

    /// Was the file written with checksums?
    bool has_checksums() const { return has(kFileChecksum); }
    /// Compares the checksums with the bytes of one file, to which nothing was appended.
    /// @throws std::invalid_argument  a missing or different checksum: the file is damaged
    void check_checksums() const;
    /// Covers all bytes outside tensors, with those of kFileChecksum taken as zeros.
    std::uint64_t checksum_outside_tensors() const;

    /// Throws an error about this file, or the part that has this byte: "tiny.gguf, byte 24:
    /// <sentence>".
    [[noreturn]] void reject(std::size_t at, const std::string& sentence) const;

private:
    ByteReader reader(std::size_t at) const { return {bytes_, file_name(), at}; }
    void read_values(ByteReader& in, std::uint64_t count);
    void read_tensors(ByteReader& in, std::uint64_t count);
    FileTensor read_tensor(ByteReader& in) const;
    void place_tensors(std::size_t list_end);
    void reject_overlap() const;

    const Value& single(std::string_view key, bool (*fits)(ValueType), const char* wanted) const;
    const Value& array(std::string_view key, bool (*fits)(ValueType), const char* wanted) const;

    struct Part {
        std::size_t begin, size;  // of its bytes, numbered through all parts
        std::string file;
    };
    const Part& part_of(std::size_t at) const;

    std::span<const std::byte> bytes_;  // of the first part
    std::vector<Part> parts_;
    std::uint32_t alignment_ = 32;
    std::vector<std::string_view> keys_;  // in the file's order
    std::unordered_map<std::string_view, Value> values_;
    std::vector<FileTensor> tensors_;
    std::unordered_map<std::string_view, std::size_t> by_name_;
};

}  // namespace sixdays::gpt2
