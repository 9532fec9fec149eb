// Graphs of memory operations: each kind of node, each invalid argument alone, and what a capture
// may and may not contain. Graphs with kernels: language.cpp.
#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

/// A graph, and its launch.
struct Graph {
    Graph() { REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess); }
    explicit Graph(cudaGraph_t of) : graph(of) {}
    ~Graph() { CHECK(cudaGraphDestroy(graph) == cudaSuccess); }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    std::size_t nodes() const {
        std::size_t count = 99;
        CHECK(cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess);
        return count;
    }
    cudaError_t run(int times = 1) const {
        cudaGraphExec_t exec = nullptr;
        REQUIRE(cudaGraphInstantiate(&exec, graph) == cudaSuccess);
        cudaError_t error = cudaSuccess;
        for (int i = 0; i < times; ++i) error = cudaGraphLaunch(exec, nullptr);
        CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
        return error;
    }
    cudaGraph_t graph = nullptr;
};

void count_one(void* counter) {
    ++*static_cast<int*>(counter);
}

constexpr auto kInvalid = cudaErrorInvalidValue;

}  // namespace

TEST_CASE("a memset node fills rows with elements of 1, 2 or 4 bytes") {
    const unsigned value = 0x44332211;
    for (const unsigned size : {1u, 2u, 4u}) {
        const Graph g;
        const Device<unsigned char> bytes(std::vector<unsigned char>(32, 0));
        const cudaMemsetParams what{bytes.data() + 1, 16, value, size, 2, 2};  // two rows of two
        cudaGraphNode_t node = nullptr;
        CHECK(cudaGraphAddMemsetNode(&node, g.graph, nullptr, 0, &what) == cudaSuccess);
        CHECK(g.run() == cudaSuccess);
        std::vector<unsigned char> want(32, 0);
        for (const unsigned row : {1u, 17u}) {
            for (unsigned i = 0; i < 2 * size; ++i) {
                want[row + i] = static_cast<unsigned char>(value >> 8 * (i % size));
            }
        }
        CHECK(bytes.host() == want);
    }
    const Graph g;
    cudaGraphNode_t node = nullptr;
    const Device<int> one(1);
    for (const unsigned size : {0u, 3u, 5u, 8u}) {
        const cudaMemsetParams what{one.data(), 4, 0, size, 1, 1};
        CHECK(cudaGraphAddMemsetNode(&node, g.graph, nullptr, 0, &what) == kInvalid);
    }
    CHECK(g.nodes() == 0);
    cudaGetLastError();
}

TEST_CASE("a graph runs its nodes in order, and those of its children, once per launch") {
    const Device<int> x(std::vector<int>{1, 2, 3, 4});
    int launches = 0;
    Graph child, parent;
    cudaGraphNode_t first = nullptr, last = nullptr;
    const cudaHostNodeParams told{count_one, &launches};
    CHECK(cudaGraphAddHostNode(&first, child.graph, nullptr, 0, &told) == cudaSuccess);
    CHECK(cudaGraphAddMemcpyNode1D(&last, child.graph, &first, 1, x.data(), x.data() + 2, 4,
                                   cudaMemcpyDeviceToDevice) == cudaSuccess);
    CHECK(launches == 0);
    CHECK(cudaGraphAddChildGraphNode(&first, parent.graph, nullptr, 0, child.graph) == cudaSuccess);
    CHECK(cudaGraphAddMemcpyNode1D(&last, parent.graph, &first, 1, x.data() + 1, x.data(), 4,
                                   cudaMemcpyDeviceToDevice) == cudaSuccess);
    cudaGraph_t copy = nullptr;
    CHECK(cudaGraphClone(&copy, parent.graph) == cudaSuccess);
    const Graph clone(copy);
    // What is added later is neither in the clone nor in the child of the parent.
    CHECK(cudaGraphAddEmptyNode(&last, parent.graph, &last, 1) == cudaSuccess);
    CHECK(cudaGraphAddHostNode(&first, child.graph, nullptr, 0, &told) == cudaSuccess);
    CHECK((child.nodes() == 3 && parent.nodes() == 3 && clone.nodes() == 2));
    CHECK(parent.run(2) == cudaSuccess);
    CHECK(launches == 2);
    CHECK(x.host() == std::vector<int>{3, 3, 3, 4});
    CHECK(clone.run() == cudaSuccess);
    CHECK(launches == 3);

    cudaGraphNode_t some[4] = {};
    std::size_t count = 2;
    CHECK(cudaGraphGetNodes(parent.graph, some, &count) == cudaSuccess);
    CHECK((count == 2 && some[0] != nullptr && some[1] != nullptr && some[2] == nullptr));
    count = 4;
    CHECK(cudaGraphGetNodes(parent.graph, some, &count) == cudaSuccess);
    CHECK((count == 3 && some[2] == last && some[3] == nullptr));
}

TEST_CASE("a node cannot depend on a node of another graph") {
    const Graph g, other;
    cudaGraphNode_t nodes[2] = {}, foreign = nullptr, made = nullptr;
    for (cudaGraphNode_t& one : nodes) {
        CHECK(cudaGraphAddEmptyNode(&one, g.graph, nullptr, 0) == cudaSuccess);
    }
    CHECK(cudaGraphAddEmptyNode(&foreign, other.graph, nullptr, 0) == cudaSuccess);
    const cudaGraphNode_t mixed[] = {nodes[0], foreign};
    CHECK(cudaGraphAddEmptyNode(&made, g.graph, nodes, 2) == cudaSuccess);
    CHECK(cudaGraphAddEmptyNode(&made, g.graph, mixed, 1) == cudaSuccess);
    CHECK(cudaGraphAddEmptyNode(&made, g.graph, mixed, 2) == kInvalid);
    CHECK(cudaGraphAddEmptyNode(&made, g.graph, mixed + 1, 1) == kInvalid);
    CHECK(g.nodes() == 4);
    cudaGetLastError();
}

