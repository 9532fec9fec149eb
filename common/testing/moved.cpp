#include "common/testing/moved.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <optional>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/tensor/index.hpp"

namespace sixdays::testing {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 24;  // a float holds all whole numbers so far

// base + the sum over d of step[d] * index[d]; the step along an extent of 1 is not known.
struct Linear {
    std::int64_t base = 0;
    Dims step;
};

using Offset = std::function<std::int64_t(const Index&)>;

std::int64_t count_of(const Shape& shape) {
    std::int64_t count = 1;
    for (int d = 0; d < shape.rank; ++d) count *= shape[d];
    return count;
}

std::optional<Linear> linear(const Shape& shape, const Offset& at) {
    const Index first = Dims::filled(shape.rank, 0);
    Linear found{at(first), first};
    for (int d = 0; d < shape.rank; ++d) {
        Index next = first;
        next[d] = 1;
        if (shape[d] > 1) found.step[d] = at(next) - found.base;
    }
    for (std::int64_t k = 0; k < count_of(shape); ++k) {
        const Index index = unravel(k, shape);
        std::int64_t sum = found.base;
        for (int d = 0; d < shape.rank; ++d) sum += found.step[d] * index[d];
        if (sum != at(index)) return std::nullopt;
    }
    return found;
}

// "in[21 b + 7 t + 5]"
std::string text_of(const std::string& array, const Linear& at, const std::string& dims) {
    std::string text;
    // "in[3 - i]" reads better than "in[-i + 3]"
    const bool base_first = at.base > 0 && at.step[0] < 0;
    const auto add = [&text](std::int64_t n, const std::string& letter) {
        if (n == 0) return;
        text += text.empty() ? (n < 0 ? "-" : "") : (n < 0 ? " - " : " + ");
        const std::int64_t size = std::abs(n);
        if (size != 1 || letter.empty()) text += std::to_string(size);
        if (!letter.empty()) text += (size != 1 ? " " : "") + letter;
    };
    if (base_first) add(at.base, "");
    for (std::size_t d = 0; d < dims.size(); ++d) {
        add(at.step[static_cast<int>(d)], std::string(1, dims[d]));
    }
    if (!base_first) add(at.base, "");
    return array + "[" + (text.empty() ? "0" : text) + "]";
}

std::string text_of(const std::string& array, std::int64_t at) {
    return array + "[" + std::to_string(at) + "]";
}

// "out(b, t)"
std::string name_of(const std::string& out, const std::string& dims) {
    std::string text = out + "(";
    for (std::size_t d = 0; d < dims.size(); ++d) {
        text += (d > 0 ? ", " : "") + std::string(1, dims[d]);
    }
    return text + ")";
}
std::string name_of(const Moves& moves) {
    return moves.element.empty() ? name_of(moves.out, moves.dims) : moves.element;
}

// One number of base `radix` for each source; all of them in one float.
struct Code {
    std::int64_t margin = 0, radix = 0;

