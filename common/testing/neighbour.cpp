#include "common/testing/neighbour.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/tensor/index.hpp"

namespace sixdays::testing {
namespace {

struct Candidate {
    Index index;
    std::string question;  // the likely mistake
    bool is_step = false;  // to a neighbour: with few values often a coincidence
};

bool inside(const Index& index, const Shape& shape) {
    for (int d = 0; d < shape.rank; ++d) {
        if (index[d] < 0 || index[d] >= shape[d]) return false;
    }
    return true;
}

// The element's number in column-major order.
std::int64_t column_major_number(const Index& index, const Shape& shape) {
    std::int64_t number = 0;
    for (int d = shape.rank - 1; d >= 0; --d) number = number * shape[d] + index[d];
    return number;
}

Index from_column_major_number(std::int64_t number, const Shape& shape) {
    Index index = Dims::filled(shape.rank, 0);
    for (int d = 0; d < shape.rank; ++d) {
        index[d] = number % shape[d];
        number /= shape[d];
    }
    return index;
}

// The likely ones first. Some are outside the shape.
std::vector<Candidate> candidates(const Index& at, const Shape& shape) {
    std::vector<Candidate> list;
    const int rank = shape.rank;
    for (int d = rank - 1; d >= 0; --d) {
        for (const int step : {-1, 1}) {
            Index index = at;
            index[d] += step;
            list.push_back({index,
                            std::string("one step ") + (step < 0 ? "back" : "forward") +
                                " along dimension " + std::to_string(d) +
                                ", off by one, or dimensions in another order?",
                            true});
        }
    }
    for (int d = 0; d < rank; ++d) {
        for (int e = d + 1; e < rank; ++e) {
            Index index = at;
            std::swap(index[d], index[e]);
            list.push_back({index, rank == 2 ? "rows and columns swapped?"
                                             : "dimensions " + std::to_string(d) + " and " +
                                                   std::to_string(e) + " swapped?"});
        }
    }
    for (int d = 0; d < rank; ++d) {
        if (shape[d] < 4) continue;  // too short: may be a coincidence
        Index index = at;
        index[d] = shape[d] - 1 - at[d];
        list.push_back(
            {index, "as if dimension " + std::to_string(d) + " were counted from its end?"});
    }
    const std::int64_t number = ravel(at, shape);
    if (rank > 1) {
        list.push_back({unravel(column_major_number(at, shape), shape),
                        "as if strides were column-major, not row-major?"});
        list.push_back({from_column_major_number(number, shape),
                        "as if strides were row-major, not column-major?"});
        list.push_back(
            {unravel(number > 0 ? number - 1 : 0, shape), "the element before it?", true});
        list.push_back(
            {unravel(std::min(number + 1, size(shape) - 1), shape), "the element after it?", true});
    }
    return list;
}

// With only two values, say 0 and 1, a wrong one always equals the other.
bool of_two_values(const Elements& want) {
    const std::byte *first = nullptr, *second = nullptr;
    Index index = Dims::filled(want.layout.shape.rank, 0);
    for (std::int64_t n = want.layout.size(); n > 0; --n, advance(index, want.layout.shape)) {
        const std::byte* at = want.at(index);
        if (!first) first = at;
        if (same_bytes(first, at, want.type.bytes)) continue;
        if (!second) second = at;
        if (!same_bytes(second, at, want.type.bytes)) return false;
    }
    return want.layout.size() > 4;  // fewer may have two values by chance
}

}  // namespace

std::string belongs_to(
    const std::vector<Index>& wrong, const Elements& want,
    const std::function<bool(const Index& found, const Index& owner)>& is_value_of) {
    if (of_two_values(want)) return "";
    const Shape& shape = want.layout.shape;
    const auto explains = [&](const Candidate& candidate, const Index& found) {
        return inside(candidate.index, shape) && is_value_of(found, candidate.index);
    };
    const std::vector<Candidate> list = candidates(wrong[0], shape);
    for (std::size_t k = 0; k < list.size(); ++k) {
        if (!explains(list[k], wrong[0])) continue;
        bool likely = !list[k].is_step || wrong.size() == 1;
        for (std::size_t i = 1; i < wrong.size() && !likely; ++i) {
            likely = explains(candidates(wrong[i], shape)[k], wrong[i]);
        }
        if (likely) {
            return "the expected value of " + to_string(list[k].index) + ": " + list[k].question;
        }
    }
    // Anywhere, if unique: a frequent value, say 0, says nothing.
    std::vector<Index> places;
    Index index = Dims::filled(shape.rank, 0);
    for (std::int64_t n = want.layout.size(); n > 0 && places.size() < 2; --n) {
        if (is_value_of(wrong[0], index)) places.push_back(index);
        advance(index, shape);
    }
    return places.size() == 1 ? "the expected value of " + to_string(places[0]) + "." : "";
}

}  // namespace sixdays::testing
