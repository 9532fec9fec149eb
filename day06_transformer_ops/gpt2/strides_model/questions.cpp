#include "day06_transformer_ops/gpt2/strides_model/questions.hpp"

#include <algorithm>
#include <charconv>

#include "common/tensor/arguments.hpp"
#include "common/tensor/index.hpp"
#include "day06_transformer_ops/gpt2/backend/philox.hpp"

namespace sixdays::gpt2 {
namespace {

std::string joined(const Dims& numbers, const char* between) {
    std::string text;
    for (int d = 0; d < numbers.rank; ++d) {
        text += (d == 0 ? "" : between) + std::to_string(numbers[d]);
    }
    return text;
}

// The text's words; separators between numbers count as space.
std::vector<std::string_view> words_of(std::string_view text) {
    constexpr std::string_view kBetween = " \t\r\n,;:()[]{}";
    std::vector<std::string_view> words;
    while (true) {
        const std::size_t begin = text.find_first_not_of(kBetween);
        if (begin == std::string_view::npos) return words;
        text.remove_prefix(begin);
        words.push_back(text.substr(0, text.find_first_of(kBetween)));
        text.remove_prefix(words.back().size());
    }
}

std::int64_t number_in(std::string_view word) {
    std::int64_t number = 0;
    const auto end = word.data() + word.size();
    const auto [at, error] = std::from_chars(word.data(), end, number);
    if (error != std::errc() || at != end) {
        reject("\"", word,
               "\" is not a number. The forms are: shape 3 4 5, shape 3 4 5 index "
               "1 2 3, and shape 3 4 5 offset 33");
    }
    return number;
}

void check_shape(const Shape& shape) {
    for (int d = 0; d < shape.rank; ++d) {
        if (shape[d] < 1 || shape[d] > kMostExtent) {
            reject("extent ", shape[d], " of dim ", d, ": the model has seen 1 to 9 only");
        }
    }
}

void check_index(const Index& index, const Shape& shape) {
    if (index.rank != shape.rank) {
        reject("index ", index, " has ", index.rank, " numbers, but shape ", shape, " has ",
               shape.rank);
    }
    for (int d = 0; d < shape.rank; ++d) {
        if (index[d] < 0 || index[d] >= shape[d]) {
            reject("index ", index[d], " of dim ", d, ", whose extent is ", shape[d]);
        }
    }
}

}  // namespace

const char* name(Asked asked) {
    return asked == Asked::strides ? "strides" : asked == Asked::offset ? "offset" : "index";
}

std::string text_of(const Question& question) {
    const auto& [asked, shape, index] = question;
    const std::string text = "shape " + joined(shape, " ");
    if (asked == Asked::offset) return text + " index " + joined(index, " ") + " ->";
    if (asked == Asked::strides) return text + " ->";
    return text + " offset " + std::to_string(offset(row_major(shape), index)) + " ->";
}

std::string answer_to(const Question& question) {
    const auto& [asked, shape, index] = question;
    const Layout layout = row_major(shape);
    const std::string strides = " strides " + joined(layout.strides, " ");
    if (asked == Asked::strides) return strides;
    Dims parts = index;  // of the sum that an offset is
    for (int d = 0; d < parts.rank; ++d) parts[d] *= layout.strides[d];
    const std::string last =
        asked == Asked::offset ? std::to_string(offset(layout, index)) : joined(index, " ");
    return strides + " -> " + joined(parts, " + ") + " -> " + name(asked) + " " + last;
}

Question read_question(std::string_view text) {
    auto words = words_of(text);
    if (!words.empty() && words.back() == "->") words.pop_back();
    if (words.empty() || words[0] != "shape") {
        reject("a question begins with the word shape: shape 3 4 5 index 1 2 3");
    }
    const auto middle = std::find_if(words.begin() + 1, words.end(), [](std::string_view word) {
        return word == "index" || word == "offset";
    });
    const auto numbers = [](auto begin, auto end) {
        if (begin == end) reject("there is no number after \"", begin[-1], "\"");
        if (end - begin > kMostDims) {
            reject(end - begin, " numbers after \"", begin[-1],
                   "\": the model has seen shapes of up to 4 dimensions");
        }
        Dims dims;
        while (begin != end) dims[dims.rank++] = number_in(*begin++);
        return dims;
    };
    const Shape shape = numbers(words.begin() + 1, middle);
    check_shape(shape);
    if (middle == words.end()) return {Asked::strides, shape, Dims::filled(shape.rank, 0)};
    const Dims given = numbers(middle + 1, words.end());
    if (*middle == "index") {
        check_index(given, shape);
        return {Asked::offset, shape, given};
    }
    if (given.rank != 1) reject("an offset is one number, not ", given);
    if (given[0] < 0 || given[0] >= size(shape)) {
        reject("offset ", given[0], " in a shape of ", size(shape), " elements");
    }
    return {Asked::index, shape, unravel(given[0], shape)};
}

bool held_out(const Shape& shape) {
    std::uint32_t digits = 0;
    for (int d = 0; d < shape.rank; ++d)
        digits = 10 * digits + static_cast<std::uint32_t>(shape[d]);
    return (digits * 2654435761u >> 16) % 10 == 0;
}

std::vector<Shape> shapes_of(int rank, bool held) {
    if (rank < 1 || rank > kMostDims) reject("rank ", rank, " is not 1 to 4");
    const Shape all = Dims::filled(rank, kMostExtent);
    std::vector<Shape> shapes;
    for (std::int64_t n = 0; n < size(all); ++n) {
        Shape shape = unravel(n, all);
        for (int d = 0; d < rank; ++d) ++shape[d];
        if (held_out(shape) == held) shapes.push_back(shape);
    }
    return shapes;
}

std::vector<Question> held_out_questions(Asked asked, int rank, std::int64_t count,
                                         std::uint64_t seed) {
    const std::vector<Shape> shapes = shapes_of(rank, true);
    std::vector<Question> questions;
    // Different kinds and ranks get different shapes.
    const std::uint64_t stream =
        seed * 64 + static_cast<std::uint64_t>(asked) * 8 + static_cast<std::uint64_t>(rank);
    std::uint64_t step = 0;
    const auto below = [&](std::int64_t most) {
        return static_cast<std::int64_t>(uniform(stream, step++) * static_cast<double>(most));
    };
    while (static_cast<std::int64_t>(questions.size()) < count) {
        const auto chosen = below(static_cast<std::int64_t>(shapes.size()));
        const Shape& shape = shapes[static_cast<std::size_t>(chosen)];
        questions.push_back({asked, shape, unravel(below(size(shape)), shape)});
    }
    return questions;
}

}  // namespace sixdays::gpt2
