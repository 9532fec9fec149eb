// Runtime calls and PTX in the spellings of many authors, not in this project's style.
// clang-format off
#include "common/emulator/tests/language.hpp"

#include <cstddef>

namespace sixdays::emulator::tests {

namespace {
__constant__ float in_constant[8];
__device__ float in_device[2][4];
float in_host[8];

__global__ void add_ten() {
    in_device[threadIdx.x / 4][threadIdx.x % 4] = in_constant[threadIdx.x] + 10;
}
__global__ void add_ten_to_rows(float* data, size_t pitch, int row) {
    float* mine = (float*)((char*)data + blockIdx.x * pitch);
    if (threadIdx.x < row) mine[threadIdx.x] += 10;
}
__global__ void trap_kernel() {
    if (threadIdx.x == 3) __trap();
}
}  // namespace

void through_symbols(const float* in, float* out) {
    cudaMemcpyToSymbol(in_constant, in, 4 * sizeof(float));
    cudaMemcpyToSymbol(in_constant, in + 4, 4 * sizeof(float), 4 * sizeof(float), cudaMemcpyHostToDevice);
    add_ten<<<1, 8>>>();
    cudaMemcpyFromSymbol(out, in_device, 6 * sizeof(float));
    float* device;
    cudaMalloc(&device, 2 * sizeof(float));
    cudaMemcpyFromSymbol(device, in_device, 2 * sizeof(float), 6 * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaMemcpy(out + 6, device, 2 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device);
}
int through_its_address(const float* in, float* out, int more) {
    float* device;
    cudaGetSymbolAddress((void**)&device, in_device);
    cudaMemset(device, 0, 8 * sizeof(float));
    cudaMemcpy(device + 6, in, 2 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(out, device, (8 + more) * sizeof(float), cudaMemcpyDeviceToHost);
    return cudaPeekAtLastError();
}
int sum_on_the_host(int a, int b) {
    return a + b;
}

namespace {
struct Shape {
    __device__ virtual int sides() const = 0;
};
struct Square : Shape {
    __device__ int sides() const override { return 4; }
};
__global__ void make_shape(Shape** shape) { *shape = new Square; }
__global__ void ask_shape(Shape** shape, int* out) { *out = (*shape)->sides(); }
}  // namespace

void sides_of_a_square(int* out) {
    Shape** shape;
    cudaMalloc(&shape, sizeof(Shape*));
    make_shape<<<1, 1>>>(shape);
    ask_shape<<<1, 1>>>(shape, out);
    cudaFree(shape);
}

namespace {
__global__ void twice_as_many(unsigned* data) { data[threadIdx.x] *= 2; }
void count_one(void* counter) { ++*(int*)counter; }
}  // namespace

int by_a_graph(bool by_hand, unsigned word, unsigned* out) {
    const size_t bytes = 64 * sizeof(unsigned);
    unsigned *from, *to, *own;
    int launches = 0;
    cudaMalloc(&from, bytes);
    cudaMalloc(&to, bytes);
    cudaGraph_t graph;
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    if (by_hand) {
        cudaGraphCreate(&graph, 0);
        cudaGraphNode_t filled, allocated, moved, doubled, copied, freed, told;
        cudaMemsetParams fill = {from, 0, word, 4, 64, 1};
        cudaGraphAddMemsetNode(&filled, graph, NULL, 0, &fill);
        cudaMemAllocNodeParams memory = {};
        memory.bytesize = bytes;
        cudaGraphAddMemAllocNode(&allocated, graph, &filled, 1, &memory);
        own = (unsigned*)memory.dptr;
        cudaMemcpy3DParms box = {};
        box.srcPtr = make_cudaPitchedPtr(from, bytes, 64, 1);
        box.dstPtr = make_cudaPitchedPtr(own, bytes, 64, 1);
        box.extent = make_cudaExtent(bytes, 1, 1);
        box.kind = cudaMemcpyDeviceToDevice;
        cudaGraphAddMemcpyNode(&moved, graph, &allocated, 1, &box);
        void* arguments[] = {&own};
        cudaKernelNodeParams kernel = {};
        kernel.func = (void*)twice_as_many;
        kernel.gridDim = 1;
        kernel.blockDim = 64;
        kernel.kernelParams = arguments;
        cudaGraphAddKernelNode(&doubled, graph, &moved, 1, &kernel);
        cudaGraphAddMemcpyNode1D(&copied, graph, &doubled, 1, to, own, bytes, cudaMemcpyDeviceToDevice);
        cudaGraphAddMemFreeNode(&freed, graph, &copied, 1, own);
        cudaHostNodeParams host = {count_one, &launches};
        cudaGraphAddHostNode(&told, graph, &copied, 1, &host);
    } else {
        cudaEvent_t fork, join;
        cudaEventCreate(&fork);
        cudaEventCreate(&join);
        cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
        cudaEventRecord(fork, a);
        cudaStreamWaitEvent(b, fork, 0);
        cudaMemsetAsync(from, word & 255, bytes, b);
        cudaEventRecord(join, b);
        cudaStreamWaitEvent(a, join, 0);
        cudaMallocAsync(&own, bytes, a);
        cudaMemcpyAsync(own, from, bytes, cudaMemcpyDeviceToDevice, a);
        twice_as_many<<<1, 64, 0, a>>>(own);
        cudaMemcpyAsync(to, own, bytes, cudaMemcpyDeviceToDevice, a);
        cudaFreeAsync(own, a);
        cudaLaunchHostFunc(a, count_one, &launches);
        if (cudaStreamSynchronize(a) == cudaSuccess) return -1;  // nothing has run yet
        cudaGetLastError();
        cudaStreamEndCapture(a, &graph);
        cudaEventDestroy(fork);
        cudaEventDestroy(join);
    }
    size_t nodes = 0;
    cudaGraphGetNodes(graph, NULL, &nodes);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);
    cudaGraphDestroy(graph);
    if (launches != 0 || nodes != 7) return -2;
    cudaGraphLaunch(exec, a);
    cudaGraphLaunch(exec, a);
    cudaStreamSynchronize(a);
    cudaGraphExecDestroy(exec);
    cudaMemcpy(out, to, bytes, cudaMemcpyDeviceToHost);
    cudaFree(from);
    cudaFree(to);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    return launches;
}
int node_of_another_graph() {
    cudaGraph_t one, other;
    cudaGraphNode_t first, second;
    cudaGraphCreate(&one, 0);
    cudaGraphCreate(&other, 0);
    cudaGraphAddEmptyNode(&first, one, NULL, 0);
    const int error = cudaGraphAddEmptyNode(&second, other, &first, 1);
    cudaGraphDestroy(one);
    cudaGraphDestroy(other);
    return error;
}

namespace {
__global__ void sample_kernel(cudaTextureObject_t texture, float x, float y, float z, int kind, float* out) {
    *out = kind == 0   ? tex2D<float>(texture, x, y)
           : kind == 1 ? tex2DLayered<float>(texture, x, y, (int)z)
           : kind == 2 ? texCubemap<float>(texture, x, y, z)
           : kind == 3 ? tex1D<float>(texture, x)
                       : tex1D<float2>(texture, x).y;
}
__global__ void write_surface(cudaSurfaceObject_t surface, int row) {
    const int x = threadIdx.x, y = threadIdx.y == 2 ? row : threadIdx.y;
    surf2Dwrite(x + 10.0f * y, surface, x * 4, y);
}
__global__ void read_texture(cudaTextureObject_t texture, float* out) {
    out[threadIdx.y * 4 + threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, threadIdx.y + 0.5f);
}

// A layered array with texels 100 z + 10 y + x.
cudaArray_t filled_array(int width, int height, int layers, unsigned flags) {
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cudaMalloc3DArray(&array, &desc, make_cudaExtent(width, height, layers), flags);
    float texels[72];
    for (int i = 0; i < width * height * layers; ++i) {
        texels[i] = 100 * (i / (width * height)) + 10 * (i / width % height) + i % width;
    }
    cudaMemcpy3DParms box = {};
    box.srcPtr = make_cudaPitchedPtr(texels, width * sizeof(float), width, height);
    box.dstArray = array;
    box.extent = make_cudaExtent(width, height, layers);
    box.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&box);
    return array;
}
cudaResourceDesc described(cudaArray_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}
float sample_once(const cudaResourceDesc& resource, const cudaTextureDesc& how, int kind, float x, float y,
                  float z) {
    cudaTextureObject_t texture;
    float *device, host = -1;
    cudaMalloc(&device, sizeof(float));
    cudaCreateTextureObject(&texture, &resource, &how, NULL);
    sample_kernel<<<1, 1>>>(texture, x, y, z, kind, device);
    cudaMemcpy(&host, device, sizeof(float), cudaMemcpyDeviceToHost);
    cudaDestroyTextureObject(texture);
    cudaFree(device);
    return host;
}
float sample_array(cudaArray_t array, const cudaTextureDesc& how, int kind, float x, float y, float z) {
    const float value = sample_once(described(array), how, kind, x, y, z);
    cudaFreeArray(array);
    return value;
}
}  // namespace

float sampled(const Sampling& how, float x, float y) {
    cudaTextureDesc desc = {};
    desc.addressMode[0] = desc.addressMode[1] = (cudaTextureAddressMode)how.address;
    desc.filterMode = how.linear ? cudaFilterModeLinear : cudaFilterModePoint;
    desc.normalizedCoords = how.normalized;
    return sample_array(filled_array(4, 3, 1, cudaArrayDefault), desc, 0, x, y, 0);
}
float sampled_bytes(float x) {
    unsigned char *device, host[4] = {0, 51, 102, 255};
    cudaMalloc(&device, 4);
    cudaMemcpy(device, host, 4, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = device;
    resource.res.linear.desc = cudaCreateChannelDesc<unsigned char>();
    resource.res.linear.sizeInBytes = 4;
    cudaTextureDesc how = {};
    how.readMode = cudaReadModeNormalizedFloat;
    const float value = sample_once(resource, how, 3, x, 0, 0);
    cudaFree(device);
    return value;
}
float sampled_rows(float x, float y) {
    float *device, host[2][4] = {{1, 2, 3, -1}, {11, 12, 13, -1}};  // two rows of 3 texels, 16 bytes apart
    cudaMalloc(&device, sizeof(host));
    cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = device;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = 3;
    resource.res.pitch2D.height = 2;
    resource.res.pitch2D.pitchInBytes = 16;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    const float value = sample_once(resource, how, 0, x, y, 0);
    cudaFree(device);
    return value;
}
float sampled_pair(float x) {
    float2 *device, host[3] = {{1, 2}, {3, 4}, {5, 6}};
    cudaMalloc(&device, sizeof(host));
    cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = device;
    resource.res.linear.desc = cudaCreateChannelDesc<float2>();
    resource.res.linear.sizeInBytes = 2 * sizeof(float2);  // without the last one
    cudaTextureDesc how = {};
    how.addressMode[0] = cudaAddressModeClamp;
    const float value = sample_once(resource, how, 4, x, 0, 0);
    cudaFree(device);
    return value;
}
float sampled_layer(float x, float y, int layer) {
    return sample_array(filled_array(4, 3, 2, cudaArrayLayered), {}, 1, x, y, (float)layer);
}
float sampled_cube(float x, float y, float z) {
    cudaTextureDesc how = {};
    how.normalizedCoords = 1;
    return sample_array(filled_array(2, 2, 6, cudaArrayCubemap), how, 2, x, y, z);
}
void through_a_surface(int row, float* out) {
    cudaArray_t array = filled_array(4, 3, 1, cudaArraySurfaceLoadStore);
    cudaResourceDesc resource = described(array);
    cudaSurfaceObject_t surface;
    cudaTextureObject_t texture;
    cudaTextureDesc how = {};
    cudaCreateSurfaceObject(&surface, &resource);
    cudaCreateTextureObject(&texture, &resource, &how, NULL);
    write_surface<<<1, dim3(4, 3)>>>(surface, row);
    read_texture<<<1, dim3(4, 3)>>>(texture, out);
    cudaDestroyTextureObject(texture);
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(array);
}

int copy_to_host_variable(const float* in) {
    return cudaMemcpyToSymbol(in_host, in, 4);
}
int copy_too_much_to_symbol(const float* in) {
    return cudaMemcpyToSymbol(in_constant, in, 4 * sizeof(float), 5 * sizeof(float));
}

int through_pitched_rows(const float* in, float* out, int row, int rows) {
    float* device;
    size_t pitch;
    cudaMallocPitch(&device, &pitch, row * sizeof(float), rows);
    cudaMemcpy2D(device, pitch, in, row * sizeof(float), row * sizeof(float), rows, cudaMemcpyHostToDevice);
    add_ten_to_rows<<<rows, 128>>>(device, pitch, row);
    cudaMemcpy2D(out, row * sizeof(float), device, pitch, row * sizeof(float), rows, cudaMemcpyDeviceToHost);
    cudaFree(device);
    return (int)pitch;
}

void suggested_block(int* blocks, int* threads, int shared_bytes, int most_threads) {
    cudaOccupancyMaxPotentialBlockSize(blocks, threads, add_ten, shared_bytes, most_threads);
}

void stop_at_trap() {
    trap_kernel<<<1, 32>>>();
}

// --- the copy engine, in PTX ---------------------------------------------------------------------
namespace {

__device__ unsigned in_shared(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ void wait_in_ptx(unsigned bar, unsigned parity) {
    asm volatile(
        "{\n"
        ".reg .pred P1;\n"
        "LAB_WAIT:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
        "@P1 bra DONE;\n"
        "bra LAB_WAIT;\n"
        "DONE:\n"
        "}" ::"r"(bar), "r"(parity));
}
__device__ bool is_done(unsigned bar, unsigned parity) {
    unsigned done;
    asm volatile(
        "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done) : "r"(bar), "r"(parity) : "memory");
    return done != 0;
}

__global__ void reverses_in_bulk(const int* in, int* out, Bulk how) {
    __shared__ alignas(128) int tile[64];
    __shared__ unsigned long long barrier;
    const unsigned bar = in_shared(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(how == Bulk::state ? 64 : 1));
        if (how != Bulk::unseen_barrier) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    for (int half = 0; half < 2; ++half) {
        unsigned long long state = 0;
        if (threadIdx.x == 0) {
            const int first = how == Bulk::past_the_end ? 16 : 0;
            const unsigned bytes = how == Bulk::odd_size ? 120 : 128, told = how == Bulk::fewer_bytes_told ? 64 : bytes;
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                    in_shared(tile + 32 * half)), "l"(in + first + 32 * half), "r"(bytes), "r"(bar)
                : "memory");
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
                         : "=l"(state) : "r"(bar), "r"(told) : "memory");
        } else if (how == Bulk::state) {
            asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(bar) : "memory");
        }
        if (how == Bulk::state) {
            for (unsigned done = 0; done == 0;)
                asm volatile(
                    "{ .reg .pred %%p; mbarrier.try_wait.shared::cta.b64 %%p, [%1], %2; selp.b32 %0, 1, 0, %%p; }"
                    : "=r"(done) : "r"(bar), "l"(state) : "memory");
        } else if (how == Bulk::test) {
            while (!is_done(bar, half)) {}
        } else if (how != Bulk::not_waited_for || half == 0) {
            wait_in_ptx(bar, how == Bulk::other_parity ? 0 : half);
        }
        if (how == Bulk::parity) wait_in_ptx(bar, half);  // polling again is allowed
        __syncthreads();
    }
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

}  // namespace

void reverse_in_bulk(const int* in, int* out, Bulk how) {
    reverses_in_bulk<<<1, 64>>>(in, out, how);
}

}  // namespace sixdays::emulator::tests
