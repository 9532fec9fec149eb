/// @file
/// cuBLAS: matrix products for all combinations of types. Operands are unpacked into rows and
/// columns of float (or double), multiplied by a plain loop, and packed again.
#include <algorithm>
#include <cmath>
#include <vector>

#include "common/emulator/api/api.hpp"
#include "common/emulator/libraries/cublas.hpp"
#include "common/emulator/memory/host_access.hpp"
#include "common/emulator/report/finding.hpp"

namespace sixdays::emulator {

// Calls f with a value of this type.
template <class F>
static auto with_type(cudaDataType type, const F& f) {
    switch (type) {
        case CUDA_R_64F:
            return f(double{});
        case CUDA_R_32F:
            return f(float{});
        case CUDA_R_32I:
            return f(int{});
        case CUDA_R_16F:
            return f(__half{});
        case CUDA_R_16BF:
            return f(__nv_bfloat16{});
        case CUDA_R_8I:
            return f(static_cast<signed char>(0));
        case CUDA_R_8U:
            break;
    }
    return f(static_cast<unsigned char>(0));
}

std::size_t bytes_of(cudaDataType type) {
    return with_type(type, [](auto one) { return sizeof(one); });
}

double load(cudaDataType type, const void* data, std::int64_t i) {
    return with_type(type, [=](auto one) {
        return static_cast<double>(static_cast<const decltype(one)*>(data)[i]);
    });
}

void store(cudaDataType type, void* data, std::int64_t i, double value) {
    with_type(type, [=](auto one) {
        static_cast<decltype(one)*>(data)[i] = static_cast<decltype(one)>(value);
    });
}

namespace {

DeviceMatrix described(const char* name, const Product::Operand& x, std::int64_t rows,
                       std::int64_t columns) {
    return {format("matrix %s (%lld x %lld, leading dimension %lld)", name,
                   static_cast<long long>(rows), static_cast<long long>(columns),
                   static_cast<long long>(x.lead)),
            x.data,
            bytes_of(x.type),
            rows,
            columns,
            x.lead};
}

// op(x) with `rows` rows, column-major without gaps.
template <class T>
std::vector<T> unpacked(const Product::Operand& x, std::int64_t rows, std::int64_t columns) {
    std::vector<T> plain(static_cast<std::size_t>(rows * columns));
    const bool transposed = x.transposed != CUBLAS_OP_N;
    for (std::int64_t j = 0; j < columns; ++j) {
        for (std::int64_t i = 0; i < rows; ++i) {
            plain[static_cast<std::size_t>(j * rows + i)] =
                static_cast<T>(load(x.type, x.data, transposed ? i * x.lead + j : j * x.lead + i));
        }
    }
    return plain;
}

double gelu(double x) {  // the tanh approximation, as in cuBLASLt's epilogue
    return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

template <class T>
void multiply_as(const Product& p) {
    const std::vector<T> a = unpacked<T>(p.a, p.m, p.k), b = unpacked<T>(p.b, p.k, p.n);
    std::vector<T> column(static_cast<std::size_t>(p.m));
    for (std::int64_t j = 0; j < p.n; ++j) {
        std::fill(column.begin(), column.end(), T{0});
        for (std::int64_t l = 0; l < p.k; ++l) {
            const T factor = b[static_cast<std::size_t>(j * p.k + l)];
            const T* from = a.data() + l * p.m;
            for (std::int64_t i = 0; i < p.m; ++i)
                column[static_cast<std::size_t>(i)] += from[i] * factor;
        }
        for (std::int64_t i = 0; i < p.m; ++i) {
            double value = p.alpha * static_cast<double>(column[static_cast<std::size_t>(i)]);
            if (p.beta != 0) value += p.beta * load(p.c.type, p.c.data, j * p.c.lead + i);
            if (p.bias != nullptr) value += load(p.d.type, p.bias, i);
            if (p.after == Product::After::relu) value = std::max(value, 0.0);
            if (p.after == Product::After::gelu) value = gelu(value);
            store(p.d.type, const_cast<void*>(p.d.data), j * p.d.lead + i, value);
        }
    }
}

bool has_valid_shape(const Product& p) {
    const std::int64_t rows_a = p.transa == CUBLAS_OP_N ? p.m : p.k;
    const std::int64_t rows_b = p.transb == CUBLAS_OP_N ? p.k : p.n, one = 1;
    return p.m >= 0 && p.n >= 0 && p.k >= 0 && p.a.lead >= std::max(one, rows_a) &&
           p.b.lead >= std::max(one, rows_b) && p.c.lead >= std::max(one, p.m) &&
           p.d.lead >= std::max(one, p.m);
}

// Does not access A and B if the product is empty, nor C if beta is 0.
bool can_reach_all(const Product& p) {
    const bool transposed_a = p.transa != CUBLAS_OP_N, transposed_b = p.transb != CUBLAS_OP_N;
    const DeviceMatrix a = described("A", p.a, transposed_a ? p.k : p.m, transposed_a ? p.m : p.k);
    const DeviceMatrix b = described("B", p.b, transposed_b ? p.n : p.k, transposed_b ? p.k : p.n);
    const DeviceMatrix c = described("C", p.c, p.m, p.n);
    const bool product = p.alpha != 0 && p.k > 0;
    if (product && !(may_read(p.call, a, p.caller) && may_read(p.call, b, p.caller))) return false;
    if (p.beta != 0 && !may_read(p.call, c, p.caller)) return false;
    const DeviceMatrix bias{"bias", p.bias, bytes_of(p.d.type), p.m, 1, p.m};
    if (p.bias != nullptr && !may_read(p.call, bias, p.caller)) return false;
    return may_write(p.call, described(p.c.data == p.d.data ? "C" : "D", p.d, p.m, p.n), p.caller);
}

}  // namespace

cublasStatus_t multiply(const Product& given) {
    Product p = given;
    if (capturing()) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (!has_valid_shape(p)) return CUBLAS_STATUS_INVALID_VALUE;
    if (p.m == 0 || p.n == 0) return CUBLAS_STATUS_SUCCESS;
    p.a.transposed = p.transa;
    p.b.transposed = p.transb;
    if (!can_reach_all(p)) return CUBLAS_STATUS_EXECUTION_FAILED;
    const DeviceMemoryOpen open;
    if (p.alpha == 0) p.k = 0;
    if (p.d.type == CUDA_R_64F || p.d.type == CUDA_R_32I) {
        multiply_as<double>(p);
    } else {
        multiply_as<float>(p);
    }
    return CUBLAS_STATUS_SUCCESS;
}

}  // namespace sixdays::emulator
