#include "common/emulator/libraries/device_matrix.hpp"

#include <algorithm>

#include "common/emulator/api/api.hpp"
#include "common/emulator/memory/memory.hpp"
#include "common/emulator/report/finding.hpp"

namespace sixdays::emulator {

namespace {

const std::byte* column(const DeviceMatrix& m, std::int64_t j) {
    return static_cast<const std::byte*>(m.data) + static_cast<std::size_t>(j * m.lead) * m.element;
}
std::size_t column_bytes(const DeviceMatrix& m) {
    return static_cast<std::size_t>(m.rows) * m.element;
}

bool lies_in_one_allocation(const char* call, const DeviceMatrix& m, const void* caller) {
    const auto span = static_cast<std::size_t>(column(m, m.columns - 1) - column(m, 0));
    return check_side(call, m.name.c_str(), m.data, span + column_bytes(m), true, caller) ==
           cudaSuccess;
}

}  // namespace

bool may_read(const char* call, const DeviceMatrix& m, const void* caller) {
    if (m.rows <= 0 || m.columns <= 0) return true;
    if (!lies_in_one_allocation(call, m, caller)) return false;
    for (std::int64_t j = 0; j < m.columns; ++j) {
        const auto address = reinterpret_cast<std::uintptr_t>(column(m, j));
        const std::uint8_t* state = heap.state_of(address);
        const std::uint8_t* const end = state + column_bytes(m);
        const auto* unwritten =
            std::find_if(state, end, [](std::uint8_t byte) { return (byte & kWritten) == 0; });
        if (unwritten == end) continue;
        const std::size_t row = static_cast<std::size_t>(unwritten - state) / m.element;
        Finding finding{Kind::uninitialised_read, cudaErrorLaunchFailure, caller,
                        format("%s reads its %s, whose element in row %zu, column %lld was never "
                               "written by any kernel, copy or cudaMemset.",
                               call, m.name.c_str(), row, static_cast<long long>(j)),
                        address + row * m.element};
        finding.in_kernel = false;
        note(finding);
        return false;
    }
    return true;
}

bool may_write(const char* call, const DeviceMatrix& m, const void* caller) {
    if (m.rows <= 0 || m.columns <= 0) return true;
    if (!lies_in_one_allocation(call, m, caller)) return false;
    for (std::int64_t j = 0; j < m.columns; ++j) mark_written(column(m, j), column_bytes(m));
    return true;
}

}  // namespace sixdays::emulator
