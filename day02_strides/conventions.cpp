#include "day02_strides/conventions.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day02_strides {
namespace {

void require_element_bytes(std::int64_t element_bytes) {
    if (element_bytes < 1) {
        reject("an element cannot have ", element_bytes, " bytes");
    }
}

}  // namespace

Dims innermost_first(const Dims& dims) {
    Dims reversed = Dims::filled(dims.rank, 0);
    for (int d = 0; d < dims.rank; ++d) reversed[d] = dims[dims.rank - 1 - d];
    return reversed;
}

Strides byte_strides(const Layout& layout, std::int64_t element_bytes) {
    require_element_bytes(element_bytes);
    Strides bytes = layout.strides;
    for (int d = 0; d < bytes.rank; ++d) {
        if (__builtin_mul_overflow(bytes[d], element_bytes, &bytes[d])) {
            reject("strides ", layout.strides, " of elements of ", element_bytes,
                   " bytes do not fit in 64 bits as bytes");
        }
    }
    return bytes;
}

Layout from_byte_strides(const Shape& shape, const Strides& bytes, std::int64_t element_bytes) {
    require_element_bytes(element_bytes);
    Strides strides = bytes;
    for (int d = 0; d < bytes.rank; ++d) {
        const bool used = d < shape.rank && shape[d] > 1;
        if (used && bytes[d] % element_bytes != 0) {
            reject("byte strides ", bytes, ": the stride of dim ", d, " is ", bytes[d],
                   ", not a multiple of an element's ", element_bytes, " bytes");
        }
        strides[d] = bytes[d] / element_bytes;
    }
    return Layout(shape, strides);
}

Layout pitched_rows(std::int64_t M, std::int64_t K, std::int64_t pitch) {
    if (pitch < K) {
        reject("a pitch of ", pitch, " for rows of ", K, " elements: the rows would overlap");
    }
    return Layout({M, K}, {pitch, 1});
}

MatrixStrides matrix_strides(const Layout& layout) {
    if (layout.rank() != 2) reject(layout, " is not a matrix: rank 2 is needed");
    return {layout.stride(0), layout.stride(1)};
}

std::int64_t leading_dimension(const Layout& layout) {
    const MatrixStrides strides = matrix_strides(layout);
    if (strides.column == 1) return strides.row;
    if (strides.row == 1) return strides.column;
    reject(layout, " has no leading dimension: neither stride is 1");
}

Layout cache_filled_to(std::int64_t T, std::int64_t B, std::int64_t H, std::int64_t capacity,
                       std::int64_t D) {
    if (T > capacity) {
        reject(T, " positions of a cache that has room for ", capacity);
    }
    return Layout({B, H, T, D}, row_major({B, H, capacity, D}).strides);
}

void check_index(const Index& index, const Shape& shape) {
    const std::string what = "index " + to_string(index) + " of shape " + to_string(shape) + ": ";
    if (index.rank != shape.rank) {
        reject(what, "ranks ", index.rank, " and ", shape.rank, " differ");
    }
    for (int d = 0; d < shape.rank; ++d) {
        if (index[d] < 0 || index[d] >= shape[d]) {
            reject(what, "index ", index[d], " of dim ", d, " is not in [0, ", shape[d], ")");
        }
    }
}

}  // namespace sixdays::day02_strides
