/// @file
/// The type of a CUDA stream, without a CUDA header: host code names it, only .cu files use it.
#pragma once

struct CUstream_st;  // what cudaStream_t points to

namespace sixdays::gpu {

/// A queue of GPU work that runs in order. A null pointer, as `{}` is, means CUDA's default stream.
using Stream = ::CUstream_st*;

}  // namespace sixdays::gpu
