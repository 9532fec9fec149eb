/// @file
/// What clangd includes before a .cu file, so that an editor knows what a kernel names, without
/// nvcc and without the CUDA Toolkit: clang's own CUDA language over the emulator's declarations.
/// Nothing is compiled with it; CMakeLists.txt beside it writes the commands that name it.
#pragma once

#include <exception>
#include <new>
#include <optional>  // before the pragma, as its exception overrides one of <exception>
#define __CLANG_CUDA_WRAPPERS_NEW  // done
#include <version>

// A kernel calls functions that the emulator declares for the CPU.
#pragma clang force_cuda_host_device begin

#if !__has_builtin(__builtin_source_location)  // clang before version 16
namespace std {
struct source_location {
    static constexpr source_location current() noexcept { return {}; }
    constexpr unsigned line() const noexcept { return 0; }
    constexpr const char* file_name() const noexcept { return ""; }
    constexpr const char* function_name() const noexcept { return ""; }
};
}  // namespace std
#endif

// A launch, as clang sees it; the second is what clang 19 calls where it finds no CUDA Toolkit.
extern "C" int __cudaPushCallConfiguration(...);
extern "C" int cudaConfigureCall(...);

#define __SANITIZE_THREAD__ 1  // a kernel file, says cuda_runtime.h
#include "cuda_runtime.h"
#undef __global__
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
