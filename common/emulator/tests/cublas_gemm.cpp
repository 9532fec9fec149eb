// Matrix products of cuBLAS: every element type, every operand out of reach alone, every invalid
// argument alone. libraries_cublas.cu has more results for floats.
#include <utility>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/cublas.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

template <class T>
std::vector<T> values(std::initializer_list<float> from) {
    std::vector<T> all;
    for (const float value : from) all.push_back(static_cast<T>(value));
    return all;
}

/// 2 A B - C of 2 x 2 matrices, and that arrays of exactly that size suffice.
template <class In, class Out, class Scale>
void multiply_small(cudaDataType in, cudaDataType out, cublasComputeType_t compute,
                    bool is_signed) {
    INFO("from type " << in << " to type " << out);
    const Handle h;
    const float low = is_signed ? -3.0f : 60.0f;
    const Device<In> a(values<In>({1, 2, low, 4})), b(values<In>({1, 0, 2, 1})),
        few(a.host().size() - 1);
    const Device<Out> c(values<Out>({1, 2, 3, 4}));
    cudaMemset(few.data(), 0, 3 * sizeof(In));
    const Scale two = static_cast<Scale>(2.0f), minus = static_cast<Scale>(-1.0f);
    const auto multiply = [&](const In* left, const In* right, Out* to) {
        return cublasGemmEx(h, kPlain, kPlain, 2, 2, 2, &two, left, in, 2, right, in, 2, &minus, to,
                            out, 2, compute, CUBLAS_GEMM_DEFAULT);
    };
    CHECK(multiply(a.data(), b.data(), c.data()) == kOk);
    CHECK(c.host() == values<Out>({1, 2, 2 * (2 + low) - 3, 12}));
    CHECK(multiply(few.data(), b.data(), c.data()) == kFailed);
    CHECK(reported({"matrix A"}));
    CHECK(multiply(a.data(), few.data(), c.data()) == kFailed);
    CHECK(reported({"matrix B"}));
}

constexpr float kOne = 1, kNone = 0, kTwo = 2, kMinus = -1;

}  // namespace

TEST_CASE("matrix products of every element type") {
    clear_report();
    multiply_small<double, double, double>(CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, true);
    multiply_small<double, double, double>(CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F_PEDANTIC,
                                           true);
    multiply_small<float, float, float>(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, true);
    multiply_small<__half, __half, __half>(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, true);
    multiply_small<__half, __half, __half>(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F_PEDANTIC,
                                           true);
    multiply_small<__half, float, float>(CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, true);
    multiply_small<__nv_bfloat16, __nv_bfloat16, float>(CUDA_R_16BF, CUDA_R_16BF,
                                                        CUBLAS_COMPUTE_32F, true);
    multiply_small<signed char, int, int>(CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, true);
    multiply_small<signed char, int, int>(CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I_PEDANTIC, true);
    multiply_small<signed char, signed char, float>(CUDA_R_8I, CUDA_R_8I, CUBLAS_COMPUTE_32F, true);
    multiply_small<int, int, int>(CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I, true);
    // 2 * (2 + 60) - 3 = 121; as inputs, bytes above 127 are positive.
    multiply_small<unsigned char, unsigned char, float>(CUDA_R_8U, CUDA_R_8U, CUBLAS_COMPUTE_32F,
                                                        false);
    const Handle h;
    const Device<unsigned char> high(std::vector<unsigned char>{200});
    const Device<float> sum(1);
    CHECK(cublasGemmEx(h, kPlain, kPlain, 1, 1, 1, &kOne, high.data(), CUDA_R_8U, 1, high.data(),
                       CUDA_R_8U, 1, &kNone, sum.data(), CUDA_R_32F, 1, CUBLAS_COMPUTE_32F,
                       CUBLAS_GEMM_DEFAULT) == kOk);
    CHECK(sum.host()[0] == 40000);
    CHECK_FALSE(last_report());
}

TEST_CASE("sums of double and int are exact where a float's are not") {
    const Handle h;
    const int terms = 1101, one = 1, none = 0;
    const Device<signed char> bytes(std::vector<signed char>(1101, 127));
    const Device<int> sum(1);
    CHECK(cublasGemmEx(h, kTransposed, kPlain, 1, 1, terms, &one, bytes.data(), CUDA_R_8I, terms,
                       bytes.data(), CUDA_R_8I, terms, &none, sum.data(), CUDA_R_32I, 1,
                       CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT) == kOk);
    CHECK(sum.host()[0] == 1101 * 127 * 127);
    const double unit = 1;
    const Device<double> thirds(std::vector<double>{1.0 / 3, 2, 3});
    CHECK(cublasDgemm(h, kPlain, kPlain, 1, 1, 1, &unit, thirds.data(), 1, thirds.data() + 1, 1,
                      &unit, thirds.data() + 2, 1) == kOk);
    CHECK(thirds.host()[2] == 3 + 2 * (1.0 / 3));
}

