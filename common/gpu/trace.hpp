/// @file
/// What the warps of a launch touch, where the ports run on the emulator. A GPU does not tell:
/// there a profiler does (ncu's memory table).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace sixdays::gpu {

/// Sums over all loads, stores and atomics of the launches in question.
struct Touched {
    std::int64_t requests = 0;  // one warp at one load or store
    std::int64_t accesses = 0;  // one lane of it: 32 times as many, if all lanes take part
    // Global memory moves in sectors of 32 bytes; the fewest that could hold the bytes.
    std::int64_t sectors = 0, fewest_sectors = 0;
    // Shared memory needs a pass more for each further word of one bank.
    std::int64_t passes = 0, fewest_passes = 0;
};

/// Runs `launches` and counts. Empty if the ports run on a GPU.
[[nodiscard]] std::optional<Touched> touched(const std::function<void()>& launches);

/// Runs `launches`, of each grid only `count` blocks from number `first` on: what a test of the far
/// end of a huge tensor needs. False, and nothing was run, if the ports run on a GPU.
bool run_only_blocks(std::uint64_t first, std::uint64_t count,
                     const std::function<void()>& launches);

/// Runs `launches` four times, and each time blocks, and the threads of a block, take turns in
/// another order: CUDA promises none. On a GPU once, in the GPU's own order.
void run_in_other_orders(const std::function<void()>& launches);

/// Runs `launches` twice: without any block, which tells how large the grid is, and then the last
/// block alone. False, and no block ran, unless the grid has one thread for each of `threads`
/// elements and no block too many, and wherever the ports run on a GPU.
bool run_last_block(std::int64_t threads, const std::function<void()>& launches);

/// The same for a grid of any size: what has tiles of its own makes.
bool run_last_block(const std::function<void()>& launches);

/// Runs `launches` on a device that rejects each of them, as it does a grid that is too large. An
/// error that nobody asked for is forgotten afterwards. False, and nothing was run, on a GPU.
bool run_rejected(const std::function<void()>& launches);

/// Did the last launch hand these bytes to its kernel, among its arguments? Empty on a GPU.
[[nodiscard]] std::optional<bool> launched_with(const void* bytes, std::size_t count);

/// The threads of the last launch. Empty on a GPU.
[[nodiscard]] std::optional<std::int64_t> threads_launched();

/// Runs `launches` and says for each line of their kernels what its warps touched, the worst line
/// first, with a picture of that line's lanes and a verdict. Empty if the ports run on a GPU.
[[nodiscard]] std::string trace_text(const std::function<void()>& launches);

}  // namespace sixdays::gpu
