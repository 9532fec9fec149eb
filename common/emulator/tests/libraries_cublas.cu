#include <cublas_v2.h>

#include <vector>

#include "common/emulator/tests/libraries.hpp"

namespace sixdays::emulator::tests {

namespace {

constexpr int kM = 3, kN = 4, kK = 5, kLead = 6, kSize = 64;

template <class T>
class Array {
public:
    explicit Array(int modulus) {
        std::vector<T> values(kSize);
        for (int i = 0; i < kSize; ++i) {
            values[static_cast<std::size_t>(i)] =
                static_cast<T>(static_cast<float>(i % modulus - modulus / 2));
        }
        cudaMalloc(reinterpret_cast<void**>(&data_), kSize * sizeof(T));
        cudaMemcpy(data_, values.data(), kSize * sizeof(T), cudaMemcpyHostToDevice);
    }
    ~Array() { cudaFree(data_); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    operator T*() const { return data_; }

private:
    T* data_ = nullptr;
};

template <class T>
std::string line(const std::string& name, int status, const Array<T>& from) {
    std::vector<T> host(kSize);
    cudaMemcpy(host.data(), from, kSize * sizeof(T), cudaMemcpyDeviceToHost);
    std::string text = name + " " + std::to_string(status);
    for (const T value : host)
        text += " " + std::to_string(static_cast<int>(static_cast<float>(value)));
    return text + "\n";
}
std::string line(const std::string& name, int status, double value) {
    return name + " " + std::to_string(status) + " " + std::to_string(static_cast<int>(value)) +
           "\n";
}

}  // namespace

std::string cublas_table() {
    cublasHandle_t h = nullptr;
    if (cublasCreate(&h) != CUBLAS_STATUS_SUCCESS) return "";
    std::string table;
    const float two = 2, minus = -1, zero = 0;
    const cublasOperation_t no = CUBLAS_OP_N, transposed = CUBLAS_OP_T;
    for (const auto ta : {no, transposed}) {
        for (const auto tb : {no, transposed}) {
            const Array<float> a(7), b(4), c(11);
            const std::string name =
                std::string("sgemm_") + (ta == no ? "n" : "t") + (tb == no ? "n" : "t");
            table += line(
                name,
                cublasSgemm(h, ta, tb, kM, kN, kK, &two, a, kLead, b, kLead, &minus, c, kLead), c);
        }
    }
    const Array<float> a(7), b(4), x(3), y(9);
    {
        const Array<double> da(7), db(4), dc(11);
        const double two_d = 2, zero_d = 0;
        table += line(
            "dgemm",
            cublasDgemm(h, no, no, kM, kN, kK, &two_d, da, kLead, db, kLead, &zero_d, dc, kLead),
            dc);
        const Array<__nv_bfloat16> ba(7), bb(4);
        const Array<float> c(11);
        table += line("gemm_ex",
                      cublasGemmEx(h, transposed, no, kM, kN, kK, &two, ba, CUDA_R_16BF, kLead, bb,
                                   CUDA_R_16BF, kLead, &zero, c, CUDA_R_32F, kLead,
                                   CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                      c);
        const Array<float> batch(11);
        table += line("batched",
                      cublasSgemmStridedBatched(h, no, no, 2, 2, 2, &two, a, 2, 4, b, 2, 4, &minus,
                                                batch, 2, 4, 5),
                      batch);
        table += line("lda_too_small",
                      cublasSgemm(h, no, no, kM, kN, kK, &two, a, 2, b, kLead, &zero, c, kLead), c);
    }
    table += line("axpy", cublasSaxpy(h, 10, &two, x, 2, y, 3), y);
    table += line("axpy_back", cublasSaxpy(h, 10, &two, x, -2, y, 3), y);
    table += line("gemv_n", cublasSgemv(h, no, kM, kN, &two, a, kLead, x, 1, &minus, y, 2), y);
    table +=
        line("gemv_t", cublasSgemv(h, transposed, kM, kN, &two, a, kLead, x, 1, &minus, y, 2), y);
    table += line("ger", cublasSger(h, kM, kN, &two, x, 1, y, 2, a, kLead), a);
    table +=
        line("geam",
             cublasSgeam(h, transposed, no, kM, kN, &two, a, kLead, &minus, b, kLead, y, kLead), y);
    float result = 0;
    int index = 0, status = cublasSdot(h, 10, x, 1, b, 2, &result);
    table += line("dot", status, result);
    status = cublasSasum(h, 20, b, 1, &result);
    table += line("asum", status, result);
    status = cublasSnrm2(h, 3, b, 1, &result);  // (-2, -1, 0): 100 times the norm
    table += line("nrm2", status, 100 * static_cast<double>(result));
    status = cublasIsamax(h, 20, a, 1, &index);
    table += line("isamax", status, index);
    cublasDestroy(h);
    return table;
}

}  // namespace sixdays::emulator::tests
