// The training lines, drawn by number, and their tokens.
#include "day06_transformer_ops/gpt2/strides_model/lines.hpp"

#include <algorithm>
#include <set>

#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::testing;

TEST_CASE("the vocabulary of the lines is the shipped model's, token by token", "[day06][small]") {
    const MappedFile mapped(SIXDAYS_STRIDES_MODEL);
    const Gguf file(mapped.bytes(), "strides.gguf");
    const NewVocabulary made = LineTokens().vocabulary();
    const auto tokens = file.texts("tokenizer.ggml.tokens");
    const auto merges = file.texts("tokenizer.ggml.merges");
    CHECK(made.tokens == std::vector<std::string>(tokens.begin(), tokens.end()));
    CHECK(made.merges == std::vector<std::string>(merges.begin(), merges.end()));
    CHECK(made.end_of_text() == 291);
}

TEST_CASE("a line is split into words and digits, and no line exceeds the stated length",
          "[day06][small]") {
    const MappedFile mapped(SIXDAYS_STRIDES_MODEL);
    const Vocabulary vocabulary(Gguf(mapped.bytes(), "strides.gguf"));
    const LineTokens tokens_of;
    std::string again;
    for (const std::int64_t token : tokens_of("shape 3 14 index 2 13")) {
        again += "[" + vocabulary.bytes(token) + "]";
    }
    CHECK(again == "[shape][ 3][ 1][4][ index][ 2][ 1][3]");
    CHECK(longest_line(1) == 13);  // shape 9 index 8 -> strides 1 -> 8 -> offset 8, and the end
    CHECK(longest_line(4) == 40);  // LONGEST of lines.py
    for (int dims = 1; dims <= kMostDims; ++dims) {
        std::int64_t most = 0;
        for (std::uint64_t number = 0; number < 20000; ++number) {
            const Question q = training_question(dims, 3, number);
            const std::string line = text_of(q) + answer_to(q);
            const auto tokens = tokens_of(line);
            most = std::max(most, std::int64_t(tokens.size()) + 1);
            if (number >= 300) continue;
            std::string text;
            for (const std::int64_t token : tokens) text += vocabulary.bytes(token);
            CHECK(text == line);
        }
        CHECK(most == longest_line(dims));
    }
}

TEST_CASE("training covers exactly the shapes that are not held out, with the planned frequencies",
          "[day06][small]") {
    constexpr int kCount = 40000;
    int asked[std::size(kAsked)][kMostDims + 1] = {};
    std::set<std::string> shapes;
    double large = 0, even = 0;
    for (std::uint64_t number = 0; number < kCount; ++number) {
        const Question q = training_question(4, 1, number);
        REQUIRE(!held_out(q.shape));
        REQUIRE(text_of(read_question(text_of(q))) == text_of(q));  // its index is in range
        ++asked[static_cast<int>(q.asked)][q.shape.rank];
        if (q.shape.rank == 2) shapes.insert(to_string(q.shape));
        const double fraction = double(size(q.shape)) / 6561;
        if (q.shape.rank == 4) (number % 2 == 0 ? large : even) += fraction;
    }
    const double percentages[3][4] = {{1, 1, 2, 4}, {1, 2, 6, 25}, {1, 2, 10, 45}};
    for (int kind = 0; kind < 3; ++kind) {
        for (int rank = 1; rank <= kMostDims; ++rank) {
            // A fraction of n draws is off by more than five standard deviations once in a million.
            const double p = percentages[kind][rank - 1] / 100;
            const double deviation = std::sqrt(p * (1 - p) / kCount);
            CAPTURE(kind, rank);
            CHECK(std::fabs(double(asked[kind][rank]) / kCount - p) < 5 * deviation);
        }
    }
    CHECK(shapes.size() == 71);  // of 81, ten are held out
    CHECK(large > 1.3 * even);   // every second line favours large shapes

    std::set<std::string> different;
    for (std::uint64_t number = 0; number < 500; ++number) {
        CHECK(training_question(2, 1, number).shape.rank <= 2);
        CHECK(text_of(training_question(2, 1, number)) == text_of(training_question(2, 1, number)));
        different.insert(text_of(training_question(4, 1, number)));
    }
    CHECK(different.size() > 400);
    CHECK(text_of(training_question(4, 1, 8)) != text_of(training_question(4, 2, 8)));
    CHECK(rejection([] { (void)training_question(5, 1, 1); }) ==
          "lines about shapes of up to 5 dimensions; it is 1 to 4");
}
