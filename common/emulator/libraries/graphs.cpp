/// @file
/// CUDA graphs, captured or built node by node.
#include <cstring>
#include <utility>
#include <vector>

#include "common/emulator/api/api.hpp"
#include "common/emulator/machine/turn.hpp"
#include "common/emulator/memory/in_flight.hpp"
#include "common/emulator/memory/memory.hpp"

using namespace sixdays::emulator;  // this file implements the runtime's API

struct CUgraphNode_st {
    std::function<void(cudaStream_t)> run;
};
struct CUgraph_st {
    std::list<CUgraphNode_st> nodes;
};
struct GraphToLaunch : CUgraph_st {};

namespace {

WorkList captured;
cudaStream_t captured_stream = nullptr;

cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                std::size_t count, std::function<void(cudaStream_t)> run) {
    if (node == nullptr || graph == nullptr) return result(cudaErrorInvalidValue);
    for (std::size_t i = 0; i < count; ++i) {  // dependencies must have been added before
        bool known = false;
        for (const CUgraphNode_st& one : graph->nodes) known = known || &one == after[i];
        if (!known) return result(cudaErrorInvalidValue);
    }
    graph->nodes.push_back({std::move(run)});
    *node = &graph->nodes.back();
    return cudaSuccess;
}

/// Captures these calls, to be repeated on a stream at each launch.
template <class Calls>
std::function<void(cudaStream_t)> written_down(const Calls& calls) {
    WorkList work;
    write_down(&work);
    calls();
    write_down(nullptr);
    return [work](cudaStream_t stream) {
        for (const auto& one : work) one(stream);
    };
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    const Turn turn;
    if (const auto e = reject_while_recording(); e != cudaSuccess) return e;
    if (stream == nullptr) return result(kStreamCaptureUnsupported);
    captured.clear();
    captured_stream = stream;
    write_down(&captured);
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    const Turn turn;
    if (graph == nullptr || !capturing() || stream != captured_stream) {
        return result(cudaErrorInvalidValue);
    }
    write_down(nullptr);
    *graph = new CUgraph_st;
    for (auto& one : captured) (*graph)->nodes.push_back({std::move(one)});
    return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    const Turn turn;
    if (status == nullptr) return result(cudaErrorInvalidValue);
    *status = capturing() && stream == captured_stream ? cudaStreamCaptureStatusActive
                                                       : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
    if (graph == nullptr) return result(cudaErrorInvalidValue);
    *graph = new CUgraph_st;
    return cudaSuccess;
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
    const Turn turn;
    if (clone == nullptr || graph == nullptr) return result(cudaErrorInvalidValue);
    *clone = new CUgraph_st(*graph);
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    const Turn turn;
    delete graph;
    return result(graph == nullptr ? cudaErrorInvalidValue : cudaSuccess);
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
    const Turn turn;
    if (graph == nullptr || count == nullptr) return result(cudaErrorInvalidValue);
    if (nodes == nullptr) {
        *count = graph->nodes.size();
        return cudaSuccess;
    }
    std::size_t filled = 0;
    for (CUgraphNode_st& one : graph->nodes) {
        if (filled < *count) nodes[filled++] = &one;
    }
    *count = filled;
    return cudaSuccess;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaKernelNodeParams* what) {
    const Turn turn;
    if (what == nullptr) return result(cudaErrorInvalidValue);
    cudaError_t error = cudaSuccess;
    const auto work = written_down([&] {
        const Launch launch = described(what->func, what->gridDim, what->blockDim,
                                        what->sharedMemBytes, nullptr, Site(), false);
        error = launch_by_address(launch, what->kernelParams);
    });
    return error != cudaSuccess ? error : add(node, graph, after, count, work);
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaMemcpy3DParms* what) {
    const Turn turn;
    if (what == nullptr) return result(cudaErrorInvalidValue);
    return add(node, graph, after, count, written_down([&] { cudaMemcpy3DAsync(what); }));
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, std::size_t count, void* to,
                                     const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    const Turn turn;
    return add(node, graph, after, count,
               written_down([&] { cudaMemcpyAsync(to, from, bytes, kind); }));
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaMemsetParams* what) {
    const Turn turn;
    if (what == nullptr) return result(cudaErrorInvalidValue);
    const unsigned size = what->elementSize;
    if (size != 1 && size != 2 && size != 4) return result(cudaErrorInvalidValue);
    std::vector<unsigned char> row(what->width * size);
    for (std::size_t i = 0; i < what->width; ++i) std::memcpy(&row[i * size], &what->value, size);
    return add(node, graph, after, count, [row, what = *what](cudaStream_t stream) {
        for (std::size_t y = 0; y < what.height; ++y) {
            cudaMemcpyAsync(static_cast<std::byte*>(what.dst) + y * what.pitch, row.data(),
                            row.size(), cudaMemcpyHostToDevice, stream);
        }
    });
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, std::size_t count,
                                 const cudaHostNodeParams* what) {
    const Turn turn;
    if (what == nullptr || what->fn == nullptr) return result(cudaErrorInvalidValue);
    return add(node, graph, after, count,
               written_down([&] { cudaLaunchHostFunc(nullptr, what->fn, what->userData); }));
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, std::size_t count) {
    const Turn turn;
    return add(node, graph, after, count, [](cudaStream_t) {});
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, std::size_t count,
                                       cudaGraph_t child) {
    const Turn turn;
    if (child == nullptr) return result(cudaErrorInvalidValue);
    return add(node, graph, after, count, [nodes = child->nodes](cudaStream_t stream) {
        for (const CUgraphNode_st& one : nodes) one.run(stream);
    });
}
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, std::size_t count,
                                     cudaMemAllocNodeParams* what) {
    const Turn turn;
    if (what == nullptr || what->bytesize == 0) return result(cudaErrorInvalidValue);
    return add(node, graph, after, count,
               written_down([&] { cudaMallocAsync(&what->dptr, what->bytesize, nullptr); }));
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, std::size_t count,
                                    void* pointer) {
    const Turn turn;
    return add(node, graph, after, count, written_down([&] { cudaFreeAsync(pointer, nullptr); }));
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
    const Turn turn;
    if (exec == nullptr || graph == nullptr) return result(cudaErrorInvalidValue);
    *exec = new GraphToLaunch{*graph};
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    const Turn turn;
    delete exec;
    return result(exec == nullptr ? cudaErrorInvalidValue : cudaSuccess);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    const Turn turn;
    if (exec == nullptr) return result(cudaErrorInvalidValue);
    if (const auto e = reject_while_recording(); e != cudaSuccess) return e;
    for (const CUgraphNode_st& one : exec->nodes) one.run(stream);
    return cudaPeekAtLastError();
}
// All allocated device memory is attributed to graphs.
cudaError_t cudaDeviceGetGraphMemAttribute(int, cudaGraphMemAttributeType, void* value) {
    if (value == nullptr) return result(cudaErrorInvalidValue);
    *static_cast<unsigned long long*>(value) = allocated_bytes();
    return cudaSuccess;
}
cudaError_t cudaDeviceGraphMemTrim(int) {
    return cudaSuccess;
}

}  // extern "C"
