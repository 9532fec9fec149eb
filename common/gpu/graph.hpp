/// @file
/// A graph: launches captured once and replayed at a fraction of the cost of a launch. It stores
/// the arguments: memory that they point to must live as long as the graph.
#pragma once

#include <functional>

#include "common/gpu/stream.hpp"

struct CUgraphExec_st;  // what cudaGraphExec_t points to

namespace sixdays::gpu {

/// When a kernel of a graph may start: when the one before it has ended, or early, as soon as all
/// its blocks have called gpu::let_next_start() (ptx.hpp). With early starts every kernel must call
/// gpu::wait_for_previous() before it reads or writes what another one writes.
enum class Start {
    after_end,  ///< when the kernel before it has ended
    early       ///< as soon as all blocks of that kernel have called let_next_start()
};

/// Launches captured once and replayed at a fraction of the cost of a launch. Stores the launches'
/// arguments: memory that they point to must live as long as the graph. Neither copied nor moved.
/// On the emulator it repeats the recorded launches.
class Graph {
public:
    /// Runs `work` once under stream capture: its launches on the given stream are recorded, not
    /// executed. Anything else it does to the device (allocating, copying, waiting, using another
    /// stream) fails, so this also proves that a launcher only launches.
    /// @param start  early is only for a graph that contains nothing but kernels; it has an effect
    /// from compute capability 9.0 and CUDA 12.3 on
    /// @throws gpu::Error  in any of these cases
    explicit Graph(const std::function<void(Stream)>& work, Start start = Start::after_end);
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    /// Frees the graph. Never throws.
    ~Graph();

    /// Replays it on the default stream, and returns at once. @throws gpu::Error  the launch failed
    void launch();

private:
    ::CUgraphExec_st* exec_ = nullptr;
};

}  // namespace sixdays::gpu
