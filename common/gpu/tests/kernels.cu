#include "common/gpu/tests/kernels.hpp"

#include "common/gpu/check.hpp"
#include "common/gpu/launch.hpp"
#include "common/gpu/ptx.hpp"
#include "common/gpu/reduce.hpp"
#include "common/gpu/shared_tiles.hpp"

namespace sixdays::gpu::tests {
namespace {

constexpr int kThreads = 256;

__global__ void nothing_kernel() {}

__global__ void fill_kernel(View<float> out, float value) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < out.size()) out.data[i] = value;
}

__global__ void number_turns_kernel(View<int> turn, View<int> next) {
    turn.data[blockIdx.x] = atomicAdd(next.data, 1);
}

__global__ void round_trip_kernel(View<f16> halves, View<bf16> bfloats) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= halves.size()) return;
    halves.data[i] = f16(static_cast<float>(halves.data[i]));
    bfloats.data[i] = bf16(static_cast<float>(bfloats.data[i]));
}

__global__ void round_kernel(View<const float> in, View<f16> halves, View<bf16> bfloats) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= in.size()) return;
    halves.data[i] = f16(in.data[i]);
    bfloats.data[i] = bf16(in.data[i]);
}

__global__ void fast_functions_kernel(View<const float> in, View<float> powers,
                                      View<float> reciprocals) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= in.size()) return;
    powers.data[i] = fast_exp2(in.data[i]);
    reciprocals.data[i] = fast_reciprocal(in.data[i]);
}

// Each thread copies BYTES in each half, and waits for the first half alone before the second.
template <int BYTES>
__global__ void reverse_async_kernel(const float* in, int n, float* out) {
    __shared__ __align__(16) float halves[2][128];
    constexpr int kFloats = BYTES / 4;
    const int i = static_cast<int>(threadIdx.x) * kFloats;
    for (int half = 0; half < 2; ++half) {
        const int left = n - (128 * half + i);
        const int valid = left < 0 ? 0 : left < kFloats ? 4 * left : BYTES;
        if (i < 128) copy_async<BYTES>(&halves[half][i], in + 128 * half + i, valid);
        copy_async_commit();
    }
    copy_async_wait<1>();
    __syncthreads();
    const int me = static_cast<int>(threadIdx.x);
    out[255 - me] = halves[0][me];
    copy_async_wait<0>();
    __syncthreads();
    out[127 - me] = halves[1][me];
}

// Each block fills its own tiles and writes every gridDim.x-th element.
__global__ void reverse_in_tiles_kernel(View<const float> in, View<const unsigned char> weights,
                                        View<float> out) {
    extern __shared__ __align__(16) unsigned char memory[];
    SharedTiles tiles(memory);
    const auto n = static_cast<unsigned>(in.size());
    auto* small = tiles.next<unsigned char>(n);
    auto* numbers = tiles.next<float>(n);
    const unsigned i = threadIdx.x;
    if (i < n) {
        small[i] = weights.data[i];
        numbers[i] = in.data[i];
    }
    __syncthreads();
    if (i < n && i % gridDim.x == blockIdx.x) {
        out.data[i] = static_cast<float>(small[i]) * numbers[n - 1 - i];
    }
}

// The larger value; of equal values the earlier one.
__device__ Found larger(Found a, Found b) {
    return b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a;
}

template <int THREADS>
__global__ void reduce_blocks_kernel(const float* in, Found* out, Found* negated) {
    const int t = static_cast<int>(threadIdx.x);
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = block_reduce<THREADS>(Found{in[i], t}, larger);
    negated[i] = block_reduce<THREADS>(Found{-in[i], t}, larger);
}

template <int LANES>
__global__ void reduce_lanes_kernel(const float* in, Found* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = warp_reduce<LANES>(Found{in[i], static_cast<int>(threadIdx.x)}, larger);
}

}  // namespace

void number_turns(View<int> turn, View<int> next) {
    const auto blocks = static_cast<unsigned>(turn.size());
    number_turns_kernel<<<blocks, 1>>>(turn, next);
    check_launch("number_turns_kernel", blocks, 1);
}

void launch_nothing(unsigned grid, unsigned block) {
    nothing_kernel<<<grid, block>>>();
    check_launch("nothing_kernel", dim3(grid), dim3(block));
}

