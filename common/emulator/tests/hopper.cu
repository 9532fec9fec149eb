#include "common/emulator/tests/hopper.hpp"

#include <cmath>

#include "common/gpu/ptx/tma.hpp"
#include "common/gpu/ptx/wgmma.hpp"

namespace sixdays::emulator::tests {

namespace {

constexpr int M = 64, N = 128, K = 64;
constexpr unsigned kBytesA = M * K * 2, kBytesB = N * K * 2;

__device__ void store(const float (&sum)[N / 8][4], float* out) {
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32, row = thread / 32 * 16 + lane / 4;
    for (int j = 0; j < N / 8; ++j) {
        for (int e = 0; e < 4; ++e) {
            out[(row + 8 * (e / 2)) * N + 8 * j + 2 * (lane % 4) + e % 2] = sum[j][e];
        }
    }
}

__global__ void product(Wrong wrong, const __grid_constant__ gpu::TileMap map_a,
                        const __grid_constant__ gpu::TileMap map_b, float* out) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ gpu::Mbarrier full;
    unsigned char *a = memory, *b = memory + kBytesA;
    const bool stores_early = wrong == Wrong::two_blocks_one_output && blockIdx.x == 0;
    if (stores_early) out[threadIdx.x] = 0;
    if (threadIdx.x == 0 && wrong != Wrong::barrier_not_set_up) {
        full.init(1);
        if (wrong != Wrong::set_up_unseen) gpu::mbarriers_are_set_up();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned told = wrong == Wrong::fewer_bytes_told  ? kBytesA
                              : wrong == Wrong::more_bytes_told ? kBytesA + kBytesB + 16
                                                                : kBytesA + kBytesB;
        full.arrive_and_expect(told);
        if (wrong == Wrong::told_twice) full.arrive_and_expect(told);
        gpu::copy_tile_async(a, map_a, 0, 0, full);
        if (wrong == Wrong::columns) gpu::copy_tile_async(b + kBytesB / 2, map_b, 0, 64, full);
        gpu::copy_tile_async(wrong == Wrong::tile_off_its_place ? b + 128 : b, map_b, 0, 0, full);
    }
    if (wrong != Wrong::not_waited_for) {
        full.wait(wrong == Wrong::other_parity ? 1 : wrong == Wrong::parity_counted ? 2 : 0);
    }
    if (wrong == Wrong::waited_for_twice) full.wait(0);
    float sum[N / 8][4] = {};
    const int thread = static_cast<int>(threadIdx.x);
    const int far =
        wrong == Wrong::operand_leaves || (wrong == Wrong::other_operands && thread > 40) ? 128 : 0;
    const bool adds = wrong != Wrong::some_replace || thread < 40;
    if (wrong != Wrong::no_fence) gpu::wgmma_fence();
    if (wrong != Wrong::half_a_group || thread < 64) {
        for (int i = 0; wrong == Wrong::columns && i < K / 16; ++i) {
            gpu::wgmma<bf16, true, true>(sum, gpu::wgmma_tile(a, 16).further(2048 * i),
                                         gpu::wgmma_tile(b, kBytesB / 2).further(2048 * i));
        }
        for (int i = 0; wrong != Wrong::columns && i < K / 16; ++i) {
            gpu::wgmma<bf16, false, false>(sum, gpu::wgmma_tile(a, 16).further(32 * i),
                                           gpu::wgmma_tile(b, 16).further(32 * i + far), adds);
        }
    }
    gpu::wgmma_commit();
    if (wrong == Wrong::continued_and_read_early) {
        gpu::wgmma_fence();
        const auto tile_a = gpu::wgmma_tile(a, 16), tile_b = gpu::wgmma_tile(b, 16);
        gpu::wgmma<bf16, false, false>(sum, tile_a, tile_b);  // MARK continued
        gpu::wgmma_commit();
    }
    float others[N / 8][4] = {};  // of a different product
    if (wrong == Wrong::first_sums_read_early || wrong == Wrong::other_sums_named ||
        wrong == Wrong::fence_of_another_group) {
        if (wrong != Wrong::fence_of_another_group) gpu::wgmma_fence();
        gpu::wgmma<bf16, false, false>(others, gpu::wgmma_tile(a, 16), gpu::wgmma_tile(b, 16));
        gpu::wgmma_commit();
    }
    if (wrong == Wrong::other_sums_named) gpu::wgmma_wait<0>(others);
    if (wrong != Wrong::sums_read_early && wrong != Wrong::first_sums_read_early &&
        wrong != Wrong::continued_and_read_early && wrong != Wrong::other_sums_named) {
        gpu::wgmma_wait<0>(sum);
    }
    if (wrong == Wrong::operand_reused) a[threadIdx.x] = 0;
    if (stores_early) return;
    store(sum, out);
}

__global__ void product_of_fragments(int reads, const bf16* a,
                                     const __grid_constant__ gpu::TileMap map_b, float* out) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ gpu::Mbarrier full;
    if (threadIdx.x == 0) {
        full.init(1);
        gpu::mbarriers_are_set_up();
        full.arrive_and_expect(kBytesB);
        gpu::copy_tile_async(memory, map_b, 0, 0, full);
    }
    __syncthreads();
    full.wait(0);
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
    const std::uint16_t* const row = &a[(thread / 32 * 16 + lane / 4) * K + 2 * (lane % 4)].bits;
    float sum[N / 8][4], nan = NAN;
    for (int i = 0; thread == 127 && i < reads; ++i) nan += static_cast<float>(a[i % K]);
    for (auto& four : sum) four[0] = four[1] = four[2] = four[3] = nan;
    std::uint32_t fragment[K / 16][4];
    for (int k = 0; k < K; k += 16) {
        for (int i = 0; i < 4; ++i) {
            const std::uint16_t* const two = row + i % 2 * 8 * K + k + i / 2 * 8;
            fragment[k / 16][i] = two[0] | static_cast<std::uint32_t>(two[1]) << 16;
        }
    }
    gpu::wgmma_fence();
    for (int k = 0; k < K; k += 16) {
        gpu::wgmma<bf16, false>(sum, fragment[k / 16], gpu::wgmma_tile(memory, 16).further(2 * k),
                                k > 0);
    }
    gpu::wgmma_commit();
    gpu::wgmma_wait<0>(sum);
    store(sum, out);
}

__global__ void fence_kernel(unsigned* word) {
    __threadfence();
    atomicAdd(word, 1u);
}

}  // namespace

void warpgroup_product(Wrong wrong, const bf16* a, const bf16* b, float* out) {
    const int blocks = wrong == Wrong::two_blocks_one_output ? 2 : 1;
    const bool columns = wrong == Wrong::columns;
    product<<<blocks, 128, kBytesA + kBytesB>>>(
        wrong, gpu::tile_map(a, M, K, K, M),
        columns ? gpu::tile_map(b, K, N, N, K) : gpu::tile_map(b, N, K, K, N), out);
}

void product_from_registers(int reads, const bf16* a, const bf16* b, float* out) {
    product_of_fragments<<<1, 128, kBytesB>>>(reads, a, gpu::tile_map(b, N, K, K, N), out);
}

void fence_in_a_block(int threads, unsigned* word) {
    fence_kernel<<<1, threads>>>(word);
}

}  // namespace sixdays::emulator::tests
