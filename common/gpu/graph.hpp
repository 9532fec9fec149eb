/// @file
/// A graph: launches written down once and replayed at a fraction of a launch's price. What is
/// written down are the arguments: memory that they point to must live as long as the graph.
#pragma once

#include <functional>

#include "common/gpu/stream.hpp"

struct CUgraphExec_st;  // what cudaGraphExec_t points to

namespace sixdays::gpu {

/// When a kernel of a graph may start: when the one before it has ended, or as soon as all its
/// blocks have said gpu::let_next_start() (ptx.hpp). For early starts every kernel must wait, by
/// gpu::wait_for_previous(), before it reads or writes what another one writes.
enum class Start { after_end, early };

class Graph {
public:
    /// Runs `work` once in capture: what it launches on the stream that it is given is written down
    /// and not executed. Whatever else it does to the device, allocating, copying, waiting, or
    /// using another stream, fails, so this is also a proof that a launcher launches and does
    /// nothing else.
    /// @param start  early takes a graph of kernels only; it has an effect from compute capability
    /// 9.0 and CUDA 12.3 on
    /// @throws gpu::Error  that
    explicit Graph(const std::function<void(Stream)>& work, Start start = Start::after_end);
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph();

    /// Replays it on the default stream, and returns at once.
    void launch();

private:
    ::CUgraphExec_st* exec_ = nullptr;
};

}  // namespace sixdays::gpu
