#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/strides_model/ask.hpp"
#include "day06_transformer_ops/gpt2/text/tokenizer.hpp"

using namespace sixdays::gpt2;

TEST_CASE("a question split at its spaces has the tokenizer's tokens, one per digit",
          "[day06][small]") {
    const MappedFile mapped(SIXDAYS_STRIDES_MODEL);
    const Vocabulary vocabulary(Gguf(mapped.bytes(), "strides.gguf"));
    for (const Asked asked : kAsked) {
        for (int rank = 1; rank <= kMostDims; ++rank) {
            for (const Question& question : held_out_questions(asked, rank, 20, 4)) {
                CHECK(tokens_of(vocabulary, question) == encode(vocabulary, text_of(question)));
            }
        }
    }
    CHECK(tokens_of(vocabulary, read_question("shape 9 9 9 9 offset 6560")).size() == 11);
}
