/// @file
/// For .cu files: Hopper's tensor cores. A *warpgroup*, four consecutive warps (128 threads),
/// executes `wgmma` together: 64 x N sums += a b, with a of 64 x 16 and b of 16 x N 16-bit
/// elements. Operands are read from shared memory, from tiles as tma.hpp stores them. Sums are
/// registers: with warp w of the group and lane 4 r + c, sum[j][e] belongs to row 16 w + r + 8 (e /
/// 2) and column 8 j + 2 c + e % 2.
///
/// It is asynchronous: call wgmma_fence() before the first one of a group, wgmma_commit() after the
/// last one, and wgmma_wait<G>() to wait until at most G groups are in flight. Until then no thread
/// may overwrite the tiles. The sums may be accessed after a wgmma_wait<G>(sum) that names them.
///
/// The emulator executes it as late as possible, at the wait. It reports: operands outside their
/// tile, or not yet arrived; a missing fence; sums accessed too early; a call that not all four
/// warps make; and a tile that threads have written without fence_proxy_async() (tma.hpp).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "common/gpu/check.hpp"
#include "common/gpu/ptx/mbarrier.hpp"
#include "common/tensor/half.hpp"
#include "common/tensor/sentence.hpp"

#ifdef SIXDAYS_EMULATED
#include "common/emulator/wgmma.hpp"
#endif

namespace sixdays::gpu {

/// Registers per thread that ptxas assigns to a kernel with setmaxnreg and
/// `__launch_bounds__(threads, blocks)`: all of an SM, in multiples of 8.
constexpr int registers_of_bound(int threads, int blocks) {
    return 65536 / (threads * blocks) / 8 * 8;
}
/// Whether, in a block launched with this many registers per thread, 128 threads can go down to
/// `given` and the others up to `taken`. Otherwise setmaxnreg deadlocks or is undefined.
constexpr bool registers_suffice(int launched, int threads, int given, int taken) {
    return given % 8 == 0 && taken % 8 == 0 && 24 <= given && launched <= taken && taken <= 256 &&
           128 * given + (threads - 128) * taken <= threads * launched;
}
static_assert(registers_of_bound(384, 1) == 168 && registers_of_bound(256, 2) == 128);
static_assert(registers_suffice(168, 384, 40, 232));
static_assert(!registers_suffice(160, 384, 40, 232), "8 fewer for each of 384 threads");
static_assert(!registers_suffice(168, 384, 48, 232), "8 more for each of 128");
static_assert(!registers_suffice(240, 384, 40, 232), "taking never lowers the count");

#ifdef SIXDAYS_EMULATED

struct WgmmaTile {
    const unsigned char* first;
    std::int64_t panel_bytes;

    [[nodiscard]] WgmmaTile further(int bytes) const { return {first + bytes, panel_bytes}; }
};
inline WgmmaTile wgmma_tile(const void* first, int panel_bytes) {
    return {static_cast<const unsigned char*>(first), panel_bytes};
}
inline void wgmma_fence() {
    emulator::wgmma_fence();
}
inline void wgmma_commit() {
    emulator::wgmma_commit();
}
template <int GROUPS>
inline void wgmma_wait(emulator::Site site = emulator::Site::current()) {
    emulator::wgmma_wait(GROUPS, nullptr, site);
}
template <int GROUPS, int J>
inline void wgmma_wait(float (&sum)[J][4], emulator::Site site = emulator::Site::current()) {
    emulator::wgmma_wait(GROUPS, &sum[0][0], site);
}
template <int GROUPS, int J, int K>
inline void wgmma_wait(float (&sum)[J][4], std::uint32_t (&)[K][4],
                       emulator::Site site = emulator::Site::current()) {
    emulator::wgmma_wait(GROUPS, &sum[0][0], site);
}
template <class T, bool A_ACROSS, bool B_ACROSS, int J>
inline void wgmma(float (&sum)[J][4], WgmmaTile a, WgmmaTile b, bool add = true,
                  emulator::Site site = emulator::Site::current()) {
    emulator::wgmma({a.first, a.panel_bytes, A_ACROSS, nullptr},
                    {b.first, b.panel_bytes, B_ACROSS, nullptr}, std::is_same_v<T, bf16>, J,
                    &sum[0][0], add, site);
}
template <class T, bool B_ACROSS, int J>
inline void wgmma(float (&sum)[J][4], const std::uint32_t (&a)[4], WgmmaTile b, bool add = true,
                  emulator::Site site = emulator::Site::current()) {
    emulator::wgmma({nullptr, 0, false, a}, {b.first, b.panel_bytes, B_ACROSS, nullptr},
                    std::is_same_v<T, bf16>, J, &sum[0][0], add, site);
}
template <int REGISTERS>
inline void give_registers() {}
template <int REGISTERS>
inline void take_registers() {}
template <auto* KERNEL>
void require_registers(int, int, int) {}

#else

/// The start of an operand of wgmma() in its tile, in shared memory.
struct WgmmaTile {
    /// PTX ISA, "Matrix Descriptor Format": addresses in units of 16 bytes.
    std::uint64_t bits;  // PTX ISA, "Matrix Descriptor Format": in units of 16 bytes

