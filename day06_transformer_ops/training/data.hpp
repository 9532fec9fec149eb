/// @file
/// Training data: pieces of a text, or lines about shapes. A batch depends only on its number.
#pragma once

#include <functional>
#include <future>
#include <string>

#include "day06_transformer_ops/gpt2/text/vocabulary_writer.hpp"
#include "day06_transformer_ops/training/model/batch.hpp"

namespace sixdays::day06_transformer_ops {

/// The shape of batches.
struct Batching {
    std::int64_t batch = 8, context = 64;  // sequences; tokens per sequence
    std::uint64_t seed = 0;                // of the pieces that a batch consists of
};

/// The source of batches. Batch `number` depends on nothing else, so a resumed run reads the same
/// batches as an uninterrupted one.
struct Source {
    gpt2::NewVocabulary vocabulary;                   // of its tokens
    std::uint64_t fingerprint = 0;                    // of the data: differs for another text
    std::string words;                                // "a text of 1234 tokens"
    std::function<Batch(std::int64_t number)> batch;  // batch `number`, from 0
    std::vector<std::int64_t> prompt = {};            // which a sample continues
    bool answers = false;  // samples use the likeliest tokens, to the end of the text
};

/// Consecutive batches. The next one is prepared while the model trains on this one.
class Batches {
public:
    /// @param first  the number of the first one
    Batches(const Source& source, std::int64_t first) : source_(source) { prepare(first); }
    /// The next batch, and starts to prepare the one after it.
    Batch next() {
        Batch made = coming_.get();
        prepare(number_ + 1);
        return made;
    }

private:
    void prepare(std::int64_t number) {
        number_ = number;
        coming_ = std::async(std::launch::async, source_.batch, number);
    }
    const Source& source_;
    std::int64_t number_ = 0;
    std::future<Batch> coming_;
};

/// Batch `number` of a text: pieces that begin anywhere. Piece n of a run does not depend on the
/// batch size.
/// @param tokens  more than batching.context
[[nodiscard]] Batch pieces_of(const std::vector<std::int64_t>& tokens, const Batching& batching,
                              std::int64_t number);

/// A file as tokens: its bytes, or a vocabulary that is learned from it. Pieces may begin at any
/// token.
/// @param vocabulary  tokens to learn (bpe_trainer.hpp); 0: each byte is a token
/// @throws std::invalid_argument  a file that cannot be read, or is too short for context + 1
/// tokens or for this vocabulary
/// @throws std::runtime_error  a vocabulary was requested, but the build lacks PCRE2
[[nodiscard]] Source text_source(const std::string& path, const Batching& batching,
                                 std::int64_t vocabulary = 0);

/// Questions about shapes of up to this many dimensions, and their answers: one per line, padded
/// with ends of text. The loss counts only the answer and the end after it; the question is given.
/// @throws std::invalid_argument  most_dims not in [1, 4], a context shorter than the longest line
[[nodiscard]] Source line_source(std::int64_t most_dims, const Batching& batching);

}  // namespace sixdays::day06_transformer_ops
