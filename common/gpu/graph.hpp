/// @file
/// A graph: launches written down once and replayed at a fraction of a launch's price.
#pragma once

#include <functional>

#include "common/gpu/stream.hpp"

struct CUgraphExec_st;  // what cudaGraphExec_t points to

namespace sixdays::gpu {

class Graph {
public:
    /// Runs `work` once in capture: what it launches on the stream that it is given is written down
    /// and not executed. Whatever else it does to the device, allocating, copying, waiting, or
    /// using another stream, fails, so this is also a proof that a launcher launches and does
    /// nothing else.
    /// @throws gpu::Error  that; or the emulator, which has no graphs
    explicit Graph(const std::function<void(Stream)>& work);
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph();

    /// Replays it on the default stream, and returns at once.
    void launch();

private:
    ::CUgraphExec_st* exec_ = nullptr;
};

}  // namespace sixdays::gpu