    /// The operand that begins `bytes` later in the same tile: a multiple of 16.
    [[nodiscard]] __device__ __forceinline__ WgmmaTile further(int bytes) const {
        return {bits + static_cast<std::uint64_t>(bytes / 16)};
    }
};
/// The operand that begins at this address of a tile, which is stored as copy_tile_async() does:
/// rows of 128 bytes, swizzled.
/// @param panel_bytes  distance between panels of 64 columns, for MN-major tiles
__device__ __forceinline__ WgmmaTile wgmma_tile(const void* first, int panel_bytes) {
    const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(first));
    constexpr std::uint64_t kEightRows = 8 * 128, kSwizzled128 = 1;
    return {(address & 0x3ffff) / 16 | static_cast<std::uint64_t>(panel_bytes / 16) << 16 |
            kEightRows / 16 << 32 | kSwizzled128 << 62};
}

/// Before the first wgmma() of a group: orders earlier accesses to its registers before it.
__device__ __forceinline__ void wgmma_fence() {
    if constexpr (kHopper) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    }
}
/// After the last wgmma() of a group: closes the group, for wgmma_wait().
__device__ __forceinline__ void wgmma_commit() {
    if constexpr (kHopper) {
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    }
}
/// Waits until at most GROUPS groups of this warpgroup are in flight. Then their tiles may be
/// overwritten.
template <int GROUPS>
__device__ __forceinline__ void wgmma_wait() {
    if constexpr (kHopper) {
        asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(GROUPS) : "memory");
    }
}
/// Waits until at most GROUPS groups are in flight; then these sums may be accessed. The asm
/// statements name each of them as written here; otherwise the compiler may move reads of them
/// before the wait.
template <int GROUPS, int J>
__device__ __forceinline__ void wgmma_wait(float (&sum)[J][4]) {
    wgmma_wait<GROUPS>();
#pragma unroll
    for (int j = 0; j < J; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) asm volatile("" : "+f"(sum[j][e])::"memory");
    }
}
/// Waits until at most GROUPS groups are in flight; then these sums may be accessed and these
/// fragments, operands until here, be overwritten. For the compiler, the asm statement of wgmma()
/// reads them last. Named here, they live until the wait, and their registers cannot be reused
/// before it.
template <int GROUPS, int J, int K>
__device__ __forceinline__ void wgmma_wait(float (&sum)[J][4], std::uint32_t (&a)[K][4]) {
    wgmma_wait<GROUPS>(sum);
#pragma unroll
    for (int k = 0; k < K; ++k) {
#pragma unroll
        for (int i = 0; i < 4; ++i) asm volatile("" : "+r"(a[k][i])::"memory");
    }
}

// Macros that generate the operand lists: written out, each instruction would fill a page.
/// @cond
#define SIXDAYS_FIRST_32                                                     \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define SIXDAYS_NEXT_32                                                                \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define SIXDAYS_THIRD_32                                                               \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define SIXDAYS_LAST_32                                                                          \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "     \
    "%111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, " \
    "%126, %127"
