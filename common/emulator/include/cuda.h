/// @file
/// Included by many programs without need; the driver API (cuLaunchKernel) is not supported.
#pragma once
#include "cuda_runtime.h"
#define CUDA_VERSION 13000