TEST_CASE("products in batches: strides, lists of pointers, and mixed types") {
    clear_report();
    const Handle h;
    using Half = __nv_bfloat16;
    const Device<Half> halves(values<Half>({1, 2, 3, 4, 5, 6}));
    const Device<float> c(std::vector<float>{1, 1, 1, 1, 1, 1});
    // Three products of 1 x 1: strides 2, 1 and 2.
    CHECK(cublasGemmStridedBatchedEx(h, kPlain, kPlain, 1, 1, 1, &kTwo, halves.data(), CUDA_R_16BF,
                                     1, 2, halves.data(), CUDA_R_16BF, 1, 1, &kMinus, c.data(),
                                     CUDA_R_32F, 1, 2, 3, CUBLAS_COMPUTE_32F,
                                     CUBLAS_GEMM_DEFAULT) == kOk);
    CHECK(c.host() == std::vector<float>{1, 1, 11, 1, 29, 1});
    CHECK(cublasSgemmEx(h, kPlain, kPlain, 1, 1, 2, &kOne, halves.data(), CUDA_R_16BF, 1,
                        halves.data() + 2, CUDA_R_16BF, 2, &kNone, c.data(), CUDA_R_32F, 1) == kOk);
    CHECK(c.host()[0] == 11);
    const auto batched = [&](int batch) {
        return cublasSgemmStridedBatched(h, kPlain, kPlain, 1, 1, 1, &kOne, c.data(), 1, 1,
                                         c.data(), 1, 1, &kNone, c.data() + 5, 1, 0, batch);
    };
    CHECK((batched(0) == kOk && batched(-1) == kInvalid));
    CHECK(c.host()[5] == 1);

    const Device<float> data(std::vector<float>{1, 2, 3, 4, 5, 6});
    float* const d = data.data();
    const Device<const float*> left({d, d + 1}), right({d + 2, d + 3}), few({d}), unset(2);
    const Device<float*> to({d + 4, d + 5});
    const auto each = [&](const Device<const float*>& x, const Device<const float*>& y,
                          float* const* z) {
        return cublasSgemmBatched(h, kPlain, kPlain, 1, 1, 1, &kOne, x.data(), 1, y.data(), 1,
                                  &kTwo, z, 1, 2);
    };
    CHECK(each(left, right, to.data()) == kOk);
    CHECK(data.host() == std::vector<float>{1, 2, 3, 4, 13, 20});
    CHECK_FALSE(last_report());
    CHECK(each(few, right, to.data()) == kFailed);
    CHECK(reported({"list of matrices"}));
    CHECK(each(left, unset, to.data()) == kFailed);
    CHECK(reported({"list of matrices", "row 0, column 0 was never written"}));
    float* const on_host[] = {d, d};
    CHECK(each(left, right, on_host) == kFailed);
    CHECK(reported({"list of matrices"}));
    const Device<const float*> wrong({d, nullptr});
    CHECK(each(left, wrong, to.data()) == kFailed);
    CHECK(reported({"matrix B (1 x 1, leading dimension 1)"}));
}

TEST_CASE("each invalid size of a product is rejected, and its neighbour is not") {
    const Handle h;
    const Device<float> x(std::vector<float>(20, 1)), y(x.host());
    const auto gemm = [&](cublasOperation_t op, int m, int n, int k, int lda, int ldb, int ldc) {
        return cublasSgemm(h, op, op, m, n, k, &kOne, x.data(), lda, x.data(), ldb, &kNone,
                           y.data(), ldc);
    };
    for (const auto status :
         {gemm(kPlain, 2, 3, 4, 2, 4, 2), gemm(kTransposed, 2, 3, 4, 4, 3, 2),
          gemm(kPlain, 0, 3, 4, 1, 4, 1), gemm(kPlain, 2, 0, 4, 2, 4, 2),
          gemm(kPlain, 2, 3, 0, 2, 1, 2), gemm(kTransposed, 2, 3, 0, 1, 3, 2)}) {
        CHECK(status == kOk);
    }
    for (const auto status : {gemm(kPlain, -1, 3, 4, 2, 4, 2), gemm(kPlain, 2, -1, 4, 2, 4, 2),
                              gemm(kPlain, 2, 3, -1, 2, 4, 2), gemm(kPlain, 2, 3, 4, 1, 4, 2),
                              gemm(kPlain, 2, 3, 4, 2, 3, 2), gemm(kPlain, 2, 3, 4, 2, 4, 1),
                              gemm(kTransposed, 2, 3, 4, 3, 3, 2),
                              gemm(kTransposed, 2, 3, 4, 4, 2, 2), gemm(kPlain, 0, 3, 4, 0, 4, 1),
                              gemm(kPlain, 0, 3, 4, 1, 4, 0), gemm(kPlain, 2, 3, 0, 2, 0, 2)}) {
        CHECK(status == kInvalid);
    }
    const auto with = [&](const float* alpha, const float* beta) {
        return cublasSgemm(h, kPlain, kPlain, 1, 1, 1, alpha, x.data(), 1, x.data(), 1, beta,
                           y.data(), 1);
    };
    CHECK((with(&kOne, nullptr) == kInvalid && with(nullptr, &kOne) == kInvalid));
    cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
    for (int i = 0; i < 2; ++i) CHECK(with(x.data(), x.data() + 1) == kOk);
    CHECK(y.host()[0] == 2);
    CHECK((with(&kOne, x.data()) == kFailed && reported({"its scalar"})));
    CHECK((with(x.data(), &kOne) == kFailed && reported({"its scalar"})));
}