#define SIXDAYS_SUM(j) "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
#define SIXDAYS_SUM_OF_8(j)                                                           \
    SIXDAYS_SUM(j), SIXDAYS_SUM((j) + 1), SIXDAYS_SUM((j) + 2), SIXDAYS_SUM((j) + 3), \
        SIXDAYS_SUM((j) + 4), SIXDAYS_SUM((j) + 5), SIXDAYS_SUM((j) + 6), SIXDAYS_SUM((j) + 7)
#define SIXDAYS_SUMS_64 SIXDAYS_SUM_OF_8(0)
#define SIXDAYS_SUMS_128 SIXDAYS_SUMS_64, SIXDAYS_SUM_OF_8(8)
#define SIXDAYS_SUMS_192 SIXDAYS_SUMS_128, SIXDAYS_SUM_OF_8(16)
#define SIXDAYS_SUMS_256 SIXDAYS_SUMS_192, SIXDAYS_SUM_OF_8(24)
#define SIXDAYS_REGISTERS_64 SIXDAYS_FIRST_32
#define SIXDAYS_REGISTERS_128 SIXDAYS_FIRST_32 ", " SIXDAYS_NEXT_32
#define SIXDAYS_REGISTERS_192 SIXDAYS_REGISTERS_128 ", " SIXDAYS_THIRD_32
#define SIXDAYS_REGISTERS_256 SIXDAYS_REGISTERS_192 ", " SIXDAYS_LAST_32
#define SIXDAYS_WGMMA_OF(N, type, operands, plus, ...)                                \
    asm volatile("{ .reg .pred add; setp.ne.b32 add, " plus                           \
                 ", 0; wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." type "." type \
                 " {" SIXDAYS_REGISTERS_##N "}, " operands "; }"                      \
                 : SIXDAYS_SUMS_##N                                                   \
                 : __VA_ARGS__, "l"(b.bits), "n"(B_ACROSS ? 1 : 0), "r"(static_cast<int>(add)))
#define SIXDAYS_WGMMA(N, ...)                     \
    if constexpr (std::is_same_v<T, bf16>) {      \
        SIXDAYS_WGMMA_OF(N, "bf16", __VA_ARGS__); \
    } else {                                      \
        static_assert(std::is_same_v<T, f16>);    \
        SIXDAYS_WGMMA_OF(N, "f16", __VA_ARGS__);  \
    }
#define SIXDAYS_TILE "l"(a.bits), "n"(A_ACROSS ? 1 : 0)
#define SIXDAYS_FRAGMENT "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
/// @endcond

