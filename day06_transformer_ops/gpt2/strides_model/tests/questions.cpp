#include "day06_transformer_ops/gpt2/strides_model/questions.hpp"

#include <set>

#include "common/tensor/index.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::testing;

namespace {

std::string line_of(const char* typed) {
    const Question question = read_question(typed);
    return text_of(question) + answer_to(question);
}

std::string rejected(const char* typed) {
    return rejection([&] { (void)read_question(typed); });
}

}  // namespace

TEST_CASE("answers match results worked by hand, steps included", "[day06][small]") {
    CHECK(line_of("shape 3 4 5") == "shape 3 4 5 -> strides 20 5 1");
    CHECK(line_of("shape 3 4 5 index 1 2 3") ==
          "shape 3 4 5 index 1 2 3 -> strides 20 5 1 -> 20 + 10 + 3 -> offset 33");
    CHECK(line_of("shape 3 4 5 offset 33") ==
          "shape 3 4 5 offset 33 -> strides 20 5 1 -> 20 + 10 + 3 -> index 1 2 3");
    CHECK(line_of("shape 7") == "shape 7 -> strides 1");
    CHECK(line_of("shape 1 offset 0") == "shape 1 offset 0 -> strides 1 -> 0 -> index 0");
    CHECK(line_of("shape 9 9 9 9 index 8 8 8 8") ==
          "shape 9 9 9 9 index 8 8 8 8 -> strides 729 81 9 1 -> 5832 + 648 + 72 + 8 -> "
          "offset 6560");
}

TEST_CASE("brackets, commas and the arrow are optional", "[day06][small]") {
    const char* const same[] = {"shape 3 4 5 index 1 2 3", "shape 3 4 5 index 1 2 3 ->",
                                "  shape (3, 4, 5) index (1,2,3)\n", "shape[3;4;5]index[1;2;3]->",
                                "shape {3,4,5}, index: 1\t2 3 -> "};
    for (const char* const typed : same) {
        CAPTURE(typed);
        CHECK(text_of(read_question(typed)) == "shape 3 4 5 index 1 2 3 ->");
    }
}

TEST_CASE("questions that the model cannot answer are rejected", "[day06][small]") {
    CHECK(contains(rejected(""), "begins with the word shape"));
    CHECK(contains(rejected("->"), "begins with the word shape"));
    CHECK(contains(rejected("what is 3 4 5"), "begins with the word shape"));
    CHECK(contains(rejected("shape"), "no number after \"shape\""));
    CHECK(contains(rejected("shape 3 4 index"), "no number after \"index\""));
    CHECK(contains(rejected("shape offset 3"), "no number after \"shape\""));
    CHECK(contains(rejected("shape 1 2 3 4 5"), "5 numbers after \"shape\""));
    CHECK(contains(rejected("shape 3 10 5"), "extent 10 of dim 1"));
    CHECK(contains(rejected("shape 3 0 5"), "extent 0 of dim 1"));
    CHECK(contains(rejected("shape 3 four 5"), "\"four\" is not a number"));
    CHECK(contains(rejected("shape 3 4x"), "\"4x\" is not a number"));
    CHECK(contains(rejected("shape 99999999999999999999"),
                   "\"99999999999999999999\" is not a number"));
    CHECK(
        contains(rejected("shape 3 4 index 1"), "index (1) has 1 numbers, but shape (3, 4) has 2"));
    CHECK(contains(rejected("shape 3 4 index 1 4"), "index 4 of dim 1, whose extent is 4"));
    CHECK(contains(rejected("shape 3 4 index -1 2"), "index -1 of dim 0, whose extent is 3"));
    CHECK(contains(rejected("shape 3 4 offset 12"), "offset 12 in a shape of 12 elements"));
    CHECK(contains(rejected("shape 3 4 offset -1"), "offset -1 in a shape of 12"));
    CHECK(contains(rejected("shape 3 4 offset 1 2"), "an offset is one number, not (1, 2)"));
    CHECK(contains(rejected("shape 3 4 index 1 offset 3"), "\"offset\" is not a number"));
}

TEST_CASE("the held-out shapes are those that lines.py omits", "[day06][small]") {
    const int expected[] = {2, 10, 76, 657};  // printed by lines.py
    for (int rank = 1; rank <= kMostDims; ++rank) {
        const Shape all = Dims::filled(rank, kMostExtent);
        int count = 0;
        for (std::int64_t n = 0; n < size(all); ++n) {
            Shape shape = unravel(n, all);
            for (int d = 0; d < rank; ++d) ++shape[d];
            count += held_out(shape);
        }
        CHECK(count == expected[rank - 1]);
    }
    for (const Shape& shape : {Shape{2}, Shape{7}, Shape{1, 4}, Shape{6, 3}, Shape{1, 2, 8}}) {
        CHECK(held_out(shape));
    }
}

TEST_CASE("questions about held-out shapes cover all of them, and every index", "[day06][small]") {
    const auto asked = GENERATE(Asked::strides, Asked::offset, Asked::index);
    const auto questions = held_out_questions(asked, 2, 2000, 1);
    REQUIRE(questions.size() == 2000);
    std::set<std::string> shapes, elements;
    for (const Question& question : questions) {
        REQUIRE(question.asked == asked);
        REQUIRE(held_out(question.shape));
        REQUIRE(text_of(read_question(text_of(question))) == text_of(question));
        shapes.insert(to_string(question.shape));
        if (question.shape == Shape{5, 6}) elements.insert(to_string(question.index));
    }
    CHECK(shapes.size() == 10);
    CHECK(elements.size() == 30);
    const auto again = held_out_questions(asked, 2, 1, 1),
               other = held_out_questions(asked, 4, 50, 2);
    CHECK(text_of(again[0]) == text_of(questions[0]));
    CHECK(text_of(other[7]) != text_of(held_out_questions(asked, 4, 50, 3)[7]));
    CHECK(rejection([] { (void)held_out_questions(Asked::index, 5, 1, 1); }) ==
          "rank 5 is not 1 to 4");
}
