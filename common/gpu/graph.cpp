// graph.hpp over the CUDA runtime.
#include "common/gpu/graph.hpp"

#include <cuda_runtime.h>

#include <vector>

#include "common/gpu/check.hpp"

// Edge data exists since CUDA 12.3; until 13.0 the functions that take it end in _v2.
#if CUDART_VERSION >= 12030 && CUDART_VERSION < 13000
#define cudaGraphGetEdges cudaGraphGetEdges_v2
#define cudaGraphAddDependencies cudaGraphAddDependencies_v2
#define cudaGraphRemoveDependencies cudaGraphRemoveDependencies_v2
#endif

namespace sixdays::gpu {
namespace {

// Makes every edge programmatic (start when the previous kernel's blocks allow it), as capture does
// for launches with cudaLaunchAttributeProgrammaticStreamSerialization. The <<<>>> launches used
// here take no attributes.
void let_start_early(cudaGraph_t graph) {
#if CUDART_VERSION >= 12030
    int device = 0, major = 0;
    SIXDAYS_CUDA(cudaGetDevice(&device));
    SIXDAYS_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    if (major < 9) return;
    std::size_t count = 0;
    SIXDAYS_CUDA(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    if (count == 0) return;
    std::vector<cudaGraphNode_t> from(count), to(count);
    std::vector<cudaGraphEdgeData> edges(count);
    SIXDAYS_CUDA(cudaGraphGetEdges(graph, from.data(), to.data(), edges.data(), &count));
    SIXDAYS_CUDA(cudaGraphRemoveDependencies(graph, from.data(), to.data(), edges.data(), count));
    for (cudaGraphEdgeData& edge : edges) {
        edge = {};
        edge.from_port = cudaGraphKernelNodePortProgrammatic;
        edge.type = cudaGraphDependencyTypeProgrammatic;
    }
    SIXDAYS_CUDA(cudaGraphAddDependencies(graph, from.data(), to.data(), edges.data(), count));
#else
    (void)graph;
#endif
}

}  // namespace

Graph::Graph(const std::function<void(Stream)>& work, Start start) {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    SIXDAYS_CUDA(cudaStreamCreate(&stream));
    try {
        SIXDAYS_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        try {
            work(stream);
        } catch (...) {
            (void)cudaStreamEndCapture(stream, &graph);  // or the stream could not be destroyed
            (void)cudaGetLastError();
            throw;
        }
        SIXDAYS_CUDA(cudaStreamEndCapture(stream, &graph));
        if (start == Start::early) let_start_early(graph);
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
