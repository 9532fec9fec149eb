/// @file
/// Device variables that are defined in a header.
#pragma once

static __constant__ int header_ones[2] = {1, 1};
static __device__ int header_count = 0, header_other;
