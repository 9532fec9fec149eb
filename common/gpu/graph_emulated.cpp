// graph.hpp without a GPU: the emulator has no graphs.
#include "common/gpu/error.hpp"
#include "common/gpu/graph.hpp"

namespace sixdays::gpu {

Graph::Graph(const std::function<void(Stream)>&, Start) {
    constexpr int kNotSupported = 801;  // cudaErrorNotSupported
    throw Error(kNotSupported, "the emulator has no graphs: this needs a GPU.");
}

Graph::~Graph() = default;

void Graph::launch() {}

}  // namespace sixdays::gpu
