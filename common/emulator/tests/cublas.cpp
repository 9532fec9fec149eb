// cuBLAS's handles, copies, vectors and matrix-vector products: each function against its
// definition, and each invalid argument alone. Matrix products: cublas_gemm.cpp.
#include <cublas_v2.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/cublas.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

/// The functions for one type.
template <class T>
struct Blas;
#define SIXDAYS_BLAS(T, L, l)                                                         \
    template <>                                                                       \
    struct Blas<T> {                                                                  \
        static constexpr auto axpy = cublas##L##axpy_v2;                              \
        static constexpr auto scal = cublas##L##scal_v2;                              \
        static constexpr auto copy = cublas##L##copy_v2;                              \
        static constexpr auto swap = cublas##L##swap_v2;                              \
        static constexpr auto dot = cublas##L##dot_v2;                                \
        static constexpr auto nrm2 = cublas##L##nrm2_v2;                              \
        static constexpr auto asum = cublas##L##asum_v2;                              \
        static constexpr auto amax = cublasI##l##amax_v2, amin = cublasI##l##amin_v2; \
        static constexpr auto gemv = cublas##L##gemv_v2;                              \
        static constexpr auto ger = cublas##L##ger_v2;                                \
        static constexpr auto geam = cublas##L##geam;                                 \
    };
SIXDAYS_BLAS(float, S, s)
SIXDAYS_BLAS(double, D, d)

/// A scalar where the pointer mode says.
template <class T>
class Scalar {
public:
    Scalar(cublasPointerMode_t mode, T value)
        : on_device_(mode == CUBLAS_POINTER_MODE_DEVICE),
          host_(value),
          device_(std::vector<T>{value}) {}
    T* at() { return on_device_ ? device_.data() : &host_; }
    T value() const { return on_device_ ? device_.host()[0] : host_; }

private:
    bool on_device_;
    T host_;
    Device<T> device_;
};

template <class T>
void check_vectors(cublasHandle_t h, cublasPointerMode_t mode) {
    using F = Blas<T>;
    using V = std::vector<T>;
    cublasSetPointerMode(h, mode);
    Scalar<T> two(mode, 2), result(mode, -1);
    const Device<T> x(V{1, 2, 3}), y(V{10, 0, 20, 0, 30}), to(V{7, 7, 7, 7, 7});
    CHECK(F::axpy(h, 3, two.at(), x.data(), -1, y.data(), 2) == kOk);
    CHECK(y.host() == V{16, 0, 24, 0, 32});
    CHECK(F::scal(h, 2, two.at(), y.data(), 4) == kOk);
    CHECK(y.host() == V{32, 0, 24, 0, 64});
    CHECK(F::copy(h, 3, x.data(), 1, to.data(), -2) == kOk);
    CHECK(to.host() == V{3, 7, 2, 7, 1});
    CHECK(F::swap(h, 3, x.data(), 1, y.data(), -2) == kOk);
    CHECK(x.host() == V{64, 24, 32});
    CHECK(y.host() == V{3, 0, 2, 0, 1});
    CHECK(F::dot(h, 3, x.data(), 1, y.data(), 2, result.at()) == kOk);
    CHECK(result.value() == 64 * 3 + 24 * 2 + 32);

    // Squares of these would overflow, or underflow.
    const T large = sizeof(T) == 4 ? T(0x1p100) : T(0x1p600);
    for (const T scale : {large, 1 / large}) {
        const Device<T> sides(V{-3 * scale, 4 * scale});
        CHECK(F::nrm2(h, 2, sides.data(), 1, result.at()) == kOk);
        CHECK(std::abs(result.value() / scale - 5) < T(1e-6));
    }
    const Device<T> zeros(V(3, 0)), tie(V{-2, 5, 1, -5, -1});
    CHECK(F::nrm2(h, 3, zeros.data(), 1, result.at()) == kOk);
    CHECK(result.value() == 0);
    CHECK(F::asum(h, 5, tie.data(), 1, result.at()) == kOk);
    CHECK(result.value() == 14);
    Scalar<int> index(mode, -1);
    const auto largest = [&](int n, const Device<T>& of) {
        CHECK(F::amax(h, n, of.data(), 1, index.at()) == kOk);
        return index.value();
    };
    const auto smallest = [&](int n, const Device<T>& of) {
        CHECK(F::amin(h, n, of.data(), 1, index.at()) == kOk);
        return index.value();
    };
    CHECK(largest(5, tie) == 2);
    CHECK(smallest(5, tie) == 3);
    CHECK((largest(1, tie) == 1 && smallest(2, tie) == 1));
    CHECK((largest(0, tie) == 0 && smallest(0, tie) == 0));
}

