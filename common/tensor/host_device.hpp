/// @file
/// SIXDAYS_HD marks a function that both a loop on the CPU and a kernel on the GPU may call.
#pragma once

#if defined(__CUDACC__)
// nvcc compiles the function twice: once for the CPU, once for the GPU.
#define SIXDAYS_HD __host__ __device__
#elif defined(SIXDAYS_EMULATED)
// The emulator watches every load and store of a kernel file. Were the function not inlined, the
// linker might keep the copy of some host file, whose loads and stores nobody watches.
#define SIXDAYS_HD [[gnu::always_inline]]
#else
#define SIXDAYS_HD
#endif
