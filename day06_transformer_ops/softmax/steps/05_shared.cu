// Step 5: rows of any length and alignment. The first vectors of each thread are kept in registers,
// as in step 4, and the next ones in shared memory, where asynchronous copies put them. What fits
// in neither is read twice. A thread reads only what it has copied itself, so it needs no barrier
// for that. Two such blocks fit on an SM: while one computes, the other's copies are in flight.
#include <algorithm>

#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "common/gpu/ptx.hpp"
#include "common/gpu/shared_tiles.hpp"
#include "day06_transformer_ops/softmax/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

/// Where a row's results go: as vectors if they are aligned like the row.
template <class T>
struct Result {
    T* y;
    std::int64_t stride;
    int head;
    bool vectors;

    __device__ Result(T* to, std::int64_t step, const CutRow<T>& row)
        : y(to), stride(step), head(row.head) {
        vectors = step == 1 && reinterpret_cast<std::uintptr_t>(to + head) % 16 == 0;
    }
    __device__ T& operator[](std::int64_t i) const { return y[i * stride]; }

    __device__ void put(int q, const float (&x)[kPerVector<T>]) const {
        const std::int64_t i = head + std::int64_t{q} * kPerVector<T>;
        if (vectors) {
            __stcs(reinterpret_cast<uint4*>(y + i), pack<T>(x));
        } else {
            for (int e = 0; e < kPerVector<T>; ++e) (*this)[i + e] = T(x[e]);
        }
    }
};

constexpr int kInRegisters = 8;  // vectors per thread

/// @param room  vectors of a row that fit in shared memory
template <class OP, class T, int THREADS>
__global__ void __launch_bounds__(THREADS, 1024 / THREADS)
    softmax_shared_kernel(const __grid_constant__ RowWalk rows, const T* in, T* out,
                          std::int64_t stride, std::int64_t length, std::int64_t seen, int room) {
    extern __shared__ __align__(16) unsigned char memory[];
    gpu::SharedTiles tiles(memory);
    uint4* const held = tiles.next<uint4>(static_cast<std::size_t>(room));
    const Offsets<3> at = rows.offsets(blockIdx.x);
    const CutRow<T> row(in + at.of[0], seen + at.of[2]);
    constexpr int kFirst = kInRegisters * THREADS;
    const int t = threadIdx.x;
    const int end = min(row.vectors, kFirst + room);
    for (int q = kFirst + t; q < end; q += THREADS) {
        gpu::copy_async<16>(held + q - kFirst, &row.vector(q));
    }
    gpu::copy_async_commit();
    uint4 first[kInRegisters];
#pragma unroll
    for (int j = 0; j < kInRegisters; ++j) {
        const int q = t + j * THREADS;
        if (q < row.vectors) first[j] = __ldcs(&row.vector(q));
    }
    const auto each_vector = [&](const auto& f) {
#pragma unroll
        for (int j = 0; j < kInRegisters; ++j) {
            const int q = t + j * THREADS;
            if (q < row.vectors) f(q, first[j]);
        }
        gpu::copy_async_wait<0>();
        for (int q = kFirst + t; q < end; q += THREADS) f(q, held[q - kFirst]);
#pragma unroll 4
        for (int q = end + t; q < row.vectors; q += THREADS) f(q, row.vector(q));
    };
    PartSum mine;
    const float scalars = mine.take_scalars(row);
    each_vector([&](int, uint4 vector) { mine.take_vector<T>(vector); });
    const PartSum all = join_block<THREADS>(mine);
    const float tail = OP::tail(all.sum);
    const auto result = [&](float x) { return OP::of(OP::held(x - all.m), tail); };
    const Result<T> y(out + at.of[1], stride, row);
    if (t < row.scalars) y[row.place(t)] = T(result(scalars));
    each_vector([&](int q, uint4 vector) {
        float x[kPerVector<T>];
        unpack<T>(vector, x);
        for (float& number : x) number = result(number);
        y.put(q, x);
    });
    for (std::int64_t i = row.length() + t; i < length; i += THREADS) y[i] = T(0.0f);
}

}  // namespace

template <class OP, class T>
void launch_softmax_shared(const Rows<const T>& in, const Rows<T>& out, std::int64_t tokens,
                           gpu::Stream stream) {
    const std::int64_t seen = first_sees(in.length, tokens);
    const Layout token = token_layout(in.first.shape(), tokens);
    // Vectors that fit in one block's shared memory, with a little left for its own variables.
    const auto most = static_cast<std::int64_t>((gpu::most_shared() - 1024) / kVectorBytes);
    const std::int64_t vectors = in.length / kPerVector<T>;
    const auto run = [&](auto threads, std::int64_t can_hold) {
        constexpr int THREADS = threads;
        const std::int64_t rest = vectors - kInRegisters * THREADS;
        const auto room = static_cast<int>(std::clamp<std::int64_t>(rest, 0, can_hold));
        const auto bytes = gpu::tile_bytes<uint4>(static_cast<std::size_t>(room));
        const auto kernel = softmax_shared_kernel<OP, T, THREADS>;
        gpu::allow_shared(kernel, bytes);
        walk_rows(in, out, token, [&](const RowWalk& rows, const T* from, T* to, std::int64_t t) {
            kernel<<<rows.size, THREADS, bytes, stream>>>(rows, from, to, out.stride, in.length,
                                                          seen + t, room);
            gpu::check_launch("softmax_shared_kernel", rows.size, THREADS, bytes);
        });
    };
    // Two blocks per SM, as long as each can hold its row.
    const std::int64_t half = most / 2 - 64;
    if (vectors <= 64 * kInRegisters) return run(std::integral_constant<int, 64>(), 0);
    if (vectors <= 512 * kInRegisters + half) return run(std::integral_constant<int, 512>(), half);
    run(std::integral_constant<int, 1024>(), most);
}

template void launch_softmax_shared<Softmax>(const Rows<const float>&, const Rows<float>&,
                                             std::int64_t, gpu::Stream);
template void launch_softmax_shared<Softmax>(const Rows<const bf16>&, const Rows<bf16>&,
                                             std::int64_t, gpu::Stream);
template void launch_softmax_shared<LogSoftmax>(const Rows<const float>&, const Rows<float>&,
                                                std::int64_t, gpu::Stream);
template void launch_softmax_shared<LogSoftmax>(const Rows<const bf16>&, const Rows<bf16>&,
                                                std::int64_t, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