template <class T>
void check_matrices(cublasHandle_t h, cublasPointerMode_t mode) {
    using F = Blas<T>;
    using V = std::vector<T>;
    cublasSetPointerMode(h, mode);
    Scalar<T> zero(mode, 0), one(mode, 1), two(mode, 2), minus(mode, -1);
    // Leading dimension 3: the two rows (1, 4, 7) and (2, 5, 8).
    const Device<T> a(V{1, 2, 3, 4, 5, 6, 7, 8}), x(V{1, 10, 100}), y(V{5, 7, 9}), unset(2);
    CHECK(F::gemv(h, kPlain, 2, 3, two.at(), a.data(), 3, x.data(), 1, minus.at(), y.data(), 2) ==
          kOk);
    CHECK(y.host() == V{2 * 741 - 5, 7, 2 * 852 - 9});
    CHECK(F::gemv(h, kPlain, 2, 3, two.at(), a.data(), 3, x.data(), 1, zero.at(), unset.data(),
                  1) == kOk);
    CHECK(unset.host() == V{2 * 741, 2 * 852});
    const Device<T> back(V{1, 2, 3});
    CHECK(F::gemv(h, kTransposed, 2, 3, two.at(), a.data(), 3, x.data(), 1, one.at(), back.data(),
                  -1) == kOk);
    CHECK(back.host() == V{2 * 87 + 1, 2 * 54 + 2, 2 * 21 + 3});
    const Device<T> factors(V{1, 2});
    CHECK(F::ger(h, 2, 3, two.at(), factors.data(), 1, x.data(), 1, a.data(), 3) == kOk);
    CHECK(a.host() == V{3, 6, 3, 24, 45, 6, 207, 408});

    const Device<T> b(V{1, 2, 3, 4, 5, 6, 7, 8}), c(V{10, 20, 30, 40, 50, 60, 70, 80, 90, 100});
    const V b_op[] = {{1, 2, 4, 5, 7, 8}, {1, 4, 2, 5, 3, 6}};  // plain and transposed, 2 x 3
    const V c_op[] = {{10, 20, 50, 60, 90, 100}, {10, 50, 20, 60, 30, 70}};
    for (const int tb : {0, 1}) {
        for (const int tc : {0, 1}) {
            const Device<T> sum(V(8, 7)), first(6), second(6);
            V want = sum.host(), want_first, want_second;
            for (std::size_t i = 0; i < 6; ++i) {
                want_first.push_back(b_op[tb][i]);
                want_second.push_back(c_op[tc][i]);
                want[i / 2 * 3 + i % 2] = 2 * want_first[i] - want_second[i];
            }
            const auto op_b = tb == 0 ? kPlain : kTransposed, op_c = tc == 0 ? kPlain : kTransposed;
            CHECK(F::geam(h, op_b, op_c, 2, 3, two.at(), b.data(), 3, minus.at(), c.data(), 4,
                          sum.data(), 3) == kOk);
            CHECK(sum.host() == want);
            // A factor of 0: the matrix is not read.
            CHECK(F::geam(h, op_b, op_c, 2, 3, one.at(), b.data(), 3, zero.at(), unset.data(), 4,
                          first.data(), 2) == kOk);
            CHECK(first.host() == want_first);
            CHECK(F::geam(h, op_b, op_c, 2, 3, zero.at(), nullptr, 3, one.at(), c.data(), 4,
                          second.data(), 2) == kOk);
            CHECK(second.host() == want_second);
        }
    }
}

}  // namespace

TEST_CASE("cuBLAS's vectors and matrices, in both types, with scalars on the host or device") {
    clear_report();
    const Handle h;
    for (const auto mode : {CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE}) {
        check_vectors<float>(h, mode);
        check_vectors<double>(h, mode);
        check_matrices<float>(h, mode);
        check_matrices<double>(h, mode);
    }
    const auto report = last_report();
    INFO((report ? report->text : "no report"));
    CHECK_FALSE(report);
}

