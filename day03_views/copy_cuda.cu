// The ports of copy: one kernel for any layout, one for plain runs, one for runs of one element.
// plan_copy() has simplified the layouts and made the elements as large as it could, so that the
// kernel for any layout moves 16 bytes a load wherever rows allow it.
#include "common/gpu/launch.hpp"
#include "common/tensor/fast_division.hpp"
#include "day03_views/moves.hpp"

namespace sixdays::day03_views {

// --- kernels -------------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;

// Loads of a thread under way: with 2,048 threads 64 KiB of 4 or 16 bytes a load, twice that of 8.
// An H200 needs about 48.
template <class T>
constexpr int kLoads = sizeof(T) == 16 ? 2 : 8;

// Two layouts of one shape. Extents are divisors, as a kernel only divides by them.
template <int RANK>
struct Walk {
    std::uint32_t size;
    FastDivisor extent[RANK];
    std::int64_t in[RANK], out[RANK];  // strides
};

// Where element number k lies in both: unravel and offset in one, last dim first.
template <int RANK>
__device__ void offsets_of(const Walk<RANK>& w, std::uint32_t k, std::int64_t& from,
                           std::int64_t& to) {
    from = to = 0;
    for (int d = RANK - 1; d > 0; --d) {
        const std::uint32_t quotient = w.extent[d].quotient(k);
        const std::uint32_t i = k - quotient * w.extent[d].divisor;
        from += i * w.in[d];
        to += i * w.out[d];
        k = quotient;
    }
    from += k * w.in[0];
    to += k * w.out[0];
}

// [copy]
template <class T, int RANK>
__global__ void copy_strided_kernel(const T* in, const __grid_constant__ Walk<RANK> w, T* out) {
    constexpr int kEach = kLoads<T>;
    const std::uint32_t first = blockIdx.x * (kEach * kThreads) + threadIdx.x;
    T value[kEach];
    std::int64_t to[kEach];
    for (int j = 0; j < kEach; ++j) {
        const std::uint32_t k = first + j * kThreads;
        if (k < w.size) {
            std::int64_t from;
            offsets_of(w, k, from, to[j]);
            value[j] = in[from];
        }
    }
    for (int j = 0; j < kEach; ++j) {
        if (first + j * kThreads < w.size) out[to[j]] = value[j];
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
__global__ void copy_splat_kernel(const T* in, const __grid_constant__ Walk<RANK> w, uint4* out) {
    constexpr int kEach = 4;
    const std::uint32_t first = blockIdx.x * (kEach * kThreads) + threadIdx.x;
    T value[kEach];
    std::int64_t to[kEach];
    for (int j = 0; j < kEach; ++j) {
        const std::uint32_t k = first + j * kThreads;
        if (k < w.size) {
            std::int64_t from;
            offsets_of(w, k, from, to[j]);
            value[j] = in[from];
        }
    }
    for (int j = 0; j < kEach; ++j) {
        if (first + j * kThreads < w.size) out[to[j]] = repeated(value[j]);
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

template <int RANK>
Walk<RANK> walk_of(const CopyPlan& plan) {
    Walk<RANK> w;
    const Layout& in = plan.in.layout;
    const Layout& out = plan.out.layout;
    w.size = static_cast<std::uint32_t>(out.size());
    for (int d = 0; d < RANK; ++d) {
        const int dim = d - (RANK - out.rank());  // dims that are missing have one index
        w.extent[d] = FastDivisor(dim < 0 ? 1 : out.extent(dim));
        w.in[d] = dim < 0 ? 0 : in.stride(dim);
        w.out[d] = dim < 0 ? 0 : out.stride(dim);
    }
    return w;
}

// Calls f with the rank as a constant, so that the kernel's loop over dims is written out.
template <class F>
void with_rank(int rank, const F& f) {
    if (rank == 1) return f(std::integral_constant<int, 1>{});
    if (rank == 2) return f(std::integral_constant<int, 2>{});
    if (rank == 3) return f(std::integral_constant<int, 3>{});
    if (rank == 4) return f(std::integral_constant<int, 4>{});
    f(std::integral_constant<int, kMaxRank>{});
}

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
        const auto w = walk_of<RANK>(plan);
        const unsigned grid = gpu::blocks_for(w.size, kLoads<T> * kThreads);
        const auto* in = static_cast<const T*>(plan.in.data);
        auto* out = static_cast<T*>(plan.out.data);
        copy_strided_kernel<T, RANK><<<grid, kThreads, 0, stream>>>(in, w, out);
        gpu::check_launch("copy_strided_kernel", grid, kThreads);
    });
}

void launch_splat(const CopyPlan& plan, gpu::Stream stream) {
    const int rank = plan.out.layout.rank();
    with_element_and_rank(plan.in.element, rank, [&](auto element, auto r) {
        using T = decltype(element);
        constexpr int RANK = decltype(r)::value;
        const auto w = walk_of<RANK>(plan);
        const unsigned grid = gpu::blocks_for(w.size, 4 * kThreads);
        const auto* in = static_cast<const T*>(plan.in.data);
        auto* out = static_cast<uint4*>(plan.out.data);
        copy_splat_kernel<T, RANK><<<grid, kThreads, 0, stream>>>(in, w, out);
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
