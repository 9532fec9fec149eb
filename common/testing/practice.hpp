/// @file
/// For the cases of exercises of one file, whose launchers take plain pointers:
///
///     practise<float>({n}, [&](float* out) { guard(in.view().data, n, out); },
///                     [&](std::int64_t k) { return 3 * x(k); },
///                     {{"Only whole blocks were launched", [&](std::int64_t k) { ... }}});
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/graph.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/moved.hpp"
#include "common/testing/testing.hpp"

namespace sixdays::testing {

/// A likely mistake, by what it makes of the result.
struct Guess {
    /// What to say to the learner.
    std::string sentence;
    /// Element k of the result that the mistake gives; NAN: never written.
    std::function<double(std::int64_t)> at;
    std::function<bool(std::int64_t, double got)> is = {};  // instead: may element k be `got`?
};

/// The sentence of the only guess that explains all of `got`; "" if none or several do.
template <class T>
std::string guessed(const Tensor<T>& got, const std::vector<Guess>& guesses) {
    std::string found;
    for (const Guess& guess : guesses) {
        bool all = true;
        for (std::int64_t k = 0; all && k < got.size(); ++k) {
            const double x = static_cast<double>(got.data()[k]);
            if (guess.is) {
                all = guess.is(k, x);
                continue;
            }
            const double y = guess.at(k);
            all = std::isnan(y)
                      ? std::isnan(x) || (!std::is_floating_point_v<T> && x == static_cast<T>(-1))
                  : std::isinf(y) ? x == y
                                  : std::abs(x - y) <= 1e-3 * (std::abs(y) + 1e-3);
        }
        if (!all) continue;
        if (!found.empty() && found != guess.sentence) return "";
        found = guess.sentence;
    }
    return found;
}

/// Advice for one kind of error: the emulator's report contains one of these words.
struct Advice {
    /// The emulator's report contains one of these.
    std::vector<std::string> words;
    /// What to say to the learner.
    std::string sentence;
    std::function<bool(const std::string& error)> holds = {};  // empty: always
    std::vector<Advice> otherwise = {};  ///< for other errors, the first that applies

