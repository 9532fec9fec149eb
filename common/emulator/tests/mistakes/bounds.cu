// Indices, addresses and offsets out of bounds.
#include <cstdint>

#include "common/emulator/tests/mistakes.hpp"
#include "common/gpu/shared_tiles.hpp"

namespace sixdays::emulator::tests {

__global__ void no_guard(const float* in, int, float* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    out[i] = in[i];  // MARK no_guard one_block_too_many
}
__global__ void one_before(const float* in, int n, float* out) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) out[i] = in[i - 1];  // MARK one_before
}
__global__ void first_past_end(const float* in, int n, float* out) {
    out[threadIdx.x] = (in + n)[threadIdx.x];  // MARK first_past_end
}
__global__ void flip_from_the_start(const float* in, int n, float* out) {
    const int i = static_cast<int>(threadIdx.x);
    const float* row = in;                       // should be the last: in + n - 8
    if (i < n) out[i] = row[i % 8 - i / 8 * 8];  // MARK flip_from_the_start
}
__global__ void write_past_end(const float*, int n, float* out) {
    if (threadIdx.x == 5) out[n] = 1.0f;  // MARK write_past_end
}
__global__ void byte_past_end(const float*, int n, float* out) {
    unsigned char* bytes = reinterpret_cast<unsigned char*>(out);
    if (threadIdx.x == 5) bytes[4 * n] = 1;  // MARK byte_past_end
}
__device__ float sum_of(float4 vector) {
    return vector.x + vector.y + vector.z + vector.w;
}
__global__ void vector_as_argument(const float* in, int, float* out) {
    const float4* vectors = reinterpret_cast<const float4*>(in);
    out[threadIdx.x] = sum_of(vectors[threadIdx.x]);  // MARK vector_as_argument
}
__global__ void far_away(const float*, int, float* out) {
    if (threadIdx.x == 1) out[1ll << 40] = 1.0f;  // MARK far_away
}
__global__ void null_pointer(const float*, int, float*) {
    float* volatile nothing = nullptr;                // volatile: nvcc removes undefined stores
    if (threadIdx.x == 2) nothing[gridDim.x] = 1.0f;  // MARK null_pointer
}
__global__ void past_shared_array(const float* in, int, float* out) {
    __shared__ float tile[32];
    const int t = static_cast<int>(threadIdx.x);
    tile[t] = in[t];
    __syncthreads();
    out[t] = tile[t + 1];  // MARK past_shared_array
}
__device__ __forceinline__ float read(const float* p) {
    return *p;  // MARK past_shared_pointer
}
__global__ void past_shared_pointer(const float* in, int, float* out) {
    __shared__ float tile[32];
    __shared__ float next[32];
    const int t = static_cast<int>(threadIdx.x);
    float* p = tile;
    p[t] = in[t];
    next[t] = 0.0f;
    __syncthreads();
    out[t] = read(p + t + 1) + next[t];
}
__global__ void before_shared_array(const float* in, int, float* out) {
    __shared__ float tile[32];
    float* p = tile;
    const int t = static_cast<int>(threadIdx.x);
    p[t] = in[t];
    __syncthreads();
    out[t] = p[t - 1];  // MARK before_shared_array
}
__global__ void past_dynamic(const float* in, int, float* out) {
    extern __shared__ float tile[];
    const int t = static_cast<int>(threadIdx.x);
    tile[t + 1] = in[t];  // MARK past_dynamic
    __syncthreads();
    out[t] = tile[t];
}
__device__ __forceinline__ float read_far(const float* p) {
    return *p;  // MARK next_shared_array
}
__global__ void next_shared_array(const float* in, int, float* out) {
    __shared__ float tile[32];
    __shared__ float other[32];
    const int t = static_cast<int>(threadIdx.x);
    tile[t] = in[t];
    other[t] = 0.0f;
    __syncthreads();
    const float *a = tile, *b = other;
    const float* first = a < b ? a : b;  // the order is up to the compiler
    out[t] = read_far(first + t + 64);
}
__global__ void next_tile(const float* in, int, float* out) {
    extern __shared__ __align__(16) unsigned char memory[];
    gpu::SharedTiles tiles(memory);
    float* a = tiles.next<float>(32);
    float* b = tiles.next<float>(32);
    const int t = static_cast<int>(threadIdx.x);
    a[t] = in[t];
    b[t] = 0.0f;
    __syncthreads();
    out[t] = a[t + 1] + b[t];  // MARK next_tile
}
__global__ void no_room_for_tile(const float* in, int, float* out) {
    extern __shared__ __align__(16) unsigned char memory[];
    gpu::SharedTiles tiles(memory);
    float* a = tiles.next<float>(32);
    float* b = tiles.next<float>(32);  // MARK no_room_for_tile
    a[threadIdx.x] = in[threadIdx.x];
    b[threadIdx.x] = 1.0f;
    out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}
