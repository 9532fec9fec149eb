// The ports of copy: one kernel for any layout, one for plain runs, one for runs of one element.
// plan_copy() has simplified the layouts and made the elements as large as it could, so that the
// kernel for any layout moves 16 bytes a load wherever rows allow it.
#include "common/gpu/launch.hpp"
#include "day03_views/moves.hpp"

namespace sixdays::day03_views {

// --- kernels -------------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;

// Loads of a thread under way: with 2,048 threads 64 KiB of 4 or 16 bytes a load, twice that of 8.
// An H200 needs about 48.
template <class T>
constexpr int kLoads = sizeof(T) == 16 ? 2 : 8;

// [copy]
template <class T, int RANK>
__global__ void copy_strided_kernel(const T* in, const __grid_constant__ Walk<RANK, 2> walk,
                                    T* out) {
    constexpr int kEach = kLoads<T>;
    const std::uint32_t first = blockIdx.x * (kEach * kThreads) + threadIdx.x;
    T value[kEach];
    std::int64_t to[kEach];
    for (int j = 0; j < kEach; ++j) {
        const std::uint32_t k = first + j * kThreads;
        if (k < walk.size) {
            const Offsets<2> at = walk.offsets(k);
            to[j] = at.of[0];
            value[j] = in[at.of[1]];
        }
    }
    for (int j = 0; j < kEach; ++j) {
        if (first + j * kThreads < walk.size) out[to[j]] = value[j];
    }
}
// [copy]

// 16 bytes made of one element: its word, repeated.
__device__ unsigned word_of(std::uint8_t x) {
    return x * 0x01010101u;
}
__device__ unsigned word_of(std::uint16_t x) {
    return x * 0x00010001u;
}
__device__ uint4 repeated(std::uint8_t x) {
    return make_uint4(word_of(x), word_of(x), word_of(x), word_of(x));
}
__device__ uint4 repeated(std::uint16_t x) {
    return make_uint4(word_of(x), word_of(x), word_of(x), word_of(x));
}
__device__ uint4 repeated(std::uint32_t x) {
    return make_uint4(x, x, x, x);
}
__device__ uint4 repeated(std::uint64_t x) {
    const unsigned low = static_cast<unsigned>(x), high = static_cast<unsigned>(x >> 32);
    return make_uint4(low, high, low, high);
}
__device__ uint4 repeated(uint4 x) {
    return x;
}

// Nearly all it does is write: the lanes of a warp share an element of `in`, or a few.
template <class T, int RANK>
__global__ void copy_splat_kernel(const T* in, const __grid_constant__ Walk<RANK, 2> walk,
                                  uint4* out) {
    constexpr int kEach = 4;
    const std::uint32_t first = blockIdx.x * (kEach * kThreads) + threadIdx.x;
    T value[kEach];
    std::int64_t to[kEach];
    for (int j = 0; j < kEach; ++j) {
        const std::uint32_t k = first + j * kThreads;
        if (k < walk.size) {
            const Offsets<2> at = walk.offsets(k);
            to[j] = at.of[0];
            value[j] = in[at.of[1]];
        }
    }
    for (int j = 0; j < kEach; ++j) {
        if (first + j * kThreads < walk.size) out[to[j]] = repeated(value[j]);
    }
}

// `head` bytes lie before the first multiple of 16, in both.
__global__ void copy_straight_kernel(const std::uint8_t* in, std::int64_t bytes, std::int64_t head,
                                     std::uint8_t* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    const std::int64_t quads = (bytes - head) / 16;
    if (i < quads) {
        reinterpret_cast<uint4*>(out + head)[i] = reinterpret_cast<const uint4*>(in + head)[i];
    }
    const std::int64_t loose = bytes - 16 * quads;  // head and tail, 30 at most
    if (i < loose) {
        const std::int64_t k = i < head ? i : 16 * quads + i;
        out[k] = in[k];
    }
}

}  // namespace

// --- launchers -----------------------------------------------------------------------------------
namespace {

template <class E>
struct GpuElement {
    using type = E;
};
template <>
struct GpuElement<Sixteen> {
    using type = uint4;
};

// Calls f with an element of that size, and with the rank.
template <class F>
void with_element_and_rank(int bytes, int rank, const F& f) {
    with_element(bytes, [&](auto element) {
        using T = typename GpuElement<decltype(element)>::type;
        with_rank(rank, [&](auto r) { f(T{}, r); });
    });
}

}  // namespace

void launch_strided(const CopyPlan& plan, gpu::Stream stream) {
    const int rank = plan.out.layout.rank();
    with_element_and_rank(plan.in.element, rank, [&](auto element, auto r) {
        using T = decltype(element);
        constexpr int RANK = decltype(r)::value;
        const Walk<RANK, 2> walk({plan.out.layout, plan.in.layout});
        const unsigned grid = gpu::blocks_for(walk.size, kLoads<T> * kThreads);
        const auto* in = static_cast<const T*>(plan.in.data);
        auto* out = static_cast<T*>(plan.out.data);
        copy_strided_kernel<T, RANK><<<grid, kThreads, 0, stream>>>(in, walk, out);
        gpu::check_launch("copy_strided_kernel", grid, kThreads);
    });
}

void launch_splat(const CopyPlan& plan, gpu::Stream stream) {
    const int rank = plan.out.layout.rank();
    with_element_and_rank(plan.in.element, rank, [&](auto element, auto r) {
        using T = decltype(element);
        constexpr int RANK = decltype(r)::value;
        const Walk<RANK, 2> walk({plan.out.layout, plan.in.layout});
        const unsigned grid = gpu::blocks_for(walk.size, 4 * kThreads);
        const auto* in = static_cast<const T*>(plan.in.data);
        auto* out = static_cast<uint4*>(plan.out.data);
        copy_splat_kernel<T, RANK><<<grid, kThreads, 0, stream>>>(in, walk, out);
        gpu::check_launch("copy_splat_kernel", grid, kThreads);
    });
}

void launch_straight(const CopyPlan& plan, gpu::Stream stream) {
    const std::int64_t bytes = plan.out.layout.size() * plan.out.element;
    const auto past =
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(plan.out.data) % 16);
    const std::int64_t before = (16 - past) % 16, head = before < bytes ? before : bytes;
    const unsigned grid = gpu::blocks_for((bytes - head) / 16 + 30, kThreads);
    const auto* in = static_cast<const std::uint8_t*>(plan.in.data);
    auto* out = static_cast<std::uint8_t*>(plan.out.data);
    copy_straight_kernel<<<grid, kThreads, 0, stream>>>(in, bytes, head, out);
    gpu::check_launch("copy_straight_kernel", grid, kThreads);
}

void copy_bytes_cuda(const BytesIn& in, const BytesOut& out, gpu::Stream stream) {
    check_copy(in, out);
    const CopyPlan plan = plan_copy(in, out);
    switch (plan.path) {
        case CopyPath::nothing:
            return;
        case CopyPath::straight:
            return launch_straight(plan, stream);
        case CopyPath::rows:
        case CopyPath::general:
            return in_pieces(plan, INT32_MAX,
                             [&](const CopyPlan& piece) { launch_strided(piece, stream); });
        case CopyPath::splat:
            return in_pieces(plan, INT32_MAX,
                             [&](const CopyPlan& piece) { launch_splat(piece, stream); });
        case CopyPath::tiles:
            return launch_tiles(plan, stream);
        case CopyPath::short_rows:
            return launch_short_rows(plan, stream);
    }
}

}  // namespace sixdays::day03_views
