/// @file
/// The planted bugs of mistakes/, by name, for the emulator and for a GPU: one per kernel, whose
/// line is marked with the name.
#pragma once

#include <vector>

namespace sixdays::emulator::tests {

/// A kernel with one planted bug, and the launch that exposes it.
struct Mistake {
    const char* name;
    void (*kernel)(const float* in, int n, float* out);
    int grid, block;          // blocks, threads of each
    int n;                    // elements of `in`, and of `out`
    int shared_bytes = 0;     // dynamic
    bool out_written = true;  // `out` is zeroed; otherwise it is unwritten
};

const std::vector<Mistake>& mistakes();
// By kind, one file each.
std::vector<Mistake> bounds_mistakes();
std::vector<Mistake> races_mistakes();
std::vector<Mistake> fences_mistakes();
std::vector<Mistake> barriers_mistakes();
std::vector<Mistake> others_mistakes();

/// Launches its kernel once. `in` and `out` are device memory, n elements each. On a GPU, the
/// process may be unusable afterwards.
void launch(const Mistake& mistake, const float* in, float* out);

}  // namespace sixdays::emulator::tests
