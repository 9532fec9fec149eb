/// @file
/// threadIdx and the like are declared by cuda_runtime.h here.
#pragma once
#include "cuda_runtime.h"
