// cuBLASLt: the epilogues, what the descriptors say, and each invalid argument alone.
#include <cublasLt.h>

#include <cmath>
#include <utility>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/cublas.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

/// A product of cuBLASLt with 2 x 3 = (2 x 2)(2 x 3) by default.
struct Lt {
    cublasLtHandle_t handle = nullptr;
    cublasLtMatmulDesc_t desc = nullptr;
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr, d = nullptr;

    Lt() {
        REQUIRE(cublasLtCreate(&handle) == kOk);
        REQUIRE(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F) == kOk);
        REQUIRE(cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, 2, 2, 2) == kOk);
        for (auto* layout : {&b, &c, &d})
            REQUIRE(cublasLtMatrixLayoutCreate(layout, CUDA_R_32F, 2, 3, 2) == kOk);
    }
    ~Lt() {
        for (auto* layout : {a, b, c, d}) CHECK(cublasLtMatrixLayoutDestroy(layout) == kOk);
        CHECK(cublasLtMatmulDescDestroy(desc) == kOk);
        CHECK(cublasLtDestroy(handle) == kOk);
    }
    Lt(const Lt&) = delete;
    Lt& operator=(const Lt&) = delete;

    template <class T>
    void set(cublasLtMatmulDescAttributes_t what, T value) {
        CHECK(cublasLtMatmulDescSetAttribute(desc, what, &value, sizeof(value)) == kOk);
    }
    template <class T>
    void set(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t what, T value) {
        CHECK(cublasLtMatrixLayoutSetAttribute(layout, what, &value, sizeof(value)) == kOk);
    }
    cublasStatus_t run(const Device<float>& x, const Device<float>& y, const Device<float>& z,
                       const Device<float>& to, const void* alpha, const void* beta) {
        return cublasLtMatmul(handle, desc, alpha, x.data(), a, y.data(), b, beta, z.data(), c,
                              to.data(), d, nullptr, nullptr, 0, nullptr);
    }
};

constexpr float kOne = 1, kTwo = 2;

}  // namespace

TEST_CASE("cuBLASLt adds a bias, then applies ReLU or GELU") {
    clear_report();
    // A = (1, 3; 2, 4), B has the columns (1, 0), (0, -1), (0, 1), C is 0.
    const Device<float> a(std::vector<float>{1, 2, 3, 4}), b(std::vector<float>{1, 0, 0, -1, 0, 1}),
        zero(std::vector<float>(6, 0)), d(6), bias(std::vector<float>{1, -2}), too_small(1);
    const std::vector<float> plain{1, 2, -3, -4, 3, 4}, shifted{2, 0, -2, -6, 4, 2};
    const auto gelu = [](float x) {  // Hendrycks and Gimpel 2016, section 2
        return 0.5 * x *
               (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
    };
    for (const auto epilogue :
         {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_BIAS,
          CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS}) {
        INFO("epilogue " << epilogue);
        Lt lt;
        lt.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
        lt.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(bias.data()));
        CHECK(lt.run(a, b, zero, d, &kOne, &kOne) == kOk);
        const bool biased = (epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
        for (std::size_t i = 0; i < 6; ++i) {
            const float x = biased ? shifted[i] : plain[i];
            const double want = (epilogue & CUBLASLT_EPILOGUE_RELU) != 0   ? std::max(x, 0.0f)
                                : (epilogue & CUBLASLT_EPILOGUE_GELU) != 0 ? gelu(x)
                                                                           : x;
            CHECK(std::abs(d.host()[i] - want) < 1e-6);
        }
        lt.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(too_small.data()));
        CHECK(lt.run(a, b, zero, d, &kOne, &kOne) == (biased ? kFailed : kOk));
        if (biased) CHECK(reported({"cublasLtMatmul", "bias"}));
    }
    CHECK_FALSE(last_report());
}