/// Starts sum += a b on the tensor cores of a warpgroup, a of (64, 16) and b of (16, 8 J), both in
/// shared memory. Asynchronous: wgmma_fence() before, wgmma_commit() and wgmma_wait() after. T,
/// bf16 or f16, is the element type of a and b. J = N / 8 is 8, 16, 24 or 32. Only on Hopper. PTX
/// ISA, "wgmma.mma_async".
/// @tparam A_ACROSS, B_ACROSS  is the tile MN-major, with rows of m's or n's instead of k's?
/// @param sum  of warp w and lane 4 r + c: sum[j][e] is row 16 w + r + 8 (e / 2), column 8 j + 2 c
/// + e % 2
/// @param add  if false, sum = a b, whatever sum was
template <class T, bool A_ACROSS, bool B_ACROSS, int J>
__device__ __forceinline__ void wgmma(float (&sum)[J][4], WgmmaTile a, WgmmaTile b,
                                      bool add = true) {
    static_assert(J == 8 || J == 16 || J == 24 || J == 32);
    if constexpr (!kHopper) {
        return;
    } else if constexpr (J == 8) {
        SIXDAYS_WGMMA(64, "%32, %34, add, 1, 1, %33, %35", "%36", SIXDAYS_TILE)
    } else if constexpr (J == 16) {
        SIXDAYS_WGMMA(128, "%64, %66, add, 1, 1, %65, %67", "%68", SIXDAYS_TILE)
    } else if constexpr (J == 24) {
        SIXDAYS_WGMMA(192, "%96, %98, add, 1, 1, %97, %99", "%100", SIXDAYS_TILE)
    } else {
        SIXDAYS_WGMMA(256, "%128, %130, add, 1, 1, %129, %131", "%132", SIXDAYS_TILE)
    }
}
/// Starts sum += a b with a from registers: each of the four warps has 16 of its 64 rows, a
/// fragment as mma_16x8x16() has it. They must not change until a wgmma_wait<G>(sum, a) that names
/// them. J is 8 or 16.
/// @param add  if false, sum = a b, whatever sum was
template <class T, bool B_ACROSS, int J>
__device__ __forceinline__ void wgmma(float (&sum)[J][4], const std::uint32_t (&a)[4], WgmmaTile b,
                                      bool add = true) {
    static_assert(J == 8 || J == 16);
    if constexpr (!kHopper) {
        return;
    } else if constexpr (J == 8) {
        SIXDAYS_WGMMA(64, "{%32, %33, %34, %35}, %36, add, 1, 1, %37", "%38", SIXDAYS_FRAGMENT)
    } else {
        SIXDAYS_WGMMA(128, "{%64, %65, %66, %67}, %68, add, 1, 1, %69", "%70", SIXDAYS_FRAGMENT)
    }
}
#undef SIXDAYS_FRAGMENT
#undef SIXDAYS_TILE
#undef SIXDAYS_WGMMA
#undef SIXDAYS_WGMMA_OF
#undef SIXDAYS_REGISTERS_256
#undef SIXDAYS_REGISTERS_192
#undef SIXDAYS_REGISTERS_128
#undef SIXDAYS_REGISTERS_64
#undef SIXDAYS_SUMS_256
#undef SIXDAYS_SUMS_192
#undef SIXDAYS_SUMS_128
#undef SIXDAYS_SUMS_64
#undef SIXDAYS_SUM_OF_8
#undef SIXDAYS_SUM
#undef SIXDAYS_LAST_32
#undef SIXDAYS_THIRD_32
#undef SIXDAYS_NEXT_32
#undef SIXDAYS_FIRST_32

/// Releases registers to the block's pool until each thread keeps REGISTERS (setmaxnreg.dec), for
/// take_registers() of another warpgroup. All warps of a warpgroup call it. REGISTERS is a multiple
/// of 8 from 24 to 256. The kernel must have been launched with a maximum number of registers per
/// thread, which `__launch_bounds__` sets.
template <int REGISTERS>
__device__ __forceinline__ void give_registers() {
    if constexpr (kHopper) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
    }
}
/// Takes registers from the block's pool until each thread has REGISTERS (setmaxnreg.inc); blocks
/// until they are available. All warps of a warpgroup call it. REGISTERS is a multiple of 8 from 24
/// to 256.
template <int REGISTERS>
__device__ __forceinline__ void take_registers() {
    if constexpr (kHopper) {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
    }
}

/// Rejects a launch that would deadlock in take_registers(). Call it before the launch. ptxas
/// decides how many registers a thread is launched with: the maximum that the launch bound allows,
/// unless a flag such as -maxrregcount changes it.
/// @throws std::runtime_error  registers_suffice() is false
template <auto* KERNEL>
void require_registers(int threads, int given, int taken) {
    static const int launched = [] {
        cudaFuncAttributes attributes{};
        SIXDAYS_CUDA(cudaFuncGetAttributes(&attributes, KERNEL));
        return attributes.numRegs;
    }();
    if (registers_suffice(launched, threads, given, taken)) return;
    throw std::runtime_error(
        sentence("a kernel of ", threads, " threads was compiled for ", launched,
                 " registers each; 128 threads keep ", given, " and the others need ", taken,
                 ", so it would deadlock. Was it compiled with -maxrregcount?"));
}

#endif

}  // namespace sixdays::gpu
