/// @file
/// Clusters of blocks: correct and buggy kernels, and their launches.
#pragma once

#include <vector>

namespace sixdays::emulator::tests {

struct ClusterCase {
    const char* name;          // the line of a bug has the comment `MARK name`
    void (*launch)(int* out);  // 64 ints of device memory, each -1
};
const std::vector<ClusterCase>& clusters();

}  // namespace sixdays::emulator::tests
