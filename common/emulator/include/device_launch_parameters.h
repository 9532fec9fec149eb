/// @file
/// threadIdx and its kin are part of cuda_runtime.h here.
#pragma once
#include "cuda_runtime.h"
