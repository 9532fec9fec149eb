#include "day06_transformer_ops/gpt2/file/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace sixdays::gpt2 {

std::int64_t memory_bytes() {
    std::int64_t least = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE);
    // A container's limit: cgroup v2, then v1. Without a limit the file has a word, not a number.
    for (const char* file :
         {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
        std::int64_t limit = 0;
        if (std::ifstream(file) >> limit && limit > 0) least = std::min(least, limit);
    }
    rlimit limit = {};
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < static_cast<rlim_t>(least)) {
        least = static_cast<std::int64_t>(limit.rlim_cur);
    }
    return least;
}

std::string memory_text(double bytes) {
    char text[40];
    const bool large = bytes >= 1e9;
    std::snprintf(text, sizeof text, "%.1f %s", bytes / (large ? 1e9 : 1e6), large ? "GB" : "MB");
    return text;
}

void check_memory(const std::string& what, double bytes) {
    check_memory(what, bytes, static_cast<double>(memory_bytes()), "this machine");
}

void check_memory(const std::string& what, double bytes, double there, const std::string& whose) {
    if (bytes <= there) return;
    throw std::invalid_argument(what + " needs " + memory_text(bytes) + " of memory or more, but " +
                                whose + " has " + memory_text(there));
}

}  // namespace sixdays::gpt2