TEST_CASE("a product reads only what counts, and names the operand that it cannot reach") {
    clear_report();
    const Handle h;
    const Device<float> x(std::vector<float>(12, 1)), five(std::vector<float>(5, 1)), unset(6),
        c(6);
    const auto gemm = [&](cublasOperation_t op, int k, float alpha, const Device<float>& left,
                          const Device<float>& right, float beta, const Device<float>& to) {
        const int lda = op == kPlain ? 2 : 3, ldb = 3;
        return cublasSgemm(h, op, op, 2, 3, k, &alpha, left.data(), lda, right.data(), ldb, &beta,
                           to.data(), 2);
    };
    CHECK(gemm(kPlain, 3, 1, x, x, 0, c) == kOk);  // c was never written, and is not read
    CHECK(gemm(kPlain, 3, 0, unset, unset, 2, c) == kOk);
    CHECK(gemm(kPlain, 0, 1, unset, unset, 2, c) == kOk);
    CHECK(c.host() == std::vector<float>(6, 12));
    for (const auto& [m, n] : {std::pair{0, 3}, {2, 0}}) {  // reads nothing
        CHECK(cublasSgemm(h, kPlain, kPlain, m, n, 3, &kOne, nullptr, 2, nullptr, 3, &kNone,
                          c.data(), 2) == kOk);
    }
    CHECK_FALSE(last_report());
    CHECK((gemm(kPlain, 3, 1, five, x, 0, c) == kFailed &&
           reported({"cublasSgemm", "matrix A (2 x 3, leading dimension 2)"})));
    CHECK((gemm(kPlain, 3, 1, x, five, 0, c) == kFailed &&
           reported({"matrix B (3 x 3, leading dimension 3)"})));
    CHECK((gemm(kTransposed, 3, 1, five, x, 0, c) == kFailed &&
           reported({"matrix A (3 x 2, leading dimension 3)"})));
    CHECK((gemm(kTransposed, 3, 1, x, unset, 0, c) == kFailed &&
           reported({"matrix B (3 x 3, leading dimension 3)"})));
    CHECK((gemm(kPlain, 3, 1, x, x, 0, five) == kFailed &&
           reported({"matrix C (2 x 3, leading dimension 2)"})));
    CHECK((gemm(kPlain, 3, 1, x, x, 1, unset) == kFailed &&
           reported({"matrix C", "row 0, column 0 was never written"})));
    cudaMemset(unset.data(), 0, 5 * sizeof(float));
    CHECK(gemm(kPlain, 3, 1, unset, x, 0, c) == kFailed);
    REQUIRE(last_report());
    CHECK(last_report()->kind == Kind::uninitialised_read);
    CHECK(last_report()->address == reinterpret_cast<std::uintptr_t>(unset.data() + 5));
    CHECK(reported({"matrix A", "row 1, column 2 was never written"}));
    // What is between the columns of an output stays unwritten.
    const Device<float> gaps(8);
    CHECK(cublasSgemm(h, kPlain, kPlain, 2, 3, 1, &kOne, x.data(), 2, x.data(), 1, &kNone,
                      gaps.data(), 3) == kOk);
    float sum = 0;
    CHECK(cublasSasum(h, 2, gaps.data() + 3, 1, &sum) == kOk);
    CHECK((cublasSasum(h, 8, gaps.data(), 1, &sum) == kFailed &&
           reported({"vector x", "row 0, column 2 was never written"})));
}
