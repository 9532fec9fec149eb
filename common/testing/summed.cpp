#include "common/testing/moved.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/tensor/index.hpp"
#include "common/testing/linear.hpp"

namespace sixdays::testing {
namespace {

// Positions of the terms of one output: `first`, then every `step`; empty if unknown.
struct Row {
    std::int64_t count = 0;
    std::optional<std::int64_t> first;
    std::int64_t step = 0;
};

// Entry d: how many of the elements taken have bit d set in their position.
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

// What each output took from one factor.
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
        gpu::Buffer<float> out(size(sums.shape));
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
    const std::int64_t outputs = size(sums.shape);
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
    const std::string mirror = mirrored(sums.shape, [&](const Index& i, const Index& of) {
        const Row& mine = got[static_cast<std::size_t>(ravel(i, sums.shape))];
        const Row& theirs = want[static_cast<std::size_t>(ravel(of, sums.shape))];
        return mine.first && mine.count == theirs.count && mine.first == theirs.first &&
               mine.step == theirs.step;
    });
    return sums.out + to_string(unravel(wrong, sums.shape)) + " takes " + taken_there +
           (taken_there == due ? ", and not the right ones" : "; it should take " + due) +
           (mirror.empty() ? "." : ": " + mirror);
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
            return "With 0 in place of every element of " + factor.name + " the result is not 0: " +
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
           ", but pairs them wrongly: multiply those of the same k.";
}
}  // namespace sixdays::testing
