// Parses a GGUF file in one pass and checks every number in it.
#include "day06_transformer_ops/gpt2/file/gguf.hpp"

#include <algorithm>
#include <utility>

namespace sixdays::gpt2 {
namespace {

constexpr std::uint32_t kVersion = 3;
constexpr std::uint64_t kMostDims = 4;  // the format's limits
constexpr std::uint64_t kLongestKey = 65535;
constexpr std::uint64_t kLongestName = 64;
constexpr int kDeepestArray = 8;  // our limit: arrays of arrays are legal, but recursion must end

// Bytes of one value; 0 for strings and arrays, which store their own size.
std::uint64_t bytes_of(ValueType type) {
    switch (type) {
        case ValueType::u8:
        case ValueType::i8:
        case ValueType::boolean:
            return 1;
        case ValueType::u16:
        case ValueType::i16:
            return 2;
        case ValueType::u32:
        case ValueType::i32:
        case ValueType::f32:
            return 4;
        case ValueType::u64:
        case ValueType::i64:
        case ValueType::f64:
            return 8;
        case ValueType::text:
        case ValueType::array:
            return 0;
    }
    return 0;
}

ValueType read_type(ByteReader& in, const std::string& meaning) {
    const std::size_t at = in.at();
    const auto number = in.number<std::uint32_t>(meaning);
    if (number > static_cast<std::uint32_t>(ValueType::f64)) {
        in.reject(at, meaning + " is " + std::to_string(number) + ", but types are 0 to 12");
    }
    return static_cast<ValueType>(number);
}

struct ArrayHead {
    ValueType element;
    std::uint64_t count;
};
ArrayHead read_head(ByteReader& in, const std::string& what) {
    const ValueType element = read_type(in, "the type of " + what + "'s elements");
    return {element, in.number<std::uint64_t>("the number of " + what + "'s elements")};
}

void check_booleans(const ByteReader& in, std::span<const std::byte> bytes,
                    const std::string& what) {
    for (const std::byte& byte : bytes) {
        if (byte <= std::byte{1}) continue;
        in.reject(in.at() - static_cast<std::size_t>(bytes.data() + bytes.size() - &byte),
                  what + " is a bool, but " + std::to_string(static_cast<int>(byte)) +
                      " is neither 0 nor 1");
    }
}

// Checks that `count` values of a type are complete, and advances `in` past them.
void pass(ByteReader& in, ValueType type, std::uint64_t count, const std::string& what, int depth) {
    if (const std::uint64_t each = bytes_of(type); each > 0) {
        if (count > UINT64_MAX / each) {  // else count * each would overflow to a small number
            in.reject(in.at(), what + " claims " + std::to_string(count) + " elements");
        }
        const auto bytes = in.bytes(count * each, what);
        if (type == ValueType::boolean) check_booleans(in, bytes, what);
        return;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
        if (type == ValueType::text) {
            in.text(what);
        } else {
            if (depth == kDeepestArray) in.reject(in.at(), what + ": arrays in arrays in arrays");
            const ArrayHead head = read_head(in, what);
            pass(in, head.element, head.count, what, depth + 1);
        }
    }
}

Value read_value(ByteReader& in, ValueType type, const std::string& what) {
    Value value{type, in.at()};
    if (type == ValueType::array) {
        ByteReader ahead = in;
        const ArrayHead head = read_head(ahead, what);
        value.element = head.element;
        value.count = head.count;
    }
    pass(in, type, 1, what, 0);
    return value;
}

}  // namespace

Gguf::Gguf(std::span<const std::byte> bytes, std::string file)
    : bytes_(bytes), parts_{{0, bytes.size(), std::move(file)}} {
    ByteReader in = reader(0);
    if (in.number<std::uint32_t>("the word GGUF") != 0x46554747) {
        reject(0, "a GGUF file begins with the letters GGUF");
    }
    const auto version = in.number<std::uint32_t>("the version");
    if (version != kVersion) {
        const bool swapped = version == kVersion << 24;
        reject(4, "version 3 of GGUF is read here, but this is version " +
                      (swapped ? "3 for big-endian machines" : std::to_string(version)));
    }
    const auto tensor_count = in.number<std::uint64_t>("the number of tensors");
    const auto value_count = in.number<std::uint64_t>("the number of keys");
    read_values(in, value_count);
    read_tensors(in, tensor_count);
    place_tensors(in.at());
    reject_overlap();
}

void Gguf::read_values(ByteReader& in, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::size_t at = in.at();
        const std::string_view key = in.text("key " + std::to_string(i));
        if (key.empty() || key.size() > kLongestKey) {
            reject(at, "key " + std::to_string(i) + " has " + std::to_string(key.size()) +
                           " letters; 1 to 65535 are allowed");
        }
        const ValueType type = read_type(in, "the type of key " + quoted(key));
        const Value value = read_value(in, type, "key " + quoted(key));
        if (!values_.emplace(key, value).second) reject(at, "key " + quoted(key) + " is repeated");
        keys_.push_back(key);
    }
    constexpr std::string_view key = "general.alignment";
    if (!has(key)) return;
    const Value& found = single(
        key, [](ValueType type) { return type == ValueType::u32; }, "uint32");
    alignment_ = reader(found.at).number<std::uint32_t>(key);
    if (alignment_ < 8 || !std::has_single_bit(alignment_)) {
        reject(found.at, "key " + quoted(key) + " is " + std::to_string(alignment_) +
                             ", but must be a power of 2, 8 or more");
    }
}