TEST_CASE("each invalid argument of a graph's calls is rejected") {
    const Graph g;
    cudaGraphNode_t node = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    std::size_t count = 0;
    const cudaHostNodeParams no_function{nullptr, nullptr};
    cudaMemAllocNodeParams nothing{};
    cudaStreamCaptureStatus status{};
    const cudaError_t errors[] = {
        cudaGraphCreate(nullptr, 0),
        cudaGraphClone(nullptr, g.graph),
        cudaGraphClone(&graph, nullptr),
        cudaGraphDestroy(nullptr),
        cudaGraphGetNodes(nullptr, nullptr, &count),
        cudaGraphGetNodes(g.graph, nullptr, nullptr),
        cudaGraphAddEmptyNode(nullptr, g.graph, nullptr, 0),
        cudaGraphAddEmptyNode(&node, nullptr, nullptr, 0),
        cudaGraphAddKernelNode(&node, g.graph, nullptr, 0, nullptr),
        cudaGraphAddMemcpyNode(&node, g.graph, nullptr, 0, nullptr),
        cudaGraphAddMemsetNode(&node, g.graph, nullptr, 0, nullptr),
        cudaGraphAddHostNode(&node, g.graph, nullptr, 0, nullptr),
        cudaGraphAddHostNode(&node, g.graph, nullptr, 0, &no_function),
        cudaGraphAddChildGraphNode(&node, g.graph, nullptr, 0, nullptr),
        cudaGraphAddMemAllocNode(&node, g.graph, nullptr, 0, nullptr),
        cudaGraphAddMemAllocNode(&node, g.graph, nullptr, 0, &nothing),
        cudaGraphInstantiate(nullptr, g.graph),
        cudaGraphInstantiate(&exec, nullptr),
        cudaGraphExecDestroy(nullptr),
        cudaGraphLaunch(nullptr, nullptr),
        cudaStreamEndCapture(nullptr, &graph),
        cudaStreamIsCapturing(nullptr, nullptr),
        cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, nullptr)};
    int index = 0;
    for (const cudaError_t error : errors) {
        INFO("call " << index++);
        CHECK(error == kInvalid);
    }
    CHECK(cudaGetLastError() == kInvalid);
    CHECK(g.nodes() == 0);
    unsigned long long before = 0, after = 0;
    const auto used = cudaGraphMemAttrUsedMemCurrent;
    CHECK(cudaDeviceGetGraphMemAttribute(0, used, &before) == cudaSuccess);
    const Device<float> x(25);
    CHECK(cudaDeviceGetGraphMemAttribute(0, used, &after) == cudaSuccess);
    CHECK(after - before == 100);
    CHECK(cudaDeviceGraphMemTrim(0) == cudaSuccess);
    CHECK(cudaStreamIsCapturing(nullptr, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusNone);
}

TEST_CASE("one stream is captured at a time, and its work is not waited for meanwhile") {
    clear_report();
    cudaStream_t a = nullptr, b = nullptr;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaGraph_t graph = nullptr;
    const auto unsupported = static_cast<cudaError_t>(900);  // cudaErrorStreamCaptureUnsupported
    CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == unsupported);
    CHECK(cudaStreamEndCapture(a, &graph) == kInvalid);  // nothing has begun
    const Device<int> x(std::vector<int>{1, 2});
    int launches = 0;
    const Graph empty;
    cudaGraphExec_t exec = nullptr;
    REQUIRE(cudaGraphInstantiate(&exec, empty.graph) == cudaSuccess);
    REQUIRE(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal) == cudaSuccess);
    cudaStreamCaptureStatus of_a{}, of_b{};
    CHECK(cudaStreamIsCapturing(a, &of_a) == cudaSuccess);
    CHECK(cudaStreamIsCapturing(b, &of_b) == cudaSuccess);
    CHECK((of_a == cudaStreamCaptureStatusActive && of_b == cudaStreamCaptureStatusNone));
    int* memory = nullptr;
    for (const cudaError_t error :
         {cudaStreamBeginCapture(b, cudaStreamCaptureModeGlobal), cudaStreamSynchronize(a),
          cudaDeviceSynchronize(), cudaMalloc(reinterpret_cast<void**>(&memory), 4),
          cudaMallocManaged(reinterpret_cast<void**>(&memory), 4, 1), cudaGraphLaunch(exec, b)}) {
        CHECK(error == unsupported);
    }
    CHECK(cudaMemsetAsync(x.data(), 0, 4, a) == cudaSuccess);
    CHECK(cudaLaunchHostFunc(a, count_one, &launches) == cudaSuccess);
    CHECK(cudaStreamEndCapture(b, &graph) == kInvalid);
    CHECK(cudaStreamEndCapture(a, nullptr) == kInvalid);
    CHECK(cudaStreamEndCapture(a, &graph) == cudaSuccess);
    CHECK(launches == 0);
    CHECK(x.host()[0] == 1);
    {
        const Graph g(graph);
        CHECK(g.nodes() == 2);
        cudaGetLastError();
        CHECK(g.run(4) == cudaSuccess);
    }
    CHECK(launches == 4);
    CHECK(x.host() == std::vector<int>{0, 2});
    cudaGraphExecDestroy(exec);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    cudaGetLastError();
    CHECK_FALSE(last_report());
}
