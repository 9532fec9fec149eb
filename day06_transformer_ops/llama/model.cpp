#include "day06_transformer_ops/llama/model.hpp"

#include <cstdio>

namespace sixdays::llama {
namespace {

// "252 MB", or below 10 "1.4 MB"
std::string megabytes(std::size_t bytes) {
    const double mb = static_cast<double>(bytes) / 1e6;
    char text[32];
    std::snprintf(text, sizeof text, "%.*f MB", mb < 9.95 ? 1 : 0, mb);
    return text;
}

AnyWeights read_any(const Gguf& file) {
    if (file.text("general.architecture") == "gpt2") return gpt2::read_model(file);
    return read_llama(file);
}

}  // namespace

Model::Model(const std::string& path)
    : files(path), file(files.file()), weights(read_any(file)), vocabulary(file) {}

const Sizes& Model::sizes() const {
    return std::visit([](const auto& of) -> const Sizes& { return of.config; }, weights);
}

std::string summary(const Model& model) {
    const Sizes& sizes = model.sizes();
    const gpt2::WeightType type =
        std::visit([](const auto& of) { return of.blocks[0].up.weight.type; }, model.weights);
    return sentence(model.file.text("general.architecture"), ", ", sizes.layers, " layers, ",
                    sizes.channels, " channels, ", sizes.vocabulary, " tokens, context ",
                    sizes.context, ", weights in ", gpt2::storage_of(type).name, ", ",
                    megabytes(model.files.size()));
}

}  // namespace sixdays::llama
