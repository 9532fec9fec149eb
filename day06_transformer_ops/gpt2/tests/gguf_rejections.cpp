// GGUF files with one error each, and the message that locates it.
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;
using sixdays::testing::contains;

namespace {

constexpr std::uint64_t kHuge = ~std::uint64_t{0};

Bytes with_entry(const std::string& name, const std::vector<std::uint64_t>& dims,
                 std::uint32_t type, std::uint64_t offset, std::size_t room = 4096) {
    GgufWriter writer;
    writer.entry(name, dims, type, offset);
    writer.pad(room);
    return writer.bytes();
}

Bytes with_value(ValueType type, const Bytes& value) {
    GgufWriter writer;
    writer.raw("k", type, value);
    return writer.bytes();
}

template <class... T>
Bytes bytes_of(T... parts) {
    Bytes bytes;
    (append(bytes, parts), ...);
    return bytes;
}

}  // namespace

TEST_CASE("a file that is not GGUF 3 is rejected immediately", "[day06][small]") {
    CHECK(rejection_of({}) ==
          "test.gguf, byte 0: the word GGUF takes 4 bytes, but the file ends at byte 0");
    GgufWriter writer;
    writer.magic = 0x46464952;  // "RIFF"
    CHECK(rejection_of(writer.bytes()) ==
          "test.gguf, byte 0: a GGUF file begins with the letters GGUF");
    writer.magic = 0x46554747;
    writer.version = 2;
    CHECK(contains(rejection_of(writer.bytes()),
                   "byte 4: version 3 of GGUF is read here, but this is version 2"));
    writer.version = 3u << 24;
    CHECK(contains(rejection_of(writer.bytes()), "this is version 3 for big-endian machines"));
    writer.version = 3;
    CHECK(rejection_of(writer.bytes()).empty());
}

TEST_CASE("a file truncated anywhere is rejected, and the position reported", "[day06][small]") {
    const Bytes whole = small_model(WeightType::f16, true, {"h e"}).bytes();
    REQUIRE(rejection_of(whole).empty());
    for (std::size_t end = 0; end < whole.size(); end += end < 600 ? 1 : 97) {
        const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(end));
        CAPTURE(end);
        REQUIRE(contains(rejection_of(part), "test.gguf, byte "));
    }
}

TEST_CASE("counts and lengths beyond the file are rejected before they are used",
          "[day06][small]") {
    const auto head = [](std::uint64_t tensors, std::uint64_t keys) {
        return bytes_of(std::uint32_t{0x46554747}, std::uint32_t{3}, tensors, keys);
    };
    CHECK(contains(rejection_of(head(0, kHuge)), "byte 24: the length of key 0 takes 8 bytes"));
    CHECK(contains(rejection_of(head(kHuge, 0)),
                   "byte 24: the length of a tensor's name takes 8 bytes"));
    for (const std::uint64_t length : {kHuge, std::uint64_t{1} << 63, std::uint64_t{100}}) {
        CHECK(
            contains(rejection_of(with_value(ValueType::text, bytes_of(length))),
                     "key 'k' takes " + std::to_string(length) + " bytes, but the file ends at "));
        for (const ValueType type : {ValueType::u8, ValueType::f64, ValueType::boolean}) {
            CHECK(contains(rejection_of(with_value(ValueType::array, bytes_of(type, length))),
                           "key 'k'"));
        }
    }
    // 2^61 + 1 elements of 8 bytes overflow to 8 bytes.
    CHECK(contains(rejection_of(with_value(
                       ValueType::array,
                       bytes_of(ValueType::u64, (std::uint64_t{1} << 61) + 1, std::uint64_t{5}))),
                   "key 'k' claims 2305843009213693953 elements"));
    CHECK(contains(rejection_of(with_value(ValueType::array, bytes_of(ValueType::text, kHuge))),
                   "the length of key 'k' takes 8 bytes"));
}

TEST_CASE("unknown types and invalid bools are rejected", "[day06][small]") {
    CHECK(contains(rejection_of(with_value(static_cast<ValueType>(13), bytes_of(0.0))),
                   "byte 33: the type of key 'k' is 13, but types are 0 to 12"));
    CHECK(contains(
        rejection_of(with_value(ValueType::array, bytes_of(std::uint32_t{99}, std::uint64_t{0}))),
        "byte 37: the type of key 'k''s elements is 99"));
    CHECK(contains(rejection_of(with_value(ValueType::boolean, bytes_of(std::uint8_t{2}))),
                   "byte 37: key 'k' is a bool, but 2 is neither 0 nor 1"));
    const auto one = std::uint8_t{1};
    CHECK(contains(
        rejection_of(with_value(ValueType::array, bytes_of(ValueType::boolean, std::uint64_t{3},
                                                           one, one, std::uint8_t{255}))),
        "byte 51: key 'k' is a bool, but 255 is neither"));
}