TEST_CASE("matrices are copied column by column, vectors with both strides") {
    std::vector<double> in{1, 2, 3, 4, 5, 6}, out(7, -1);
    const Device<double> d(std::vector<double>(8, 0));
    // Two rows of leading dimension 3 become leading dimension 4, and return with 2 and 5.
    CHECK(cublasSetMatrix(2, 2, 8, in.data(), 3, d.data(), 4) == kOk);
    CHECK(d.host() == std::vector<double>{1, 2, 0, 0, 4, 5, 0, 0});
    CHECK(cublasGetMatrix(2, 2, 8, d.data(), 4, out.data(), 5) == kOk);
    CHECK(out == std::vector<double>{1, 2, -1, -1, -1, 4, 5});
    CHECK(cublasSetVector(3, 8, in.data(), 2, d.data(), 3) == kOk);
    CHECK(d.host() == std::vector<double>{1, 2, 0, 3, 4, 5, 5, 0});
    CHECK(cublasGetVector(2, 8, d.data(), 6, out.data(), 3) == kOk);
    CHECK(out == std::vector<double>{1, 2, -1, 5, -1, 4, 5});
    CHECK(cublasSetMatrixAsync(1, 1, 8, in.data() + 2, 1, d.data(), 1, nullptr) == kOk);
    CHECK(cublasGetMatrixAsync(1, 1, 8, d.data(), 1, out.data(), 1, nullptr) == kOk);
    CHECK(out[0] == 3);
    const auto copied = [&](int rows, int columns, int bytes, int lda, int ldb) {
        return cublasSetMatrix(rows, columns, bytes, in.data(), lda, d.data(), ldb);
    };
    for (const auto status : {copied(2, 2, 8, 2, 2), copied(0, 2, 8, 1, 1), copied(2, 0, 8, 2, 2),
                              copied(2, 2, 1, 2, 2)}) {
        CHECK(status == kOk);
    }
    for (const auto status : {copied(-1, 2, 8, 2, 2), copied(2, -1, 8, 2, 2), copied(2, 2, 0, 2, 2),
                              copied(2, 2, 8, 1, 2), copied(2, 2, 8, 2, 1), copied(0, 2, 8, 0, 1),
                              copied(0, 2, 8, 1, 0), copied(2, 3, 8, 2, 4)}) {
        CHECK(status == kInvalid);
    }
    cudaGetLastError();
    clear_report();
}

