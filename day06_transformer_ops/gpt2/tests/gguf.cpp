// Valid GGUF files: what is read is what was written.
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;
using sixdays::testing::contains;
using sixdays::testing::rejection;

namespace {

Bytes floats(const std::vector<float>& values) {
    Bytes bytes;
    for (const float x : values) append(bytes, x);
    return bytes;
}

// A file with one value of T under "a", between neighbours that must not be read.
template <class T>
std::int64_t read_back(T number) {
    GgufWriter writer;
    writer.value("before", std::uint8_t{255});
    writer.value("a", number);
    writer.array("b", std::vector<T>{number, T{1}, number});
    const Bytes bytes = writer.bytes();
    const Gguf file(bytes, "test.gguf");
    CHECK(file.value("a").type == value_type<T>());
    CHECK(file.integers("b", kLeast, kMost) ==
          std::vector<std::int64_t>{static_cast<std::int64_t>(number), 1,
                                    static_cast<std::int64_t>(number)});
    return file.integer("a", kLeast, kMost);
}

}  // namespace

TEST_CASE("integers of all eight types are read", "[day06][small]") {
    CHECK(read_back(std::uint8_t{200}) == 200);
    CHECK(read_back(std::int8_t{-100}) == -100);
    CHECK(read_back(std::uint16_t{60000}) == 60000);
    CHECK(read_back(std::int16_t{-30000}) == -30000);
    CHECK(read_back(std::uint32_t{4000000000}) == 4000000000);
    CHECK(read_back(std::int32_t{-2000000000}) == -2000000000);
    CHECK(read_back(std::uint64_t{0x7FFFFFFFFFFFFFFF}) == kMost);
    CHECK(read_back(kLeast) == kLeast);
}

TEST_CASE("floats, bools and strings are read, alone and in arrays", "[day06][small]") {
    GgufWriter writer;
    writer.value("f32", 0.1f);
    writer.value("f64", 0.1);
    writer.array("f32s", std::vector<float>{1.5f, -2.5f});
    writer.array("f64s", std::vector<double>{0.1, -0.2});
    writer.value("yes", true);
    writer.value("no", false);
    writer.raw("bools", ValueType::array, [] {
        Bytes bytes;
        append(bytes, ValueType::boolean);
        append(bytes, std::uint64_t{3});
        for (const int b : {1, 0, 1}) append(bytes, static_cast<std::uint8_t>(b));
        return bytes;
    }());
    writer.text("text", "Grüße");
    writer.text("empty", "");
    writer.texts("texts", {"one", "", "three"});
    writer.texts("none", {});
    const Bytes bytes = writer.bytes();
    const Gguf file(bytes, "test.gguf");
    CHECK(file.real("f32") == double{0.1f});
    CHECK(file.real("f64") == 0.1);
    CHECK(file.reals("f32s") == std::vector<double>{1.5, -2.5});
    CHECK(file.reals("f64s") == std::vector<double>{0.1, -0.2});
    CHECK(file.boolean("yes"));
    CHECK_FALSE(file.boolean("no"));
    CHECK(file.value("bools").element == ValueType::boolean);
    CHECK(file.value("bools").count == 3);
    CHECK(file.text("text") == "Grüße");
    CHECK(file.text("empty").empty());
    CHECK(file.texts("texts") == std::vector<std::string_view>{"one", "", "three"});
    CHECK(file.texts("none").empty());
    CHECK(file.keys().size() == 11);
    CHECK(file.keys()[9] == "texts");
    CHECK_FALSE(file.has("tex"));
}

TEST_CASE("arrays of arrays are read up to a depth of eight", "[day06][small]") {
    const auto nested = [](int depth) {
        Bytes bytes;
        for (int i = 1; i < depth; ++i) {
            append(bytes, ValueType::array);
            append(bytes, std::uint64_t{1});
        }
        append(bytes, ValueType::text);
        append(bytes, std::uint64_t{2});
        append(bytes, std::string_view("ab"));
        append(bytes, std::string_view(""));
        GgufWriter writer;
        writer.raw("deep", ValueType::array, bytes);
        writer.value("after", std::uint32_t{7});
        return writer.bytes();
    };
    const Bytes bytes = nested(8);
    const Gguf file(bytes, "test.gguf");
    CHECK(file.value("deep").element == ValueType::array);
    CHECK(file.integer("after", 0, 9) == 7);
    CHECK(contains(rejection_of(nested(9)), "key 'deep': arrays in arrays"));
}

TEST_CASE("a tensor lists its dimensions innermost first", "[day06][small]") {
    GgufWriter writer;
    writer.tensor("a", {3, 2}, WeightType::f32, floats({1, 2, 3, 4, 5, 6}));
    const Bytes bytes = writer.bytes();
    const Gguf file(bytes, "test.gguf");
    const Weight& a = file.tensor("a").weight;
    CHECK(a.shape == Shape{2, 3});
    const View<const float> right = a.as_f32();
    CHECK(right(0, 1) == 2);
    CHECK(right(1, 0) == 4);
    // Reading the dimensions in file order gives another matrix, not this one's transpose.
    const View<const float> wrong(right.data, {3, 2});
    CHECK(wrong(0, 1) == 2);
    CHECK(wrong(1, 0) == 3);
}

