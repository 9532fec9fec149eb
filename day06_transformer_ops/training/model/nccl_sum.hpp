/// @file
/// Sums over several GPUs, by NCCL: NVIDIA's library for what GPUs tell each other.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace sixdays::day06_transformer_ops {

/// f(). What fails begins with the GPU's name, "GPU 1 of 0 to 3: ", if there are several.
template <class F>
void named(int gpu, int gpus, const F& f) {
    try {
        f();
    } catch (const std::runtime_error& error) {
        if (gpus == 1) throw;
        throw std::runtime_error("GPU " + std::to_string(gpu) + " of 0 to " +
                                 std::to_string(gpus - 1) + ": " + error.what());
    }
}

/// Adds up what the GPUs 0 to N - 1 hold. One thread gives all of them their work: what it hands to
/// a GPU is only written down there and done later, so the GPUs work at once.
///
/// Each has a second stream for the sums. A sum waits there until each GPU has come to a mark in
/// its own work, which goes on meanwhile.
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
    /// Waits for all sums. @throws std::runtime_error  a GPU failed; the sentence begins with its
    /// name. The others still wait for it, and whoever frees their memory waits for them: end by
    /// std::_Exit().
    void wait();

private:
    struct Gpus;
    int gpus_;
    std::unique_ptr<Gpus> all_;
};

}  // namespace sixdays::day06_transformer_ops
