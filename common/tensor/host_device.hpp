/// @file
/// SIXDAYS_HD marks a function that CPU code and kernels may call.
#pragma once

#if defined(__CUDACC__)
// nvcc compiles the function twice: once for the CPU, once for the GPU.
#define SIXDAYS_HD __host__ __device__
#elif defined(SIXDAYS_EMULATED)
// The emulator instruments every load and store of a kernel file. If the function were not inlined,
// the linker could keep the copy from a host file, which is not instrumented.
#define SIXDAYS_HD [[gnu::always_inline]]
#else
#define SIXDAYS_HD
#endif