TEST_CASE("cuBLASLt transposes, batches and reads scalars as its descriptors say") {
    clear_report();
    const Device<float> a(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}),
        b(std::vector<float>{1, 0, 2, 0, 1, 1, 10, 0, 20, 0, 10, 10}),
        d(std::vector<float>(13, -9)), c(std::vector<float>{1, 1, 0, 1, 1, 0, 1, 1});
    const Device<float> scalars(std::vector<float>{2, -1});
    Lt lt;
    // A' = (1, 2; 3, 4); B' is 2 x 3: rows (1, 0, 2), (0, 1, 1). Batch 2, C the same for both.
    lt.set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    lt.set(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_T);
    lt.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, std::int32_t{1});
    cublasLtMatrixLayoutDestroy(lt.b);
    CHECK(cublasLtMatrixLayoutCreate(&lt.b, CUDA_R_32F, 3, 2, 3) == kOk);
    lt.set(lt.c, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{3});
    for (auto* layout : {lt.a, lt.b, lt.c, lt.d}) {
        lt.set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, std::int32_t{2});
    }
    const auto stride = CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET;
    lt.set(lt.a, stride, std::int64_t{4});
    lt.set(lt.b, stride, std::int64_t{6});
    lt.set(lt.d, stride, std::int64_t{7});
    CHECK(lt.run(a, b, c, d, scalars.data(), scalars.data() + 1) == kOk);
    CHECK(d.host() == std::vector<float>{1, 5, 3, 7, 7, 19, -9, 99, 139, 119, 159, 319, 439});
    CHECK((lt.run(a, b, c, d, &kTwo, scalars.data()) == kFailed && reported({"its scalar"})));
    CHECK((lt.run(a, b, c, d, scalars.data(), &kTwo) == kFailed && reported({"its scalar"})));
    // D has its own layout.
    const Device<float> few(std::vector<float>(12, 0));
    CHECK((lt.run(a, b, c, few, scalars.data(), scalars.data()) == kFailed &&
           reported({"matrix D (2 x 3, leading dimension 2)"})));
}

TEST_CASE("cuBLASLt rejects shapes that do not match, and everything that is missing") {
    clear_report();
    const Device<float> x(std::vector<float>(32, 1)), y(x.host());
    using Setting = void (*)(Lt&);
    const auto both = [&](Setting change) {
        Lt lt;
        change(lt);
        int found = -1;
        cublasLtMatmulHeuristicResult_t results[1];
        const auto told = cublasLtMatmulAlgoGetHeuristic(lt.handle, lt.desc, lt.a, lt.b, lt.c, lt.d,
                                                         nullptr, 1, results, &found);
        CHECK(found == (told == kOk ? 1 : 0));
        return std::pair(told, lt.run(x, x, x, y, &kOne, &kOne));
    };
    const auto done = std::pair(kOk, kOk), invalid = std::pair(kInvalid, kInvalid);
    CHECK(both([](Lt&) {}) == done);
    CHECK(both([](Lt& lt) { lt.a->rows = 3, lt.a->lead = 3; }) == invalid);
    CHECK(both([](Lt& lt) { lt.a->columns = 3; }) == invalid);
    CHECK(both([](Lt& lt) { lt.b->rows = 3, lt.b->lead = 3; }) == invalid);
    CHECK(both([](Lt& lt) { lt.b->columns = 2; }) == invalid);
    CHECK(both([](Lt& lt) { lt.d->rows = 1; }) == invalid);
    CHECK(both([](Lt& lt) { lt.a->batch = 2; }) == invalid);
    CHECK(both([](Lt& lt) { lt.b->batch = 2; }) == invalid);
    CHECK(both([](Lt& lt) { lt.d->batch = 2; }) == invalid);
    CHECK(both([](Lt& lt) { lt.desc->transb = CUBLAS_OP_T; }) == invalid);
    CHECK(both([](Lt& lt) { lt.a->rows = 1, lt.a->lead = 1, lt.desc->transa = CUBLAS_OP_T; }) ==
          invalid);
    // Leading dimensions are checked when the product runs.
    const auto at_run = std::pair(kOk, kInvalid), order = std::pair(kOk, kUnsupported);
    CHECK(both([](Lt& lt) { lt.a->lead = 1; }) == at_run);
    CHECK(both([](Lt& lt) { lt.b->lead = 1; }) == at_run);
    CHECK(both([](Lt& lt) { lt.c->lead = 1; }) == at_run);
    CHECK(both([](Lt& lt) { lt.d->lead = 1; }) == at_run);
    CHECK(both([](Lt& lt) { lt.a->order = CUBLASLT_ORDER_ROW; }) == order);
    CHECK(both([](Lt& lt) { lt.b->order = CUBLASLT_ORDER_ROW; }) == order);
    CHECK(both([](Lt& lt) { lt.c->order = CUBLASLT_ORDER_ROW; }) == order);
    CHECK(both([](Lt& lt) { lt.d->order = CUBLASLT_ORDER_ROW; }) == order);
    using Member = cublasLtMatrixLayout_t Lt::*;
    for (const Member missing : {&Lt::a, &Lt::b, &Lt::c, &Lt::d}) {
        Lt lt;
        const auto kept = std::exchange(lt.*missing, nullptr);
        int found = -1;
        cublasLtMatmulHeuristicResult_t results[1];
        CHECK(cublasLtMatmulAlgoGetHeuristic(lt.handle, lt.desc, lt.a, lt.b, lt.c, lt.d, nullptr, 1,
                                             results, &found) == kInvalid);
        CHECK(lt.run(x, x, x, y, &kOne, &kOne) == kInvalid);
        lt.*missing = kept;
    }
    Lt lt;
    const auto algorithms = [&](cublasLtMatmulDesc_t desc, int wanted, bool results, bool found) {
        int count = -1;
        cublasLtMatmulHeuristicResult_t all[1];
        return cublasLtMatmulAlgoGetHeuristic(lt.handle, desc, lt.a, lt.b, lt.c, lt.d, nullptr,
                                              wanted, results ? all : nullptr,
                                              found ? &count : nullptr);
    };
    CHECK(algorithms(lt.desc, 1, true, true) == kOk);
    for (const auto status :
         {algorithms(nullptr, 1, true, true), algorithms(lt.desc, 0, true, true),
          algorithms(lt.desc, 1, false, true), algorithms(lt.desc, 1, true, false)}) {
        CHECK(status == kInvalid);
    }
    CHECK(lt.run(x, x, x, y, nullptr, &kOne) == kInvalid);
    CHECK(lt.run(x, x, x, y, &kOne, nullptr) == kInvalid);
    const auto desc = std::exchange(lt.desc, nullptr);
    CHECK(lt.run(x, x, x, y, &kOne, &kOne) == kInvalid);
    lt.desc = desc;
    CHECK_FALSE(last_report());
}

