/// @file
/// What the library calls of a program (cuBLAS, cuRAND) are held to: their pointers lead to device
/// memory, all of the matrix lies in one allocation, and what is read has been written.
#pragma once

#include <cstdint>
#include <string>

namespace sixdays::emulator {

/// A matrix as a call names it, column after column. A vector has one row, and `lead` is the step
/// from one element to the next.
struct DeviceMatrix {
    std::string name;  // "matrix A (64 x 32, leading dimension 64)"
    const void* data;
    std::size_t element;  // bytes of one
    std::int64_t rows, columns, lead;
};

/// False, and a finding at the caller's line, if not.
bool may_read(const char* call, const DeviceMatrix& matrix, const void* caller);
/// The same of one that is written; from then on all of it counts as written.
bool may_write(const char* call, const DeviceMatrix& matrix, const void* caller);

}  // namespace sixdays::emulator
