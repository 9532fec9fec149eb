/// @file
/// __device__ and __constant__ variables, and the program's read-only data.
#include <link.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "common/emulator/memory/memory.hpp"

namespace sixdays::emulator {

Region variables;

namespace {

struct Range {
    std::uintptr_t begin, end;
    bool contains(std::uintptr_t address) const { return address >= begin && address < end; }
};

// A function, since other files' initializers may fill it before this file's run.
std::vector<Extent>& device_variables() {
    static auto& all = *new std::vector<Extent>;
    return all;
}

// Read-only segments of the program and its libraries: code, literals, constant tables.
const std::vector<Range>& constant_ranges() {
    static const std::vector<Range> ranges = [] {
        std::vector<Range> found;
        dl_iterate_phdr(
            [](dl_phdr_info* info, std::size_t, void* data) {
                for (int i = 0; i < info->dlpi_phnum; ++i) {
                    const auto& part = info->dlpi_phdr[i];
                    const bool read_only = part.p_type == PT_LOAD && (part.p_flags & PF_W) == 0;
                    if (!read_only && part.p_type != PT_GNU_RELRO) continue;
                    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
                    static_cast<std::vector<Range>*>(data)->push_back(
                        {begin, begin + part.p_memsz});
                }
                return 0;
            },
            &found);
        return found;
    }();
    return ranges;
}

bool in_any(const std::vector<Range>& ranges, std::uintptr_t address) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [address](const Range& r) { return r.contains(address); });
}

}  // namespace

bool register_device_variable(const void* address, std::size_t bytes, const char* name,
                              bool is_constant) noexcept {
    device_variables().push_back(
        {reinterpret_cast<std::uintptr_t>(address), bytes, true, name, nullptr, is_constant});
    return true;
}

Extent device_variable_at(std::uintptr_t address) {
    for (const Extent& one : device_variables()) {
        if (address - one.begin < one.bytes) return one;
    }
    return {};
}

void find_device_variables() {
    const auto& all = device_variables();
    if (all.empty() || variables.size != 0) return;
    std::uintptr_t begin = UINTPTR_MAX, end = 0;
    for (const Extent& one : all) {
        begin = std::min(begin, one.begin / 16 * 16);
        end = std::max(end, one.begin + one.bytes);
    }
    variables.base = begin;
    variables.size = end - begin;
    give_tables(variables, (variables.size + 15) / 16 * 16, "the state of __device__ variables");
    for (const Extent& one : all) {
        std::memset(variables.state_of(one.begin),
                    kLive | kWritten | (one.is_constant ? kConstant : 0), one.bytes);
    }
}

bool is_constant_data(std::uintptr_t address) {
    return in_any(constant_ranges(), address);
}

}  // namespace sixdays::emulator
