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

/// The sentence of the only guess that makes all of `got`; "" if none does, or two do.
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
        if (!found.empty()) return "";
        found = guess.sentence;
    }
    return found;
}

/// Runs a launcher on a poisoned output of this shape, and holds each element k, counted row-major,
/// against want(k): equal, or no farther off than `bound`. A wrong result that is just what a guess
/// makes is told in its sentence.
template <class T>
void practise(const Shape& shape, const std::function<void(T*)>& launch,
              const std::function<double(std::int64_t)>& want,
              const std::vector<Guess>& guesses = {}, double bound = 0) {
    DeviceOut<T> got(shape);
    launch(got.view().data);
    REQUIRE_NOTHROW(gpu::synchronize());
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
    INFO((same ? std::string() : guessed(got.values(), guesses)));
    REQUIRE(same);
}

/// What the launch touched; a GPU does not tell.
inline gpu::Touched touched_by(const std::function<void()>& launch) {
    const auto touched = gpu::touched(launch);
    REQUIRE(touched.has_value() == gpu::is_emulated());
    REQUIRE_NOTHROW(gpu::synchronize());
    return touched.value_or(gpu::Touched{});
}

}  // namespace sixdays::testing
