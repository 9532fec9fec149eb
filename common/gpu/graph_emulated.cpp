// graph.hpp without a GPU: the emulator records launches and runs them again. They run one after
// another, so an early start is never earlier than the end.
#include "common/emulator/recording.hpp"
#include "common/gpu/graph.hpp"

struct CUgraphExec_st {
    sixdays::emulator::Recording launches;
};

namespace sixdays::gpu {

Graph::Graph(const std::function<void(Stream)>& work, Start)
    : exec_(new CUgraphExec_st{sixdays::emulator::Recording(work)}) {}

Graph::~Graph() {
    delete exec_;
}

void Graph::launch() {
    exec_->launches.run();
}

}  // namespace sixdays::gpu
