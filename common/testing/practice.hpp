/// @file
/// For the cases of exercises of one file, whose launchers take plain pointers:
///
///     practise<float>({n}, [&](float* out) { guard(in.view().data, n, out); },
///                     [&](std::int64_t k) { return 3 * x(k); },
///                     {{"Only whole blocks were launched", [&](std::int64_t k) { ... }}});
#pragma once

#include <cmath>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/testing/testing.hpp"

namespace sixdays::testing {

/// What may have been done instead, and element k of what comes of it. NAN: never written.
struct Guess {
    std::string sentence;
    std::function<double(std::int64_t)> at;
};

/// The sentence of the only guess that makes all of `got`; "" if none does, or guesses differ.
template <class T>
std::string guessed(const Tensor<T>& got, const std::vector<Guess>& guesses) {
    std::string found;
    for (const Guess& guess : guesses) {
        bool all = true;
        for (std::int64_t k = 0; all && k < got.size(); ++k) {
            const double x = static_cast<double>(got.data()[k]), y = guess.at(k);
            all = std::isnan(y)   ? std::isnan(x) || (!std::is_floating_point_v<T> && x == -1)
                  : std::isinf(y) ? x == y
                                  : std::abs(x - y) <= 1e-3 * (std::abs(y) + 1e-3);
        }
        if (!all) continue;
        if (!found.empty() && found != guess.sentence) return "";
        found = guess.sentence;
    }
    return found;
}

/// Advice for one kind of error only: where the emulator stops a kernel in one of these words.
struct Advice {
    std::vector<std::string> words;
    std::string sentence;
};

inline const Advice kShuffles = {
    {"warp call", "asks for the value of lane"},
    "All 32 lanes must come to every shuffle, so none may stand inside of an `if`, and no lane may "
    "leave before it: one without an element takes part with a number that changes nothing."};

/// Runs the launches to their end.
inline void finish(const std::function<void()>& launches, const Advice& advice = {}) {
    std::string error, sentence;
    try {
        launches();
        gpu::synchronize();
    } catch (const std::exception& stopped) {
        error = stopped.what();
    }
    for (const std::string& words : advice.words) {
        if (contains(error, words)) sentence = advice.sentence;
    }
    INFO(sentence);
    if (!error.empty()) FAIL(error);
}

/// Where the cause of a wrong result is known, what the comparison makes of it by itself is left
/// out: how many are wrong and the first of them are enough.
inline void require(Comparison same, const std::string& cause) {
    if (!cause.empty()) same.text = same.text.substr(0, same.text.find('\n'));
    INFO(cause);
    REQUIRE(same);
}

/// Runs a launcher on a poisoned output of this shape, and holds each element k, counted row-major,
/// against want(k): equal, or no farther off than `bound`. A wrong result that is just what a guess
/// makes is told in its sentence.
template <class T>
void practise(const Shape& shape, const std::function<void(T*)>& launch,
              const std::function<double(std::int64_t)>& want,
              const std::vector<Guess>& guesses = {}, double bound = 0,
              const Advice& if_stopped = {}) {
    DeviceOut<T> got(shape);
    finish([&] { launch(got.view().data); }, if_stopped);
    try {
        gpu::check_pending();
    } catch (const std::exception& error) {
        const std::string said = error.what(), advice = "missing after a launch? ";
        const std::size_t end = said.find(advice);  // which is for launchers of ours
        FAIL("The launch was refused. "
             << (end == said.npos ? said : said.substr(end + advice.size())));
    }
    Tensor<double> right(shape);
    for (std::int64_t k = 0; k < right.size(); ++k) right.data()[k] = want(k);
    const Comparison same = got.close_to(right, bound);
    require(same, same ? std::string() : guessed(got.values(), guesses));
}

/// What the launch touched; a GPU does not tell.
inline gpu::Touched touched_by(const std::function<void()>& launch) {
    const auto touched = gpu::touched(launch);
    REQUIRE(touched.has_value() == gpu::is_emulated());
    REQUIRE_NOTHROW(gpu::synchronize());
    return touched.value_or(gpu::Touched{});
}

}  // namespace sixdays::testing
