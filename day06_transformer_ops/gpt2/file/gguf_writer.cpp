#include "day06_transformer_ops/gpt2/file/gguf_writer.hpp"

#include "day06_transformer_ops/gpt2/file/checksum.hpp"

namespace sixdays::gpt2 {

void GgufWriter::head(std::string_view key, ValueType type) {
    append(values_, key);
    append(values_, type);
    ++value_count_;
}

void GgufWriter::text(std::string_view key, std::string_view text) {
    head(key, ValueType::text);
    append(values_, text);
}

void GgufWriter::texts(std::string_view key, const std::vector<std::string>& texts) {
    head(key, ValueType::array);
    append(values_, ValueType::text);
    append(values_, std::uint64_t{texts.size()});
    for (const std::string& text : texts) append(values_, text);
}

void GgufWriter::raw(std::string_view key, ValueType type, const Bytes& value) {
    head(key, type);
    values_.insert(values_.end(), value.begin(), value.end());
}

void GgufWriter::alignment(std::uint32_t bytes) {
    alignment_ = bytes;
    value("general.alignment", bytes);
}

void GgufWriter::tensor(std::string_view name, const std::vector<std::uint64_t>& dims,
                        WeightType type, const Bytes& data) {
    data_.resize((data_.size() + alignment_ - 1) / alignment_ * alignment_);
    entry(name, dims, static_cast<std::uint32_t>(type), data_.size());
    parts_.push_back({data_.size(), data.size()});
    data_.insert(data_.end(), data.begin(), data.end());
}

void GgufWriter::entry(std::string_view name, const std::vector<std::uint64_t>& dims,
                       std::uint32_t type, std::uint64_t offset) {
    append(tensors_, name);
    append(tensors_, static_cast<std::uint32_t>(dims.size()));
    for (const std::uint64_t extent : dims) append(tensors_, extent);
    append(tensors_, type);
    append(tensors_, offset);
    ++tensor_count_;
}

Bytes GgufWriter::bytes() const {
    if (checksums_) return with_checksums();
    Bytes bytes;
    append(bytes, magic);
    append(bytes, version);
    append(bytes, tensor_count_);
    append(bytes, value_count_);
    bytes.insert(bytes.end(), values_.begin(), values_.end());
    bytes.insert(bytes.end(), tensors_.begin(), tensors_.end());
    if (tensor_count_ == 0) return bytes;
    bytes.resize((bytes.size() + alignment_ - 1) / alignment_ * alignment_);
    bytes.insert(bytes.end(), data_.begin(), data_.end());
    bytes.shrink_to_fit();  // so that the sanitizer sees a read past the last byte
    return bytes;
}

// The checksum of the bytes outside tensors also covers its own bytes, as zeros.
Bytes GgufWriter::with_checksums() const {
    GgufWriter whole = *this;
    whole.checksums_ = false;
    std::vector<std::int64_t> sums;
    for (const Part& part : parts_) {
        sums.push_back(static_cast<std::int64_t>(
            checksum_of(std::span(data_).subspan(part.begin, part.size))));
    }
    whole.array(kTensorChecksums, sums);
    whole.value(kFileChecksum, std::int64_t{0});
    const std::size_t at = 4 + 4 + 8 + 8 + whole.values_.size() - sizeof(std::int64_t);
    Bytes bytes = whole.bytes();
    const std::uint64_t sum = Gguf(bytes, "").checksum_outside_tensors();
    std::memcpy(bytes.data() + at, &sum, sizeof sum);
    return bytes;
}

}  // namespace sixdays::gpt2
