/// @file
/// For .cu files: mbarriers, in shared memory. Some threads arrive, some bytes are told to come,
/// and whoever waits goes on when all of that has happened: a *phase* of the barrier is complete,
/// and its next one begins. From Hopper on, copies of whole tiles end with such a barrier
/// (tma.hpp); that of threads runs on every GPU of 8.0 or newer.
///
/// Phases are counted 0, 1, 2, ..., and who waits names the phase by its parity, 0 or 1. So of a
/// ring of stages with a barrier each, the parity to wait for flips whenever the ring begins again.
/// Before phase 0 there is one of parity 1, which counts as complete.
///
/// On the emulator a copy arrives as late as it can: when somebody waits for its phase. Told are: a
/// barrier that nobody has set up, or that the copy engine may not see; a phase that the thread
/// has waited for before; more bytes in flight than were told; arrivals beyond the phase; and what
/// everybody waits for when nobody can move.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#ifdef SIXDAYS_EMULATED
#include "common/emulator/mbarrier.hpp"
#endif

namespace sixdays::gpu {

/// May this pass of the compiler use what only Hopper has? Files in hopper/ are compiled once for
/// every architecture asked for and once for sm_90a, and only there these functions do anything.
/// Which device may be given such a kernel says on_hopper() (device.hpp).
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

struct Mbarrier {
    std::uint64_t word;

    /// One thread sets it up; then mbarriers_are_set_up(), and a __syncthreads() for the others.
    /// @param arrivals  of each phase
    __device__ __forceinline__ void init(unsigned arrivals) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(arrivals)
                     : "memory");
    }
    __device__ __forceinline__ void arrive() {
        asm volatile(
            "{ .reg .b64 ignored; mbarrier.arrive.shared::cta.b64 ignored, [%0]; }" ::"r"(address())
            : "memory");
    }
    /// Arrives, and tells that in this phase so many bytes more will come.
    __device__ __forceinline__ void arrive_and_expect(unsigned bytes) {
        if constexpr (kHopper) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()),
                         "r"(bytes)
                         : "memory");
        }
    }
    /// Waits until the phase of this parity is complete.
    __device__ __forceinline__ void wait(unsigned parity) {
        unsigned complete = 0;
        while (complete == 0) {
            if constexpr (kHopper) {  // sleeps a while
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

/// After init(), by the thread that called it: the engine that copies tiles sees them too.
__device__ __forceinline__ void mbarriers_are_set_up() {
    if constexpr (kHopper) {
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
    }
}

#endif

}  // namespace sixdays::gpu
