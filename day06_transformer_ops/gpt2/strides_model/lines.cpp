#include "day06_transformer_ops/gpt2/strides_model/lines.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/tensor/arguments.hpp"
#include "common/tensor/index.hpp"
#include "day06_transformer_ops/gpt2/backend/philox.hpp"

namespace sixdays::gpt2 {
namespace {

// " 0" to " 9", the beginnings of numbers, and the words, in lines.py's order, which determines the
// token ids.
constexpr std::string_view kWords[] = {" 0",      " 1",       " 2",  " 3", " 4",    " 5",
                                       " 6",      " 7",       " 8",  " 9", "shape", " index",
                                       " offset", " strides", " ->", " +"};
constexpr std::string_view kDigits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

// Percentage of lines of each kind and rank.
constexpr std::int64_t kPercentages[std::size(kAsked)][kMostDims] = {{1, 1, 2, 4},     // strides
                                                                     {1, 2, 6, 25},    // offset
                                                                     {1, 2, 10, 45}};  // index

// The training shapes of each rank, small ones first.
using ShapesByRank = std::array<std::vector<Shape>, kMostDims>;
const ShapesByRank& learned_shapes() {
    static const ShapesByRank all = [] {
        ShapesByRank made;
        for (int rank = 1; rank <= kMostDims; ++rank) {
            std::vector<Shape>& shapes = made[static_cast<std::size_t>(rank - 1)];
            shapes = shapes_of(rank, false);
            std::stable_sort(shapes.begin(), shapes.end(),
                             [](const Shape& a, const Shape& b) { return size(a) < size(b); });
        }
        return made;
    }();
    return all;
}

}  // namespace

LineTokens::LineTokens()
    : vocabulary_(vocabulary_of_words({std::begin(kWords), std::end(kWords)})) {
    const auto learn = [&](std::string_view word) {
        const auto& tokens = vocabulary_.tokens;
        ids_[word] = std::find(tokens.begin(), tokens.end(), in_letters(word)) - tokens.begin();
    };
    for (const std::string_view word : kWords) learn(word);
    for (const std::string_view digit : kDigits) learn(digit);
}

std::vector<std::int64_t> LineTokens::operator()(std::string_view line) const {
    std::vector<std::int64_t> tokens;
    while (!line.empty()) {
        const std::string_view word = line.substr(0, line.find(' ', 1));
        line.remove_prefix(word.size());
        if (const auto whole = ids_.find(word); whole != ids_.end()) {
            tokens.push_back(whole->second);
            continue;
        }
        tokens.push_back(ids_.at(word.substr(0, 2)));    // a number: a space and a digit,
        for (std::size_t i = 2; i < word.size(); ++i) {  // then digits
            tokens.push_back(ids_.at(word.substr(i, 1)));
        }
    }
    return tokens;
}

std::int64_t longest_line(int most_dims) {
    const Question longest = {Asked::offset, Dims::filled(most_dims, kMostExtent),
                              Dims::filled(most_dims, kMostExtent - 1)};
    return std::int64_t(LineTokens()(text_of(longest) + answer_to(longest)).size()) + 1;
}

Question training_question(int most_dims, std::uint64_t seed, std::uint64_t number) {
    if (most_dims < 1 || most_dims > kMostDims) {
        reject("lines about shapes of up to ", most_dims, " dimensions; it is 1 to 4");
    }
    constexpr std::uint64_t kDraws = 2 + kMostDims;  // per line
    std::uint64_t draw = number * kDraws;
    // 1. Its kind and rank, by their percentages.
    std::int64_t all = 0;
    for (const auto& of_kind : kPercentages) {
        for (int rank = 1; rank <= most_dims; ++rank) all += of_kind[rank - 1];
    }
    auto left = static_cast<std::int64_t>(uniform(seed, draw++) * static_cast<double>(all));
    Question made{};
    int rank = 0;
    for (std::size_t kind = 0; left >= 0; ++kind) {
        made.asked = kAsked[kind];
        for (rank = 0; left >= 0 && rank < most_dims; ++rank) left -= kPercentages[kind][rank];
    }
    // 2. Its shape and index.
    const auto below = [&](std::int64_t most) {
        double u = uniform(seed, draw++);
        if (number % 2 == 0) u = std::sqrt(u);  // closer to 1
        return std::min(static_cast<std::int64_t>(u * static_cast<double>(most)), most - 1);
    };
    const std::vector<Shape>& shapes = learned_shapes()[static_cast<std::size_t>(rank - 1)];
    const auto chosen = below(static_cast<std::int64_t>(shapes.size()));
    made.shape = shapes[static_cast<std::size_t>(chosen)];
    made.index = Dims::filled(rank, 0);
    for (int d = 0; d < rank; ++d) made.index[d] = below(made.shape[d]);
    return made;
}

}  // namespace sixdays::gpt2