TEST_CASE("an attribute of cuBLASLt rejects a value of another size") {
    Lt lt;
    cublasLtMatmulPreference_t preference = nullptr;
    CHECK(cublasLtMatmulPreferenceCreate(&preference) == kOk);
    const std::int64_t value = 0;
    const auto of_desc = [&](cublasLtMatmulDesc_t desc, int what, const void* from, std::size_t n) {
        return cublasLtMatmulDescSetAttribute(
            desc, static_cast<cublasLtMatmulDescAttributes_t>(what), from, n);
    };
    const auto of_layout = [&](cublasLtMatrixLayout_t layout, int what, const void* from,
                               std::size_t n) {
        return cublasLtMatrixLayoutSetAttribute(
            layout, static_cast<cublasLtMatrixLayoutAttribute_t>(what), from, n);
    };
    const auto of_preference = [&](cublasLtMatmulPreference_t p, int what, const void* from,
                                   std::size_t n) {
        return cublasLtMatmulPreferenceSetAttribute(
            p, static_cast<cublasLtMatmulPreferenceAttributes_t>(what), from, n);
    };
    const auto check = [&](const auto& set, auto object, int what, std::size_t bytes) {
        CHECK(set(object, what, &value, bytes) == kOk);
        CHECK(set(object, what, &value, bytes - 1) == kInvalid);
        CHECK(set(object, what, &value, bytes + 1) == kInvalid);
        CHECK(set(object, what, nullptr, bytes) == kInvalid);
        CHECK(set(nullptr, what, &value, bytes) == kInvalid);
    };
    for (const int what : {2, 3, 4, 7}) check(of_desc, lt.desc, what, 4);
    check(of_desc, lt.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, sizeof(void*));
    for (const int what : {1, 5}) check(of_layout, lt.a, what, 4);
    for (const int what : {4, 6}) check(of_layout, lt.a, what, 8);
    check(of_preference, preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 8);
    for (const int what : {0, 1, 5, 6}) CHECK(of_desc(lt.desc, what, &value, 4) == kUnsupported);
    for (const int what : {0, 2, 3}) CHECK(of_layout(lt.a, what, &value, 4) == kUnsupported);
    CHECK(of_preference(preference, CUBLASLT_MATMUL_PREF_SEARCH_MODE, nullptr, 0) == kOk);
    CHECK(cublasLtMatmulPreferenceDestroy(preference) == kOk);
    CHECK(cublasLtCreate(nullptr) == kInvalid);
    CHECK(cublasLtMatmulDescCreate(nullptr, CUBLAS_COMPUTE_32F, CUDA_R_32F) == kInvalid);
    CHECK(cublasLtMatrixLayoutCreate(nullptr, CUDA_R_32F, 1, 1, 1) == kInvalid);
    CHECK(cublasLtMatmulPreferenceCreate(nullptr) == kInvalid);
}
