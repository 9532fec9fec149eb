/// @file
/// The parts of cuBLAS that programs use: vectors, matrix-vector products, the GEMM family.
/// Matrices are column-major. Arguments are checked as in NVIDIA's manual. Every array must be
/// within one allocation, and its inputs must have been written. Sums are plain loops, in float for
/// types of 16 and 32 bits. That is more accurate than the TF32 and half-precision sums that a GPU
/// may use on request.
#pragma once

#define CUBLAS_API_H_
#define CUBLAS_V2_H_

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime_api.h"
#include "library_types.h"

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VERSION 130000

typedef struct cublasContext* cublasHandle_t;

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;

typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 } cublasGemmAlgo_t;
#define CUBLAS_GEMM_DFALT CUBLAS_GEMM_DEFAULT
#define CUBLAS_GEMM_DFALT_TENSOR_OP CUBLAS_GEMM_DEFAULT_TENSOR_OP
typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int* version);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t bytes);

// --- copies between host and device ---------------------------------------------------------
cublasStatus_t cublasSetVector(int n, int bytes, const void* x, int incx, void* to, int incy);
cublasStatus_t cublasGetVector(int n, int bytes, const void* x, int incx, void* to, int incy);
cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void* a, int lda, void* b,
                               int ldb);
cublasStatus_t cublasGetMatrix(int rows, int cols, int bytes, const void* a, int lda, void* b,
                               int ldb);
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int bytes, const void* a, int lda, void* b,
                                    int ldb, cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int bytes, const void* a, int lda, void* b,
                                    int ldb, cudaStream_t stream);

// --- vectors, and matrix-vector operations; float (S) and double (D) ------------------------
// x and y have n elements with strides incx and incy; a negative stride starts at the other end.
#define SIXDAYS_BLAS(L, T)                                                                       \
    cublasStatus_t cublas##L##axpy_v2(cublasHandle_t h, int n, const T* alpha, const T* x,       \
                                      int incx, T* y, int incy);                                 \
    cublasStatus_t cublas##L##scal_v2(cublasHandle_t h, int n, const T* alpha, T* x, int incx);  \
    cublasStatus_t cublas##L##copy_v2(cublasHandle_t h, int n, const T* x, int incx, T* y,       \
                                      int incy);                                                 \
    cublasStatus_t cublas##L##swap_v2(cublasHandle_t h, int n, T* x, int incx, T* y, int incy);  \
    cublasStatus_t cublas##L##dot_v2(cublasHandle_t h, int n, const T* x, int incx, const T* y,  \
                                     int incy, T* result);                                       \
    cublasStatus_t cublas##L##nrm2_v2(cublasHandle_t h, int n, const T* x, int incx, T* result); \
    cublasStatus_t cublas##L##asum_v2(cublasHandle_t h, int n, const T* x, int incx, T* result); \
    cublasStatus_t cublas##L##gemv_v2(cublasHandle_t h, cublasOperation_t trans, int m, int n,   \
                                      const T* alpha, const T* a, int lda, const T* x, int incx, \
                                      const T* beta, T* y, int incy);                            \
    cublasStatus_t cublas##L##ger_v2(cublasHandle_t h, int m, int n, const T* alpha, const T* x, \
                                     int incx, const T* y, int incy, T* a, int lda);             \
    cublasStatus_t cublas##L##geam(                                                              \
        cublasHandle_t h, cublasOperation_t transa, cublasOperation_t transb, int m, int n,      \
        const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc);
SIXDAYS_BLAS(S, float)
SIXDAYS_BLAS(D, double)
#undef SIXDAYS_BLAS
// Counted from 1, as in Fortran; the first of equal elements.
cublasStatus_t cublasIsamax_v2(cublasHandle_t h, int n, const float* x, int incx, int* result);
cublasStatus_t cublasIsamin_v2(cublasHandle_t h, int n, const float* x, int incx, int* result);
cublasStatus_t cublasIdamax_v2(cublasHandle_t h, int n, const double* x, int incx, int* result);
cublasStatus_t cublasIdamin_v2(cublasHandle_t h, int n, const double* x, int incx, int* result);