void Gguf::read_tensors(ByteReader& in, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        tensors_.push_back(read_tensor(in));
        const FileTensor& tensor = tensors_.back();
        if (!by_name_.emplace(tensor.name, i).second) {
            reject(tensor.at, "tensor " + quoted(tensor.name) + " is repeated");
        }
    }
}

FileTensor Gguf::read_tensor(ByteReader& in) const {
    FileTensor tensor{{}, in.at(), 0, {}};
    tensor.name = in.text("a tensor's name");
    const std::string what = "tensor " + quoted(tensor.name.substr(0, kLongestName));
    const auto wrong = [&](const std::string& why) { reject(tensor.at, what + why); };
    if (tensor.name.empty() || tensor.name.size() > kLongestName) {
        wrong(" has a name of " + std::to_string(tensor.name.size()) +
              " letters; 1 to 64 are allowed");
    }
    const auto rank = in.number<std::uint32_t>(what + "'s number of dimensions");
    if (rank < 1 || rank > kMostDims) {
        wrong(" has " + std::to_string(rank) + " dimensions; 1 to 4 are allowed");
    }
    tensor.weight.shape = Dims::filled(static_cast<int>(rank), 0);
    for (int d = static_cast<int>(rank) - 1; d >= 0; --d) {  // innermost first in the file
        const auto extent = in.number<std::uint64_t>(what + "'s dims");
        if (extent < 1 || extent > INT64_MAX) {
            wrong(" has an extent of " + std::to_string(extent) + "; 1 to 2^63 - 1 are allowed");
        }
        tensor.weight.shape[d] = static_cast<std::int64_t>(extent);
    }
    tensor.weight.type = static_cast<WeightType>(in.number<std::uint32_t>(what + "'s type"));
    tensor.offset = in.number<std::uint64_t>(what + "'s offset");
    return tensor;
}

// Turns offsets into addresses, once it is known where the list of tensors ends.
void Gguf::place_tensors(std::size_t list_end) {
    const std::size_t gap = (alignment_ - list_end % alignment_) % alignment_;
    for (FileTensor& tensor : tensors_) {
        Weight& weight = tensor.weight;
        const auto wrong = [&](const std::string& why) {
            reject(tensor.at, "tensor " + quoted(tensor.name) + why);
        };
        std::uint64_t bytes = 0;
        try {
            bytes = static_cast<std::uint64_t>(gpt2::bytes_of(weight.type, weight.shape));
        } catch (const std::invalid_argument& why) {
            wrong(std::string(": ") + why.what());
        }
        if (tensor.offset % alignment_ != 0) {
            wrong(" begins at offset " + std::to_string(tensor.offset) +
                  ", which is not a multiple of the alignment " + std::to_string(alignment_));
        }
        const std::uint64_t left = bytes_.size() - list_end;  // after the list
        const std::uint64_t room = left < gap ? 0 : left - gap;
        if (tensor.offset > room || bytes > room - tensor.offset) {
            wrong(" takes " + std::to_string(bytes) + " bytes from offset " +
                  std::to_string(tensor.offset) + ", but only " + std::to_string(room) +
                  " bytes follow the list of tensors");
        }
        weight.data = bytes_.data() + list_end + gap + tensor.offset;
    }
}

void Gguf::reject_overlap() const {
    std::vector<const FileTensor*> order;
    for (const FileTensor& tensor : tensors_) order.push_back(&tensor);
    std::sort(order.begin(), order.end(), [](auto a, auto b) { return a->offset < b->offset; });
    for (std::size_t i = 1; i < order.size(); ++i) {
        const FileTensor& before = *order[i - 1];
        const FileTensor& after = *order[i];
        const auto bytes =
            static_cast<std::uint64_t>(gpt2::bytes_of(before.weight.type, before.weight.shape));
        if (before.offset + bytes > after.offset) {
            reject(after.at, "tensor " + quoted(after.name) + " begins at offset " +
                                 std::to_string(after.offset) + ", inside of tensor " +
                                 quoted(before.name) + ", which ends at " +
                                 std::to_string(before.offset + bytes));
        }
    }
}

void Gguf::append(const Gguf& part) {
    const std::size_t begin = parts_.back().begin + parts_.back().size;
    for (const FileTensor& tensor : part.tensors_) {
        if (has_tensor(tensor.name)) {
            part.reject(tensor.at, "tensor " + quoted(tensor.name) + " is also in " +
                                       part_of(this->tensor(tensor.name).at).file);
        }
        by_name_.emplace(tensor.name, tensors_.size());
        tensors_.push_back(tensor);
        tensors_.back().at += begin;
    }
    for (Part added : part.parts_) {
        added.begin += begin;
        parts_.push_back(std::move(added));
    }
}

const Gguf::Part& Gguf::part_of(std::size_t at) const {
    const auto after =
        std::find_if(parts_.begin() + 1, parts_.end(), [&](const Part& p) { return p.begin > at; });
    return *(after - 1);
}

void Gguf::reject(std::size_t at, const std::string& sentence) const {
    const Part& part = part_of(at);
    ByteReader({}, part.file).reject(at - part.begin, sentence);
}

}  // namespace sixdays::gpt2