TEST_CASE("keys and names must exist, be unique, and not be too long", "[day06][small]") {
    GgufWriter twice;
    twice.value("a", std::uint8_t{1});
    twice.value("a", std::uint8_t{2});
    CHECK(contains(rejection_of(twice.bytes()), "byte 38: key 'a' is repeated"));
    GgufWriter none;
    none.value("", std::uint8_t{1});
    CHECK(contains(rejection_of(none.bytes()), "key 0 has 0 letters; 1 to 65535 are allowed"));
    GgufWriter longest, longer;
    longest.value(std::string(65535, 'k'), std::uint8_t{1});
    longer.value(std::string(65536, 'k'), std::uint8_t{1});
    CHECK(rejection_of(longest.bytes()).empty());
    CHECK(contains(rejection_of(longer.bytes()), "key 0 has 65536 letters"));

    CHECK(contains(rejection_of(with_entry("", {4}, 0, 0)), "has a name of 0 letters; 1 to 64"));
    CHECK(rejection_of(with_entry(std::string(64, 'n'), {4}, 0, 0)).empty());
    CHECK(contains(rejection_of(with_entry(std::string(65, 'n'), {4}, 0, 0)),
                   "has a name of 65 letters"));
    GgufWriter tensors;
    tensors.entry("t", {4}, 0, 0);
    tensors.entry("t", {4}, 0, 32);
    tensors.pad(48);
    CHECK(contains(rejection_of(tensors.bytes()), "tensor 't' is repeated"));
    CHECK(contains(rejection_of(with_entry("a\nb\x7f\x80", {}, 0, 0)),
                   R"(tensor 'a?b??' has 0 dimensions)"));
}

TEST_CASE("a tensor's dimensions, type and offset are checked against the file", "[day06][small]") {
    CHECK(contains(rejection_of(with_entry("t", {}, 0, 0)), "'t' has 0 dimensions; 1 to 4"));
    CHECK(contains(rejection_of(with_entry("t", {1, 1, 1, 1, 1}, 0, 0)), "'t' has 5 dimensions"));
    CHECK(contains(rejection_of(with_entry("t", {4, 0}, 0, 0)), "'t' has an extent of 0"));
    CHECK(contains(rejection_of(with_entry("t", {std::uint64_t{1} << 63}, 0, 0)),
                   "'t' has an extent of 9223372036854775808"));
    CHECK(contains(rejection_of(with_entry("t", {4}, 3, 0)),
                   "tensor 't': ggml's type 3 is not read here: F32 (0), F16 (1), "));
    CHECK(contains(rejection_of(with_entry("t", {48}, 8, 0)),
                   "tensor 't': rows of 48 elements do not divide into blocks of 32, which Q8_0"));
    CHECK(contains(rejection_of(with_entry("t", {48}, 12, 0)), "blocks of 256, which Q4_K"));
    CHECK(contains(rejection_of(with_entry("t", {4}, 0, 16)),
                   "tensor 't' begins at offset 16, which is not a multiple of the alignment 32"));
    CHECK(contains(rejection_of(with_entry("t", {4}, 0, 4096)),
                   "takes 16 bytes from offset 4096, but only 4096 bytes follow the list"));
    CHECK(contains(rejection_of(with_entry("t", {4}, 0, kHuge - 31)),
                   "from offset 18446744073709551584, but only"));
    // 64 bytes from here end at 2^64 + 32, which overflows to 32.
    CHECK(contains(rejection_of(with_entry("t", {16}, 0, kHuge - 31)),
                   "takes 64 bytes from offset 18446744073709551584, but only 4096"));
    CHECK(contains(rejection_of(with_entry("t", {1025}, 0, 0)), "takes 4100 bytes from offset 0"));
    CHECK(rejection_of(with_entry("t", {1024}, 0, 0)).empty());
}

TEST_CASE("sizes that overflow are rejected, not wrapped around", "[day06][small]") {
    // The number of elements, then the number of bytes, overflows 64 bits to nearly 0.
    const std::uint64_t big = std::uint64_t{1} << 32;
    CHECK(contains(rejection_of(with_entry("t", {big, big}, 0, 0)), "tensor 't': "));
    CHECK(contains(rejection_of(with_entry("t", {big, big >> 2, 4, 1}, 8, 0)), "tensor 't': "));
    CHECK(contains(rejection_of(with_entry("t", {big, big >> 2}, 0, 0)),
                   "takes more bytes than 63 bits can count"));
    CHECK(contains(rejection_of(with_entry("t", {big, 2}, 1, 0)), "takes 17179869184 bytes"));
}

TEST_CASE("tensors must not overlap", "[day06][small]") {
    const auto two = [](std::uint64_t first, std::uint64_t second) {
        GgufWriter writer;
        writer.entry("later", {9}, 0, second);  // 36 bytes, listed first
        writer.entry("first", {8}, 0, first);   // 32 bytes
        writer.pad(200);
        return rejection_of(writer.bytes());
    };
    CHECK(two(0, 32).empty());
    CHECK(two(64, 0).empty());
    CHECK(contains(two(32, 0),
                   "tensor 'first' begins at offset 32, inside of tensor 'later', "
                   "which ends at 36"));
    CHECK(contains(two(0, 0), "inside of tensor"));
}

TEST_CASE("an alignment must be a power of two, 8 or more", "[day06][small]") {
    for (const std::uint32_t bad : {0u, 1u, 4u, 12u, 33u, 0xFFFFFFFFu}) {
        GgufWriter writer;
        writer.value("general.alignment", bad);
        CHECK(contains(rejection_of(writer.bytes()), "key 'general.alignment' is " +
                                                         std::to_string(bad) +
                                                         ", but must be a power of 2, 8 or more"));
    }
    GgufWriter typed;
    typed.value("general.alignment", std::uint64_t{32});
    CHECK(contains(rejection_of(typed.bytes()), "is of type uint64, but must be uint32"));
    GgufWriter wide;  // legal, but then the tensors would begin far past the end of the file
    wide.value("general.alignment", std::uint32_t{1} << 31);
    wide.entry("t", {1}, 0, 0);
    wide.pad(64);
    CHECK(contains(rejection_of(wide.bytes()), "but only 0 bytes follow the list of tensors"));
}
