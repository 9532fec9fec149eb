/// @file
/// What a run learns: pieces of a text, or lines about shapes, each batch known by its number
/// alone.
#pragma once

#include <functional>
#include <future>
#include <string>

#include "day06_transformer_ops/gpt2/text/vocabulary_writer.hpp"
#include "day06_transformer_ops/training/model/batch.hpp"

namespace sixdays::day06_transformer_ops {

/// How batches are cut.
struct Batching {
    std::int64_t batch = 8, context = 64;  // sequences, and tokens of each
    std::uint64_t seed = 0;
};

/// Where batches come from. Batch `number` depends on nothing else, so a run that goes on reads
/// what it would have read.
struct Source {
    gpt2::NewVocabulary vocabulary;
    std::uint64_t fingerprint = 0;  // of what is learned: another text has another one
    std::string words;              // "a text of 1234 tokens"
    std::function<Batch(std::int64_t number)> batch;
    std::vector<std::int64_t> prompt = {};  // what a sample goes on from
    bool answers = false;  // a sample: the likeliest tokens, to the end of the text
};

/// Batches, one after the other. The next one is made while the model learns this one.
class Batches {
public:
    /// @param first  the number of the first one
    Batches(const Source& source, std::int64_t first) : source_(source) { prepare(first); }
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

/// Batch `number` of a text: pieces that begin anywhere. Piece n of a run is the same however many
/// a batch has.
/// @param tokens  more than batching.context
[[nodiscard]] Batch pieces_of(const std::vector<std::int64_t>& tokens, const Batching& batching,
                              std::int64_t number);

/// A file, cut anywhere between two tokens: its bytes, or those of a vocabulary that it teaches
/// itself.
/// @param vocabulary  how many tokens are learned (bpe_trainer.hpp); 0: each byte is one
/// @throws std::invalid_argument  a file that cannot be read, or too short for one piece of context
/// tokens and the one behind it, or for such a vocabulary
/// @throws std::runtime_error  a vocabulary, and built without PCRE2
[[nodiscard]] Source text_source(const std::string& path, const Batching& batching,
                                 std::int64_t vocabulary = 0);

/// Questions about shapes of up to so many dims, and their answers: a line each, filled up with
/// ends of text. What counts is the answer and the end behind it; the question is given.
/// @throws std::invalid_argument  dims not in 1 to 4, a context that does not hold the longest line
[[nodiscard]] Source line_source(std::int64_t most_dims, const Batching& batching);

}  // namespace sixdays::day06_transformer_ops
