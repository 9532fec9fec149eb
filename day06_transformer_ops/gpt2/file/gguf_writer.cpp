#include "day06_transformer_ops/gpt2/file/gguf_writer.hpp"

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
    bytes.shrink_to_fit();  // so that the sanitizer sees a read behind the last byte
    return bytes;
}

}  // namespace sixdays::gpt2
