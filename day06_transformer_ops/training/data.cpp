#include "day06_transformer_ops/training/data.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include "common/tensor/arguments.hpp"
#include "day06_transformer_ops/gpt2/backend/philox.hpp"
#include "day06_transformer_ops/gpt2/strides_model/lines.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(path + " cannot be opened: " + std::strerror(errno));
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
}

std::uint64_t fingerprint_of(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    for (const char byte : bytes) {
        hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3u;
    }
    return hash;
}

Batch lines(const gpt2::LineTokens& tokens_of, int most_dims, const Cut& cut, std::int64_t number) {
    const std::int64_t end = tokens_of.vocabulary().end_of_text();
    Batch made;
    for (std::int64_t b = 0; b < cut.batch; ++b) {
        const gpt2::Question question = gpt2::training_question(
            most_dims, ~cut.seed, static_cast<std::uint64_t>(number * cut.batch + b));
        std::vector<std::int64_t> line = tokens_of(text_of(question));
        const std::size_t answer = line.size();
        const std::vector<std::int64_t> said = tokens_of(answer_to(question));
        line.insert(line.end(), said.begin(), said.end());
        const std::size_t ends = line.size();
        line.resize(static_cast<std::size_t>(cut.context + 1), end);
        made.ids.insert(made.ids.end(), line.begin(), line.end() - 1);
        made.targets.insert(made.targets.end(), line.begin() + 1, line.end());
        for (std::size_t at = 1; at < line.size(); ++at) {
            made.counts.push_back(answer <= at && at <= ends);
        }
    }
    return made;
}

}  // namespace

Batch pieces_of(const std::vector<std::int64_t>& tokens, const Cut& cut, std::int64_t number) {
    const auto places = static_cast<double>(tokens.size()) - static_cast<double>(cut.context);
    Batch made;
    for (std::int64_t b = 0; b < cut.batch; ++b) {
        // Draws of another seed than the weights', which count from 0 too.
        const double u =
            gpt2::uniform(~cut.seed, static_cast<std::uint64_t>(number * cut.batch + b));
        const auto first = tokens.begin() + static_cast<std::int64_t>(u * places);
        made.ids.insert(made.ids.end(), first, first + cut.context);
        made.targets.insert(made.targets.end(), first + 1, first + cut.context + 1);
    }
    return made;
}

Source text_source(const std::string& path, const Cut& cut) {
    const std::string bytes = bytes_of(path);
    if (static_cast<std::int64_t>(bytes.size()) < cut.context + 1) {
        refuse(path + " has " + std::to_string(bytes.size()) + " bytes, but a context of " +
               std::to_string(cut.context) + " needs " + std::to_string(cut.context + 1) +
               " at least: a longer text, or a shorter --context");
    }
    std::int64_t token_of[256];
    for (int byte = 0; byte < 256; ++byte) {
        token_of[byte] = gpt2::byte_token(static_cast<std::uint8_t>(byte));
    }
    std::vector<std::int64_t> tokens;
    for (const char byte : bytes) tokens.push_back(token_of[static_cast<std::uint8_t>(byte)]);
    Source made;
    made.vocabulary = gpt2::vocabulary_of_words({});
    made.fingerprint = fingerprint_of(bytes);
    made.words = "a text of " + std::to_string(tokens.size()) + " tokens";
    made.batch = [tokens = std::move(tokens), cut](std::int64_t number) {
        return pieces_of(tokens, cut, number);
    };
    return made;
}

Source line_source(std::int64_t most_dims, const Cut& cut) {
    if (most_dims < 1 || most_dims > gpt2::kMostDims) {
        refuse("--strides is " + std::to_string(most_dims) + ", but must be 1 to 4");
    }
    const auto dims = static_cast<int>(most_dims);
    const std::int64_t longest = gpt2::longest_line(dims);
    if (longest > cut.context + 1) {
        refuse("lines about shapes of up to " + std::to_string(most_dims) + " dims have up to " +
               std::to_string(longest) + " tokens, so --context must be " +
               std::to_string(longest - 1) + " or more, not " + std::to_string(cut.context));
    }
    const auto tokens_of = std::make_shared<const gpt2::LineTokens>();
    Source made;
    made.vocabulary = tokens_of->vocabulary();
    made.words = "lines about shapes of up to " + std::to_string(most_dims) + " dims";
    made.fingerprint = fingerprint_of(made.words);
    made.batch = [tokens_of, dims, cut](std::int64_t number) {
        return lines(*tokens_of, dims, cut, number);
    };
    return made;
}

}  // namespace sixdays::day06_transformer_ops
