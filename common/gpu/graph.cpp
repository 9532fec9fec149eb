// graph.hpp over the CUDA runtime.
#include "common/gpu/graph.hpp"

#include <cuda_runtime.h>

#include "common/gpu/check.hpp"

namespace sixdays::gpu {

Graph::Graph(const std::function<void(Stream)>& work) {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    SIXDAYS_CUDA(cudaStreamCreate(&stream));
    try {
        SIXDAYS_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        try {
            work(stream);
        } catch (...) {
            (void)cudaStreamEndCapture(stream, &graph);  // else the stream could not be destroyed
            (void)cudaGetLastError();
            throw;
        }
        SIXDAYS_CUDA(cudaStreamEndCapture(stream, &graph));
        SIXDAYS_CUDA(cudaGraphInstantiate(&exec_, graph, 0));
    } catch (...) {
        if (graph != nullptr) (void)cudaGraphDestroy(graph);
        (void)cudaStreamDestroy(stream);
        throw;
    }
    (void)cudaGraphDestroy(graph);
    (void)cudaStreamDestroy(stream);
}

Graph::~Graph() {
    if (cudaGraphExecDestroy(exec_) != cudaSuccess) (void)cudaGetLastError();
}

void Graph::launch() {
    SIXDAYS_CUDA(cudaGraphLaunch(exec_, nullptr));
}

}  // namespace sixdays::gpu
