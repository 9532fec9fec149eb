// Every condition of reading a file, violated alone: one value, one type or one size at a time.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/file/model_file.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;
using namespace sixdays::testing;

namespace {

using Type = ValueType;
constexpr std::int64_t kLeastInteger = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMostInteger = std::numeric_limits<std::int64_t>::max();

// A value of a type, all bytes 0: also an empty string, and an empty array.
Bytes zero_of(Type type) {
    constexpr std::size_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};
    return Bytes(kSizes[static_cast<std::size_t>(type)], std::byte{0});
}

// The key's name: "uint32", or "uint32s" for an array of it.
std::string key_of(Type type, bool array) {
    return to_string(type) + (array ? "s" : "");
}

// A complete model, with one number of its file changed.
struct Changed {
    Bytes bytes = small_model(WeightType::f32, true, {"h e"}).bytes();

    template <class T>
    std::string rejection(const std::string& key, T number) {
        const Gguf right(bytes, "test.gguf");
        std::memcpy(bytes.data() + right.value(key).at, &number, sizeof number);
        const Gguf file(bytes, "test.gguf");
        return testing::rejection([&] { (void)read_model(file); });
    }
};

template <class T>
std::string with(const std::string& key, T number) {
    return Changed().rejection(key, number);
}

// The same with an additional, optional key.
std::string beside(const std::function<void(GgufWriter&)>& write) {
    GgufWriter writer = small_model(WeightType::f32, true, {"h e"});
    write(writer);
    const Bytes bytes = writer.bytes();
    const Gguf file(bytes, "test.gguf");
    return rejection([&] { (void)read_model(file); });
}

}  // namespace

TEST_CASE("gguf: each accessor accepts its own types, alone or in arrays, and no other",
          "[day06][small]") {
    GgufWriter writer;
    for (int t = 0; t <= static_cast<int>(Type::f64); ++t) {
        const auto type = static_cast<Type>(t);
        writer.raw(key_of(type, false), type, zero_of(type));
        Bytes one;
        append(one, type);
        append(one, std::uint64_t{1});
        for (const std::byte byte : zero_of(type)) one.push_back(byte);
        writer.raw(key_of(type, true), Type::array, one);
    }
    const Bytes bytes = writer.bytes();
    const Gguf file(bytes, "test.gguf");
    const std::vector<Type> integers = {Type::u8,  Type::i8,  Type::u16, Type::i16,
                                        Type::u32, Type::i32, Type::u64, Type::i64};
    const std::vector<Type> reals = {Type::f32, Type::f64};
    const struct {
        const char* what;
        bool array;
        std::vector<Type> takes;
        std::function<void(const std::string&)> ask;
    } ways[] = {
        {"integer", false, integers,
         [&](auto& key) { (void)file.integer(key, kLeastInteger, kMostInteger); }},
        {"real", false, reals, [&](auto& key) { (void)file.real(key); }},
        {"boolean", false, {Type::boolean}, [&](auto& key) { (void)file.boolean(key); }},
        {"text", false, {Type::text}, [&](auto& key) { (void)file.text(key); }},
        {"integers", true, integers,
         [&](auto& key) { (void)file.integers(key, kLeastInteger, kMostInteger); }},
        {"reals", true, reals, [&](auto& key) { (void)file.reals(key); }},
        {"texts", true, {Type::text}, [&](auto& key) { (void)file.texts(key); }},
    };
    for (const auto& way : ways) {
        for (int t = 0; t <= static_cast<int>(Type::f64); ++t) {
            const auto type = static_cast<Type>(t);
            for (const bool array : {false, true}) {
                if (type == Type::array && !array) continue;  // an array, like the others
                const std::string key = key_of(type, array);
                CAPTURE(way.what, key);
                const bool fits =
                    array == way.array &&
                    std::find(way.takes.begin(), way.takes.end(), type) != way.takes.end();
                const std::string said = rejection([&] { way.ask(key); });
                CHECK(said.empty() == fits);
                if (fits) continue;
                const std::string of = array ? "array of " + to_string(type) : to_string(type);
                CHECK(contains(said, "key '" + key + "' is of type " +
                                         (array && !way.array ? "array" : of) + ", but must be "));
            }
        }
    }
}