    /// The sentence for this error, or "".
    std::string about(const std::string& error) const {
        for (const std::string& some : words) {
            if (contains(error, some) && (!holds || holds(error))) return sentence;
        }
        for (const Advice& other : otherwise) {
            if (const std::string text = other.about(error); !text.empty()) return text;
        }
        return "";
    }
};

/// For kernels with shuffles.
inline const Advice kShuffles = {
    {"warp call", "reads the value of lane"},
    "All 32 lanes must reach every shuffle, and its mask, 0xffffffff, names them all. So no "
    "shuffle "
    "may be inside an `if`, and no lane may leave before it: a lane without an element takes part "
    "with the identity."};

/// For two threads that write the same element, and should not.
inline Advice one_writer(const std::string& sentence) {
    return {{"Two blocks access the same word", "so blocks overlap",
             "Both write it from the same line"},
            sentence};
}

/// For a kernel that computes its multi-index with unravel(), in blocks of 256 threads: is the
/// reported thread past the last element?
inline Advice surplus_threads(std::int64_t elements) {
    Advice advice = one_writer(
        "Threads past the last element write too: for them unravel() starts over at the first "
        "element. Is the guard missing, `if (k < out.size())`?");
    advice.holds = [elements](const std::string& error) {
        const std::size_t at = error.find(": thread (");
        long long thread = 0, block = 0;
        return at != std::string::npos &&
               std::sscanf(error.c_str() + at, ": thread (%lld,0,0) of block (%lld,", &thread,
                           &block) == 2 &&
               256 * block + thread >= elements;
    };
    return advice;
}

/// Called only after a failure: the cause, or "".
using Why = std::function<std::string()>;

/// Runs the launches and waits for them.
inline void finish(const std::function<void()>& launches, const Advice& advice = {},
                   const Why& why = {}) {
    std::string error;
    try {
        launches();
        gpu::synchronize();
    } catch (const std::exception& stopped) {
        error = stopped.what();
    }
    std::string sentence = advice.about(error);
    if (sentence.empty() && !error.empty() && why) sentence = why();
    INFO(sentence);
    if (!error.empty()) FAIL(error);
}

/// If the cause of a wrong result is known, the comparison's own guess is left out: the number of
/// wrong elements and the first of them are enough.
inline void require(Comparison same, const std::string& cause) {
    if (!cause.empty()) same.text = same.text.substr(0, same.text.find('\n'));
    INFO(cause);
    REQUIRE(same);
}

/// Runs a launcher on a poisoned output of this shape and compares each element k, counted
/// row-major, with want(k): equal, or within `bound`, a number or a function of the index. A wrong
/// result that matches a guess is reported with its sentence.
template <class T, class B = double>
void practise(const Shape& shape, const std::function<void(T*)>& launch,
              const std::function<double(std::int64_t)>& want,
              const std::vector<Guess>& guesses = {}, const B& bound = 0,
              const Advice& if_stopped = {}, const Why& why = {}) {
    DeviceOut<T> got(shape);
    finish([&] { launch(got.view().data); }, if_stopped, why);
    try {
        gpu::check_pending();
    } catch (const std::exception& error) {
        const std::string said = error.what(), advice = "missing after a launch? ";
        const std::size_t end = said.find(advice);  // meant for our own launchers
        FAIL("The launch was rejected. "
             << (end == said.npos ? said : said.substr(end + advice.size())));
    }
    Tensor<double> right(shape);
    for (std::int64_t k = 0; k < right.size(); ++k) right.data()[k] = want(k);
    Comparison same = got.close_to(right, bound);
    // The owner of a wrong value is meaningful only if all expected values differ.
    std::vector<double> values(right.data(), right.data() + right.size());
    std::sort(values.begin(), values.end());
    const std::size_t last_line = same.text.rfind('\n');
    if (last_line != std::string::npos &&
        same.text.find(" is the expected value of", last_line) != std::string::npos &&
        std::adjacent_find(values.begin(), values.end()) != values.end()) {
        same.text.resize(last_line);
    }
    std::string cause = same ? std::string() : guessed(got.values(), guesses);
    if (!same && cause.empty() && why) cause = why();
    require(same, cause);
}

/// Runs and compares a launcher that moves the numbers 1, 2, 3, ...; a failure also says which
/// elements it moved instead.
inline void practise(const Moves& moves, const LaunchMoves& launch,
                     const std::vector<Guess>& guesses = {}, const Advice& if_stopped = {}) {
    const Source& in = moves.sources.at(0);
    DeviceIn<float> numbers(distinct<float>({in.size}));
    practise<float>(
        moves.shape, [&](float* out) { launch({numbers.view().data}, out); },
        [&](std::int64_t k) { return static_cast<double>(in.at(unravel(k, moves.shape))) + 1; },
        guesses, 0, if_stopped, [&] { return moved_wrongly(moves, launch); });
}

/// For launchers that take views: runs one, and compares its output with `want`.
template <class Got, class Want>
void practise_port(const std::function<void()>& launch, Got& got, const Want& want, const Why& why,
                   const Advice& if_stopped = {}) {
    finish(launch, if_stopped, why);
    REQUIRE_NOTHROW(gpu::check_pending());
    const Comparison same = got.matches(want);
    require(same, same ? std::string() : why());
}

/// For a launcher that the learner writes: does it launch on the given stream, and report a failed
/// launch?
inline void check_launcher(const std::function<void(gpu::Stream)>& launcher) {
    {
        INFO(
            "The launcher gets a stream, and may only launch there: the stream is the fourth "
            "launch parameter, kernel<<<grid, block, 0, stream>>>(...).");
        const auto captured = [&] {
            const gpu::Graph graph(launcher);
            gpu::check_pending();
        };
        REQUIRE_NOTHROW(captured());
    }
    bool noticed = false;
    const bool rejected = gpu::run_rejected([&] {
        try {
            launcher({});
        } catch (const std::exception&) {
            noticed = true;
        }
    });
    INFO(
        "The launch was made to fail, and the launcher returned as if it had succeeded. A launch "
        "returns nothing: call gpu::check_launch(\"name_of_the_kernel\", grid, block) right after "
        "it, which throws if the launch failed.");
    REQUIRE(noticed == rejected);
}

/// For a kernel with a warp per row, blocks of 8 warps and inputs of the output's shape (M, N): are
/// the last rows of a matrix beyond 32 bits those of a small one? `launch` passes `in` as each input.
inline void check_far_rows(
    const std::function<void(View<const float> in, View<float> out)>& launch) {
    const std::int64_t N = 32, M = kBeyond32Bits / N, rows = 8;
    Tensor<float> numbers({rows, N});  // as far_constants() ends
    for (std::int64_t i = 0; i < rows * N; ++i) {
        numbers.data()[i] = static_cast<float>(1024 - rows * N + i) + 0.5f;
    }
    DeviceIn<float> in(numbers);
    DeviceOut<float> few({rows, N});
    launch(in.view(), few.view());
    const Tensor<float> want = few.values();
    FarEnd<float> out(M * N, distinct<float>({1024}, 5000));
    INFO(needs_64_bits(M * N));
    const auto last = [&] {
        launch({far_constants(M * N), Shape{M, N}}, {out.data(), Shape{M, N}});
    };
    if (gpu::run_last_block(last)) {
        REQUIRE_NOTHROW(gpu::synchronize());
        REQUIRE(equal(out.last(rows * N), reshape(want.view(), {rows * N})));
    } else {
        SUCCEED("not run on a GPU: this memory is not allocated there");
    }
}

/// The memory accesses of the launch; all zeros on a GPU, which does not count them.
inline gpu::Touched touched_by(const std::function<void()>& launch) {
    const auto touched = gpu::touched(launch);
    REQUIRE(touched.has_value() == gpu::is_emulated());
    REQUIRE_NOTHROW(gpu::synchronize());
    return touched.value_or(gpu::Touched{});
}

}  // namespace sixdays::testing
