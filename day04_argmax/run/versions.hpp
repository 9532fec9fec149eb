/// @file
/// argmax and the reductions as rows of the run and of --bench: checked on a small tensor, timed on
/// a large one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/lesson/arena.hpp"
#include "common/lesson/version.hpp"
#include "day04_argmax/argmax.hpp"
#include "day04_argmax/reduce.hpp"

namespace sixdays::day04_argmax {

/// Over `dim`: checked against the CPU reference on `small`; timed on `large`, where the result
/// must equal that of another step, and that of the CPU reference for some lines.
struct ArgmaxCase {
    Shape small, large;
    int dim;
};
[[nodiscard]] lesson::Version argmax_version(ArgmaxPath path, const ArgmaxCase& shapes);
[[nodiscard]] lesson::Version reduce_version(Reduction what, ArgmaxPath path,
                                             const ArgmaxCase& shapes);

[[nodiscard]] Shape without_dim(const Shape& shape, int dim);

/// The values that inputs repeat. For sums: integers from -255 to 255, so that sums are exact in
/// any order for lines of up to 2^16. Otherwise: floats between -1 and 1. The period is a prime, so
/// no two lines of a large tensor are equal.
inline constexpr std::int64_t kPeriod = 1000003;
[[nodiscard]] std::vector<float> noise(bool whole);

/// The CPU reference of the line that belongs to the output at this index, in the row-major tensor
/// that begins at element `first` of the arena's input.
[[nodiscard]] std::int64_t argmax_of_line(const lesson::Arena& arena, const Shape& shape, int dim,
                                          const Index& at, std::int64_t first);

/// The workspace that the path needs, its counters at 0.
[[nodiscard]] std::shared_ptr<gpu::Buffer<std::byte>> workspace_for(ArgmaxPath path,
                                                                    const Shape& shape, int dim);

}  // namespace sixdays::day04_argmax
