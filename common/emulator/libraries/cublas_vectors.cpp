/// @file
/// cuBLAS: vectors and matrix-vector operations.
#include <algorithm>
#include <cmath>
#include <utility>

#include "common/emulator/api/api.hpp"
#include "common/emulator/libraries/cublas.hpp"
#include "common/emulator/memory/host_access.hpp"

using namespace sixdays::emulator;  // this file implements the library's API

namespace {

/// A vector argument: n elements with stride `step`, from the other end if that is negative.
template <class T>
struct Vector {
    const char* name;
    const T* data;
    int n, step;

    T& operator[](int i) const {
        const std::int64_t first = step < 0 ? std::int64_t{1 - n} * step : 0;
        return const_cast<T*>(data)[first + std::int64_t{i} * step];
    }
    DeviceMatrix matrix() const { return {name, data, sizeof(T), 1, n, std::abs(step)}; }
};

/// One call while its arguments are checked. The first error determines its result.
class Call {
public:
    Call(cublasHandle_t handle, const char* name, const void* caller)
        : handle_(handle), name_(name), caller_(caller) {
        if (capturing()) status_ = CUBLAS_STATUS_NOT_SUPPORTED;
        if (handle == nullptr) status_ = CUBLAS_STATUS_NOT_INITIALIZED;
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    Call& require(bool condition) {
        if (ok() && !condition) status_ = CUBLAS_STATUS_INVALID_VALUE;
        return *this;
    }
    Call& reads(const DeviceMatrix& m) { return reach(may_read, m); }
    Call& writes(const DeviceMatrix& m) { return reach(may_write, m); }
    template <class T>
    Call& scalar(const T* from, T& to) {
        double value = 0;
        const auto type = sizeof(T) == 8 ? CUDA_R_64F : CUDA_R_32F;
        require(from != nullptr);
        if (ok() && !read_scalar(*handle_, name_, caller_, from, type, value)) fail();
        to = static_cast<T>(value);
        return *this;
    }
    /// Stores a result on the host or device, depending on the pointer mode.
    template <class T>
    cublasStatus_t result(T* to, T value) {
        require(to != nullptr);
        if (ok() && handle_->pointers == CUBLAS_POINTER_MODE_DEVICE) {
            writes({"result", to, sizeof(T), 1, 1, 1});
        }
        if (ok()) *to = value;
        return status_;
    }
    bool ok() const { return status_ == CUBLAS_STATUS_SUCCESS; }
    cublasStatus_t status() const { return status_; }

private:
    Call& reach(bool (*check)(const char*, const DeviceMatrix&, const void*),
                const DeviceMatrix& m) {
        if (ok() && !check(name_, m, caller_)) fail();
        return *this;
    }
    void fail() { status_ = CUBLAS_STATUS_EXECUTION_FAILED; }

    cublasHandle_t handle_;
    const char* name_;
    const void* caller_;
    cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
    DeviceMemoryOpen open_;
};

template <class T>
DeviceMatrix matrix(const char* name, const T* data, std::int64_t rows, std::int64_t columns,
                    std::int64_t lead) {
    return {name, data, sizeof(T), rows, columns, lead};
}

/// Graph capture records this call with the present alpha; the other calls cannot be captured.
template <class T, class Work>
cublasStatus_t captured(cublasHandle_t handle, const T* alpha, Work work) {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (alpha == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    if (handle->pointers == CUBLAS_POINTER_MODE_DEVICE) return CUBLAS_STATUS_NOT_SUPPORTED;
    in_order(nullptr, [work, a = *alpha](cudaStream_t) {
        work(&a);
        return cudaSuccess;
    });
    return CUBLAS_STATUS_SUCCESS;
}

// The functions, each for float and double.

template <class T>
cublasStatus_t axpy(Call&& call, const T* alpha, const Vector<T>& x, const Vector<T>& y) {
    T a = 0;
    call.scalar(alpha, a).reads(x.matrix()).reads(y.matrix());
    for (int i = 0; call.ok() && i < x.n; ++i) y[i] += a * x[i];
    return call.status();
}

template <class T>
cublasStatus_t scal(Call&& call, const T* alpha, const Vector<T>& x) {
    T a = 0;
    call.scalar(alpha, a).reads(x.matrix());
    for (int i = 0; call.ok() && i < x.n; ++i) x[i] *= a;
    return call.status();
}

template <class T>
cublasStatus_t copy(Call&& call, const Vector<T>& x, const Vector<T>& y) {
    call.reads(x.matrix()).writes(y.matrix());
    for (int i = 0; call.ok() && i < x.n; ++i) y[i] = x[i];
    return call.status();
}

template <class T>
cublasStatus_t swap(Call&& call, const Vector<T>& x, const Vector<T>& y) {
    call.reads(x.matrix()).reads(y.matrix());
    for (int i = 0; call.ok() && i < x.n; ++i) std::swap(x[i], y[i]);
    return call.status();
}

template <class T>
cublasStatus_t dot(Call&& call, const Vector<T>& x, const Vector<T>& y, T* result) {
    call.reads(x.matrix()).reads(y.matrix());
    T sum = 0;
    for (int i = 0; call.ok() && i < x.n; ++i) sum += x[i] * y[i];
    return call.result(result, sum);
}

// Sums the squares of x / most, which neither overflow nor underflow.
template <class T>
cublasStatus_t nrm2(Call&& call, const Vector<T>& x, T* result) {
    call.reads(x.matrix());
    T most = 0, sum = 0;
    for (int i = 0; call.ok() && i < x.n; ++i) most = std::max(most, std::abs(x[i]));
    for (int i = 0; call.ok() && most > 0 && i < x.n; ++i) sum += (x[i] / most) * (x[i] / most);
    return call.result(result, std::sqrt(sum) * most);
}

template <class T>
cublasStatus_t asum(Call&& call, const Vector<T>& x, T* result) {
    call.reads(x.matrix());
    T sum = 0;
    for (int i = 0; call.ok() && i < x.n; ++i) sum += std::abs(x[i]);
    return call.result(result, sum);
}

// The first element of the largest or smallest magnitude, counted from 1; 0 if n is 0.
template <class T>
cublasStatus_t extreme(Call&& call, const Vector<T>& x, bool smallest, int* result) {
    call.reads(x.matrix());
    int at = 0;
    for (int i = 1; call.ok() && i < x.n; ++i) {
        const T one = std::abs(x[i]), best = std::abs(x[at]);
        if (smallest ? one < best : one > best) at = i;
    }
    return call.result(result, x.n > 0 ? at + 1 : 0);
}

// y = alpha op(A) x + beta y; A is m x n.
template <class T>
cublasStatus_t gemv(Call&& call, bool transposed, int m, int n, const T* alpha, const T* a, int lda,
                    const Vector<T>& x, const T* beta, const Vector<T>& y) {
    T al = 0, be = 0;
    call.require(m >= 0 && n >= 0 && lda >= std::max(1, m) && x.step != 0 && y.step != 0);
    call.scalar(alpha, al).scalar(beta, be);
    call.reads(matrix("matrix A", a, m, n, lda)).reads(x.matrix());
    if (be != 0) call.reads(y.matrix());
    call.writes(y.matrix());
    for (std::int64_t i = 0; call.ok() && i < y.n; ++i) {
        T sum = 0;
        for (std::int64_t j = 0; j < x.n; ++j) {
            sum += a[transposed ? i * lda + j : j * lda + i] * x[static_cast<int>(j)];
        }
        T& one = y[static_cast<int>(i)];
        one = be == 0 ? al * sum : al * sum + be * one;
    }
    return call.status();
}

// A += alpha x y'; A is m x n.
template <class T>
cublasStatus_t ger(Call&& call, const T* alpha, const Vector<T>& x, const Vector<T>& y, T* a,
                   int lda) {
    T al = 0;
    call.require(x.n >= 0 && y.n >= 0 && lda >= std::max(1, x.n) && x.step != 0 && y.step != 0);
    call.scalar(alpha, al).reads(x.matrix()).reads(y.matrix());
    call.reads(matrix("matrix A", a, x.n, y.n, lda));
    for (int j = 0; call.ok() && j < y.n; ++j) {
        for (int i = 0; i < x.n; ++i) a[std::int64_t{j} * lda + i] += al * x[i] * y[j];
    }
    return call.status();
}

// C = alpha op(A) + beta op(B), m x n; a factor of 0 means that its matrix is not read.
template <class T>
cublasStatus_t geam(Call&& call, bool transposed_a, bool transposed_b, std::int64_t m,
                    std::int64_t n, const T* alpha, const T* a, std::int64_t lda, const T* beta,
                    const T* b, std::int64_t ldb, T* c, std::int64_t ldc) {
    T al = 0, be = 0;
    const auto rows_a = transposed_a ? n : m, rows_b = transposed_b ? n : m, one = std::int64_t{1};
    call.require(m >= 0 && n >= 0 && lda >= std::max(one, rows_a) && ldc >= std::max(one, m));
    call.require(ldb >= std::max(one, rows_b)).scalar(alpha, al).scalar(beta, be);
    if (al != 0) call.reads(matrix("matrix A", a, rows_a, m + n - rows_a, lda));
    if (be != 0) call.reads(matrix("matrix B", b, rows_b, m + n - rows_b, ldb));
    call.writes(matrix("matrix C", c, m, n, ldc));
    for (std::int64_t j = 0; call.ok() && j < n; ++j) {
        for (std::int64_t i = 0; i < m; ++i) {
            const T first = al == 0 ? T{0} : al * a[transposed_a ? i * lda + j : j * lda + i];
            const T second = be == 0 ? T{0} : be * b[transposed_b ? i * ldb + j : j * ldb + i];
            c[j * ldc + i] = first + second;
        }
    }
    return call.status();
}

}  // namespace

extern "C" {

#define CALL(name) Call(h, name, __builtin_return_address(0))
#define X(n) \
    { "vector x", x, n, incx }
#define Y(n) \
    { "vector y", y, n, incy }
#define SIXDAYS_BLAS(L, l, T)                                                                     \
    cublasStatus_t cublas##L##axpy_v2(cublasHandle_t h, int n, const T* alpha, const T* x,        \
                                      int incx, T* y, int incy) {                                 \
        const auto later = [=](const T* a) { cublas##L##axpy_v2(h, n, a, x, incx, y, incy); };    \
        if (capturing()) return captured(h, alpha, later);                                        \
        return axpy<T>(CALL("cublas" #L "axpy"), alpha, X(n), Y(n));                              \
    }                                                                                             \
    cublasStatus_t cublas##L##scal_v2(cublasHandle_t h, int n, const T* alpha, T* x, int incx) {  \
        return scal<T>(CALL("cublas" #L "scal"), alpha, X(n));                                    \
    }                                                                                             \
    cublasStatus_t cublas##L##copy_v2(cublasHandle_t h, int n, const T* x, int incx, T* y,        \
                                      int incy) {                                                 \
        return copy<T>(CALL("cublas" #L "copy"), X(n), Y(n));                                     \
    }                                                                                             \
    cublasStatus_t cublas##L##swap_v2(cublasHandle_t h, int n, T* x, int incx, T* y, int incy) {  \
        return swap<T>(CALL("cublas" #L "swap"), X(n), Y(n));                                     \
    }                                                                                             \
    cublasStatus_t cublas##L##dot_v2(cublasHandle_t h, int n, const T* x, int incx, const T* y,   \
                                     int incy, T* result) {                                       \
        return dot<T>(CALL("cublas" #L "dot"), X(n), Y(n), result);                               \
    }                                                                                             \
    cublasStatus_t cublas##L##nrm2_v2(cublasHandle_t h, int n, const T* x, int incx, T* result) { \
        return nrm2<T>(CALL("cublas" #L "nrm2"), X(n), result);                                   \
    }                                                                                             \
    cublasStatus_t cublas##L##asum_v2(cublasHandle_t h, int n, const T* x, int incx, T* result) { \
        return asum<T>(CALL("cublas" #L "asum"), X(n), result);                                   \
    }                                                                                             \
    cublasStatus_t cublasI##l##amax_v2(cublasHandle_t h, int n, const T* x, int incx,             \
                                       int* result) {                                             \
        return extreme<T>(CALL("cublasI" #l "amax"), X(n), false, result);                        \
    }                                                                                             \
    cublasStatus_t cublasI##l##amin_v2(cublasHandle_t h, int n, const T* x, int incx,             \
                                       int* result) {                                             \
        return extreme<T>(CALL("cublasI" #l "amin"), X(n), true, result);                         \
    }                                                                                             \
    cublasStatus_t cublas##L##gemv_v2(cublasHandle_t h, cublasOperation_t trans, int m, int n,    \
                                      const T* alpha, const T* a, int lda, const T* x, int incx,  \
                                      const T* beta, T* y, int incy) {                            \
        const bool transposed = trans != CUBLAS_OP_N;                                             \
        return gemv<T>(CALL("cublas" #L "gemv"), transposed, m, n, alpha, a, lda,                 \
                       X(transposed ? m : n), beta, Y(transposed ? n : m));                       \
    }                                                                                             \
    cublasStatus_t cublas##L##ger_v2(cublasHandle_t h, int m, int n, const T* alpha, const T* x,  \
                                     int incx, const T* y, int incy, T* a, int lda) {             \
        return ger<T>(CALL("cublas" #L "ger"), alpha, X(m), Y(n), a, lda);                        \
    }                                                                                             \
    cublasStatus_t cublas##L##geam(                                                               \
        cublasHandle_t h, cublasOperation_t transa, cublasOperation_t transb, int m, int n,       \
        const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc) { \
        return geam<T>(CALL("cublas" #L "geam"), transa != CUBLAS_OP_N, transb != CUBLAS_OP_N, m, \
                       n, alpha, a, lda, beta, b, ldb, c, ldc);                                   \
    }
SIXDAYS_BLAS(S, s, float)
SIXDAYS_BLAS(D, d, double)

}  // extern "C"
