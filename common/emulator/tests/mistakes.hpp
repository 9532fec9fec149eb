/// @file
/// The planted mistakes of mistakes/, by name, for the emulator and for a GPU: one a kernel, and
/// the line bears a mark with its name.
#pragma once

#include <vector>

namespace sixdays::emulator::tests {

/// A kernel with one planted mistake, and the launch that shows it.
struct Mistake {
    const char* name;
    void (*kernel)(const float* in, int n, float* out);
    int grid, block;          // blocks, threads of each
    int n;                    // elements of `in`, and of `out`
    int shared_bytes = 0;     // of dynamic shared memory
    bool out_written = true;  // `out` holds zeros; else nobody has written there
};

const std::vector<Mistake>& mistakes();
// By kind, a file each.
std::vector<Mistake> bounds_mistakes();
std::vector<Mistake> races_mistakes();
std::vector<Mistake> fences_mistakes();
std::vector<Mistake> barriers_mistakes();
std::vector<Mistake> others_mistakes();

/// Launches its kernel once. In and out are device memory, n elements each. After it, on a GPU, the
/// process may be good for nothing more.
void launch(const Mistake& mistake, const float* in, float* out);

}  // namespace sixdays::emulator::tests
