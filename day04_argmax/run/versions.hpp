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

/// Over `dim`: checked against the loop on `small`, timed on `large`, where it must give what
/// another step gives, and for some lines what the loop gives.
struct ArgmaxCase {
    Shape small, large;
    int dim;
};
[[nodiscard]] lesson::Version argmax_version(ArgmaxPath path, const ArgmaxCase& shapes);
[[nodiscard]] lesson::Version reduce_version(Reduction what, ArgmaxPath path,
                                             const ArgmaxCase& shapes);

[[nodiscard]] Shape without_dim(const Shape& shape, int dim);

/// What inputs are filled with, again and again. Whole numbers from -255 to 255 for sums, which are
/// then exact in any order for lines of up to 2^16; else anything between -1 and 1. So many that no
/// two lines of a large tensor are alike: a prime.
inline constexpr std::int64_t kPeriod = 1000003;
[[nodiscard]] std::vector<float> noise(bool whole);

/// What the loop says of the line that the output at this index looks at, in the row-major tensor
/// that begins at element `first` of the arena's input.
[[nodiscard]] std::int64_t argmax_of_line(const lesson::Arena& arena, const Shape& shape, int dim,
                                          const Index& at, std::int64_t first);

/// The workspace that the path needs, its counters at 0.
[[nodiscard]] std::shared_ptr<gpu::Buffer<std::byte>> workspace_for(ArgmaxPath path,
                                                                    const Shape& shape, int dim);

}  // namespace sixdays::day04_argmax
