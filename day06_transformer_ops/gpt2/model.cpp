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

std::string summary(const Model& model) {
    const Config& config = model.weights.config;
    return std::to_string(config.layers) + " layers, " + std::to_string(config.channels) +
           " channels, " + std::to_string(config.vocabulary) + " tokens, context " +
           std::to_string(config.context) + ", weights in " +
           storage_of(model.weights.blocks[0].up.weight.type).name + ", " +
           megabytes(model.files.size());
}

}  // namespace sixdays::gpt2
