#include <cublasLt.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "common/bench/measure.hpp"
#include "common/gpu/buffer.hpp"
#include "day05_matmul/bench/peer/peer.hpp"

namespace sixdays::day05_matmul {
namespace {

void check(cublasStatus_t status, const char* call) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw std::runtime_error(std::string(call) + ": " + cublasLtGetStatusString(status));
}

constexpr std::int64_t kWorkspace = 64 << 20;

// cuBLAS is column-major: its matrix of (rows, columns) has stride 1 along its rows. To cuBLAS a
// row-major matrix is the transpose, so it computes out^T = b^T a^T.
template <class T>
class Product {
public:
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    static constexpr cudaDataType kType = kIsFloat ? CUDA_R_32F : CUDA_R_16BF;
    static constexpr cublasComputeType_t kSums =
        kIsFloat ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F;

    Product(View<const T> a, View<const T> b, View<float> out) : workspace_(kWorkspace) {
        check(cublasLtCreate(&handle_), "cublasLtCreate");
        check(cublasLtMatmulDescCreate(&product_, kSums, CUDA_R_32F), "cublasLtMatmulDescCreate");
        transpose(CUBLASLT_MATMUL_DESC_TRANSA, b.stride(1) != 1);
        transpose(CUBLASLT_MATMUL_DESC_TRANSB, a.stride(1) != 1);
        first_ = layout(b.layout, kType);
        second_ = layout(a.layout, kType);
        out_ = layout(out.layout, CUDA_R_32F);
        choose(a.data, b.data, out.data);
    }
    Product(const Product&) = delete;
    Product& operator=(const Product&) = delete;
    ~Product() {
        for (cublasLtMatrixLayout_t each : {first_, second_, out_}) {
            cublasLtMatrixLayoutDestroy(each);
        }
        cublasLtMatmulDescDestroy(product_);
        cublasLtDestroy(handle_);
    }

    void run(const cublasLtMatmulAlgo_t& by, const T* a, const T* b, float* out) {
        const float one = 1, zero = 0;
        check(cublasLtMatmul(handle_, product_, &one, b, first_, a, second_, &zero, out, out_, out,
                             out_, &by, workspace_.data(), kWorkspace, nullptr),
              "cublasLtMatmul");
    }
    void run(const T* a, const T* b, float* out) { run(best_, a, b, out); }

private:
    void transpose(cublasLtMatmulDescAttributes_t which, bool yes) {
        const cublasOperation_t operation = yes ? CUBLAS_OP_T : CUBLAS_OP_N;
        check(cublasLtMatmulDescSetAttribute(product_, which, &operation, sizeof operation),
              "cublasLtMatmulDescSetAttribute");
    }

    static cublasLtMatrixLayout_t layout(const Layout& v, cudaDataType type) {
        const int fast = v.stride(1) == 1 ? 1 : 0;
        cublasLtMatrixLayout_t made = nullptr;
        check(cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(v.extent(fast)),
                                         static_cast<std::uint64_t>(v.extent(1 - fast)),
                                         v.stride(1 - fast)),
              "cublasLtMatrixLayoutCreate");
        return made;
    }

    // The fastest of the proposed algorithms.
    void choose(const T* a, const T* b, float* out) {
        cublasLtMatmulPreference_t preference = nullptr;
        check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
        const std::size_t bytes = kWorkspace;
        check(cublasLtMatmulPreferenceSetAttribute(
                  preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes),
              "cublasLtMatmulPreferenceSetAttribute");
        std::vector<cublasLtMatmulHeuristicResult_t> proposed(16);
        int found = 0;
        check(cublasLtMatmulAlgoGetHeuristic(handle_, product_, first_, second_, out_, out_,
                                             preference, static_cast<int>(proposed.size()),
                                             proposed.data(), &found),
              "cublasLtMatmulAlgoGetHeuristic");
        cublasLtMatmulPreferenceDestroy(preference);
        double fastest = 0;
        for (int i = 0; i < found; ++i) {
            const cublasLtMatmulAlgo_t& by = proposed[static_cast<std::size_t>(i)].algo;
            const double seconds =
                bench::gpu_seconds(bench::Budget{3, 9, 0.05}, [&](int) { run(by, a, b, out); }, {})
                    .run.median;
            if (i == 0 || seconds < fastest) best_ = by, fastest = seconds;
        }
        if (found == 0) throw std::runtime_error("cuBLAS proposes no algorithm");
    }

    cublasLtHandle_t handle_ = nullptr;
    cublasLtMatmulDesc_t product_ = nullptr;
    cublasLtMatrixLayout_t first_ = nullptr, second_ = nullptr, out_ = nullptr;
    cublasLtMatmulAlgo_t best_ = {};
    gpu::Buffer<std::byte> workspace_;
};

}  // namespace

bool has_peer() {
    return true;
}

PeerProduct<float> peer_product(View<const float> a, View<const float> b, View<float> out) {
    const auto product = std::make_shared<Product<float>>(a, b, out);
    return [product](const float* x, const float* y, float* to) { product->run(x, y, to); };
}

PeerProduct<bf16> peer_product(View<const bf16> a, View<const bf16> b, View<float> out) {
    const auto product = std::make_shared<Product<bf16>>(a, b, out);
    return [product](const bf16* x, const bf16* y, float* to) { product->run(x, y, to); };
}

}  // namespace sixdays::day05_matmul
