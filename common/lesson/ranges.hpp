/// @file
/// Ranges for a profiler: names on Nsight Systems' time line, above the kernels that ran meanwhile.
/// They are NVTX calls, whose header comes with the CUDA Toolkit and needs no library. In a program
/// that was built without it, a range does nothing.
///
///     nsys profile --trace cuda,nvtx build/default/bin/day05_matmul --no-timing
///     nsys stats --report nvtx_gpu_proj_sum report1.nsys-rep
#pragma once

#include <string>

namespace sixdays::lesson {

/// The stretch of a run from the constructor to the destructor, under a name. Ranges of one thread
/// nest: the one that was begun last ends first.
class Range {
public:
    explicit Range(const std::string& name);
    ~Range();
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
};

}  // namespace sixdays::lesson
