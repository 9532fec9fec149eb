/// @file
/// In NCCL's place: what nccl_sum.cu asks of it. It adds up on the host, but fetches and brings in
/// the streams that it is given, so that the emulator sees what nothing orders; and it fails where
/// a test wants it to.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

enum ncclResult_t { ncclSuccess, ncclUnhandledCudaError };
enum ncclDataType_t { ncclFloat, ncclDouble };
enum ncclRedOp_t { ncclSum, ncclMax };
using ncclComm_t = struct Communicator*;

const char* ncclGetErrorString(ncclResult_t code);
const char* ncclGetLastError(ncclComm_t comm);
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int gpus, const int* which);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state);
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);

// The emulator is one GPU. Names of the namespace go before CUDA's.
namespace sixdays::day06_transformer_ops {
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int gpu);
}  // namespace sixdays::day06_transformer_ops
