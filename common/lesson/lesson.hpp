/// @file
/// The function that every day's main() calls.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "common/gpu/buffer.hpp"
#include "common/lesson/options.hpp"
#include "common/lesson/report.hpp"

namespace sixdays::lesson {

/// The contents of a day's executable.
struct Day {
    std::string title;                        ///< "Day 01, flat memory"
    std::string shows;                        ///< what it shows, in one sentence
    std::vector<void (*)(Report&)> sections;  ///< run in this order
    void (*trace)() = nullptr;  ///< --trace: the warps' memory accesses; calls lesson::trace()
    void (*bench)(Report&) = nullptr;  ///< --bench: what is measured
    std::string try_this;              ///< a change to try, as the last line
    std::vector<Flag> flags = {};      // only for this day: Report::options().own
};

/// Reads the command line and runs the day's sections in order, or --trace, --bench or --help. An
/// exception from a section is printed and ends the run.
/// @return  the program's exit status: 0 if every check held and all output was written, 2 for an
/// invalid command line, else 1
[[nodiscard]] int run(int argc, char** argv, const Day& day);

/// A row-major tensor whose element number i holds f(i).
template <class T, class F>
[[nodiscard]] Tensor<T> filled(const Shape& shape, const F& f) {
    Tensor<T> x(shape);
    for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<T>(f(i));
    return x;
}

/// Is every element of the device buffer equal to the host's, bit for bit?
template <class T>
[[nodiscard]] bool same(const gpu::Buffer<T>& got, const Tensor<T>& want) {
    const std::vector<T> host = got.download();
    return static_cast<std::int64_t>(host.size()) == want.size() &&
           std::memcmp(host.data(), want.data(), host.size() * sizeof(T)) == 0;
}

}  // namespace sixdays::lesson
