/// @file
/// cuBLAS: the functions of the GEMM family. A single product: cublas_multiply.cpp.
#include "common/emulator/libraries/cublas.hpp"
#include "common/emulator/memory/host_access.hpp"

using namespace sixdays::emulator;  // this file implements the library's API

namespace {

const void* at(const void* data, cudaDataType type, long long element) {
    return static_cast<const char*>(data) + element * static_cast<long long>(bytes_of(type));
}

// The type of alpha and beta.
cudaDataType scale_type(cublasComputeType_t compute) {
    switch (compute) {
        case CUBLAS_COMPUTE_16F:
        case CUBLAS_COMPUTE_16F_PEDANTIC:
            return CUDA_R_16F;
        case CUBLAS_COMPUTE_64F:
        case CUBLAS_COMPUTE_64F_PEDANTIC:
            return CUDA_R_64F;
        case CUBLAS_COMPUTE_32I:
        case CUBLAS_COMPUTE_32I_PEDANTIC:
            return CUDA_R_32I;
        default:
            return CUDA_R_32F;
    }
}

// The arguments of multiply_all(): d is c, and alpha and beta are not read yet.
Product product(const char* call, const void* caller, cublasOperation_t transa,
                cublasOperation_t transb, int m, int n, int k, const Product::Operand& a,
                const Product::Operand& b, const Product::Operand& c) {
    return {call, caller, transa, transb, m, n, k, a, b, c, c, 0, 0};
}

struct Strides {
    long long a, b, c;
};

// Computes `batch` products, with `strides` between their matrices. alpha and beta have type
// `scale`.
cublasStatus_t multiply_all(cublasHandle_t handle, Product p, const void* alpha, const void* beta,
                            cudaDataType scale, const Strides& strides, int batch) {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (alpha == nullptr || beta == nullptr || batch < 0) return CUBLAS_STATUS_INVALID_VALUE;
    const DeviceMemoryOpen open;
    if (!read_scalar(*handle, p.call, p.caller, alpha, scale, p.alpha) ||
        !read_scalar(*handle, p.call, p.caller, beta, scale, p.beta)) {
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    for (long long i = 0; i < batch; ++i) {
        Product one = p;
        one.a.data = at(p.a.data, p.a.type, i * strides.a);
        one.b.data = at(p.b.data, p.b.type, i * strides.b);
        one.c.data = one.d.data = at(p.c.data, p.c.type, i * strides.c);
        const cublasStatus_t status = multiply(one);
        if (status != CUBLAS_STATUS_SUCCESS) return status;
    }
    return CUBLAS_STATUS_SUCCESS;
}

// The lists of pointers are in device memory too.
template <class T>
cublasStatus_t multiply_each(cublasHandle_t handle, Product p, const T* alpha, const T* const a[],
                             const T* const b[], const T* beta, const T* const c[], int batch,
                             cudaDataType scale) {
    const DeviceMemoryOpen open;
    for (const T* const* list : {a, b, c}) {
        const DeviceMatrix pointers{"list of matrices", list, sizeof(void*), 1, batch, 1};
        if (!may_read(p.call, pointers, p.caller)) return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    for (int i = 0; i < batch; ++i) {
        p.a.data = a[i];
        p.b.data = b[i];
        p.c.data = p.d.data = c[i];
        const cublasStatus_t status = multiply_all(handle, p, alpha, beta, scale, {}, 1);
        if (status != CUBLAS_STATUS_SUCCESS) return status;
    }
    return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

#define HERE __builtin_return_address(0)

extern "C" {

#define SIXDAYS_GEMM(L, T, type)                                                                   \
    cublasStatus_t cublas##L##gemm_v2(                                                             \
        cublasHandle_t h, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, \
        const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {  \
        return multiply_all(h,                                                                     \
                            product("cublas" #L "gemm", HERE, transa, transb, m, n, k,             \
                                    {a, type, lda}, {b, type, ldb}, {c, type, ldc}),               \
                            alpha, beta, type, {}, 1);                                             \
    }                                                                                              \
    cublasStatus_t cublas##L##gemmStridedBatched(                                                  \
        cublasHandle_t h, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, \
        const T* alpha, const T* a, int lda, long long stride_a, const T* b, int ldb,              \
        long long stride_b, const T* beta, T* c, int ldc, long long stride_c, int batch) {         \
        return multiply_all(h,                                                                     \
                            product("cublas" #L "gemmStridedBatched", HERE, transa, transb, m, n,  \
                                    k, {a, type, lda}, {b, type, ldb}, {c, type, ldc}),            \
                            alpha, beta, type, {stride_a, stride_b, stride_c}, batch);             \
    }                                                                                              \
    cublasStatus_t cublas##L##gemmBatched(                                                         \
        cublasHandle_t h, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, \
        const T* alpha, const T* const a[], int lda, const T* const b[], int ldb, const T* beta,   \
        T* const c[], int ldc, int batch) {                                                        \
        return multiply_each<T>(h,                                                                 \
                                product("cublas" #L "gemmBatched", HERE, transa, transb, m, n, k,  \
                                        {a, type, lda}, {b, type, ldb}, {c, type, ldc}),           \
                                alpha, a, b, beta, c, batch, type);                                \
    }
SIXDAYS_GEMM(S, float, CUDA_R_32F)
SIXDAYS_GEMM(D, double, CUDA_R_64F)
SIXDAYS_GEMM(H, __half, CUDA_R_16F)

cublasStatus_t cublasSgemmEx(cublasHandle_t h, cublasOperation_t transa, cublasOperation_t transb,
                             int m, int n, int k, const float* alpha, const void* a,
                             cudaDataType type_a, int lda, const void* b, cudaDataType type_b,
                             int ldb, const float* beta, void* c, cudaDataType type_c, int ldc) {
    return multiply_all(h,
                        product("cublasSgemmEx", HERE, transa, transb, m, n, k, {a, type_a, lda},
                                {b, type_b, ldb}, {c, type_c, ldc}),
                        alpha, beta, CUDA_R_32F, {}, 1);
}
cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t transa, cublasOperation_t transb,
                            int m, int n, int k, const void* alpha, const void* a,
                            cudaDataType type_a, int lda, const void* b, cudaDataType type_b,
                            int ldb, const void* beta, void* c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
    return multiply_all(h,
                        product("cublasGemmEx", HERE, transa, transb, m, n, k, {a, type_a, lda},
                                {b, type_b, ldb}, {c, type_c, ldc}),
                        alpha, beta, scale_type(compute), {}, 1);
}
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t h, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType type_a,
                                          int lda, long long stride_a, const void* b,
                                          cudaDataType type_b, int ldb, long long stride_b,
                                          const void* beta, void* c, cudaDataType type_c, int ldc,
                                          long long stride_c, int batch,
                                          cublasComputeType_t compute, cublasGemmAlgo_t) {
    return multiply_all(h,
                        product("cublasGemmStridedBatchedEx", HERE, transa, transb, m, n, k,
                                {a, type_a, lda}, {b, type_b, ldb}, {c, type_c, ldc}),
                        alpha, beta, scale_type(compute), {stride_a, stride_b, stride_c}, batch);
}

}  // extern "C"
