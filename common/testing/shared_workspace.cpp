#include "common/testing/shared_workspace.hpp"

#include <algorithm>

#include "common/gpu/device.hpp"
#include "common/testing/inputs.hpp"

namespace sixdays::testing {
namespace {

constexpr std::int64_t kFront = gpu::Carver::kCounterBytes;
constexpr std::int64_t kGuard = 4096;  // checked bytes past the workspace of a call

std::byte garbage(int call, std::int64_t at) {
    if (call % 3 == 0) return std::byte{0xFF};  // NaN in each type
    if (call % 3 == 1) return std::byte{at % 4 == 0};
    return static_cast<std::byte>(detail::random_bits(static_cast<std::uint64_t>(call), at));
}

}  // namespace

SharedWorkspace::SharedWorkspace(std::int64_t bytes) : memory_(std::max(bytes, kFront) + kGuard) {
    memory_.fill_bytes(0);
}

gpu::Workspace SharedWorkspace::next(std::int64_t bytes) {
    given_ = std::max(bytes - kFront, std::int64_t{0});
    behind_.resize(static_cast<std::size_t>(given_ + kGuard));
    std::int64_t at = 0;
    for (std::byte& byte : behind_) byte = garbage(calls_, at++);
    ++calls_;
    memory_.upload(behind_.data(), given_ + kGuard, kFront);
    return {memory_.data(), bytes};
}

Comparison SharedWorkspace::kept() const {
    gpu::synchronize();
    const Bytes counters = memory_.download(0, kFront);
    const auto left = std::find_if(counters.begin(), counters.end(),
                                   [](std::byte byte) { return byte != std::byte{0}; });
    if (left != counters.end()) {
        return {false, "counter " + std::to_string((left - counters.begin()) / 4) +
                           " of the workspace was not left at 0"};
    }
    const Bytes guard = memory_.download(kFront + given_, kGuard);
    const auto [now, before] = std::mismatch(guard.begin(), guard.end(), behind_.begin() + given_);
    if (now != guard.end()) {
        return {false, "byte " + std::to_string(now - guard.begin()) + " past the workspace of " +
                           std::to_string(kFront + given_) + " bytes was written"};
    }
    return {true, "counters at 0, nothing written past the workspace"};
}

}  // namespace sixdays::testing
