/// @file
/// Requirements for the arguments of library calls (cuBLAS, cuRAND): a matrix must be within one
/// device allocation, and what is read must have been written.
#pragma once

#include <cstdint>
#include <string>

namespace sixdays::emulator {

/// A column-major matrix argument. A vector has one row, and `lead` is its stride.
struct DeviceMatrix {
    std::string name;  // "matrix A (64 x 32, leading dimension 64)"
    const void* data;
    std::size_t element;  // bytes per element
    std::int64_t rows, columns, lead;
};

/// Otherwise false, with a report at the caller's line.
bool may_read(const char* call, const DeviceMatrix& matrix, const void* caller);
/// The same for an output; from then on all of it counts as written.
bool may_write(const char* call, const DeviceMatrix& matrix, const void* caller);

}  // namespace sixdays::emulator
