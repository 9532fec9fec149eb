#include "common/emulator/machine/address_space.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace sixdays::emulator {

namespace {

struct Range {
    std::uintptr_t begin;
    std::size_t bytes;
};

// The emulator's own address space; some of it is reserved during program startup.
std::vector<Range>& reserved() {
    static auto& all = *new std::vector<Range>;
    return all;
}

}  // namespace

void* reserve(std::size_t bytes, const char* what) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        std::fprintf(stderr,
                     "The CUDA emulator could not reserve %zu MB of address space for %s. It uses "
                     "no memory there yet; is the address space limited (ulimit -v)?\n",
                     bytes >> 20, what);
        std::abort();
    }
    reserved().push_back({reinterpret_cast<std::uintptr_t>(p), bytes});
    return p;
}

bool is_nobodys(std::uintptr_t address) {
    for (const Range& one : reserved()) {
        if (address - one.begin < one.bytes) return true;
    }
    unsigned char resident;
    return mincore(reinterpret_cast<void*>(address / 4096 * 4096), 1, &resident) != 0;
}

}  // namespace sixdays::emulator
