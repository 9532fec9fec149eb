/// @file
/// Clusters of blocks: kernels that are right, kernels that are not, and how they are launched.
#pragma once

#include <vector>

namespace sixdays::emulator::tests {

struct ClusterCase {
    const char* name;          // a mistake's line bears `MARK name`
    void (*launch)(int* out);  // 64 ints of device memory, each -1
};
const std::vector<ClusterCase>& clusters();

}  // namespace sixdays::emulator::tests
