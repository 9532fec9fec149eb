/// @file
/// The older name of CUDA's interface to asynchronous copies.
#pragma once

#include "cuda_pipeline_primitives.h"
