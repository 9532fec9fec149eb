/// @file
/// cuBLASXt: products of matrices in host memory, computed on the device.
#pragma once

#include "cublas_v2.h"

typedef cublasHandle_t cublasXtHandle_t;

inline cublasStatus_t cublasXtCreate(cublasXtHandle_t* handle) {
    return cublasCreate(handle);
}
inline cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle) {
    return cublasDestroy(handle);
}
inline cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t, int count, int* devices) {
    return count == 1 && devices[0] == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
inline cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t, int) {
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasXtSgemm(cublasXtHandle_t handle, cublasOperation_t transa,
                                    cublasOperation_t transb, size_t m, size_t n, size_t k,
                                    const float* alpha, const float* a, size_t lda, const float* b,
                                    size_t ldb, const float* beta, float* c, size_t ldc) {
    const size_t sizes[] = {lda * (transa == CUBLAS_OP_N ? k : m) * sizeof(float),
                            ldb * (transb == CUBLAS_OP_N ? n : k) * sizeof(float),
                            ldc * n * sizeof(float)};
    const float* host[] = {a, b, c};
    float* device[3] = {};
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < 3 && error == cudaSuccess; ++i) {
        error = cudaMalloc(&device[i], sizes[i]);
        if (error == cudaSuccess) {
            error = cudaMemcpy(device[i], host[i], sizes[i], cudaMemcpyDefault);
        }
    }
    cublasStatus_t status = CUBLAS_STATUS_EXECUTION_FAILED;
    if (error == cudaSuccess) {
        const auto as_int = [](size_t value) { return static_cast<int>(value); };
        status =
            cublasSgemm(handle, transa, transb, as_int(m), as_int(n), as_int(k), alpha, device[0],
                        as_int(lda), device[1], as_int(ldb), beta, device[2], as_int(ldc));
        cudaMemcpy(c, device[2], sizes[2], cudaMemcpyDefault);
    }
    for (float* one : device) cudaFree(one);
    return status;
}
