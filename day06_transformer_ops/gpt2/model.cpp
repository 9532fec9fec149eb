#include "day06_transformer_ops/gpt2/model.hpp"

namespace sixdays::gpt2 {

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
           std::to_string(model.mapped.bytes().size() / 1'000'000) + " MB";
}

}  // namespace sixdays::gpt2
