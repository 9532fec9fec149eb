// Kernels and launches in the spellings of many hands, which are not this project's style.
// clang-format off
#include "common/emulator/tests/language.hpp"

#include <cstddef>
#include <cstdio>
#include <iterator>

#include "language.cuh"

// A launch in a comment: nothing<<<1, 2>>>(3), and a __shared__ int x, y; too.
/* over
   lines<<<1, 1>>>() */

extern __shared__ int file_scope[];

namespace {

const char* kText = "text<<<1, 2>>>(\"3\") __shared__ int no; // \" asm(\"x\")";

// --- declarations -------------------------------------------------------------------------------
__global__ void two_arrays(const int* in, int* out) {
    __shared__ int there[64], back[64];
    there[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    back[63 - threadIdx.x] = there[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = back[threadIdx.x];
}

__global__ void over_two_lines(const int* in, int* out) {
    __shared__ int first[32],  // the first half,
        second[2][16];
    __shared__
    int total;
    if (threadIdx.x < 32) first[threadIdx.x] = in[threadIdx.x];
    else second[threadIdx.x / 16 - 2][threadIdx.x % 16] = in[threadIdx.x];
    if (threadIdx.x == 0) total = 63;
    __syncthreads();
    const int from = total - threadIdx.x;
    out[threadIdx.x] = from < 32 ? first[from] : second[from / 16 - 2][from % 16];
}

__global__ void volatile_array(const int* in, int* out) {
    volatile __shared__ int a[64];
    __shared__ volatile int* p;
    __shared__ const int *q, *r[2];
    if (threadIdx.x == 0) { p = a; q = in; r[1] = in; }
    __syncthreads();
    p[threadIdx.x] = q == r[1] ? q[threadIdx.x] : 0;
    __syncthreads();
    out[threadIdx.x] = a[63 - threadIdx.x];
}

template <class A, class B> struct Pair { A a; B b; };

__global__ void types_in_place(const int* in, int* out) {
    __shared__ struct { int value; float unused; } record[64];
    __shared__ union { int n; float f; } shared_union;
    __shared__ Pair<int, Pair<int, float>> pairs[64];
    __shared__ __align__(16) unsigned char bytes[16];
    alignas(8) __shared__ unsigned int aligned;
    static __shared__ float __align__(8) also[1];
    record[threadIdx.x].value = in[threadIdx.x];
    pairs[threadIdx.x].b.a = static_cast<int>(threadIdx.x);
    if (threadIdx.x == 0) shared_union.n = 63, bytes[3] = 1, aligned = 2, also[0] = 3;
    __syncthreads();
    const bool all = bytes[3] == 1 && aligned == 2 && also[0] == 3;
    out[threadIdx.x] = all ? record[pairs[shared_union.n - threadIdx.x].b.a].value : 0;
}

__global__ void at_file_scope(const int* in, int* out) {
    file_scope[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = ((const int*)file_scope + 63)[-(int)threadIdx.x];
}

__global__ void cut_by_hand(const int* in, int* out) {
    extern volatile __shared__ char raw[];
    volatile int* numbers = (volatile int*)raw;
    numbers[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = numbers[63 - threadIdx.x];
}

__global__ void from_header(const int* in, int* out) {
    if (threadIdx.x == 0) atomicAdd(&header_count, header_ones[1]);
    out[threadIdx.x] = swap_ends_64(in[threadIdx.x]);
}

__device__ volatile int flag_a, flag_b = 63;
__device__ const int* where = nullptr;
__managed__ int managed_one = 1;

__global__ void device_variables(const int* in, int* out) {
    if (threadIdx.x == 0) { flag_a = 1; where = in; header_other = 0; }
    __syncthreads();
    out[threadIdx.x] = flag_a == managed_one ? where[flag_b - (int)threadIdx.x] + header_other : 0;
}

// --- kernels ------------------------------------------------------------------------------------
__global__ void plain(const int* in, int* out) { out[63 - threadIdx.x] = in[threadIdx.x]; }

static void __global__ __launch_bounds__(64, 2)
other_order(const int* in, int* out)
{
    out[63 - threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void c_name(const int* in, int* out) {
    out[63 - threadIdx.x] = in[threadIdx.x];
}

template <bool BIG, class T = int>
__global__ void chosen(const T* in, T* out) {
    if (BIG) out[63 - threadIdx.x] = in[threadIdx.x];
}

template <class T>
__global__ void wrapped(const T* in, T* out) { out[63 - threadIdx.x] = in[threadIdx.x]; }

template <class T>
__global__ void unused_pointer(const int* in, T* out, const int* more, int zero, int last = 63) {
    out[last - (int)threadIdx.x] = in[threadIdx.x] + (more == nullptr ? zero : 1);
}
__global__ void plain_with_null(const int* in, int* out, const float* more, int zero = 0, int last = 63) {
    out[last - (int)threadIdx.x] = in[threadIdx.x] + (more == NULL ? zero : 1);
}

__global__ void with_sizes(const int* in, int* out, int2 size, unsigned char c) {
    out[size.x + size.y - (int)threadIdx.x + (c == 'a')] = in[threadIdx.x];
}

struct Holder {
    template <class T>
    static __device__ T last(T n) { return n - 1; }
    void (*kernel)(const int*, int*);
};

__global__ void dims(const int* in, int* out) {
    const dim3 block = blockDim;
    const unsigned n = min(block.x * gridDim.x, 64u);
    out[Holder::last(n) - threadIdx.x] = in[threadIdx.x + blockIdx.x];
}

#define LAUNCH(kernel, ...) kernel<<<1, 64>>>(__VA_ARGS__)
#define DEFINE(name)                                      \
    __global__ void name(const int* in, int* out) {       \
        __shared__ int s[64], t;                          \
        s[threadIdx.x] = in[threadIdx.x];                 \
        if (threadIdx.x == 0) t = 63;                     \
        __syncthreads();                                  \
        out[threadIdx.x] = s[t - (int)threadIdx.x];       \
    }
DEFINE(in_a_macro)

// --- launches -----------------------------------------------------------------------------------
constexpr int N = 8;

void by_pointer(const int* in, int* out) {
    void (*kernel)(const int*, int*) = plain;
    kernel<<<1, 64>>>(in, out);
}
void by_dereferenced_pointer(const int* in, int* out) {
    void (*kernel)(const int*, int*) = &plain;
    (*kernel)<<<1, 64>>>(in, out);
}
void by_auto(const int* in, int* out) {
    auto kernel = chosen<true, int>;
    kernel<<<dim3(1), dim3(64, 1)>>>(in, out);
}
void by_table(const int* in, int* out) {
    void (*table[])(const int*, int*) = {two_arrays, plain};
    table[1 > 0]<<<1, 64>>>(in, out);
}
void by_member(const int* in, int* out) {
    const Holder h{plain}, *p = &h;
    h.kernel<<<1, 64>>>(in, out);
    p->kernel<<<1, 64>>>(in, out);
}
void by_choice(const int* in, int* out) {
    (N > 4 ? plain : two_arrays)<<<1, 64>>>(in, out);
}
void comparison_in_arguments(const int* in, int* out) {
    chosen<(N > 4)><<<1, 64>>>(in, out);
}
void null_argument(const int* in, int* out) {
    unused_pointer<<<1, 64>>>(in, out, NULL, 0);
    unused_pointer<int><<<1, 64>>>(in, out, NULL, 0, 63);
    plain_with_null<<<1, 64>>>(in, out, NULL, 0, 63);
    plain_with_null<<<1, 64>>>(in, out, 0, 0, 63);
    plain_with_null<<<1, 64>>>(in, out, NULL);
}
void converted_arguments(const int* in, int* out) {
    with_sizes<<<1, 64>>>(in, out, {60, 3}, 98.0);
}
void names_of_built_ins(const int* in, int* out) {
    dim3 gridDim(1, 1), blockDim(64);
    dims<<<gridDim, blockDim>>>(in, out);
}
void configuration_of_all_kinds(const int* in, int* out) {
    cudaStream_t s = 0;
    plain<<<[] { int one = 1; return one; }(), (N > 4) ? 64 : 32, N >> 3 << 4, s>>>(in, out);
    plain <<< 1,  // over lines,
        64 >>> (in, out);
    if (in == out) plain<<<1, 1>>>(in, out); else plain<<<1, 64>>>(in, out);
    LAUNCH(plain, in, out);
    LAUNCH(in_a_macro, in, out);
    if (kText[0] != 't') std::puts(R"x(k<<<1>>>(")")x");
}

template <void (*KERNEL)(const int*, int*), int SHARED = 0>
void run(const int* in, int* out) {
    KERNEL<<<1, 64, SHARED>>>(in, out);
}

__global__ void calls_a_kernel(const int* in, int* out) {
#ifdef SIXDAYS_EMULATED
    plain(in, out);
#endif
}
__global__ void count_launches(int* out, int n) {
    out[threadIdx.x] += 1;
#ifdef SIXDAYS_EMULATED
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (threadIdx.x == 0 && n > 1) count_launches<<<1, n / 2, 0, stream>>>(out, n / 2);
    cudaStreamDestroy(stream);
#endif
}
__global__ void launches_beyond_the_end(int* out) {
#ifdef SIXDAYS_EMULATED
    count_launches<<<1, 65>>>(out, 1);
    count_launches<<<1, 1>>>(nullptr, 1);  // is not run any more
#endif
}

__global__ void fills_rows(int* out) {
    extern __shared__ int rows[][8];
    rows[threadIdx.x / 8][threadIdx.x % 8] = 1000 + (int)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = rows[threadIdx.x / 8][threadIdx.x % 8];
}
__global__ void uses_own_memory(int* out, int last) {
    int* numbers = new int[4];
    int *copied = (int*)malloc(4 * sizeof(int));
    for (int i = 0; i < 4; ++i) { numbers[i] = i; copied[i] = numbers[i]; }
    out[0] = copied[last];
    free(copied);
    delete[] numbers;
}
__global__ void counts_by_builtin(unsigned* count) {
    __sync_fetch_and_add(count, 1u);
}

__global__ void far_end(int* out) {
    extern __shared__ __align__(16) int tile[];
    tile[25599] = 7;
    out[0] = tile[25599];
}

__global__ void array_beside_much(int* out) {
    extern __shared__ int tile[];
    __shared__ int own[8];
    own[7] = 3, tile[25599] = 4;
    out[0] = own[7] + tile[25599];
}

}  // namespace

namespace sixdays::emulator::tests {

const Spelling kSpellings[] = {
    {"two arrays in one declaration", run<two_arrays>},
    {"a declaration over two lines", run<over_two_lines>},
    {"volatile shared memory", run<volatile_array>},
    {"types in place, alignment", run<types_in_place>},
    {"dynamic shared memory at file scope", run<at_file_scope, 256>},
    {"volatile dynamic shared memory", run<cut_by_hand, 256>},
    {"shared memory in a header", run<from_header>},
    {"variables of the device", run<device_variables>},
    {"static void __global__", run<other_order>},
    {"extern C", run<c_name>},
    {"a pointer", by_pointer},
    {"a dereferenced pointer", by_dereferenced_pointer},
    {"auto", by_auto},
    {"a table", by_table},
    {"members", by_member},
    {"a choice", by_choice},
    {"a comparison among template arguments", comparison_in_arguments},
    {"NULL", null_argument},
    {"arguments that are converted", converted_arguments},
    {"host variables called gridDim and blockDim", names_of_built_ins},
    {"configurations", configuration_of_all_kinds},
};
const int kSpellingCount = static_cast<int>(std::size(kSpellings));

void call_like_a_function(int* out) {
    plain(out, out);  // like a function
}
void call_from_a_kernel(int* out) {
    calls_a_kernel<<<1, 1>>>(out, out);
}
void launch_from_a_kernel(int* out) {
    count_launches<<<1, 64>>>(out, 64);
}
void launch_beyond_the_end(int* out) {
    launches_beyond_the_end<<<1, 1>>>(out);
}
void rows_of_dynamic_memory(int* out) {
    fills_rows<<<1, 64, 64 * sizeof(int)>>>(out);
}
void own_memory(int* out, int last) {
    uses_own_memory<<<1, 1>>>(out, last);
}
void count_by_builtin(unsigned* count) {
    counts_by_builtin<<<2, 32>>>(count);
}

void much_shared_memory(int* out, int bytes_asked) {
    auto kernel = far_end;
    if (bytes_asked > 0)
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes_asked);
    kernel<<<1, 1, 100 * 1024>>>(out);
}
void much_beside_an_array(int* out, int bytes) {
    if (bytes > 48 * 1024)
        cudaFuncSetAttribute(array_beside_much, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    array_beside_much<<<1, 1, bytes>>>(out);
}


// --- calls --------------------------------------------------------------------------------------
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
        if (cudaStreamSynchronize(a) == cudaSuccess) return -1;  // nothing has happened yet
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
                       : tex1D<float>(texture, x);
}
__global__ void write_surface(cudaSurfaceObject_t surface, int row) {
    const int x = threadIdx.x, y = threadIdx.y == 2 ? row : threadIdx.y;
    surf2Dwrite(x + 10.0f * y, surface, x * 4, y);
}
__global__ void read_texture(cudaTextureObject_t texture, float* out) {
    out[threadIdx.y * 4 + threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, threadIdx.y + 0.5f);
}

// An array of so many layers, its texels 100 z + 10 y + x.
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

// --- the copy engine, in PTX ----------------------------------------------------------------------
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
        if (how == Bulk::parity) wait_in_ptx(bar, half);  // once more, which is no mistake
        __syncthreads();
    }
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

}  // namespace

void reverse_in_bulk(const int* in, int* out, Bulk how) {
    reverses_in_bulk<<<1, 64>>>(in, out, how);
}

}  // namespace sixdays::emulator::tests