__global__ void others_local(const float* in, int, float* out) {
    __shared__ const float* where[32];
    const int t = static_cast<int>(threadIdx.x);
    float mine[2] = {in[t], 1.0f};
    where[t] = mine;
    __syncthreads();
    out[t] = *where[(t + 1) % 32];  // MARK others_local
    mine[1] = out[t];
}
__global__ void misaligned(const float* in, int, float* out) {
    const float4 v = *reinterpret_cast<const float4*>(in + 1 + threadIdx.x);  // MARK misaligned
    out[threadIdx.x] = v.x;
}
__global__ void offset_32(const float* in, int, float* out) {
    const int big = 50257 * static_cast<int>(blockDim.x) * 2000;  // MARK offset_32
    out[threadIdx.x] = big > 0 ? in[0] : 0.0f;
}
__global__ void memcpy_past_end(const float* in, int n, float* out) {
    if (threadIdx.x == 0)
        memcpy(out, in, static_cast<std::size_t>(n + 1) * 4);  // MARK memcpy_past_end
}

// Rows of 8: the next element belongs to another row but is still inside the array.
__global__ void beyond_row(const float* in, int, float* out) {
    __shared__ float tile[8][8];
    const unsigned x = threadIdx.x % 8, y = threadIdx.x / 8;
    tile[y][x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[y][x + 1];  // MARK beyond_row
}
__global__ void before_row(const float* in, int, float* out) {
    __shared__ float tile[8][8];
    const int x = static_cast<int>(threadIdx.x) % 8, y = static_cast<int>(threadIdx.x) / 8;
    tile[y][x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = y == 0 ? 0.0f : tile[y][x - 1];  // MARK before_row
}

std::vector<Mistake> bounds_mistakes() {
    return {
        {"no_guard", no_guard, 2, 128, 250},
        {"one_block_too_many", no_guard, 2, 32, 32},
        {"one_before", one_before, 1, 32, 32},
        {"first_past_end", first_past_end, 1, 32, 32},
        {"flip_from_the_start", flip_from_the_start, 1, 32, 32},
        {"write_past_end", write_past_end, 1, 32, 100},
        {"byte_past_end", byte_past_end, 1, 32, 100},
        {"vector_as_argument", vector_as_argument, 1, 32, 32},
        {"far_away", far_away, 1, 32, 32},
        {"null_pointer", null_pointer, 1, 32, 32},
        {"past_shared_array", past_shared_array, 1, 32, 32},
        {"past_shared_pointer", past_shared_pointer, 1, 32, 32},
        {"before_shared_array", before_shared_array, 1, 32, 32},
        {"past_dynamic", past_dynamic, 1, 32, 32, 128},
        {"next_shared_array", next_shared_array, 1, 32, 32},
        {"next_tile", next_tile, 1, 32, 32, 256},
        {"no_room_for_tile", no_room_for_tile, 1, 32, 32, 252},
        {"others_local", others_local, 1, 32, 32},
        {"misaligned", misaligned, 1, 32, 64},
        {"offset_32", offset_32, 1, 32, 32},
        {"memcpy_past_end", memcpy_past_end, 1, 32, 32},
        {"beyond_row", beyond_row, 1, 64, 64},
        {"before_row", before_row, 1, 64, 64},
    };
}

}  // namespace sixdays::emulator::tests
