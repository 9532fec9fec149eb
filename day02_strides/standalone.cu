// Pack any layout to row-major, in plain CUDA: the strides give the offset of an element, and one
// kernel handles all layouts. One file, one command.
//
//     nvcc standalone.cu && ./a.out                    with the CUDA Toolkit and a GPU
//     common/learn try day02_strides/standalone.cu     without either
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
}

constexpr int kMostDims = 4;

struct Layout {
    int rank;
    std::int64_t extent[kMostDims];  // elements along each dimension
    std::int64_t stride[kMostDims];  // distance to the next element along it
};

std::int64_t size_of(const Layout& layout) {
    std::int64_t n = 1;
    for (int d = 0; d < layout.rank; ++d) n *= layout.extent[d];
    return n;
}

// The offset of the element with this flat row-major index. The last dimension varies fastest, so
// its index is the first remainder. Each index is multiplied by the stride of its dimension.
__host__ __device__ std::int64_t offset_of(std::int64_t number, const Layout& layout) {
    std::int64_t offset = 0;
    for (int d = layout.rank - 1; d >= 0; --d) {
        offset += number % layout.extent[d] * layout.stride[d];
        number /= layout.extent[d];
    }
    return offset;
}

// [loop and twin]
void pack_cpu(const float* in, const Layout& layout, std::int64_t n, float* out) {
    for (std::int64_t i = 0; i < n; ++i) {
        out[i] = in[offset_of(i, layout)];
    }
}

__global__ void pack(const float* in, const Layout layout, std::int64_t n, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[offset_of(i, layout)];
    }
}
// [loop and twin]

// Fewer dimensions mean fewer divisions: if the stride of d - 1 is the stride of d times its
// extent, the two dimensions merge into one. The CPU does this once, instead of every thread.
Layout merged(const Layout& given) {
    Layout all = {1, {1}, {1}};
    for (int d = 0; d < given.rank; ++d) {
        if (given.extent[d] == 1) continue;
        const int last = all.rank - 1;
        if (all.extent[last] == 1 || all.stride[last] == given.extent[d] * given.stride[d]) {
            all.extent[last] *= given.extent[d];
        } else {
            all.extent[all.rank++] = given.extent[d];
        }
        all.stride[all.rank - 1] = given.stride[d];
    }
    return all;
}

void show(const char* name, const Layout& layout) {
    std::printf("  %-12s", name);
    for (int d = 0; d < layout.rank; ++d) {
        std::printf(" %lld (stride %lld)", static_cast<long long>(layout.extent[d]),
                    static_cast<long long>(layout.stride[d]));
    }
    std::printf("\n");
}

// Packs on the device with this layout, and compares every element with the CPU reference.
void try_out(const char* name, const float* memory, const Layout& layout, const float* device,
             const std::vector<float>& wanted) {
    show(name, layout);
    const std::int64_t n = size_of(layout);
    const unsigned threads = 256, blocks = static_cast<unsigned>((n + threads - 1) / threads);
    std::vector<float> out(n);
    float* to;
    check(cudaMalloc(&to, n * sizeof(float)), "cudaMalloc");
    pack<<<blocks, threads>>>(device, layout, n, to);
    check(cudaGetLastError(), "launching pack");
    check(cudaMemcpy(out.data(), to, n * sizeof(float), cudaMemcpyDeviceToHost), "running pack");
    check(cudaFree(to), "cudaFree");
    for (std::int64_t i = 0; i < n; ++i) {
        if (out[i] == wanted[i] && out[i] == memory[offset_of(i, layout)]) continue;
        std::printf("%s: out[%lld] is %g, not %g\n", name, static_cast<long long>(i), out[i],
                    wanted[i]);
        std::exit(1);
    }
}

int main() {
    // 24 contiguous numbers, seen through three layouts:
    std::vector<float> memory(24);
    for (int i = 0; i < 24; ++i) memory[i] = static_cast<float>(i);
    const Layout rows = {3, {2, 3, 4}, {12, 4, 1}};         // row-major
    const Layout swapped = {3, {2, 4, 3}, {12, 1, 4}};      // rows and columns exchanged
    const Layout heads = {4, {2, 2, 3, 2}, {12, 2, 4, 1}};  // columns split into two heads
    float* device;
    check(cudaMalloc(&device, sizeof(float) * 24), "cudaMalloc");
    check(cudaMemcpy(device, memory.data(), sizeof(float) * 24, cudaMemcpyHostToDevice), "copying");

    for (const Layout& layout : {rows, swapped, heads}) {
        std::vector<float> wanted(24);
        pack_cpu(memory.data(), layout, 24, wanted.data());
        std::printf("row-major:");
        for (int i = 0; i < 12; ++i) std::printf(" %g", wanted[i]);
        std::printf(" ...\n");
        try_out("as given", memory.data(), layout, device, wanted);
        try_out("merged", memory.data(), merged(layout), device, wanted);
    }
    check(cudaFree(device), "cudaFree");
    std::printf("All 6 results are right. By hand: row 0 of the second is 0 4 8, a column.\n");
}