TEST_CASE("tensors are at their offsets, in any order and with any alignment", "[day06][small]") {
    const std::uint32_t alignment = GENERATE(8u, 32u, 64u, 4096u);
    CAPTURE(alignment);
    GgufWriter writer;
    if (alignment != 32) writer.alignment(alignment);  // 32 is the default without the key
    writer.entry("last", {1}, 0, 2 * 4096);
    writer.tensor("first", {5}, WeightType::f32, floats({1, 2, 3, 4, 5}));
    writer.tensor("second", {1, 1, 1, 2}, WeightType::f32, floats({6, 7}));
    writer.pad(2 * 4096);  // room for `last`
    const Bytes bytes = writer.bytes();
    const Gguf file(bytes, "test.gguf");
    CHECK(file.alignment() == alignment);
    REQUIRE(file.tensors().size() == 3);
    CHECK(file.tensors()[0].name == "last");
    const Weight &first = file.tensor("first").weight, &second = file.tensor("second").weight;
    CHECK(first.as_f32()(4) == 5);
    CHECK(second.shape == Shape{2, 1, 1, 1});
    CHECK(second.as_f32()(1, 0, 0, 0) == 7);
    CHECK((first.data - bytes.data()) % alignment == 0);
    CHECK(file.tensor("last").weight.data == first.data + 2 * 4096);
}

TEST_CASE("a tensor may end with the file's last byte, not after it", "[day06][small]") {
    GgufWriter writer;
    writer.tensor("a", {3}, WeightType::f32, floats({1, 2, 3}));
    Bytes bytes = writer.bytes();
    CHECK(rejection_of(bytes).empty());
    bytes.pop_back();
    CHECK(contains(rejection_of(bytes),
                   "tensor 'a' takes 12 bytes from offset 0, but only 11 bytes follow"));
}

TEST_CASE("a file without tensors is a vocabulary", "[day06][small]") {
    GgufWriter writer;
    writer.value("n", std::uint32_t{1});
    const Bytes bytes = writer.bytes();
    const Gguf file(bytes, "test.gguf");
    CHECK(file.tensors().empty());
    CHECK_FALSE(file.has_tensor("a"));
}

TEST_CASE("a key of the wrong kind is rejected with its position and type", "[day06][small]") {
    GgufWriter writer;
    writer.value("n", std::uint32_t{77});         // value at byte 24 + 8 + 1 + 4 = 37
    writer.value("big", std::uint64_t{1} << 63);  // at 41 + 8 + 3 + 4 = 56
    writer.array("list", std::vector<float>{1});
    writer.value("yes", true);
    writer.value("f32", 1.0f);
    writer.value("f64", 1.0);
    writer.text("text", "1");
    writer.pad(64);  // reading a wrong type must not reach the following bytes
    writer.tensor("t", {1}, WeightType::f32, floats({1}));
    const Bytes bytes = writer.bytes();
    const Gguf file(bytes, "test.gguf");
    for (const char* key : {"yes", "f32", "f64", "text", "list"}) {
        CHECK(contains(rejection([&] { (void)file.integer(key, kLeast, kMost); }),
                       "but must be an integer"));
    }
    for (const char* key : {"n", "yes", "f32", "f64", "text", "list"}) {
        CHECK(contains(rejection([&] { (void)file.integers(key, kLeast, kMost); }),
                       "but must be an array of integers"));
    }
    CHECK(contains(rejection([&] { (void)file.boolean("text"); }), "is of type text, but must be"));
    CHECK(contains(rejection([&] { (void)file.real("yes"); }), "is of type bool, but must be"));
    CHECK(contains(rejection([&] { (void)file.reals("f32"); }), "is of type float32, but must be"));
    CHECK(contains(rejection([&] { (void)file.texts("text"); }), "is of type text, but must be"));
    CHECK(rejection([&] { (void)file.text("n"); }) ==
          "test.gguf, byte 37: key 'n' is of type uint32, but must be text");
    CHECK(rejection([&] { (void)file.real("n"); }) ==
          "test.gguf, byte 37: key 'n' is of type uint32, but must be float32 or float64");
    CHECK(contains(rejection([&] { (void)file.boolean("n"); }), "but must be bool"));
    CHECK(contains(rejection([&] { (void)file.texts("n"); }),
                   "key 'n' is of type uint32, but must be an array of texts"));
    CHECK(contains(rejection([&] { (void)file.integers("list", 0, 9); }),
                   "key 'list' is of type array of float32, but must be an array of integers"));
    CHECK(contains(rejection([&] { (void)file.reals("n"); }), "an array of float32 or float64"));
    CHECK(contains(rejection([&] { (void)file.integer("list", 0, 9); }), "but must be an integer"));
    CHECK(rejection([&] { (void)file.integer("n", 1, 76); }) ==
          "test.gguf, byte 37: key 'n' is 77, but must be a number from 1 to 76");
    CHECK(file.integer("n", 77, 77) == 77);
    CHECK(contains(rejection([&] { (void)file.integer("n", 78, 90); }), "from 78 to 90"));
    CHECK(rejection([&] { (void)file.integer("big", kLeast, kMost); }) ==
          "test.gguf, byte 56: key 'big' is 9223372036854775808, but must be a number from "
          "-9223372036854775808 to 9223372036854775807");
    CHECK(rejection([&] { (void)file.text("absent"); }) ==
          "test.gguf: key 'absent' is not among the file's 7 keys");
    CHECK(rejection([&] { (void)file.tensor("absent"); }) ==
          "test.gguf: tensor 'absent' is not among the file's 1 tensors");
}

TEST_CASE("types have names", "[day06][small]") {
    std::string names;
    for (std::uint32_t type = 0; type < 14; ++type) {
        names += to_string(static_cast<ValueType>(type)) + " ";
    }
    CHECK(names ==
          "uint8 int8 uint16 int16 uint32 int32 float32 bool text array uint64 int64 float64 "
          "type 13 ");
}