void launch_with_shared(std::int64_t bytes, std::int64_t reported) {
    nothing_kernel<<<1, 32, static_cast<std::size_t>(bytes)>>>();
    check_launch("nothing_kernel", dim3(1), dim3(32), static_cast<std::size_t>(reported));
}

void select_device(int device) {
    SIXDAYS_CUDA(cudaSetDevice(device));
}

unsigned blocks_for(std::int64_t items, int threads) {
    return gpu::blocks_for(items, threads);
}

unsigned blocks_at_most(std::int64_t items, int threads, unsigned most) {
    return gpu::blocks_at_most(items, threads, most);
}

void fill(View<float> out, float value, Stream stream) {
    const unsigned grid = blocks_for(out.size(), kThreads);
    if (grid == 0) return;
    fill_kernel<<<grid, kThreads, 0, stream>>>(out, value);
    check_launch("fill_kernel", dim3(grid), dim3(kThreads));
}

void round_trip(View<f16> halves, View<bf16> bfloats) {
    const unsigned grid = blocks_for(halves.size(), kThreads);
    round_trip_kernel<<<grid, kThreads>>>(halves, bfloats);
    check_launch("round_trip_kernel", dim3(grid), dim3(kThreads));
}

void round(View<const float> in, View<f16> halves, View<bf16> bfloats) {
    const unsigned grid = blocks_for(in.size(), kThreads);
    round_kernel<<<grid, kThreads>>>(in, halves, bfloats);
    check_launch("round_kernel", dim3(grid), dim3(kThreads));
}

void fast_functions(View<const float> in, View<float> powers, View<float> reciprocals) {
    const unsigned grid = gpu::blocks_for(in.size(), kThreads);
    fast_functions_kernel<<<grid, kThreads>>>(in, powers, reciprocals);
    check_launch("fast_functions_kernel", grid, kThreads);
}

void reverse_async(int bytes, int n, View<const float> in, View<float> out) {
    auto kernel = bytes == 4   ? reverse_async_kernel<4>
                  : bytes == 8 ? reverse_async_kernel<8>
                               : reverse_async_kernel<16>;
    kernel<<<1, 128>>>(in.data, n, out.data);
    check_launch("reverse_async_kernel", dim3(1), dim3(128));
}

void reverse_in_tiles(View<const float> in, View<const unsigned char> weights, View<float> out) {
    const auto n = static_cast<std::size_t>(in.size());
    const std::size_t bytes = tile_bytes<unsigned char>(n) + tile_bytes<float>(n);
    reverse_in_tiles_kernel<<<2, kThreads, bytes>>>(in, weights, out);
    check_launch("reverse_in_tiles_kernel", 2, kThreads, bytes);
}

void reduce_blocks(View<const float> in, View<Found> out, View<Found> negated) {
    const auto blocks = static_cast<unsigned>(in.extent(0));
    const auto threads = static_cast<unsigned>(in.extent(1));
    auto kernel = threads == 32    ? reduce_blocks_kernel<32>
                  : threads == 64  ? reduce_blocks_kernel<64>
                  : threads == 256 ? reduce_blocks_kernel<256>
                                   : reduce_blocks_kernel<1024>;
    kernel<<<blocks, threads>>>(in.data, out.data, negated.data);
    check_launch("reduce_blocks_kernel", blocks, threads);
}

void reduce_lanes(int lanes, View<const float> in, View<Found> out) {
    const auto blocks = static_cast<unsigned>(in.extent(0));
    auto kernel = lanes == 2    ? reduce_lanes_kernel<2>
                  : lanes == 4  ? reduce_lanes_kernel<4>
                  : lanes == 8  ? reduce_lanes_kernel<8>
                  : lanes == 16 ? reduce_lanes_kernel<16>
                                : reduce_lanes_kernel<32>;
    kernel<<<blocks, 64>>>(in.data, out.data);
    check_launch("reduce_lanes_kernel", blocks, 64);
}

__global__ void pass_on_kernel(const float* in, float* out, std::int64_t n) {
    let_next_start();
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    wait_for_previous();
    if (i < n) out[i] = in[n - 1 - i] + 1;
}

void pass_on(View<const float> in, View<float> out, Stream stream) {
    const unsigned grid = gpu::blocks_for(out.size(), 256);
    pass_on_kernel<<<grid, 256, 0, stream>>>(in.data, out.data, out.size());
    check_launch("pass_on_kernel", grid, 256);
}

}  // namespace sixdays::gpu::tests