TEST_CASE("a handle keeps its modes, and calls without one are rejected") {
    cublasHandle_t h = nullptr;
    CHECK(cublasCreate(nullptr) == kInvalid);
    REQUIRE(cublasCreate(&h) == kOk);
    int version = 0;
    CHECK((cublasGetVersion(h, &version) == kOk && version == CUBLAS_VERSION));
    CHECK(cublasGetVersion(h, nullptr) == kInvalid);
    cudaStream_t stream = nullptr, found = nullptr;
    cudaStreamCreate(&stream);
    const auto keeps = [&](auto set, auto get, auto first, auto second) {
        auto value = second;
        CHECK((get(h, &value) == kOk && value == first));
        CHECK(set(h, second) == kOk);
        CHECK((get(h, &value) == kOk && value == second));
        CHECK(get(h, static_cast<decltype(&value)>(nullptr)) == kInvalid);
        CHECK(get(nullptr, &value) == kNoHandle);
        CHECK(set(nullptr, first) == kNoHandle);
    };
    keeps(cublasSetPointerMode, cublasGetPointerMode, CUBLAS_POINTER_MODE_HOST,
          CUBLAS_POINTER_MODE_DEVICE);
    keeps(cublasSetMathMode, cublasGetMathMode, CUBLAS_DEFAULT_MATH, CUBLAS_PEDANTIC_MATH);
    keeps(cublasSetStream, cublasGetStream, found, stream);
    cudaStreamDestroy(stream);
    CHECK(cublasSetAtomicsMode(h, CUBLAS_ATOMICS_ALLOWED) == kOk);
    CHECK(cublasSetAtomicsMode(nullptr, CUBLAS_ATOMICS_ALLOWED) == kNoHandle);
    CHECK(cublasSetWorkspace(h, nullptr, 0) == kOk);
    CHECK(cublasSetWorkspace(nullptr, nullptr, 0) == kNoHandle);
    CHECK(cublasSasum(nullptr, 0, nullptr, 1, nullptr) == kNoHandle);
    CHECK(cublasDestroy(h) == kOk);
    CHECK(cublasDestroy(nullptr) == kNoHandle);

    const std::pair<cublasStatus_t, const char*> names[] = {
        {kOk, "CUBLAS_STATUS_SUCCESS"},
        {kNoHandle, "CUBLAS_STATUS_NOT_INITIALIZED"},
        {kInvalid, "CUBLAS_STATUS_INVALID_VALUE"},
        {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR"},
        {kFailed, "CUBLAS_STATUS_EXECUTION_FAILED"},
        {kUnsupported, "CUBLAS_STATUS_NOT_SUPPORTED"},
        {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR"}};
    for (const auto& [status, name] : names) {
        CHECK(std::string(cublasGetStatusName(status)) == name);
        CHECK(std::string(cublasGetStatusString(status)) == (status == kOk ? "success" : name));
    }
}

TEST_CASE(
    "each invalid argument of a vector or matrix call is rejected, and its neighbour is not") {
    clear_report();
    const Handle h;
    const float one = 1, none = 0;
    float result = 0;
    const Device<float> a(std::vector<float>(12, 1)), x(std::vector<float>(12, 1)), y(x.host());
    const auto gemv = [&](int m, int n, int lda, int incx, int incy) {
        return cublasSgemv(h, kPlain, m, n, &one, a.data(), lda, x.data(), incx, &none, y.data(),
                           incy);
    };
    const auto ger = [&](int m, int n, int lda, int incx, int incy) {
        return cublasSger(h, m, n, &one, x.data(), incx, y.data(), incy, a.data(), lda);
    };
    for (const auto status :
         {gemv(2, 3, 2, 1, 1), gemv(0, 3, 1, 1, 1), gemv(2, 0, 2, 1, 1), gemv(2, 3, 2, -1, -1),
          ger(2, 3, 2, 1, 1), ger(0, 3, 1, 1, 1), ger(2, 0, 2, 1, 1), ger(2, 3, 2, -1, -1)}) {
        CHECK(status == kOk);
    }
    for (const auto status :
         {gemv(-1, 3, 2, 1, 1), gemv(2, -1, 2, 1, 1), gemv(2, 3, 1, 1, 1), gemv(0, 3, 0, 1, 1),
          gemv(2, 3, 2, 0, 1), gemv(2, 3, 2, 1, 0), ger(-1, 3, 2, 1, 1), ger(2, -1, 2, 1, 1),
          ger(2, 3, 1, 1, 1), ger(0, 3, 0, 1, 1), ger(2, 3, 2, 0, 1), ger(2, 3, 2, 1, 0)}) {
        CHECK(status == kInvalid);
    }
    const auto geam = [&](cublasOperation_t op, int m, int n, int lda, int ldb, int ldc) {
        return cublasSgeam(h, op, op, m, n, &one, a.data(), lda, &one, x.data(), ldb, y.data(),
                           ldc);
    };
    for (const auto status : {geam(kPlain, 2, 3, 2, 2, 2), geam(kTransposed, 2, 3, 3, 3, 2),
                              geam(kPlain, 0, 3, 1, 1, 1), geam(kTransposed, 2, 0, 1, 1, 2)}) {
        CHECK(status == kOk);
    }
    for (const auto status :
         {geam(kPlain, -1, 3, 2, 2, 2), geam(kPlain, 2, -1, 2, 2, 2), geam(kPlain, 2, 3, 1, 2, 2),
          geam(kPlain, 2, 3, 2, 1, 2), geam(kPlain, 2, 3, 2, 2, 1),
          geam(kTransposed, 2, 3, 2, 3, 2), geam(kTransposed, 2, 3, 3, 2, 2),
          geam(kPlain, 0, 3, 0, 1, 1), geam(kPlain, 0, 3, 1, 0, 1), geam(kPlain, 0, 3, 1, 1, 0)}) {
        CHECK(status == kInvalid);
    }
    CHECK(cublasSasum(h, 2, x.data(), 1, nullptr) == kInvalid);
    CHECK(cublasSscal(h, 2, nullptr, y.data(), 1) == kInvalid);
    CHECK_FALSE(last_report());
    // Strides count: 12 elements hold 4 with stride 3, or -3, and 5 do not fit.
    for (const int step : {3, -3}) {
        CHECK(cublasSasum(h, 4, x.data(), step, &result) == kOk);
        CHECK(cublasSasum(h, 5, x.data(), step, &result) == kFailed);
        CHECK(last_report()->text.find("vector x") != std::string::npos);
        cudaGetLastError();
        clear_report();
    }
}

TEST_CASE("each array of a vector or matrix call must be long enough, and written if it is read") {
    const Handle h;
    const float one = 1, none = 0;
    float sum = 0;
    int index = 0;
    struct Row {
        const char *call, *uses;  // by array: r if it is read, w if only written, - if unused
        std::vector<const char*> names;
        std::function<cublasStatus_t(float**)> make;
    };
    const std::vector<const char*> xya{"vector x", "vector y", "matrix A"},
        abc{"matrix A", "matrix B", "matrix C"};
    // Each array has 4 elements: two with stride 3, or two columns of two.
    const auto gemv = [&](const float* beta) {
        return [&, beta](auto a) {
            return cublasSgemv(h, kPlain, 2, 2, &one, a[2], 2, a[0], 3, beta, a[1], 3);
        };
    };
    const auto geam = [&](const float* alpha, const float* beta) {
        return [&, alpha, beta](auto a) {
            return cublasSgeam(h, kPlain, kPlain, 2, 2, alpha, a[0], 2, beta, a[1], 2, a[2], 2);
        };
    };
    const Row rows[] = {
        {"axpy", "rr-", xya, [&](auto a) { return cublasSaxpy(h, 2, &one, a[0], 3, a[1], 3); }},
        {"scal", "r--", xya, [&](auto a) { return cublasSscal(h, 2, &one, a[0], 3); }},
        {"copy", "rw-", xya, [&](auto a) { return cublasScopy(h, 2, a[0], 3, a[1], 3); }},
        {"swap", "rr-", xya, [&](auto a) { return cublasSswap(h, 2, a[0], 3, a[1], 3); }},
        {"dot", "rr-", xya, [&](auto a) { return cublasSdot(h, 2, a[0], 3, a[1], 3, &sum); }},
        {"nrm2", "r--", xya, [&](auto a) { return cublasSnrm2(h, 2, a[0], 3, &sum); }},
        {"asum", "r--", xya, [&](auto a) { return cublasSasum(h, 2, a[0], 3, &sum); }},
        {"amax", "r--", xya, [&](auto a) { return cublasIsamax(h, 2, a[0], 3, &index); }},
        {"amin", "r--", xya, [&](auto a) { return cublasIsamin(h, 2, a[0], 3, &index); }},
        {"gemv", "rwr", xya, gemv(&none)},
        {"gemv", "rrr", xya, gemv(&one)},
        {"ger", "rrr", xya,
         [&](auto a) { return cublasSger(h, 2, 2, &one, a[0], 3, a[1], 3, a[2], 2); }},
        {"geam", "rrw", abc, geam(&one, &one)},
        {"geam", "r-w", abc, geam(&one, &none)},
        {"geam", "-rw", abc, geam(&none, &one)},
    };
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < 3; ++i) {
            INFO(row.call << ", " << row.names[i] << ", " << row.uses);
            const std::vector<float> ones(4, 1);
            const Device<float> x(ones), y(ones), z(ones), unset(4);
            float* arrays[] = {x.data(), y.data(), z.data()};
            clear_report();
            CHECK(row.make(arrays) == kOk);
            arrays[i] += 1;
            CHECK(row.make(arrays) == (row.uses[i] == '-' ? kOk : kFailed));
            CHECK((row.uses[i] == '-' || reported({row.call, row.names[i]})));
            arrays[i] = unset.data();
            CHECK(row.make(arrays) == (row.uses[i] == 'r' ? kFailed : kOk));
            CHECK((row.uses[i] != 'r' || reported({row.call, row.names[i]})));
            CHECK_FALSE(last_report());
        }
    }
}

TEST_CASE("in a stream capture, only axpy with a handle and scalars on the host is recorded") {
    const Handle h;
    const float one = 1;
    const Device<float> x(std::vector<float>{1, 2}), y(std::vector<float>{10, 20});
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    CHECK(cublasSaxpy(nullptr, 2, &one, x.data(), 1, y.data(), 1) == kNoHandle);
    CHECK(cublasSaxpy(h, 2, nullptr, x.data(), 1, y.data(), 1) == kInvalid);
    cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
    CHECK(cublasSaxpy(h, 2, x.data(), x.data(), 1, y.data(), 1) == kUnsupported);
    cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
    CHECK(cublasSgemm(h, kPlain, kPlain, 1, 1, 1, &one, x.data(), 1, x.data(), 1, &one, y.data(),
                      1) == kUnsupported);
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    std::size_t nodes = 1;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
    CHECK(nodes == 0);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaGetLastError();
}
