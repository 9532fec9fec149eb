#include "common/testing/device.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "common/gpu/device.hpp"

namespace sixdays::testing {

std::int64_t DeviceMemory::band() {
    return gpu::is_emulated() ? 0 : HostMemory::kBand;
}

DeviceMemory::DeviceMemory(const Bytes& image) : buffer_(static_cast<std::int64_t>(image.size())) {
    buffer_.upload(image.data(), buffer_.size());
}

Bytes DeviceMemory::read() const {
    gpu::synchronize();
    return buffer_.download();
}

void need_device_memory(std::int64_t bytes) {
    const std::int64_t free = gpu::is_emulated() ? 0 : gpu::free_bytes();
    if (free >= bytes) return;
    std::printf("SKIPPED: %lld bytes of device memory are needed, %lld are free.\n",
                static_cast<long long>(bytes), static_cast<long long>(free));
    std::fflush(stdout);
    const char* required = std::getenv("SIXDAYS_REQUIRE_GPU");
    std::_Exit(required != nullptr && std::string(required) == "1" ? 1 : 4);
}

}  // namespace sixdays::testing
