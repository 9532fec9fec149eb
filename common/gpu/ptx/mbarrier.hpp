/// @file
/// For .cu files: mbarriers, in shared memory. Threads arrive, and bytes are announced and arrive.
/// When all of them have arrived, a *phase* of the barrier is complete: its waiters continue, and
/// the next phase begins. From Hopper on, copies of whole tiles (TMA) signal such a barrier
/// (tma.hpp). Barriers for threads alone work on every GPU of compute capability 8.0 or newer.
///
/// Phases are counted 0, 1, 2, ..., and a waiter names the phase by its parity, 0 or 1. So in a
/// ring of stages with one barrier each, the parity to wait for flips each time the ring wraps
/// around. The phase before phase 0 has parity 1 and counts as complete.
///
/// On the emulator a copy arrives as late as possible: when a thread waits for its phase. It
/// reports: a barrier that was not initialized or that the copy engine may not see; a phase for
/// which the thread has waited before; more bytes in flight than announced; more arrivals than the
/// phase has; and a deadlock, with the barrier that the threads wait for.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#ifdef SIXDAYS_EMULATED
#include "common/emulator/mbarrier.hpp"
#endif

namespace sixdays::gpu {

/// May this compilation pass use Hopper-only features? Files in hopper/ are compiled once for every
/// requested architecture and once for sm_90a, and only the latter compiles the bodies of
/// functions that use them. on_hopper() (device.hpp) tells whether the device can run such a
/// kernel.
#if defined(SIXDAYS_EMULATED) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
inline constexpr bool kHopper = true;
#else
inline constexpr bool kHopper = false;
#endif

#ifdef SIXDAYS_EMULATED

struct Mbarrier {
    std::uint64_t word;

    void init(unsigned arrivals, emulator::Site site = emulator::Site::current()) {
        emulator::mbarrier_init(&word, arrivals, site);
    }
    void arrive(emulator::Site site = emulator::Site::current()) {
        emulator::mbarrier_arrive(&word, 0, site);
    }
    void arrive_and_expect(unsigned bytes, emulator::Site site = emulator::Site::current()) {
        emulator::mbarrier_arrive(&word, bytes, site);
    }
    void wait(unsigned parity, emulator::Site site = emulator::Site::current()) {
        emulator::mbarrier_wait(&word, parity, site);
    }
};
inline void mbarriers_are_set_up() {
    emulator::mbarriers_are_set_up();
}

#else

/// A barrier in shared memory that counts arrivals of threads and bytes of copies. A phase is
/// complete when its threads and all announced bytes have arrived. PTX ISA, "mbarrier".
struct Mbarrier {
    /// The barrier's state; opaque.
    std::uint64_t word;

    /// Prepares the barrier; called by one thread. Then mbarriers_are_set_up(), and a
    /// __syncthreads() for the other threads.
    /// @param arrivals  the arrivals that complete a phase
    __device__ __forceinline__ void init(unsigned arrivals) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(arrivals)
                     : "memory");
    }
    /// Counts one arrival of this thread in the current phase, and does not wait.
    __device__ __forceinline__ void arrive() {
        asm volatile(
            "{ .reg .b64 ignored; mbarrier.arrive.shared::cta.b64 ignored, [%0]; }" ::"r"(address())
            : "memory");
    }
    /// Counts one arrival and announces this many more bytes, which copies will deliver in this
    /// phase. From Hopper on.
    __device__ __forceinline__ void arrive_and_expect(unsigned bytes) {
        if constexpr (kHopper) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()),
                         "r"(bytes)
                         : "memory");
        }
    }
    /// Waits until the phase of this parity is complete: 0 for phases 0, 2, ..., 1 for the others.
    /// Before phase 0 is complete, parity 1 returns at once.
    __device__ __forceinline__ void wait(unsigned parity) {
        unsigned complete = 0;
        while (complete == 0) {
            if constexpr (kHopper) {  // may suspend the thread
                asm volatile(
                    "{\n"
                    ".reg .pred p;\n"
                    "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                    "selp.u32 %0, 1, 0, p;\n"
                    "}"
                    : "=r"(complete)
                    : "r"(address()), "r"(parity)
                    : "memory");
            } else {
                asm volatile(
                    "{\n"
                    ".reg .pred p;\n"
                    "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                    "selp.u32 %0, 1, 0, p;\n"
                    "}"
                    : "=r"(complete)
                    : "r"(address()), "r"(parity)
                    : "memory");
            }
        }
    }

private:
    __device__ __forceinline__ unsigned address() const {
        return static_cast<unsigned>(__cvta_generic_to_shared(this));
    }
};

/// Called after init(), by the same thread, so that the copy engine sees the barriers too.
__device__ __forceinline__ void mbarriers_are_set_up() {
    if constexpr (kHopper) {
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
    }
}

#endif

}  // namespace sixdays::gpu
