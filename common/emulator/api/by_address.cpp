/// @file
/// Kernel launches by address: cudaLaunchKernel and its variants.
#include <map>

#include "common/emulator/api/api.hpp"

namespace sixdays::emulator {

namespace {

std::map<const void*, KernelByAddress>& kernels() {
    static auto& all = *new std::map<const void*, KernelByAddress>;
    return all;
}

}  // namespace

bool note_kernel(const void* address, const KernelByAddress& kernel) {
    kernels()[address] = kernel;
    return true;
}

const KernelByAddress* find_kernel(const void* address) {
    const auto found = kernels().find(address);
    return found == kernels().end() ? nullptr : &found->second;
}

cudaError_t launch_by_address(Launch what, void** arguments) {
    const KernelByAddress* kernel = find_kernel(what.address);
    if (kernel == nullptr) return result(cudaErrorInvalidDeviceFunction);
    what.kernel = kernel->name;
    kernel->launch(what, arguments);
    return cudaPeekAtLastError();
}

}  // namespace sixdays::emulator