TEST_CASE("gguf: a number is checked against both limits, whatever its type", "[day06][small]") {
    GgufWriter writer;
    writer.value("i8", std::int8_t{-5});
    writer.value("u64", std::numeric_limits<std::uint64_t>::max());
    writer.array("i16s", std::vector<std::int16_t>{3, -7, 9});
    writer.array("u64s", std::vector<std::uint64_t>{1, std::uint64_t{1} << 63});
    const Bytes bytes = writer.bytes();
    const Gguf file(bytes, "test.gguf");
    CHECK(file.integer("i8", -5, -5) == -5);
    CHECK(contains(rejection([&] { (void)file.integer("i8", -4, 9); }), "is -5, but must be"));
    CHECK(contains(rejection([&] { (void)file.integer("i8", -9, -6); }), "from -9 to -6"));
    CHECK(contains(rejection([&] { (void)file.integer("u64", kLeastInteger, kMostInteger); }),
                   "is 18446744073709551615, but must be"));
    CHECK(file.integers("i16s", -7, 9) == std::vector<std::int64_t>{3, -7, 9});
    CHECK(contains(rejection([&] { (void)file.integers("i16s", -6, 9); }), "is -7, but must be"));
    CHECK(contains(rejection([&] { (void)file.integers("i16s", -7, 8); }), "is 9, but must be"));
    CHECK(contains(rejection([&] { (void)file.integers("u64s", kLeastInteger, kMostInteger); }),
                   "is 9223372036854775808, but must be"));
}

TEST_CASE("model: changing one size of a valid file is reported at the tensor that has it",
          "[day06][small]") {
    REQUIRE(with("gpt2.block_count", 1u).empty());
    const struct {
        const char* key;
        std::uint32_t number;
        const char* said;  // null: it is valid
    } rows[] = {
        {"gpt2.block_count", 0, "is 0, but must be a number from 1 to 16777216"},
        {"gpt2.block_count", 2, "tensor 'blk.1.attn_norm.weight' is not among"},
        {"gpt2.context_length", 0, "is 0, but must be a number from 1"},
        {"gpt2.context_length", 4, "tensor 'position_embd.weight' has shape (5, 8)"},
        {"gpt2.context_length", 1u << 24, "ask for (16777216, 8)"},
        {"gpt2.context_length", (1u << 24) + 1, "is 16777217, but must be a number"},
        {"gpt2.embedding_length", 0, "is 0, but must be a number from 1"},
        {"gpt2.embedding_length", 10, "tensor 'token_embd.weight' has shape (258, 8)"},
        {"gpt2.embedding_length", (1u << 24) + 2, "is 16777218, but must be a number"},
        {"gpt2.feed_forward_length", 0, "is 0, but must be a number from 1"},
        {"gpt2.feed_forward_length", 31, "tensor 'blk.0.ffn_up.weight' has shape (32, 8)"},
        {"gpt2.feed_forward_length", (1u << 24) + 1, "is 16777217, but must be a number"},
        {"gpt2.attention.head_count", 0, "is 0, but must be a number from 1"},
        {"gpt2.attention.head_count", 1, ""},
        {"gpt2.attention.head_count", 3, "is 3, which does not divide the 8 channels"},
        {"gpt2.attention.head_count", 8, ""},
        {"gpt2.attention.head_count", 16, "is 16, which does not divide the 8 channels"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.key, row.number);
        const std::string said = with(row.key, row.number);
        CHECK(said.empty() == (row.said[0] == 0));
        if (row.said[0] != 0) CHECK(contains(said, row.said));
    }
}

TEST_CASE("model: an epsilon must be finite and above 0 after rounding to float",
          "[day06][small]") {
    const std::string key = "gpt2.attention.layer_norm_epsilon", said = "must be finite and above";
    for (const float right : {1e-5f, 1.0f, std::numeric_limits<float>::denorm_min(),
                              std::numeric_limits<float>::max()}) {
        CHECK(with(key, right).empty());
    }
    for (const float wrong : {0.0f, -0.0f, -1e-5f, INFINITY, -INFINITY, NAN}) {
        CHECK(contains(with(key, wrong), said));
    }
}

TEST_CASE("model: optional keys and tensors are checked against the rest", "[day06][small]") {
    const char* kv = "gpt2.attention.head_count_kv";
    CHECK(beside([](GgufWriter&) {}).empty());
    CHECK(beside([&](GgufWriter& file) { file.value(kv, 2u); }).empty());
    CHECK(contains(beside([&](GgufWriter& file) { file.value(kv, 1u); }),
                   "differs from the 2 heads of the queries"));
    CHECK(contains(beside([&](GgufWriter& file) { file.value(kv, 4u); }),
                   "differs from the 2 heads of the queries"));
    CHECK(contains(beside([&](GgufWriter& file) { file.value(kv, 2.0f); }),
                   "is of type float32, but must be an integer"));
    CHECK(contains(beside([](GgufWriter& file) {
                       file.tensor("blk.0.attn_q.weight", {1}, WeightType::f32,
                                   Bytes(4, std::byte{0}));
                   }),
                   "tensor 'blk.0.attn_q.weight' has no place in a GPT-2"));
}
