/// @file
/// Programs include this one out of habit; of the driver's own calls (cuLaunchKernel) there are none.
#pragma once
#include "cuda_runtime.h"
#define CUDA_VERSION 13000
