// Step 5: a row too long for registers waits in shared memory. Asynchronous copies bring it there, so
// that all of it is in flight at once; a thread reads only what it has copied itself, and needs no
// barrier for that. The copies come in four groups: while three are in flight, maximum and sum of the
// first are made. Rows may begin anywhere: up to a quad's elements at both ends go one by one.
#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "common/gpu/ptx.hpp"
#include "common/gpu/shared_tiles.hpp"
#include "day06_transformer_ops/steps/softmax/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kGroups = 4;  // of copies

// [ends]
/// The first n elements of a row, cut where quads begin: `head` elements, quads, and the rest. In
/// shared memory the row begins as far behind a multiple of 16 bytes as in global memory.
template <class T>
struct Cuts {
    int past, head, quads, loose;

    __device__ Cuts(const T* row, int n) {
        past = static_cast<int>(reinterpret_cast<std::uintptr_t>(row) % 16 / sizeof(T));
        head = min((kOfQuad<T> - past) % kOfQuad<T>, n);
        quads = (n - head) / kOfQuad<T>;
        loose = n - quads * kOfQuad<T>;
    }
    /// Loose element number i, of the head or behind the last quad.
    __device__ int element(int i) const { return i < head ? i : i + quads * kOfQuad<T>; }
};
// [ends]

template <class T>
__device__ uint4& quad_at(T* row, const Cuts<T>& cuts, int q) {
    return *reinterpret_cast<uint4*>(row + cuts.head + q * kOfQuad<T>);
}

// [copy]
/// Copies all quads of a row, in kGroups groups of `each`.
template <class T, int THREADS>
__device__ void copy_quads(T* held, const T* row, const Cuts<T>& cuts, int each) {
    for (int g = 0; g < kGroups; ++g) {
        for (int q = g * each + threadIdx.x; q < min((g + 1) * each, cuts.quads); q += THREADS) {
            gpu::copy_async<16>(held + cuts.head + q * kOfQuad<T>,
                                row + cuts.head + q * kOfQuad<T>);
        }
        gpu::copy_async_commit();
    }
}

/// Waits for group G, takes it, and goes on with the next.
template <class T, int THREADS, int G = 0>
__device__ void take_groups(PartSum& mine, T* held, const Cuts<T>& cuts, int each) {
    gpu::copy_async_wait<kGroups - 1 - G>();
    for (int q = G * each + threadIdx.x; q < min((G + 1) * each, cuts.quads); q += THREADS) {
        float x[kOfQuad<T>];
        unpack<T>(quad_at(held, cuts, q), x);
        mine.take(x);
    }
    if constexpr (G + 1 < kGroups) take_groups<T, THREADS, G + 1>(mine, held, cuts, each);
}
// [copy]

// [kernel]
template <class OP, class T, int THREADS>
__global__ void __launch_bounds__(THREADS)
    softmax_shared_kernel(const __grid_constant__ RowWalk rows, const T* in, T* out, int length,
                          std::int64_t seen) {
    extern __shared__ __align__(16) unsigned char memory[];
    const Offsets<3> at = rows.offsets(blockIdx.x);
    const int n = static_cast<int>(seen + at.of[2]);
    in += at.of[0];
    out += at.of[1];
    const Cuts<T> cuts(in, n);
    gpu::SharedTiles tiles(memory);
    T* const held = tiles.next<T>(length + kOfQuad<T>) + cuts.past;
    const int each = (cuts.quads + kGroups * THREADS - 1) / (kGroups * THREADS) * THREADS;
    copy_quads<T, THREADS>(held, in, cuts, each);
    PartSum mine;
    const int i = cuts.element(threadIdx.x);
    float loose[1] = {-INFINITY};
    if (static_cast<int>(threadIdx.x) < cuts.loose) loose[0] = float(in[i]);
    mine.take(loose);
    take_groups<T, THREADS>(mine, held, cuts, each);
    const PartSum all = join_block<THREADS>(mine);
    const float tail = OP::tail(all.sum);
    const auto result = [&](float x) { return OP::of(OP::held(x - all.m), tail); };
    if (static_cast<int>(threadIdx.x) < cuts.loose) out[i] = T(result(loose[0]));
    for (int q = threadIdx.x; q < cuts.quads; q += THREADS) {
        float x[kOfQuad<T>];
        unpack<T>(quad_at(held, cuts, q), x);
        for (float& y : x) y = result(y);
        quad_at(out, cuts, q) = pack<T>(x);
    }
    for (int k = n + threadIdx.x; k < length; k += THREADS) out[k] = T(0.0f);
}
// [kernel]

}  // namespace

template <class OP, class T>
void launch_softmax_shared(const Rows<const T>& in, const Rows<T>& out, std::int64_t tokens,
                           gpu::Stream stream) {
    if (bytes_of_shared_row<T>(in.length) > gpu::most_shared()) {
        refuse("softmax: the path 'shared' needs " +
               std::to_string(bytes_of_shared_row<T>(in.length)) +
               " bytes of shared memory for a row of " + std::to_string(in.length) +
               ", and a block of this device gets " + std::to_string(gpu::most_shared()) +
               " at most");
    }
    const std::int64_t seen = first_sees(in.length, tokens);
    const Layout token = token_layout(in.first.shape(), tokens);
    const auto bytes = gpu::tile_bytes<T>(static_cast<std::size_t>(in.length) + kOfQuad<T>);
    const auto run = [&](auto threads) {
        constexpr int THREADS = threads;
        const auto kernel = softmax_shared_kernel<OP, T, THREADS>;
        gpu::allow_shared(kernel, bytes);
        walk_rows(in, out, token, [&](const RowWalk& rows, const T* from, T* to, std::int64_t t) {
            kernel<<<rows.size, THREADS, bytes, stream>>>(rows, from, to,
                                                          static_cast<int>(in.length), seen + t);
            gpu::check_launch("softmax_shared_kernel", rows.size, THREADS, bytes);
        });
    };
    // Few threads, and many blocks side by side: while one waits for its copies, another computes.
    if (bytes <= 20 * 1024) return run(std::integral_constant<int, 128>());
    if (bytes <= 72 * 1024) return run(std::integral_constant<int, 256>());
    run(std::integral_constant<int, 512>());
}

template void launch_softmax_shared<Shares>(const Rows<const float>&, const Rows<float>&,
                                            std::int64_t, gpu::Stream);
template void launch_softmax_shared<Shares>(const Rows<const bf16>&, const Rows<bf16>&,
                                            std::int64_t, gpu::Stream);
template void launch_softmax_shared<LogShares>(const Rows<const float>&, const Rows<float>&,
                                               std::int64_t, gpu::Stream);
template void launch_softmax_shared<LogShares>(const Rows<const bf16>&, const Rows<bf16>&,
                                               std::int64_t, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
