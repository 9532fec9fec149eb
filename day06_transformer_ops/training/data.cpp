#include "day06_transformer_ops/training/data.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "common/tensor/arguments.hpp"
#include "day06_transformer_ops/gpt2/backend/philox.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary_writer.hpp"

namespace sixdays::day06_transformer_ops {

Text read_text(const std::string& path, std::int64_t context) {
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(path + " cannot be opened: " + std::strerror(errno));
    std::ostringstream all;
    all << file.rdbuf();
    const std::string bytes = all.str();
    const auto length = static_cast<std::int64_t>(bytes.size());
    if (length < context + 1) {
        refuse(path + " has " + std::to_string(length) + " bytes, but a context of " +
               std::to_string(context) + " needs " + std::to_string(context + 1) +
               " at least: a longer text, or a shorter --context");
    }
    std::int64_t token_of[256];
    for (int byte = 0; byte < 256; ++byte) {
        token_of[byte] = gpt2::byte_token(static_cast<std::uint8_t>(byte));
    }
    Text text{{}, 0xcbf29ce484222325u};  // FNV-1a
    text.tokens.reserve(bytes.size());
    for (const char c : bytes) {
        const auto byte = static_cast<std::uint8_t>(c);
        text.tokens.push_back(token_of[byte]);
        text.fingerprint = (text.fingerprint ^ byte) * 0x100000001b3u;
    }
    return text;
}

Batch batch_of(const Text& text, std::int64_t batch, std::int64_t context, std::uint64_t seed,
               std::int64_t number) {
    const auto places = static_cast<double>(text.tokens.size()) - static_cast<double>(context);
    Batch made;
    for (std::int64_t b = 0; b < batch; ++b) {
        // Draws of another seed than the weights', which count from 0 too.
        const double u = gpt2::uniform(~seed, static_cast<std::uint64_t>(number * batch + b));
        const auto first = text.tokens.begin() + static_cast<std::int64_t>(u * places);
        made.ids.insert(made.ids.end(), first, first + context);
        made.targets.insert(made.targets.end(), first + 1, first + context + 1);
    }
    return made;
}

}  // namespace sixdays::day06_transformer_ops
