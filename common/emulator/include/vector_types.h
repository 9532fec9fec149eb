/// @file
/// float4, uint3, dim3 and the like are declared by cuda_runtime.h here.
#pragma once
#include "emulated/vector_types.h"
