/// @file
/// Shared by the source files of the cuBLAS shim.
#pragma once

#include <cstdint>

#include "common/emulator/libraries/device_matrix.hpp"
#include "cublas_v2.h"

/// A handle only holds the modes.
struct cublasContext {
    cudaStream_t stream = nullptr;
    cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
};

namespace sixdays::emulator {

/// One matrix product: the arguments of all GEMM functions of cuBLAS.
struct Product {
    const char* call;
    const void* caller;
    cublasOperation_t transa, transb;
    std::int64_t m, n, k;
    struct Operand {
        const void* data;
        cudaDataType type;
        std::int64_t lead;
        cublasOperation_t transposed = CUBLAS_OP_N;
    } a, b, c, d;  // d = alpha op(A) op(B) + beta c
    double alpha, beta;
    const void* bias = nullptr;  // of d's type, one per row of d
    enum class After { nothing, relu, gelu } after = After::nothing;
};
cublasStatus_t multiply(const Product& product);

/// Reads alpha or beta from the host or, depending on the pointer mode, from the device. False if
/// it cannot be read.
bool read_scalar(const cublasContext& handle, const char* call, const void* caller,
                 const void* scalar, cudaDataType type, double& value);

std::size_t bytes_of(cudaDataType type);
double load(cudaDataType type, const void* data, std::int64_t index);
void store(cudaDataType type, void* data, std::int64_t index, double value);

}  // namespace sixdays::emulator
