/// @file
/// cuBLAS: handles, modes, copies. Everything else: cublas_vectors.cpp, cublas_gemm.cpp.
#include "common/emulator/libraries/cublas.hpp"

#include <utility>

using namespace sixdays::emulator;  // this file implements the library's API

namespace {

cublasStatus_t copied(cudaError_t error) {
    return error == cudaSuccess             ? CUBLAS_STATUS_SUCCESS
           : error == cudaErrorInvalidValue ? CUBLAS_STATUS_INVALID_VALUE
                                            : CUBLAS_STATUS_MAPPING_ERROR;
}

cublasStatus_t copy_matrix(int rows, int cols, int bytes, const void* a, int lda, void* b, int ldb,
                           cudaMemcpyKind kind) {
    if (rows < 0 || cols < 0 || bytes <= 0 || lda < rows || ldb < rows || lda <= 0 || ldb <= 0) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    const auto size = static_cast<std::size_t>(bytes);
    return copied(cudaMemcpy2D(
        b, static_cast<std::size_t>(ldb) * size, a, static_cast<std::size_t>(lda) * size,
        static_cast<std::size_t>(rows) * size, static_cast<std::size_t>(cols), kind));
}

}  // namespace

namespace sixdays::emulator {

bool read_scalar(const cublasContext& handle, const char* call, const void* caller,
                 const void* scalar, cudaDataType type, double& value) {
    const bool device = handle.pointers == CUBLAS_POINTER_MODE_DEVICE;
    if (device && !may_read(call, {"scalar", scalar, bytes_of(type), 1, 1, 1}, caller))
        return false;
    value = load(type, scalar, 0);
    return true;
}

}  // namespace sixdays::emulator

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
    if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = new cublasContext;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
    if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

// The setter and getter of a mode.
#define SIXDAYS_MODE(set, get, T, member)                            \
    cublasStatus_t set(cublasHandle_t handle, T mode) {              \
        if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED; \
        handle->member = mode;                                       \
        return CUBLAS_STATUS_SUCCESS;                                \
    }                                                                \
    cublasStatus_t get(cublasHandle_t handle, T* mode) {             \
        if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED; \
        if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;     \
        *mode = handle->member;                                      \
        return CUBLAS_STATUS_SUCCESS;                                \
    }
SIXDAYS_MODE(cublasSetStream_v2, cublasGetStream_v2, cudaStream_t, stream)
SIXDAYS_MODE(cublasSetPointerMode_v2, cublasGetPointerMode_v2, cublasPointerMode_t, pointers)
SIXDAYS_MODE(cublasSetMathMode, cublasGetMathMode, cublasMath_t, math)
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t) {
    return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void*, std::size_t) {
    return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) {
#define NAME(status) \
    { status, #status }
    static constexpr std::pair<cublasStatus_t, const char*> kNames[] = {
        NAME(CUBLAS_STATUS_SUCCESS),          NAME(CUBLAS_STATUS_NOT_INITIALIZED),
        NAME(CUBLAS_STATUS_INVALID_VALUE),    NAME(CUBLAS_STATUS_MAPPING_ERROR),
        NAME(CUBLAS_STATUS_EXECUTION_FAILED), NAME(CUBLAS_STATUS_NOT_SUPPORTED)};
#undef NAME
    for (const auto& [one, name] : kNames) {
        if (one == status) return name;
    }
    return "CUBLAS_STATUS_INTERNAL_ERROR";
}
const char* cublasGetStatusString(cublasStatus_t status) {
    return status == CUBLAS_STATUS_SUCCESS ? "success" : cublasGetStatusName(status);
}

cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void* a, int lda, void* b,
                               int ldb) {
    return copy_matrix(rows, cols, bytes, a, lda, b, ldb, cudaMemcpyHostToDevice);
}
cublasStatus_t cublasGetMatrix(int rows, int cols, int bytes, const void* a, int lda, void* b,
                               int ldb) {
    return copy_matrix(rows, cols, bytes, a, lda, b, ldb, cudaMemcpyDeviceToHost);
}
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int bytes, const void* a, int lda, void* b,
                                    int ldb, cudaStream_t) {
    return cublasSetMatrix(rows, cols, bytes, a, lda, b, ldb);
}
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int bytes, const void* a, int lda, void* b,
                                    int ldb, cudaStream_t) {
    return cublasGetMatrix(rows, cols, bytes, a, lda, b, ldb);
}
// A vector is a matrix with one row.
cublasStatus_t cublasSetVector(int n, int bytes, const void* x, int incx, void* to, int incy) {
    return cublasSetMatrix(1, n, bytes, x, incx, to, incy);
}
cublasStatus_t cublasGetVector(int n, int bytes, const void* x, int incx, void* to, int incy) {
    return cublasGetMatrix(1, n, bytes, x, incx, to, incy);
}

}  // extern "C"
