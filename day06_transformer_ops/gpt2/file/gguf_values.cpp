// Looks up what was read from a GGUF file by key.
#include "day06_transformer_ops/gpt2/file/gguf.hpp"

#include <array>
#include <cstdio>

#include "common/tensor/sentence.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr std::size_t kArrayHead = 12;  // element type and count, before an array's elements

std::string about(std::string_view key) {
    return "key " + quoted(key);
}

bool is_integer(ValueType type) {
    return type != ValueType::f32 && type != ValueType::f64 && type != ValueType::boolean &&
           type != ValueType::text && type != ValueType::array;
}

// The next integer, as text and as a number; false if it does not fit in 63 bits.
bool next_integer(ByteReader& in, ValueType type, std::int64_t& number, std::string& text) {
    const auto take = [&](auto value) {
        text = std::to_string(value);
        number = static_cast<std::int64_t>(value);
        return std::is_signed_v<decltype(value)> || number >= 0;
    };
    switch (type) {
        case ValueType::u8:
            return take(in.number<std::uint8_t>(""));
        case ValueType::i8:
            return take(in.number<std::int8_t>(""));
        case ValueType::u16:
            return take(in.number<std::uint16_t>(""));
        case ValueType::i16:
            return take(in.number<std::int16_t>(""));
        case ValueType::u32:
            return take(in.number<std::uint32_t>(""));
        case ValueType::i32:
            return take(in.number<std::int32_t>(""));
        case ValueType::u64:
            return take(in.number<std::uint64_t>(""));
        default:
            return take(in.number<std::int64_t>(""));
    }
}

std::int64_t integer_within(ByteReader& in, ValueType type, std::string_view key,
                            std::int64_t least, std::int64_t most) {
    const std::size_t at = in.at();
    std::int64_t number = 0;
    std::string text;
    if (!next_integer(in, type, number, text) || number < least || number > most) {
        in.reject(at, about(key) + " is " + text + ", but must be a number from " +
                          std::to_string(least) + " to " + std::to_string(most));
    }
    return number;
}

double next_real(ByteReader& in, ValueType type) {
    return type == ValueType::f32 ? in.number<float>("") : in.number<double>("");
}

bool is_real(ValueType type) {
    return type == ValueType::f32 || type == ValueType::f64;
}
bool is_text(ValueType type) {
    return type == ValueType::text;
}
bool is_boolean(ValueType type) {
    return type == ValueType::boolean;
}

}  // namespace

std::string to_string(ValueType type) {
    static constexpr const char* kNames[] = {"uint8",  "int8",    "uint16", "int16", "uint32",
                                             "int32",  "float32", "bool",   "text",  "array",
                                             "uint64", "int64",   "float64"};
    const auto number = static_cast<std::uint32_t>(type);
    return number < std::size(kNames) ? kNames[number] : "type " + std::to_string(number);
}

const Value& Gguf::value(std::string_view key) const {
    const auto found = values_.find(key);
    if (found == values_.end()) {
        throw std::invalid_argument(file_name() + ": " + about(key) + " is not among the file's " +
                                    std::to_string(keys_.size()) + " keys");
    }
    return found->second;
}

// The value under a key, rejected unless `fits` accepts its type.
const Value& Gguf::single(std::string_view key, bool (*fits)(ValueType), const char* wanted) const {
    const Value& found = value(key);
    if (!fits(found.type)) {
        reject(found.at,
               about(key) + " is of type " + to_string(found.type) + ", but must be " + wanted);
    }
    return found;
}

// The same for an array and the type of its elements.
const Value& Gguf::array(std::string_view key, bool (*fits)(ValueType), const char* wanted) const {
    const Value& found = value(key);
    if (found.type != ValueType::array || !fits(found.element)) {
        const std::string type = to_string(found.type);
        const bool array = found.type == ValueType::array;
        reject(found.at, about(key) + " is of type " + type +
                             (array ? " of " + to_string(found.element) : "") +
                             ", but must be an array of " + wanted);
    }
    return found;
}

std::int64_t Gguf::integer(std::string_view key, std::int64_t least, std::int64_t most) const {
    const Value& found = single(key, is_integer, "an integer");
    ByteReader in = reader(found.at);
    return integer_within(in, found.type, key, least, most);
}

double Gguf::real(std::string_view key) const {
    const Value& found = single(key, is_real, "float32 or float64");
    ByteReader in = reader(found.at);
    return next_real(in, found.type);
}

bool Gguf::boolean(std::string_view key) const {
    return reader(single(key, is_boolean, "bool").at).number<std::uint8_t>("") != 0;
}

std::string_view Gguf::text(std::string_view key) const {
    return reader(single(key, is_text, "text").at).text("");
}

std::vector<std::int64_t> Gguf::integers(std::string_view key, std::int64_t least,
                                         std::int64_t most) const {
    const Value& found = array(key, is_integer, "integers");
    ByteReader in = reader(found.at + kArrayHead);
    std::vector<std::int64_t> numbers;
    for (std::uint64_t i = 0; i < found.count; ++i) {
        numbers.push_back(integer_within(in, found.element, key, least, most));
    }
    return numbers;
}

std::vector<double> Gguf::reals(std::string_view key) const {
    const Value& found = array(key, is_real, "float32 or float64");
    ByteReader in = reader(found.at + kArrayHead);
    std::vector<double> numbers;
    for (std::uint64_t i = 0; i < found.count; ++i) numbers.push_back(next_real(in, found.element));
    return numbers;
}

std::vector<std::string_view> Gguf::texts(std::string_view key) const {
    const Value& found = array(key, is_text, "texts");
    ByteReader in = reader(found.at + kArrayHead);
    std::vector<std::string_view> texts;
    for (std::uint64_t i = 0; i < found.count; ++i) texts.push_back(in.text(""));
    return texts;
}

std::string Gguf::shown(std::string_view key) const {
    const Value& found = value(key);
    ByteReader in = reader(found.at);
    if (is_text(found.type)) return quoted(in.text(""));
    if (found.type == ValueType::array) {
        return sentence("an array of ", found.count, " ", found.element);
    }
    if (is_boolean(found.type)) return in.number<std::uint8_t>("") != 0 ? "true" : "false";
    std::string text;
    if (is_real(found.type)) {
        std::array<char, 32> digits{};
        std::snprintf(digits.data(), digits.size(), "%.9g", next_real(in, found.type));
        return digits.data();
    }
    std::int64_t number = 0;
    (void)next_integer(in, found.type, number, text);
    return text;
}

const FileTensor& Gguf::tensor(std::string_view name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) {
        throw std::invalid_argument(file_name() + ": tensor " + quoted(name) +
                                    " is not among the file's " + std::to_string(tensors_.size()) +
                                    " tensors");
    }
    return tensors_[found->second];
}

}  // namespace sixdays::gpt2
