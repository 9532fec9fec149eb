/// @file
/// Sums over several GPUs by NCCL, NVIDIA's library for communication between GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/tensor/sentence.hpp"

namespace sixdays::day06_transformer_ops {

/// f(). With several GPUs, an error message begins with the GPU, "GPU 1 of 0 to 3: ".
template <class F>
void named(int gpu, int gpus, const F& f) {
    try {
        f();
    } catch (const std::runtime_error& error) {
        if (gpus == 1) throw;
        throw std::runtime_error(sentence("GPU ", gpu, " of 0 to ", gpus - 1, ": ", error.what()));
    }
}

/// Sums over GPUs 0 to N - 1 (all-reduce). use() and mark() may be called by one thread per GPU at
/// the same time; one thread starts the sums of all GPUs and waits for them.
///
/// Each GPU has a second stream for the sums. A sum waits there for an event in the GPU's compute
/// stream, whose work continues meanwhile.
class NcclSum {
public:
    /// With one GPU this does nothing, and does not use NCCL.
    /// @throws std::invalid_argument  more GPUs than exist, or several in a build without NCCL
    explicit NcclSum(std::int64_t gpus);
    NcclSum(const NcclSum&) = delete;
    NcclSum& operator=(const NcclSum&) = delete;
    ~NcclSum();

    /// The number of GPUs.
    [[nodiscard]] int gpus() const noexcept { return gpus_; }
    /// The following CUDA calls of this thread go to this GPU.
    void use(int gpu);
    /// Records an event after all work launched on this GPU so far; add_up() of it waits for it.
    void mark(int gpu, std::int64_t mark);
    /// All-reduce: replaces the numbers of each GPU by their sum over all GPUs.
    void add_up(std::int64_t mark, const std::vector<float*>& runs, std::int64_t size);
    /// Waits for all sums. @throws std::runtime_error  a GPU failed; the message begins with its
    /// name. The others still wait for it, and freeing their memory would wait for them: end with
    /// std::_Exit().
    void wait();

private:
    struct Gpus;
    int gpus_;
    std::unique_ptr<Gpus> all_;
};

}  // namespace sixdays::day06_transformer_ops
