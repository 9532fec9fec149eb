/// @file
/// Sums over several GPUs, by NCCL: NVIDIA's library for what GPUs tell each other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sixdays::day06_transformer_ops {

/// "GPU 1 of 0 to 3: ", to put before what it has to say.
[[nodiscard]] inline std::string name_of_gpu(int gpu, int gpus) {
    return "GPU " + std::to_string(gpu) + " of 0 to " + std::to_string(gpus - 1) + ": ";
}

/// Adds up what the GPUs 0 to N - 1 hold. One thread gives all of them their work: what it hands to
/// a GPU is only written down there and done later, so the GPUs work at once.
///
/// Each has a second stream for the sums. A sum waits there until each GPU has come to a mark in its
/// own work, which goes on meanwhile.
class NcclSum {
public:
    /// One GPU needs no sum, and nothing is asked of it here, nor of NCCL.
    /// @throws std::invalid_argument  more GPUs than there are, or several and built without NCCL
    explicit NcclSum(std::int64_t gpus);
    NcclSum(const NcclSum&) = delete;
    NcclSum& operator=(const NcclSum&) = delete;
    ~NcclSum();

    [[nodiscard]] int gpus() const noexcept { return gpus_; }
    /// What follows goes to this GPU.
    void use(int gpu);
    /// What add_up() of this mark waits for: all that this GPU has been given so far.
    void mark(int gpu, std::int64_t mark);
    /// Numbers that each GPU has at a place of its own become their sum, on each.
    void add_up(std::int64_t mark, const std::vector<float*>& runs, std::int64_t size);
    /// Waits for all sums. @throws std::runtime_error  a GPU failed; the sentence begins with its name
    void wait();

private:
    struct Gpus;
    int gpus_;
    std::unique_ptr<Gpus> all_;
};

}  // namespace sixdays::day06_transformer_ops
