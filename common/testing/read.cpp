#include <algorithm>
#include <bit>
#include <exception>
#include <iterator>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/tensor/index.hpp"
#include "common/testing/inputs.hpp"
#include "common/testing/linear.hpp"
#include "common/testing/moved.hpp"

namespace sixdays::testing {
namespace {

// Element numbers, ascending.
using Numbers = std::vector<std::int64_t>;

// The output if element `changed` of input `of` has another value; empty if the kernel is stopped.
std::vector<float> made(const Needs& needs, const LaunchMoves& launch, std::size_t of,
                        std::int64_t changed) {
    try {
        std::int64_t room = size(needs.shape);  // on both sides, for out-of-bounds indices
        for (const Input& input : needs.inputs) room = std::max(room, size(input.shape));
        room = 4 * room + 64;
        std::vector<gpu::Buffer<float>> arrays;
        std::vector<const float*> pointers;
        for (std::size_t i = 0; i < needs.inputs.size(); ++i) {
            const std::int64_t count = size(needs.inputs[i].shape);
            Tensor<float> values = seeded<float>({count + 2 * room}, i + 1, 0.5, 2);
            if (i == of && changed >= 0) values(room + changed) += 4;  // the largest of all
            arrays.emplace_back(values);
            pointers.push_back(arrays.back().data() + room);
        }
        const std::int64_t count = size(needs.shape);
        gpu::Buffer<float> out(Tensor<float>({count + 2 * room}));
        launch(pointers, out.data() + room);
        gpu::check_pending();
        gpu::synchronize();
        return out.download(room, count);
    } catch (const std::exception&) {
        return {};
    }
}

// "in(0, 1) to in(0, 31) and in(1, 0)"
std::string text_of(const Input& input, const Numbers& elements) {
    std::string text;
    std::size_t pieces = 0;
    for (std::size_t first = 0; first < elements.size(); ++pieces) {
        std::size_t last = first;
        while (last + 1 < elements.size() && elements[last + 1] == elements[last] + 1) ++last;
        const auto name = [&](std::size_t e) {
            return input.name + to_string(unravel(elements[e], input.shape));
        };
        if (pieces == 3) return text + ", ...";
        text += (text.empty() ? "" : ", ") + name(first);
        if (last > first) text += (last > first + 1 ? " to " : ", ") + name(last);
        first = last + 1;
    }
    return text.empty() ? "nothing of " + input.name : text;
}

Numbers without(const Numbers& all, const Numbers& some) {
    Numbers rest;
    std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest));
    return rest;
}

// If each output depends on exactly one element: which one, as a formula of the index.
std::optional<Linear> single(const Needs& needs, const std::vector<Numbers>& of_outputs) {
    if (std::any_of(of_outputs.begin(), of_outputs.end(),
                    [](const Numbers& elements) { return elements.size() != 1; })) {
        return std::nullopt;
    }
    return linear(needs.shape, [&](const Index& i) {
        return of_outputs[static_cast<std::size_t>(ravel(i, needs.shape))][0];
    });
}

std::string difference(const Needs& needs, const Input& input, const std::vector<Numbers>& got,
                       const std::vector<Numbers>& want) {
    const auto wrong = std::mismatch(got.begin(), got.end(), want.begin()).first;
    if (wrong == got.end()) return "";
    const auto each_got = single(needs, got), each_want = single(needs, want);
    if (each_got && each_want) {
        return "Each " + name_of(needs.out, needs.dims) + " depends on " +
               text_of(input.name, *each_got, needs.dims) + "; it should depend on " +
               text_of(input.name, *each_want, needs.dims) + ".";
    }
    const auto at = wrong - got.begin();
    const Numbers& due = want[static_cast<std::size_t>(at)];
    const Numbers missing = without(due, *wrong), extra = without(*wrong, due);
    const std::string element = needs.out + to_string(unravel(at, needs.shape));
    if (missing.empty()) {
        return element + " depends on " + text_of(input, extra) + ", and it should not.";
    }
    if (extra.empty() && missing.size() < wrong->size()) {
        return element + " does not depend on " + text_of(input, missing) + ", and it should.";
    }
    return element + " depends on " + text_of(input, *wrong) + "; it should depend on " +
           text_of(input, due) + ".";
}

}  // namespace

std::string read_wrongly(const Needs& needs, const LaunchMoves& launch) {
    const std::vector<float> base = made(needs, launch, 0, -1);
    if (base.empty()) return "";
    for (std::size_t i = 0; i < needs.inputs.size(); ++i) {
        const Input& input = needs.inputs[i];
        std::vector<Numbers> got(base.size()), want(base.size());
        for (std::int64_t e = 0; e < size(input.shape); ++e) {
            const std::vector<float> now = made(needs, launch, i, e);
            if (now.empty()) return "";
            for (std::size_t o = 0; o < base.size(); ++o) {
                const Index index = unravel(static_cast<std::int64_t>(o), needs.shape);
                if (std::bit_cast<int>(now[o]) != std::bit_cast<int>(base[o])) got[o].push_back(e);
                if (input.needed(index, unravel(e, input.shape))) want[o].push_back(e);
            }
        }
        const std::string text = difference(needs, input, got, want);
        if (!text.empty()) return text;
    }
    return "";
}

}  // namespace sixdays::testing
