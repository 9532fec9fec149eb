#include "day06_transformer_ops/training/data.hpp"

#include <algorithm>
#include <memory>
#include <span>

#include "common/tensor/arguments.hpp"
#include "day06_transformer_ops/gpt2/backend/philox.hpp"
#include "day06_transformer_ops/gpt2/file/checksum.hpp"
#include "day06_transformer_ops/gpt2/file/memory.hpp"
#include "day06_transformer_ops/gpt2/file/plain_file.hpp"
#include "day06_transformer_ops/gpt2/strides_model/lines.hpp"
#include "day06_transformer_ops/gpt2/text/bpe_trainer.hpp"
#include "day06_transformer_ops/gpt2/text/pre_split.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

std::uint64_t fingerprint_of(std::string_view text) {
    return gpt2::checksum_of(std::as_bytes(std::span(text)));
}

std::vector<std::int64_t> tokens_of_bytes(std::string_view bytes) {
    std::int64_t token_of[256];
    for (int byte = 0; byte < 256; ++byte) {
        token_of[byte] = gpt2::byte_token(static_cast<std::uint8_t>(byte));
    }
    std::vector<std::int64_t> tokens;
    for (const char byte : bytes) tokens.push_back(token_of[static_cast<std::uint8_t>(byte)]);
    return tokens;
}

// A sample continues the first tokens of the text: they certainly occur in it.
constexpr std::int64_t kPromptOfText = 8;

// The prompts of samples for lines about shapes of up to this many dimensions.
constexpr const char* kQuestions[] = {"shape 7 index 4", "shape 3 4 index 2 1",
                                      "shape 3 4 5 index 2 1 3", "shape 3 4 5 6 index 2 1 3 4"};

Batch lines(const gpt2::LineTokens& tokens_of, int most_dims, const Batching& batching,
            std::int64_t number) {
    const std::int64_t end = tokens_of.vocabulary().end_of_text();
    Batch made;
    for (std::int64_t b = 0; b < batching.batch; ++b) {
        const gpt2::Question question = gpt2::training_question(
            most_dims, ~batching.seed, static_cast<std::uint64_t>(number * batching.batch + b));
        std::vector<std::int64_t> line = tokens_of(text_of(question));
        const std::size_t answer = line.size();
        const std::vector<std::int64_t> said = tokens_of(answer_to(question));
        line.insert(line.end(), said.begin(), said.end());
        const std::size_t ends = line.size();
        line.resize(static_cast<std::size_t>(batching.context + 1), end);
        made.ids.insert(made.ids.end(), line.begin(), line.end() - 1);
        made.targets.insert(made.targets.end(), line.begin() + 1, line.end());
        for (std::size_t at = 1; at < line.size(); ++at) {
            made.counts.push_back(answer <= at && at <= ends);
        }
    }
    return made;
}

}  // namespace

Batch pieces_of(const std::vector<std::int64_t>& tokens, const Batching& batching,
                std::int64_t number) {
    const auto places = static_cast<double>(tokens.size()) - static_cast<double>(batching.context);
    Batch made;
    for (std::int64_t b = 0; b < batching.batch; ++b) {
        // Different from the seed of the weights, whose draws also count from 0.
        const double u =
            gpt2::uniform(~batching.seed, static_cast<std::uint64_t>(number * batching.batch + b));
        const auto first = tokens.begin() + static_cast<std::int64_t>(u * places);
        made.ids.insert(made.ids.end(), first, first + batching.context);
        made.targets.insert(made.targets.end(), first + 1, first + batching.context + 1);
    }
    return made;
}

Source text_source(const std::string& path, const Batching& batching, std::int64_t vocabulary) {
    const std::string bytes = gpt2::contents_of(path);
    // A token takes 8 bytes; learning a vocabulary needs more per token.
    gpt2::check_memory(path + " of " + std::to_string(bytes.size()) + " bytes, as tokens,",
                       (vocabulary == 0 ? 9 : 40) * static_cast<double>(bytes.size()));
    gpt2::LearnedVocabulary learned = {gpt2::vocabulary_of_words({}), {}};
    if (vocabulary == 0) {
        learned.tokens = tokens_of_bytes(bytes);
    } else {
        learned = gpt2::learn_vocabulary(gpt2::pre_split(bytes), vocabulary);
    }
    const auto size = static_cast<std::int64_t>(learned.tokens.size());
    if (size < batching.context + 1) {
        reject(path, " has ", size, (vocabulary == 0 ? " bytes" : " tokens of this vocabulary"),
               ", but a context of ", batching.context, " needs ", batching.context + 1,
               " at least: a longer text, or a shorter --context");
    }
    Source made;
    made.vocabulary = std::move(learned.vocabulary);
    made.fingerprint = fingerprint_of(bytes);
    made.words = "a text of " + std::to_string(size) + " tokens";
    if (vocabulary != 0) made.words += ", " + std::to_string(bytes.size()) + " bytes";
    const auto first = learned.tokens.begin();
    made.prompt.assign(first, first + std::min(kPromptOfText, (batching.context + 1) / 2));
    made.batch = [tokens = std::move(learned.tokens), batching](std::int64_t number) {
        return pieces_of(tokens, batching, number);
    };
    return made;
}

Source line_source(std::int64_t most_dims, const Batching& batching) {
    if (most_dims < 1 || most_dims > gpt2::kMostDims) {
        reject("--strides is ", most_dims, ", but must be 1 to 4");
    }
    const auto dims = static_cast<int>(most_dims);
    const std::int64_t longest = gpt2::longest_line(dims);
    if (longest > batching.context + 1) {
        reject("lines about shapes of up to ", most_dims, " dimensions have up to ", longest,
               " tokens, so --context must be ", longest - 1, " or more, not ", batching.context);
    }
    const auto tokens_of = std::make_shared<const gpt2::LineTokens>();
    Source made;
    made.vocabulary = tokens_of->vocabulary();
    made.words = "lines about shapes of up to " + std::to_string(most_dims) + " dimensions";
    made.fingerprint = fingerprint_of(made.words);
    made.prompt = (*tokens_of)(text_of(gpt2::read_question(kQuestions[dims - 1])));
    made.answers = true;
    made.batch = [tokens_of, dims, batching](std::int64_t number) {
        return lines(*tokens_of, dims, batching, number);
    };
    return made;
}

}  // namespace sixdays::day06_transformer_ops
