// graph.hpp without a GPU: the emulator writes launches down and runs them again. They run one
// after the other, so an early start is one after the end.
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
