#include "day06_transformer_ops/training/sample.hpp"

#include <algorithm>
#include <cstdio>

#include "day06_transformer_ops/gpt2/generate.hpp"
#include "day06_transformer_ops/gpt2/text/tokenizer.hpp"
#include "day06_transformer_ops/gpt2/text/utf8.hpp"

namespace sixdays::day06_transformer_ops {

constexpr std::int64_t kMostOfSample = 32;  // tokens

std::string in_one_line(std::string_view text) {
    std::string line;
    while (!text.empty()) {
        const gpt2::Character next = gpt2::first_character(text);
        const auto byte = static_cast<unsigned char>(text[0]);
        if (text[0] == '\n') {
            line += "\\n";
        } else if (text[0] == '\t') {
            line += "\\t";
        } else if (text[0] == '\\') {
            line += "\\\\";
        } else if (next.kind != gpt2::Utf8::whole || next.code < 0x20 ||
                   (next.code >= 0x7F && next.code < 0xA0)) {
            char shown[8];
            std::snprintf(shown, sizeof shown, "\\x%02x", byte);
            line += shown;
            text.remove_prefix(1);
            continue;
        } else {
            line += text.substr(0, next.bytes);
        }
        text.remove_prefix(next.bytes);
    }
    return line;
}

std::string sample_of(std::span<const std::byte> model, const Source& source, std::uint64_t seed,
                      int threads) {
    const gpt2::Gguf file(model, "the model that learns");
    const gpt2::Vocabulary vocabulary(file);
    const gpt2::ModelWeights weights = gpt2::read_model(file);
    const std::int64_t capacity = weights.config.context;
    const auto backend = gpt2::make_cpu_backend(weights, capacity, threads);
    gpt2::SamplerOptions how;
    how.temperature = source.answers ? 0 : 0.8f;
    how.seed = seed;
    backend->set_sampler(how);
    gpt2::Engine engine(weights.config, *backend, capacity);
    const std::int64_t room = gpt2::most_tokens(capacity, source.prompt);
    std::string text = gpt2::decode(vocabulary, source.prompt);
    (void)gpt2::generate(
        engine, vocabulary, source.prompt, source.answers ? room : std::min(room, kMostOfSample),
        [&](std::string_view more) { text += more; }, [] { return false; });
    return in_one_line(text);
}

}  // namespace sixdays::day06_transformer_ops
