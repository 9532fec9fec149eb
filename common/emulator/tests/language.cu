// Kernels and launches in the spellings of many authors, not in this project's style.
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

}  // namespace sixdays::emulator::tests
