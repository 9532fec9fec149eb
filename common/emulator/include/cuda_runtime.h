/// @file
/// The header that nvcc includes before every .cu file. Kernel files, which the emulator compiles
/// with instrumentation (-fsanitize=thread), also get the kernel language; host files only the
/// runtime API.
#pragma once

#if defined(__SANITIZE_THREAD__)
#include "emulated/memory_calls.h"
#endif

#include "cuda_runtime_api.h"

#define __CUDA_RUNTIME_H__  // include guard of CUDA's header, which programs test

#if defined(__SANITIZE_THREAD__)
#include "emulated/atomics.h"
#include "emulated/conversions.h"
#include "emulated/language.h"
#include "emulated/launch.h"
#include "emulated/more_math.h"
#include "emulated/ptx.h"
#include "emulated/warp.h"
#endif

#include "emulated/textures.h"