// --- C = alpha op(A) op(B) + beta C: op(A) is m x k, op(B) k x n, C m x n --------------------
#define SIXDAYS_GEMM(L, T)                                                                         \
    cublasStatus_t cublas##L##gemm_v2(                                                             \
        cublasHandle_t h, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, \
        const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc);   \
    cublasStatus_t cublas##L##gemmStridedBatched(                                                  \
        cublasHandle_t h, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, \
        const T* alpha, const T* a, int lda, long long stride_a, const T* b, int ldb,              \
        long long stride_b, const T* beta, T* c, int ldc, long long stride_c, int batch);          \
    cublasStatus_t cublas##L##gemmBatched(                                                         \
        cublasHandle_t h, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, \
        const T* alpha, const T* const a[], int lda, const T* const b[], int ldb, const T* beta,   \
        T* const c[], int ldc, int batch);
SIXDAYS_GEMM(S, float)
SIXDAYS_GEMM(D, double)
SIXDAYS_GEMM(H, __half)
#undef SIXDAYS_GEMM

cublasStatus_t cublasSgemmEx(cublasHandle_t h, cublasOperation_t transa, cublasOperation_t transb,
                             int m, int n, int k, const float* alpha, const void* a,
                             cudaDataType type_a, int lda, const void* b, cudaDataType type_b,
                             int ldb, const float* beta, void* c, cudaDataType type_c, int ldc);
cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t transa, cublasOperation_t transb,
                            int m, int n, int k, const void* alpha, const void* a,
                            cudaDataType type_a, int lda, const void* b, cudaDataType type_b,
                            int ldb, const void* beta, void* c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t h, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType type_a,
                                          int lda, long long stride_a, const void* b,
                                          cudaDataType type_b, int ldb, long long stride_b,
                                          const void* beta, void* c, cudaDataType type_c, int ldc,
                                          long long stride_c, int batch,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algo);
}

// Older programs pass the element type of the sums instead, as cuBLAS's header also allows.
inline cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t transa,
                                   cublasOperation_t transb, int m, int n, int k, const void* alpha,
                                   const void* a, cudaDataType type_a, int lda, const void* b,
                                   cudaDataType type_b, int ldb, const void* beta, void* c,
                                   cudaDataType type_c, int ldc, cudaDataType compute,
                                   cublasGemmAlgo_t algo) {
    return cublasGemmEx(h, transa, transb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c,
                        type_c, ldc,
                        compute == CUDA_R_16F   ? CUBLAS_COMPUTE_16F
                        : compute == CUDA_R_64F ? CUBLAS_COMPUTE_64F
                        : compute == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                                                : CUBLAS_COMPUTE_32F,
                        algo);
}

// The names without _v2 are macros in cuBLAS too.
#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasGetVersion cublasGetVersion_v2
#define cublasSetStream cublasSetStream_v2
#define cublasGetStream cublasGetStream_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasGetPointerMode cublasGetPointerMode_v2
#define cublasSetWorkspace cublasSetWorkspace_v2
#define cublasSaxpy cublasSaxpy_v2
#define cublasDaxpy cublasDaxpy_v2
#define cublasSscal cublasSscal_v2
#define cublasDscal cublasDscal_v2
#define cublasScopy cublasScopy_v2
#define cublasDcopy cublasDcopy_v2
#define cublasSswap cublasSswap_v2
#define cublasDswap cublasDswap_v2
#define cublasSdot cublasSdot_v2
#define cublasDdot cublasDdot_v2
#define cublasSnrm2 cublasSnrm2_v2
#define cublasDnrm2 cublasDnrm2_v2
#define cublasSasum cublasSasum_v2
#define cublasDasum cublasDasum_v2
#define cublasSgemv cublasSgemv_v2
#define cublasDgemv cublasDgemv_v2
#define cublasSger cublasSger_v2
#define cublasDger cublasDger_v2
#define cublasIsamax cublasIsamax_v2
#define cublasIsamin cublasIsamin_v2
#define cublasIdamax cublasIdamax_v2
#define cublasIdamin cublasIdamin_v2
#define cublasSgemm cublasSgemm_v2
#define cublasDgemm cublasDgemm_v2
#define cublasHgemm cublasHgemm_v2
