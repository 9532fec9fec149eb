/// @file
/// Which memory the warps of a launch access, when kernels run on the emulator. A GPU does not
/// expose this; use a profiler there (the memory tables of ncu).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace sixdays::gpu {

/// Sums over all loads, stores and atomics of the traced launches.
struct Touched {
    std::int64_t requests = 0;  ///< one warp executing one load or store
    std::int64_t accesses = 0;  ///< one lane of it: 32 per request if all lanes take part
    std::int64_t sectors = 0,   ///< 32-byte sectors of global memory moved
        fewest_sectors = 0;     ///< the fewest that could hold the bytes
    std::int64_t passes =
                     0,     ///< shared-memory wavefronts: one more for each further word of a bank
        fewest_passes = 0;  ///< the fewest possible
};

/// Runs `launches`, waits for them, and counts what their warps access. Runs them, but returns
/// nothing, if the kernels run on a GPU.
[[nodiscard]] std::optional<Touched> touched(const std::function<void()>& launches);

/// Runs only `count` blocks of each grid, beginning at block `first`: for a test of the far end of
/// a huge tensor. Returns false, without running anything, if the kernels run on a GPU.
bool run_only_blocks(std::uint64_t first, std::uint64_t count,
                     const std::function<void()>& launches);

/// Runs `launches` four times, each time with another order of blocks and of the threads of a
/// block: CUDA guarantees none. On a GPU it runs once, in the GPU's own order.
void run_in_other_orders(const std::function<void()>& launches);

/// Runs `launches` twice: first without any block, to learn the size of the grid, then only the
/// last block. Returns false, and runs no block, unless the grid has one thread per element of
/// `threads` and no superfluous block, and always on a GPU.
bool run_last_block(std::int64_t threads, const std::function<void()>& launches);

/// Runs `launches` twice: first without any block, to learn the size of the grid, then only the
/// last block. For a grid of any size, such as a tile kernel's. Returns false, and runs no block,
/// on a GPU.
bool run_last_block(const std::function<void()>& launches);

/// Runs `launches` on a device that rejects every launch, as for a grid that is too large. An error
/// that the caller does not read is cleared afterwards. Returns false, without running anything, on
/// a GPU.
bool run_rejected(const std::function<void()>& launches);

/// Whether the last launch passed these bytes to its kernel, among its arguments. Empty on a GPU.
[[nodiscard]] std::optional<bool> launched_with(const void* bytes, std::size_t count);

/// The number of threads of the last launch. Empty on a GPU.
[[nodiscard]] std::optional<std::int64_t> threads_launched();

/// Runs `launches` and reports for each line of their kernels which memory its warps accessed, the
/// worst line first, with a picture of that line's lanes and a verdict. Empty, without running
/// anything, if the kernels run on a GPU.
[[nodiscard]] std::string trace_text(const std::function<void()>& launches);

}  // namespace sixdays::gpu
