/// @file
/// cuBLASLt: descriptors of a product, and the product.
#include "cublasLt.h"

#include <cstring>

#include "common/emulator/libraries/cublas.hpp"
#include "common/emulator/memory/host_access.hpp"

using namespace sixdays::emulator;  // this file implements the library's API

struct cublasLtContext {};

namespace {

template <class T>
cublasStatus_t create(T** to, const T& value) {
    if (to == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *to = new T(value);
    return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t destroy(T* object) {
    delete object;
    return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t set(T& member, const void* value, std::size_t bytes) {
    if (value == nullptr || bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&member, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

Product::Operand operand(const void* data, const cublasLtMatrixLayoutOpaque_t& layout, int i) {
    const auto offset = layout.stride * i * static_cast<std::int64_t>(bytes_of(layout.type));
    return {static_cast<const char*>(data) + offset, layout.type, layout.lead};
}

bool shapes_match(const cublasLtMatmulDescOpaque_t& desc, const cublasLtMatrixLayoutOpaque_t& a,
                  const cublasLtMatrixLayoutOpaque_t& b, const cublasLtMatrixLayoutOpaque_t& d) {
    const bool ta = desc.transa != CUBLAS_OP_N, tb = desc.transb != CUBLAS_OP_N;
    return (ta ? a.columns : a.rows) == d.rows && (tb ? b.rows : b.columns) == d.columns &&
           (ta ? a.rows : a.columns) == (tb ? b.columns : b.rows) && a.batch == d.batch &&
           b.batch == d.batch;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
    return create(handle, cublasLtContext{});
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    return destroy(handle);
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute,
                                        cudaDataType scale) {
    return create(
        desc, {compute, scale, CUBLAS_OP_N, CUBLAS_OP_N, 0, CUBLASLT_EPILOGUE_DEFAULT, nullptr});
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
    return destroy(desc);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
    if (desc == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    switch (attribute) {
        case CUBLASLT_MATMUL_DESC_TRANSA:
            return set(desc->transa, value, bytes);
        case CUBLASLT_MATMUL_DESC_TRANSB:
            return set(desc->transb, value, bytes);
        case CUBLASLT_MATMUL_DESC_POINTER_MODE:
            return set(desc->device_scalars, value, bytes);
        case CUBLASLT_MATMUL_DESC_EPILOGUE:
            return set(desc->epilogue, value, bytes);
        case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
            return set(desc->bias, value, bytes);
        default:
            return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t lead) {
    return create(layout, {type, rows, columns, lead, CUBLASLT_ORDER_COL, 1, 0});
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    return destroy(layout);
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, std::size_t bytes) {
    if (layout == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    switch (attribute) {
        case CUBLASLT_MATRIX_LAYOUT_ORDER:
            return set(layout->order, value, bytes);
        case CUBLASLT_MATRIX_LAYOUT_LD:
            return set(layout->lead, value, bytes);
        case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
            return set(layout->batch, value, bytes);
        case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
            return set(layout->stride, value, bytes);
        default:
            return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
    return create(preference, {0});
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    return destroy(preference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, std::size_t bytes) {
    if (preference == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    if (attribute != CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return CUBLAS_STATUS_SUCCESS;
    return set(preference->workspace_bytes, value, bytes);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* found) {
    if (results == nullptr || found == nullptr || wanted < 1) return CUBLAS_STATUS_INVALID_VALUE;
    *found = 0;
    if (desc == nullptr || a == nullptr || b == nullptr || c == nullptr || d == nullptr ||
        !shapes_match(*desc, *a, *b, *d)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    results[0] = {{}, 0, CUBLAS_STATUS_SUCCESS, 1.0f, {}};
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t layout_a, const void* b,
                              cublasLtMatrixLayout_t layout_b, const void* beta, const void* c,
                              cublasLtMatrixLayout_t layout_c, void* d,
                              cublasLtMatrixLayout_t layout_d, const cublasLtMatmulAlgo_t*, void*,
                              std::size_t, cudaStream_t) {
    if (desc == nullptr || alpha == nullptr || beta == nullptr || layout_a == nullptr ||
        layout_b == nullptr || layout_c == nullptr || layout_d == nullptr ||
        !shapes_match(*desc, *layout_a, *layout_b, *layout_d)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    for (const auto* layout : {layout_a, layout_b, layout_c, layout_d}) {
        if (layout->order != CUBLASLT_ORDER_COL) return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    Product p{
        "cublasLtMatmul",
        __builtin_return_address(0),
        static_cast<cublasOperation_t>(desc->transa),
        static_cast<cublasOperation_t>(desc->transb),
        static_cast<std::int64_t>(layout_d->rows),
        static_cast<std::int64_t>(layout_d->columns),
        static_cast<std::int64_t>(desc->transa != CUBLAS_OP_N ? layout_a->rows : layout_a->columns),
        {},
        {},
        {},
        {},
        0,
        0};
    cublasContext modes;
    if (desc->device_scalars != 0) modes.pointers = CUBLAS_POINTER_MODE_DEVICE;
    const DeviceMemoryOpen open;
    if (!read_scalar(modes, p.call, p.caller, alpha, desc->scale, p.alpha) ||
        !read_scalar(modes, p.call, p.caller, beta, desc->scale, p.beta)) {
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    if ((desc->epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) p.bias = desc->bias;
    if ((desc->epilogue & CUBLASLT_EPILOGUE_RELU) != 0) p.after = Product::After::relu;
    if ((desc->epilogue & CUBLASLT_EPILOGUE_GELU) != 0) p.after = Product::After::gelu;
    for (int i = 0; i < layout_d->batch; ++i) {
        p.a = operand(a, *layout_a, i);
        p.b = operand(b, *layout_b, i);
        p.c = operand(c, *layout_c, i);
        p.d = operand(d, *layout_d, i);
        const cublasStatus_t status = multiply(p);
        if (status != CUBLAS_STATUS_SUCCESS) return status;
    }
    return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
