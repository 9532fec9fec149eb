#include "common/testing/device.hpp"

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

}  // namespace sixdays::testing
