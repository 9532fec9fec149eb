/// @file
/// float4, uint3, dim3 and the like are part of cuda_runtime.h here.
#pragma once
#include "emulated/vector_types.h"
