/// @file
/// Ranges for a profiler: names on the timeline of Nsight Systems, above the kernels they cover.
/// They are NVTX calls, whose header comes with the CUDA Toolkit and needs no library. In a program
/// built without it, a range does nothing.
///
///     nsys profile --trace cuda,nvtx build/default/bin/day05_matmul --no-timing
///     nsys stats --report nvtx_gpu_proj_sum report1.nsys-rep
#pragma once

#include <string>

namespace sixdays::lesson {

/// A named range from the constructor to the destructor. Ranges of one thread nest: the last one
/// started ends first.
class Range {
public:
    /// Starts a range of this name.
    explicit Range(const std::string& name);
    /// Ends it.
    ~Range();
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
};

}  // namespace sixdays::lesson
