/// @file
/// Operations as rows of the run and of --bench, timed on longer tensors than those that the run
/// checks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/lesson/arena.hpp"
#include "common/lesson/report.hpp"
#include "day01_flat_memory/elementwise.hpp"

namespace sixdays::day01_flat_memory {

/// Inputs and expected outputs are computed on the host for this many elements, then repeated.
inline constexpr std::int64_t kPart = std::int64_t{1} << 24;

/// An operation and its inputs: x[i] = i, y[i] = 10^6 - i.
struct Operation {
    const char* name;
    int inputs;
    double flops;  // per element
    std::function<void(const float* x, const float* y, std::int64_t n, float* out)> loop;
    std::function<void(ElementwisePath path, View<const float> x, View<const float> y,
                       View<float> out, gpu::Stream stream)>
        port;
};

[[nodiscard]] inline View<const float> flat(const float* data, std::int64_t n) {
    return {data, Shape{n}};
}
[[nodiscard]] inline View<float> flat(float* data, std::int64_t n) {
    return {data, Shape{n}};
}

/// Addition, and the description that all rows share. @param element  bytes per element
[[nodiscard]] const Operation& addition();
[[nodiscard]] lesson::Version row(const std::string& op, const std::string& version,
                                  const Shape& shape, int element, double inputs, double flops);

/// Where tensors begin, in elements past a multiple of 16 bytes.
struct Place {
    const char* name = "all aligned";
    std::int64_t in = 0, out = 0;
};
inline constexpr Place kPlaces[] = {
    {"all aligned", 0, 0}, {"all 4 bytes past", 1, 1}, {"inputs 4 bytes past", 1, 0}};

/// The CPU reference of add and the tensors it is timed on; the caller sets `check`.
[[nodiscard]] lesson::Version loop_of_add();

/// Device memory for the timed runs of add: inputs and expected output. nullptr where kernels are
/// not timed.
using Timed = std::shared_ptr<lesson::Arena>;
[[nodiscard]] Timed memory_of_add(const lesson::Report& report);

/// The kernel of `path` on tensors at `place`; the caller sets `check`.
[[nodiscard]] lesson::Version port_of_add(ElementwisePath path, const Place& place,
                                          const Timed& memory);

/// The same for any operation, on n floats.
[[nodiscard]] Timed memory_of(const Operation& op, std::int64_t n);
[[nodiscard]] lesson::Version port_of(const Operation& op, ElementwisePath path, const Place& at,
                                      std::int64_t n, const Timed& memory);

}  // namespace sixdays::day01_flat_memory
