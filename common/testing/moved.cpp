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
    const auto add = [&text](std::int64_t n, const std::string& letter) {
        if (n == 0) return;
        text += text.empty() ? (n < 0 ? "-" : "") : (n < 0 ? " - " : " + ");
        const std::int64_t size = std::abs(n);
        if (size != 1 || letter.empty()) text += std::to_string(size);
        if (!letter.empty()) text += (size != 1 ? " " : "") + letter;
    };
    for (std::size_t d = 0; d < dims.size(); ++d) {
        add(at.step[static_cast<int>(d)], std::string(1, dims[d]));
    }
    add(at.base, "");
    return array + "[" + (text.empty() ? "0" : text) + "]";
}

std::string text_of(const std::string& array, std::int64_t at) {
    return array + "[" + std::to_string(at) + "]";
}

// "out(b, t)"
std::string name_of(const Moves& moves) {
    if (!moves.element.empty()) return moves.element;
    std::string text = moves.out + "(";
    for (std::size_t d = 0; d < moves.dims.size(); ++d) {
        text += (d > 0 ? ", " : "") + std::string(1, moves.dims[d]);
    }
    return text + ")";
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

}  // namespace

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
        }
        return text;
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
    for (std::int64_t k = 0; k < count; ++k) {
        if (place.count(from(unravel(k, moves.shape))) == 0) return "";
    }
    const auto got = linear(moves.shape, [&](const Index& i) { return place.at(from(i)); });
    const auto want = linear(moves.shape, to);
    if (!got || !want) return "";
    return "What belongs to " + name_of(moves) + " is written to " +
           text_of(moves.out, *got, moves.dims) + "; its place is " +
           text_of(moves.out, *want, moves.dims) + ".";
}

}  // namespace sixdays::testing
