/// @file
/// Copies to and from `__device__` and `__constant__` variables, by name instead of pointer.
#include "common/emulator/api/api.hpp"
#include "common/emulator/memory/host_access.hpp"
#include "common/emulator/memory/memory.hpp"
#include "common/emulator/report/finding.hpp"

namespace sixdays::emulator {

void* part_of_symbol(const char* call, const void* symbol, std::size_t offset, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(symbol);
    const Extent variable = device_variable_at(address);
    const bool fits = offset <= variable.bytes && bytes <= variable.bytes - offset;
    if (variable.live && fits) return reinterpret_cast<void*>(address + offset);
    Finding finding{
        variable.live ? Kind::out_of_bounds : Kind::host_memory,
        variable.live ? cudaErrorInvalidValue : cudaErrorInvalidSymbol, own_place(calls_so_far()),
        variable.live ? format("%s of %zu bytes from byte %zu on: the variable has only %zu bytes.",
                               call, bytes, offset, variable.bytes)
                      : format("%s: this is not a __device__ or __constant__ variable.", call),
        address};
    finding.in_kernel = false;
    note(finding);
    return nullptr;
}

}  // namespace sixdays::emulator
