#include "common/testing/compare.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "common/testing/neighbour.hpp"

namespace sixdays::testing {

std::ostream& operator<<(std::ostream& out, const Comparison& comparison) {
    return out << comparison.text;
}

Comparison contains(const std::string& text, const std::string& words) {
    if (!words.empty() && text.find(words) != std::string::npos) return {true, text};
    return {false, "\"" + words + "\" is not in:\n" + (text.empty() ? "(no text)" : text)};
}

namespace {

bool is_poison(const std::byte* element, const std::vector<std::byte>& poison) {
    return !poison.empty() && same_bytes(element, poison.data(), static_cast<int>(poison.size()));
}

// Is `got` acceptable at this index, where `want` is expected?
using Accepts = std::function<bool(const std::byte* got, const std::byte* want, const Index&)>;

constexpr std::int64_t kFirst = 1000;

struct Tally {
    std::int64_t differ = 0;
    std::int64_t unwritten = 0;  // of those that differ
    std::int64_t first_number = 0;
    std::vector<Index> first;  // up to kFirst that differ
    Index written_before;      // per dimension, one past the largest index of a written element
};

// Row by row: the offset of a row's first element, then steps along the last dimension.
Tally walk(const Elements& got, const Elements& want, const Accepts& accepts,
           const std::vector<std::byte>& poison) {
    Tally tally;
    const Shape& shape = want.layout.shape;
    const int last = shape.rank - 1;  // -1 for rank 0, which is one row of one element
    const std::int64_t columns = last < 0 ? 1 : shape[last];
    const std::int64_t got_step = last < 0 ? 0 : got.layout.stride(last) * got.type.bytes;
    const std::int64_t want_step = last < 0 ? 0 : want.layout.stride(last) * want.type.bytes;
    Shape rows = shape;
    if (last >= 0) rows[last] = 1;

    Index index = Dims::filled(shape.rank, 0);
    tally.written_before = index;
    const std::int64_t size = want.layout.size();
    for (std::int64_t number = 0; number < size; advance(index, rows)) {
        const std::byte *g = got.at(index), *w = want.at(index);
        Index at = index;
        for (std::int64_t column = 0; column < columns; ++column, ++number) {
            if (last >= 0) at[last] = column;
            const std::byte* element = g + column * got_step;
            const bool unwritten = is_poison(element, poison);
            for (int d = 0; d < shape.rank && !unwritten; ++d) {
                tally.written_before[d] = std::max(tally.written_before[d], at[d] + 1);
            }
            if (!unwritten && accepts(element, w + column * want_step, at)) continue;
            if (tally.differ == 0) tally.first_number = number;
            if (tally.differ < kFirst) tally.first.push_back(at);
            tally.differ += 1;
            tally.unwritten += unwritten;
        }
    }
    return tally;
}

std::string how_many(const Tally& tally, std::int64_t size) {
    if (tally.differ == size) {
        return size == 1 ? "The only element differs"
                         : "All " + std::to_string(size) + " elements differ";
    }
    std::string text = std::to_string(tally.differ) + " of " + std::to_string(size) +
                       (tally.differ == 1 ? " elements differs" : " elements differ");
    if (tally.first_number + tally.differ == size && tally.differ > 1) {
        text += ", all from number " + std::to_string(tally.first_number) + " on";
    }
    return text;
}

// If exactly a corner of the output was written, threads did not reach the rest. Which dimension is
// too short? Of one dimension, it is the end.
std::string corner(const Tally& tally, const Shape& shape, std::int64_t size) {
    std::int64_t inside = 1;
    std::string part;
    for (int d = 0; d < shape.rank; ++d) {
        inside *= tally.written_before[d];
        part += (d == 0 ? "[0, " : " x [0, ") + std::to_string(tally.written_before[d]) + ")";
    }
    if (shape.rank < 1 || inside == 0 || inside + tally.unwritten != size) return "";
    if (shape.rank == 1) {
        return " Only the first " + std::to_string(inside) + (inside == 1 ? " is" : " are") +
               " written: are there too few blocks, or does a guard or a loop leave out the last, "
               "partial one?";
    }
    return " Only " + part +
           " is written: are the thread's x and y swapped (x belongs to the last dimension), is "
           "blockIdx.y multiplied by blockDim.x, does the grid have too few blocks along one of "
           "them, or should each block compute more?";
}

// The number of differing elements, the first one, and its likely cause. `why`: the reason, if the
// two values alone do not show it.
std::string explain(const Tally& tally, const Elements& got, const Elements& want,
                    const Accepts& accepts, const std::vector<std::byte>& poison,
                    const std::string& why) {
    const Index& at = tally.first[0];
    const std::string got_text = text_of(got.type, got.at(at));
    std::string text = how_many(tally, want.layout.size()) + ". The first is " + to_string(at) +
                       ", at offset " + std::to_string(offset(got.layout, at)) + ": expected " +
                       text_of(want.type, want.at(at)) + ", got " + got_text + why + ".";
    if (tally.unwritten > 0) {
        text += "\nNever written: " + std::to_string(tally.unwritten) +
                (tally.unwritten == 1 ? " element still holds" : " elements still hold") +
                " the poison value that the output was filled with";
        text += tally.unwritten == tally.differ || !is_poison(got.at(at), poison)
                    ? "."
                    : ", this one among them.";
        text += corner(tally, want.layout.shape, want.layout.size());
        if (tally.unwritten == want.layout.size() && std::isnan(value_of(got.type, got.at(at)))) {
            text += "\nOr they were only added to: the poison is a NaN, and += keeps it.";
        }
    }
    if (is_poison(got.at(at), poison)) {
        if (is_poison(want.at(at), poison)) {
            text +=
                "\nThe expected value is the poison value itself, so an untouched output would "
                "look right: choose another Poison.";
        }
        return text;
    }
    const std::string neighbour =
        belongs_to(tally.first, want, [&](const Index& found, const Index& owner) {
            return accepts(got.at(found), want.at(owner), owner);
        });
    if (!neighbour.empty()) text += "\n" + got_text + " is " + neighbour;
    return text;
}

Comparison shapes_differ(const Elements& got, const Elements& want) {
    return {false, "The result has shape " + to_string(got.layout.shape) + ", expected was shape " +
                       to_string(want.layout.shape) + "."};
}

std::string all_of(std::int64_t size) {
    return size == 0 ? "no elements to compare" : "all " + std::to_string(size) + " elements";
}

}  // namespace

namespace detail {

Comparison equal(const Elements& got, const Elements& want, const std::vector<std::byte>& poison) {
    if (got.layout.shape != want.layout.shape) return shapes_differ(got, want);
    const Accepts accepts = [bytes = got.type.bytes](const std::byte* g, const std::byte* w,
                                                     const Index&) {
        return same_bytes(g, w, bytes);
    };
    const Tally tally = walk(got, want, accepts, poison);
    if (tally.differ == 0) return {true, all_of(want.layout.size()) + ": equal"};
    // Two values of different bits can look the same: two NaNs, say. text_of() tells them apart.
    return {false, explain(tally, got, want, accepts, poison, "")};
}

Comparison close(const Elements& got, const Elements& want, const Bound& bound, Nans nans,
                 const std::vector<std::byte>& poison) {
    if (got.layout.shape != want.layout.shape) return shapes_differ(got, want);
    double worst = 0;  // the largest |got - want| / bound among the accepted
    Index worst_at;
    const Accepts accepts = [&](const std::byte* g, const std::byte* w, const Index& at) {
        const double a = value_of(got.type, g), b = value_of(want.type, w);
        if (std::isnan(b)) return nans == Nans::where_expected && std::isnan(a);
        const double limit = bound(at);
        if (!(limit >= 0) || std::isinf(limit)) return false;
        if (std::isinf(b)) return a == b;
        return std::fabs(a - b) <= limit;  // false for a NaN
    };
    const Accepts measured = [&](const std::byte* g, const std::byte* w, const Index& at) {
        if (!accepts(g, w, at)) return false;
        const double a = value_of(got.type, g), b = value_of(want.type, w);
        if (a == b || std::isnan(b)) return true;
        const double ratio = std::fabs(a - b) / bound(at);
        if (ratio > worst) {
            worst = ratio;
            worst_at = at;
        }
        return true;
    };
    const Tally tally = walk(got, want, measured, poison);
    if (tally.differ == 0) {
        return {true, all_of(want.layout.size()) +
                          ": within the bound; the largest difference is " + std::to_string(worst) +
                          " of it" + (worst > 0 ? ", at " + to_string(worst_at) : "")};
    }
    const double a = value_of(got.type, got.at(tally.first[0]));
    const double b = value_of(want.type, want.at(tally.first[0]));
    const double difference = std::fabs(a - b), limit = bound(tally.first[0]);
    const auto as_text = [](double x) {
        return text_of(element_type<double>(), reinterpret_cast<const std::byte*>(&x));
    };
    std::string why;  // with a bound of 0, the two values are enough
    if (limit > 0) {
        why = ", which differ by " + as_text(difference) + ", and the bound is " + as_text(limit);
    }
    if (std::isnan(b)) {
        why = nans == Nans::rejected
                  ? "; close() rejects an expected NaN unless Nans::where_expected is passed"
                  : ", which is not a NaN";
    } else if (!(limit >= 0) || std::isinf(limit)) {
        why = "; the bound is " + as_text(limit) + ", and it must be a finite number, 0 or more";
    } else if (std::isnan(a)) {
        why = "";
    }
    return {false, explain(tally, got, want, accepts, poison, why)};
}

}  // namespace detail
}  // namespace sixdays::testing
