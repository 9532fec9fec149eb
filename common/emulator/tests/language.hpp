/// @file
/// One task, block-wise reversal of 64 numbers, in every spelling that CUDA programs are written
/// in.
#pragma once

namespace sixdays::emulator::tests {

struct Spelling {
    const char* name;
    void (*reverse)(const int* in, int* out);  // 64 numbers each, device memory
};

extern const Spelling kSpellings[];
extern const int kSpellingCount;

/// A kernel called without <<<>>>: by host code, and by a kernel.
void call_like_a_function(int* out);
void call_from_a_kernel(int* out);
/// A launch within a kernel.
void launch_from_a_kernel(int* out);
/// 100 KB of dynamic shared memory, with and without asking for it, by a pointer to the kernel.
void much_shared_memory(int* out, int bytes_asked);

}  // namespace sixdays::emulator::tests