    float value(std::size_t source, std::int64_t at) const {
        std::int64_t number = at + margin + 1;
        for (std::size_t s = 0; s < source; ++s) number *= radix;
        return static_cast<float>(number);
    }
    std::optional<std::int64_t> at(std::size_t source, float value) const {
        if (!(value > 0) || value >= static_cast<float>(kLargest) || value != std::floor(value)) {
            return std::nullopt;
        }
        auto number = static_cast<std::int64_t>(value);
        for (std::size_t s = 0; s < source; ++s) number /= radix;
        number %= radix;
        if (number == 0) return std::nullopt;
        return number - 1 - margin;
    }
};

std::optional<Code> code_for(const Moves& moves, std::int64_t out_size) {
    std::int64_t longest = out_size;
    for (const Source& source : moves.sources) longest = std::max(longest, source.size);
    std::int64_t radix = kLargest;
    if (moves.sources.size() > 1) radix = 4096;
    if (moves.sources.size() > 2 || longest > kLargest / 16) return std::nullopt;
    const std::int64_t margin = std::min<std::int64_t>(4 * longest + 64, (radix - longest) / 2 - 2);
    if (margin < longest) return std::nullopt;
    return Code{margin, radix};
}

// By position in `out`, from `margin` before its first element on: what was written there. Empty
// if the kernel was stopped here, too.
std::vector<float> run(const Moves& moves, const LaunchMoves& launch, const Code& code,
                       std::int64_t out_size) {
    try {
        std::vector<gpu::Buffer<float>> arrays;
        std::vector<const float*> pointers;
        for (std::size_t s = 0; s < moves.sources.size(); ++s) {
            const std::int64_t size = moves.sources[s].size + 2 * code.margin;
            Tensor<float> values({size});
            for (std::int64_t k = 0; k < size; ++k) values(k) = code.value(s, k - code.margin);
            arrays.emplace_back(values);
            pointers.push_back(arrays.back().data() + code.margin);
        }
        Tensor<float> nothing({out_size + 2 * code.margin});
        std::fill_n(nothing.data(), nothing.size(), NAN);
        gpu::Buffer<float> out(nothing);
        launch(pointers, out.data() + code.margin);
        gpu::check_pending();
        gpu::synchronize();
        return out.download(0, out.size());
    } catch (const std::exception&) {
        return {};
    }
}

// Was `out` filled as if it had the same elements in fewer rows or in more?
std::string filled_in_another_shape(const Moves& moves, const std::vector<float>& out,
                                    const Code& code) {
    if (moves.shape.rank != 2 || moves.to || moves.shape[0] == moves.shape[1]) return "";
    const Shape turned{moves.shape[1], moves.shape[0]};
    const auto at = [&](const Index& index) {
        const std::int64_t k = ravel(index, turned);
        return code.at(0, out[static_cast<std::size_t>(k + code.margin)]).value_or(-1);
    };
    if (!linear(turned, at)) return "";
    return moves.out + " is filled as if it had the shape " + to_string(turned) + "; it has " +
           to_string(moves.shape) + ".";
}

// Each was written where it belongs, but from where was it taken?
std::string taken_wrongly(const Moves& moves, std::size_t s,
                          const std::function<std::optional<std::int64_t>(const Index&)>& taken) {
    const Source& source = moves.sources[s];
    const auto got = linear(moves.shape, [&](const Index& index) { return *taken(index); });
    const auto want = linear(moves.shape, source.at);
    for (std::int64_t k = 0; k < count_of(moves.shape); ++k) {
        const Index index = unravel(k, moves.shape);
        if (*taken(index) == source.at(index)) continue;
        const bool all = got && want;
        return (all ? "Each " + name_of(moves) : moves.out + to_string(index)) + " gets " +
               (all ? text_of(source.name, *got, moves.dims)
                    : text_of(source.name, *taken(index))) +
               "; it should get " +
               (all ? text_of(source.name, *want, moves.dims)
                    : text_of(source.name, source.at(index))) +
               ".";
    }
    return "";
}

// Neither taken nor put where it should: the elements that were written, in the order of their places,
// are taken for those of the indices in theirs.
std::string both_wrong(const Moves& moves, const std::map<std::int64_t, std::int64_t>& place,
                       const Offset& to) {
    if (static_cast<std::int64_t>(place.size()) != count_of(moves.shape) || moves.to) return "";
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;  // place, source
    for (const auto& [source, at] : place) pairs.emplace_back(at, source);
    std::sort(pairs.begin(), pairs.end());
    const auto pair_of = [&](const Index& i) {
        return pairs[static_cast<std::size_t>(ravel(i, moves.shape))];
    };
    const auto put = linear(moves.shape, [&](const Index& i) { return pair_of(i).first; });
    const auto got = linear(moves.shape, [&](const Index& i) { return pair_of(i).second; });
    const auto where = linear(moves.shape, to);
    const auto want = linear(moves.shape, moves.sources[0].at);
    if (!put || !got || !where || !want) return "";
    const std::string& source = moves.sources[0].name;
    return text_of(moves.out, *put, moves.dims) + " gets " + text_of(source, *got, moves.dims) +
           "; it should be " + text_of(moves.out, *where, moves.dims) + " that gets " +
           text_of(source, *want, moves.dims) + ".";
}

// Where the terms of one output are: `first`, and `step` further each; or nowhere known.
struct Row {
    std::int64_t count = 0;
    std::optional<std::int64_t> first;
    std::int64_t step = 0;
};

// How many of the elements that were taken have a 1 as binary digit d of their position.
using Digits = std::vector<std::int64_t>;

Digits digits_of(std::int64_t first, std::int64_t step, std::int64_t count, std::size_t digits) {
    Digits sums(digits, 0);
    for (std::int64_t k = 0; k < count; ++k) {
        for (std::size_t d = 0; d < digits; ++d) sums[d] += (first + k * step) >> d & 1;
    }
    return sums;
}

Row row_of(std::int64_t count, const Digits& digits, std::int64_t size) {
    Row row{count, std::nullopt, 0};
    std::int64_t sum = 0;
    for (std::size_t d = 0; d < digits.size(); ++d) sum += digits[d] << d;
    if (count <= 0) return row;
    const std::int64_t most = count > 1 ? (size - 1) / (count - 1) : 0;
    for (std::int64_t step = 0; step <= most; ++step) {
        const std::int64_t rest = sum - step * (count * (count - 1) / 2);
        if (rest < 0 || rest % count != 0) continue;
        const std::int64_t first = rest / count;
        if (first + step * (count - 1) >= size) continue;
        if (digits_of(first, step, count, digits.size()) != digits) continue;
        row.first = first;
        row.step = step;
        break;
    }
    return row;
}

// What each output took of one factor.
struct Taken {
    std::vector<std::int64_t> count;
    std::vector<Digits> digits;
};

std::optional<std::vector<std::int64_t>> counted(const Sums& sums, const LaunchMoves& launch,
                                                 std::size_t of,
                                                 const std::function<bool(std::int64_t)>& is_one) {
    try {
        std::vector<gpu::Buffer<float>> arrays;
        std::vector<const float*> pointers;
        for (std::size_t f = 0; f < sums.factors.size(); ++f) {
            Tensor<float> values({sums.factors[f].size});
            for (std::int64_t k = 0; k < values.size(); ++k) {
                values(k) = f != of || is_one(k) ? 1.0f : 0.0f;
            }
            arrays.emplace_back(values);
            pointers.push_back(arrays.back().data());
        }
        gpu::Buffer<float> out(count_of(sums.shape));
        out.fill_bytes(0xff);
        launch(pointers, out.data());
        gpu::check_pending();
        gpu::synchronize();
        std::vector<std::int64_t> numbers;
        for (const float x : out.download()) {
            if (!(x >= 0 && x < 1e6f && x == std::floor(x))) return std::nullopt;
            numbers.push_back(static_cast<std::int64_t>(x));
        }
        return numbers;
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

// "a[5 m + k] for k = 0 to 4"
std::string text_of(const std::string& array, Linear at, const std::string& dims,
                    std::int64_t count) {
    if (count == 0) return "nothing of " + array;
    if (count == 1) return text_of(array, at, dims) + " alone";
    return text_of(array, at, dims + "k") + " for k = 0 to " + std::to_string(count - 1);
}

std::string summed_wrongly(const Sums& sums, const Factor& factor, const Taken& taken) {
    const std::int64_t outputs = count_of(sums.shape);
    const std::size_t digits = taken.digits.empty() ? 0 : taken.digits[0].size();
    std::vector<Row> got, want;
    std::int64_t wrong = -1;
    for (std::int64_t o = 0; o < outputs; ++o) {
        const Index index = unravel(o, sums.shape);
        Digits right(digits, 0);
        for (std::int64_t k = 0; k < sums.count; ++k) {
            const Digits one = digits_of(factor.at(index, k), 0, 1, digits);
            for (std::size_t d = 0; d < digits; ++d) right[d] += one[d];
        }
        const auto at = static_cast<std::size_t>(o);
        want.push_back(row_of(sums.count, right, factor.size));
        got.push_back(row_of(taken.count[at], taken.digits[at], factor.size));
        if (wrong < 0 && (taken.count[at] != sums.count || taken.digits[at] != right)) wrong = o;
    }
    if (wrong < 0) return "";
    const auto all = [&](const std::vector<Row>& rows) -> std::optional<Linear> {
        for (const Row& row : rows) {
            if (!row.first || row.count != rows[0].count || row.step != rows[0].step) return {};
        }
        auto found = linear(sums.shape, [&](const Index& i) {
            return *rows[static_cast<std::size_t>(ravel(i, sums.shape))].first;
        });
        if (found) {
            found->step.rank = sums.shape.rank + 1;
            found->step[sums.shape.rank] = rows[0].step;
        }
        return found;
    };
    const auto each_got = all(got), each_want = all(want);
    if (each_got && each_want) {
        return "Each " + name_of(sums.out, sums.dims) + " takes " +
               text_of(factor.name, *each_got, sums.dims, got[0].count) + "; it should take " +
               text_of(factor.name, *each_want, sums.dims, sums.count) + ".";
    }
    const auto one = [&](const Row& row) {
        if (row.count > 0 && !row.first) {
            return std::to_string(row.count) + " elements of " + factor.name;
        }
        Linear at{row.first.value_or(0), Dims::filled(1, row.step)};
        return text_of(factor.name, at, "", row.count);
    };
    const auto at = static_cast<std::size_t>(wrong);
    const std::string taken_there = one(got[at]), due = one(want[at]);
    return sums.out + to_string(unravel(wrong, sums.shape)) + " takes " + taken_there +
           (taken_there == due ? ", and not the right ones." : "; it should take " + due + ".");
}

}  // namespace

std::string summed_wrongly(const Sums& sums, const LaunchMoves& launch) {
    const std::size_t both = sums.factors.size();
    for (std::size_t f = 0; f < both; ++f) {
        const Factor& factor = sums.factors[f];
        const auto none = counted(sums, launch, f, [](std::int64_t) { return false; });
        const auto count = counted(sums, launch, f, [](std::int64_t) { return true; });
        if (!none || !count) return "";
        if (std::any_of(none->begin(), none->end(), [](std::int64_t n) { return n != 0; })) {
            return "With 0 in place of each number of " + factor.name + " the result is not 0: " +
                   (both > 1 ? "are the numbers multiplied, " + sums.factors[0].name + " * " +
                                   sums.factors[1].name + ", before they are added?"
                             : "what else is added?");
        }
        Taken taken{*count, std::vector<Digits>(count->size())};
        for (std::size_t d = 0; (std::int64_t{1} << d) < factor.size; ++d) {
            const auto ones = counted(sums, launch, f, [d](std::int64_t k) { return k >> d & 1; });
            if (!ones) return "";
            for (std::size_t o = 0; o < ones->size(); ++o) taken.digits[o].push_back((*ones)[o]);
        }
        const std::string text = summed_wrongly(sums, factor, taken);
        if (!text.empty()) return text;
    }
    if (both < 2) return "";
    return "Each " + name_of(sums.out, sums.dims) + " takes the right elements of " +
           sums.factors[0].name + " and of " + sums.factors[1].name +
           ", but multiplies others with each other than those of one k.";
}

std::string moved_wrongly(const Moves& moves, const LaunchMoves& launch) {
    const std::int64_t count = count_of(moves.shape);
    const std::int64_t out_size = moves.out_size > 0 ? moves.out_size : count;
    const auto code = code_for(moves, out_size);
    if (!code || count == 0) return "";
    const std::vector<float> out = run(moves, launch, *code, out_size);
    if (out.empty()) return "";
    const Offset to = moves.to ? moves.to : [&](const Index& i) { return ravel(i, moves.shape); };
    const auto taken = [&](std::size_t s) {
        return [&, s](const Index& index) {
            return code->at(s, out[static_cast<std::size_t>(to(index) + code->margin)]);
        };
    };
    bool all_written = true;
    for (std::int64_t k = 0; k < count; ++k) {
        for (std::size_t s = 0; s < moves.sources.size(); ++s) {
            all_written = all_written && taken(s)(unravel(k, moves.shape));
        }
    }
    if (all_written) {
        std::string text;
        for (std::size_t s = 0; s < moves.sources.size() && text.empty(); ++s) {
            text = taken_wrongly(moves, s, taken(s));
            const bool each = text.rfind("Each", 0) == 0;
            if (!text.empty() && !each && s == 0) {
                const std::string shape = filled_in_another_shape(moves, out, *code);
                if (!shape.empty()) text = shape;
            }
        }
        std::int64_t written = 0;
        for (const float value : out) written += !std::isnan(value);
        if (text.empty() && written > count) {
            text = "What belongs there is right, but " + std::to_string(written) +
                   " elements are made where it has " + std::to_string(count) + ": too many.";
        }
        return text;
    }
    bool right_so_far = true;  // as far as anything was written
    std::int64_t first_missing = -1, missing = 0;
    for (std::int64_t k = 0; k < count; ++k) {
        const Index index = unravel(k, moves.shape);
        for (std::size_t s = 0; s < moves.sources.size(); ++s) {
            const auto from = taken(s)(index);
            if (from && *from != moves.sources[s].at(index)) right_so_far = false;
            if (from || s > 0) continue;
            if (first_missing < 0) first_missing = k;
            ++missing;
        }
    }
    if (right_so_far && missing == count - first_missing && missing < count) {
        return "Right as far as it goes, but only " + std::to_string(first_missing) + " of " +
               std::to_string(count) +
               " elements are made: does each have a thread? The number of blocks has to be "
               "rounded "
               "up.";
    }
    if (moves.sources.size() > 1) return "";
    std::map<std::int64_t, std::int64_t> place;  // by element of the source: where it was written
    for (std::size_t p = 0; p < out.size(); ++p) {
        if (const auto from = code->at(0, out[p])) {
            if (!place.emplace(*from, static_cast<std::int64_t>(p) - code->margin).second)
                return "";
        }
    }
    const Offset from = moves.sources[0].at;
    bool all_there = true;
    for (std::int64_t k = 0; k < count; ++k) {
        all_there = all_there && place.count(from(unravel(k, moves.shape))) > 0;
    }
    if (!all_there) return both_wrong(moves, place, to);
    const auto got = linear(moves.shape, [&](const Index& i) { return place.at(from(i)); });
    const auto want = linear(moves.shape, to);
    if (!got || !want) return "";
    return "What belongs to " + name_of(moves) + " is written to " +
           text_of(moves.out, *got, moves.dims) + "; its place is " +
           text_of(moves.out, *want, moves.dims) + ".";
}

}  // namespace sixdays::testing
