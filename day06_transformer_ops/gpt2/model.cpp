#include "day06_transformer_ops/gpt2/model.hpp"

#include <cstdio>

namespace sixdays::gpt2 {
namespace {

// "252 MB", or below 10 "1.4 MB"
std::string megabytes(std::size_t bytes) {
    const double mb = static_cast<double>(bytes) / 1e6;
    char text[32];
    std::snprintf(text, sizeof text, "%.*f MB", mb < 9.95 ? 1 : 0, mb);
    return text;
}

}  // namespace

Gguf Model::checked(std::span<const std::byte> bytes, const std::string& path) {
    Gguf file(bytes, path);
    if (file.has_checksums()) file.check_checksums();
    return file;
}

void Model::load(const std::function<void(std::size_t)>& progress) const {
    constexpr std::size_t kPage = 4096, kStep = std::size_t{16} << 20;
    const auto bytes = mapped.bytes();
    for (std::size_t at = 0; at < bytes.size(); at += kPage) {
        [[maybe_unused]] const volatile std::byte touched = bytes[at];
        if (at % kStep == 0) progress(at);
    }
    progress(bytes.size());
}

std::string summary(const Model& model) {
    const Config& config = model.weights.config;
    return std::to_string(config.layers) + " layers, " + std::to_string(config.channels) +
           " channels, " + std::to_string(config.vocabulary) + " tokens, context " +
           std::to_string(config.context) + ", weights in " +
           storage_of(model.weights.blocks[0].up.weight.type).name + ", " +
           megabytes(model.mapped.bytes().size());
}

}  // namespace sixdays::gpt2
