#include "day06_transformer_ops/gpt2/emulated.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "common/gpu/device.hpp"

namespace sixdays::gpt2 {

void run_emulated_without_gpu(char** argv) {
    if (gpu::is_emulated()) return;
    const std::string why = gpu::why_unavailable();
    if (why.empty()) return;
    const std::string beside =
        std::filesystem::read_symlink("/proc/self/exe").string() + "_emulated";
    std::fprintf(stderr, "%s The kernels run on the emulator.\n", why.c_str());
    execv(beside.c_str(), argv);
    throw std::runtime_error(beside + " cannot be started: " + std::strerror(errno));
}

}  // namespace sixdays::gpt2
