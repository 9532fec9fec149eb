// Checks whether a file is as it was written.
#include <algorithm>

#include "day06_transformer_ops/gpt2/file/checksum.hpp"
#include "day06_transformer_ops/gpt2/file/gguf.hpp"

namespace sixdays::gpt2 {
namespace {

std::span<const std::byte> bytes_in(const FileTensor& tensor) {
    const Weight& w = tensor.weight;
    return {w.data, static_cast<std::size_t>(gpt2::bytes_of(w.type, w.shape))};
}

}  // namespace

std::uint64_t Gguf::checksum_outside_tensors() const {
    std::vector<std::span<const std::byte>> tensors;
    for (const FileTensor& tensor : tensors_) tensors.push_back(bytes_in(tensor));
    std::sort(tensors.begin(), tensors.end(),
              [](const auto& a, const auto& b) { return a.data() < b.data(); });
    tensors.push_back(bytes_.last(0));
    std::uint64_t sum = 0;
    const std::byte* begin = bytes_.data();
    const Value& checksum = single(
        kFileChecksum, [](ValueType type) { return type == ValueType::i64; }, "int64");
    const std::byte* const own = begin + checksum.at;
    const auto add = [&](const std::byte* from, const std::byte* to) {
        sum = checksum_of({from, to}, sum);
    };
    for (const auto& tensor : tensors) {
        if (begin <= own && own < tensor.data()) {
            add(begin, own);
            begin = own + sizeof(std::int64_t);
        }
        add(begin, tensor.data());
        begin = tensor.data() + tensor.size();
    }
    return sum;
}

void Gguf::check_checksums() const {
    const auto damaged = [&](const std::string& what) {
        throw std::invalid_argument(file_name() + ": " + what +
                                    " does not match its checksum: the file is damaged");
    };
    const auto sum = static_cast<std::uint64_t>(integer(kFileChecksum, INT64_MIN, INT64_MAX));
    if (sum != checksum_outside_tensors()) damaged("the data outside the tensors");
    const auto of_tensors = integers(kTensorChecksums, INT64_MIN, INT64_MAX);
    if (of_tensors.size() != tensors_.size()) damaged("the number of tensors");
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
        if (static_cast<std::uint64_t>(of_tensors[i]) != checksum_of(bytes_in(tensors_[i]))) {
            damaged("tensor " + quoted(tensors_[i].name));
        }
    }
}

}  // namespace sixdays::gpt2
