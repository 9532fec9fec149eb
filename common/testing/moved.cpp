#include "common/testing/moved.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <optional>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/index.hpp"
#include "common/testing/linear.hpp"

namespace sixdays::testing {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 24;  // a float holds all integers up to here

std::string element_of(const Moves& moves) {
    return moves.element.empty() ? name_of(moves.out, moves.dims) : moves.element;
}

// One digit of base `radix` per source, all of them in one float.
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

// The values written to `out`, starting `margin` positions before its first element. Empty if the
// kernel was stopped here too.
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

// Was `out` filled as if the extents of its two dimensions were exchanged?
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

using Taken = std::function<std::optional<std::int64_t>(const Index&)>;

// Every element was written at the right position. Which source elements were taken?
std::string taken_wrongly(const Moves& moves, std::size_t s, const Taken& taken) {
    const Source& source = moves.sources[s];
    const auto got = linear(moves.shape, [&](const Index& index) { return *taken(index); });
    const auto want = linear(moves.shape, source.at);
    for (std::int64_t k = 0; k < size(moves.shape); ++k) {
        const Index index = unravel(k, moves.shape);
        if (*taken(index) == source.at(index)) continue;
        if (got && want) {
            return "Each " + element_of(moves) + " gets " + text_of(source.name, *got, moves.dims) +
                   "; it should get " + text_of(source.name, *want, moves.dims) + ".";
        }
        const std::string mirror = mirrored(moves.shape, [&](const Index& i, const Index& of) {
            return *taken(i) == source.at(of);
        });
        return moves.out + to_string(index) + " gets " + text_of(source.name, *taken(index)) +
               "; it should get " + text_of(source.name, source.at(index)) +
               (mirror.empty() ? "." : ": " + mirror);
    }
    return "";
}

// Both source and destination are wrong: assigns the written elements, sorted by position, to the
// indices in row-major order.
std::string both_wrong(const Moves& moves, const std::map<std::int64_t, std::int64_t>& place,
                       const Offset& to) {
    if (static_cast<std::int64_t>(place.size()) != size(moves.shape) || moves.to) return "";
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

// Which elements were written at the right position.
struct Made {
    std::int64_t missing = 0, first_missing = -1;
    bool right = true;     // so far
    bool complete = true;  // of each source
};

Made made(const Moves& moves, const std::function<Taken(std::size_t)>& taken) {
    Made made;
    for (std::int64_t k = 0; k < size(moves.shape); ++k) {
        const Index index = unravel(k, moves.shape);
        for (std::size_t s = 0; s < moves.sources.size(); ++s) {
            const auto from = taken(s)(index);
            if (from && *from != moves.sources[s].at(index)) made.right = false;
            if (!from) made.complete = false;
            if (from || s > 0) continue;
            if (made.first_missing < 0) made.first_missing = k;
            ++made.missing;
        }
    }
    return made;
}

// Only the last elements are missing, and nothing was written elsewhere.
std::string ends_early(const Moves& moves, std::int64_t made) {
    const std::int64_t count = size(moves.shape);
    const std::string all = std::to_string(count);
    const auto threads = gpu::threads_launched();
    return "All written values are right, but only " + std::to_string(made) + " of " + all +
           " elements are written" +
           (!threads ? ". Does each have a thread, and does each thread reach its own?"
            : *threads < count
                ? ": does each have a thread? There are " + std::to_string(*threads) +
                      ": round the number of blocks up, or let each thread process several."
                : ", and there are " + std::to_string(*threads) +
                      " threads. Does the guard exclude some that have an element? Are there "
                      "enough "
                      "along each dimension, that is, is each number of blocks rounded up? Is "
                      "blockIdx.x multiplied by blockDim.x, and blockIdx.y by blockDim.y?");
}

// The right elements were written to wrong positions. Which ones?
std::string put_wrongly(const Moves& moves, const std::map<std::int64_t, std::int64_t>& place,
                        const Offset& to) {
    const Offset from = moves.sources[0].at;
    for (std::int64_t k = 0; k < size(moves.shape); ++k) {
        if (place.count(from(unravel(k, moves.shape))) == 0) return both_wrong(moves, place, to);
    }
    const auto got = linear(moves.shape, [&](const Index& i) { return place.at(from(i)); });
    const auto want = linear(moves.shape, to);
    if (!got || !want) return "";
    return "What belongs to " + element_of(moves) + " is written to " +
           text_of(moves.out, *got, moves.dims) + "; its place is " +
           text_of(moves.out, *want, moves.dims) + ".";
}

// All elements have been written.
std::string all_taken_wrongly(const Moves& moves, const std::vector<float>& out, const Code& code,
                              const std::function<Taken(std::size_t)>& taken) {
    for (std::size_t s = 0; s < moves.sources.size(); ++s) {
        const std::string text = taken_wrongly(moves, s, taken(s));
        if (text.empty()) continue;
        const bool each = text.rfind("Each", 0) == 0;
        const std::string shape = each || s > 0 ? "" : filled_in_another_shape(moves, out, code);
        return shape.empty() ? text : shape;
    }
    return "";
}

}  // namespace

std::string moved_wrongly(const Moves& moves, const LaunchMoves& launch) {
    const std::int64_t count = size(moves.shape);
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
    const std::int64_t written =
        std::count_if(out.begin(), out.end(), [](float x) { return !std::isnan(x); });
    const Made so_far = made(moves, taken);
    if (so_far.complete) {
        const std::string text = all_taken_wrongly(moves, out, *code, taken);
        if (!text.empty() || written <= count) return text;
        return "The elements that belong there are right, but " + std::to_string(written) +
               " elements are written instead of " + std::to_string(count) + ": too many.";
    }
    if (so_far.right && so_far.missing == count - so_far.first_missing &&
        written == count - so_far.missing && written > 0) {
        return ends_early(moves, written);
    }
    if (moves.sources.size() > 1) return "";
    std::map<std::int64_t, std::int64_t> place;  // by element of the source: where it was written
    for (std::size_t p = 0; p < out.size(); ++p) {
        const auto from = code->at(0, out[p]);
        const std::int64_t at = static_cast<std::int64_t>(p) - code->margin;
        if (from && !place.emplace(*from, at).second) return "";
    }
    return put_wrongly(moves, place, to);
}

}  // namespace sixdays::testing
