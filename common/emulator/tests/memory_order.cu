// Block 0 stores 64 numbers and signals; block 1 waits and reads them. The signal and the wait are
// single PTX instructions, or operations of cuda::atomic_ref.
#include <cuda_runtime.h>
#include <cuda/atomic>

#include "common/emulator/tests/blocks.hpp"

namespace sixdays::emulator::tests {

namespace {

using Wide = unsigned long long;
template <class T>
using Access = void (*)(T& x, T* p);

template <class T, Access<T> SIGNAL, Access<T> WAIT, bool FENCES>
__global__ void pass(Board* m) {
    T* const flag = reinterpret_cast<T*>(m->flags);
    T value = blockIdx.x == 0 ? 1 : 0;
    const unsigned t = threadIdx.x;
    if (blockIdx.x == 0) {
        m->data[t] = t + 1;
        __syncthreads();
        if (FENCES && t == 0) __threadfence();
        if (t == 0) SIGNAL(value, flag);
    } else {
        while (t == 0 && value == 0) WAIT(value, flag);
        if (FENCES && t == 0) __threadfence();
        if (t == 0) m->out[0] = m->data[1];  // a barrier would replace the missing fence
        __syncthreads();
        if (FENCES) m->out[t] = m->data[63 - t];
    }
}

__device__ void acquire(unsigned& x, unsigned* p) {
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
}
__device__ void acquire_global(unsigned& x, unsigned* p) {
    asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
}
__device__ void global_acquire(unsigned& x, unsigned* p) {
    asm volatile("ld.global.acquire.gpu.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
}
__device__ void acquire_system(unsigned& x, unsigned* p) {
    asm volatile("ld.acquire.sys.global.s32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
}
__device__ void acquire_wide(Wide& x, Wide* p) {
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(x) : "l"(p) : "memory");
}
__device__ void acquire_or(unsigned& x, unsigned* p) {
    asm volatile("atom.acquire.gpu.global.or.b32 %0, [%1], 0;" : "=r"(x) : "l"(p) : "memory");
}
__device__ void acquire_cas(Wide& x, Wide* p) {
    asm volatile("atom.acq_rel.sys.global.cas.b64 %0, [%1], 0, 0;" : "=l"(x) : "l"(p) : "memory");
}
__device__ void load_relaxed(unsigned& x, unsigned* p) {
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
}
__device__ void relaxed_wide(Wide& x, Wide* p) {
    asm volatile("ld.relaxed.sys.b64 %0, [%1];" : "=l"(x) : "l"(p) : "memory");
}
__device__ void relaxed_add(unsigned& x, unsigned* p) {
    asm volatile("atom.global.add.u32 %0, [%1], 0;" : "=r"(x) : "l"(p) : "memory");
}
__device__ void load_volatile(unsigned& x, unsigned* p) {
    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
}
__device__ void volatile_wide(Wide& x, Wide* p) {
    asm volatile("ld.volatile.u64 %0, [%1];" : "=l"(x) : "l"(p) : "memory");
}
__device__ void load_weak(unsigned& x, unsigned* p) {
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
}
__device__ void weak_wide(Wide& x, Wide* p) {
    asm volatile("ld.weak.global.cg.u64 %0, [%1];" : "=l"(x) : "l"(p) : "memory");
}
__device__ void release(unsigned& x, unsigned* p) {
    asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
}
__device__ void release_global(unsigned& x, unsigned* p) {
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
}
__device__ void release_system(Wide& x, Wide* p) {
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(p), "l"(x) : "memory");
}
__device__ void release_add(unsigned& x, unsigned* p) {
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
}
__device__ void release_add_signed(unsigned& x, unsigned* p) {
    asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
}
__device__ void release_max(Wide& x, Wide* p) {
    asm volatile("red.release.gpu.max.u64 [%0], %1;" ::"l"(p), "l"(x) : "memory");
}
__device__ void release_exchange(Wide& x, Wide* p) {
    asm volatile("atom.acq_rel.gpu.global.exch.b64 %0, [%1], %0;" : "+l"(x) : "l"(p) : "memory");
}
__device__ void release_increment(unsigned& x, unsigned* p) {
    asm volatile("atom.release.gpu.inc.u32 %0, [%1], %0;" : "+r"(x) : "l"(p) : "memory");
}
__device__ void release_cas(unsigned& x, unsigned* p) {
    asm volatile("atom.acq_rel.gpu.global.cas.b32 %0, [%1], 0, %0;" : "+r"(x) : "l"(p) : "memory");
}
__device__ void relaxed_store(unsigned& x, unsigned* p) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
}
__device__ void relaxed_red(unsigned& x, unsigned* p) {
    asm volatile("red.global.or.b32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
}
__device__ void volatile_store(unsigned& x, unsigned* p) {
    asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
}
__device__ void volatile_store_wide(Wide& x, Wide* p) {
    asm volatile("st.volatile.u64 [%0], %1;" ::"l"(p), "l"(x) : "memory");
}
__device__ void weak_store(unsigned& x, unsigned* p) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
}
__device__ void weak_store_wide(Wide& x, Wide* p) {
    asm volatile("st.global.wt.b64 [%0], %1;" ::"l"(p), "l"(x) : "memory");
}

// The same in C++.
using Ref = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
__device__ void ref_acquire(unsigned& x, unsigned* p) {
    x = Ref(*p).load(cuda::memory_order_acquire);
}
__device__ void ref_relaxed(unsigned& x, unsigned* p) {
    x = Ref(*p).load(cuda::memory_order_relaxed);
}
__device__ void ref_compare(unsigned& x, unsigned* p) {
    x = 0;
    Ref(*p).compare_exchange_strong(x, 0);
}
__device__ void ref_store(unsigned& x, unsigned* p) {
    Ref{* p} = x;
}
__device__ void ref_release(unsigned& x, unsigned* p) {
    Ref(*p).store(x, cuda::memory_order_release);
}
__device__ void ref_store_relaxed(unsigned& x, unsigned* p) {
    Ref(*p).store(x, cuda::memory_order_relaxed);
}
__device__ void ref_add(Wide& x, Wide* p) {
    reinterpret_cast<cuda::atomic<Wide>*>(p)->fetch_add(x, cuda::memory_order_acq_rel);
}
__device__ void ref_max(unsigned& x, unsigned* p) {
    Ref(*p).fetch_max(x, cuda::memory_order_relaxed);
}

// What the operations return; integers wrap.
__global__ void returned_values(Board* m) {
    cuda::atomic_ref<int> i(reinterpret_cast<int&>(m->word));
    unsigned char byte = 255;
    double x = 1.5;
    const cuda::atomic_ref real(x);
    int wanted = 21;
    i = 5;
    const int values[] = {i.fetch_add(2147483647),
                          i.load(),
                          i.fetch_sub(-7),
                          i -= 1,
                          i.fetch_max(12),
                          i.fetch_min(13),
                          i.fetch_or(3),
                          i.fetch_and(7),
                          i.fetch_xor(1),
                          ++i,
                          i--,
                          i.exchange(20),
                          i.compare_exchange_weak(wanted, 1),
                          wanted,
                          i.compare_exchange_strong(wanted, 1),
                          i,
                          static_cast<int>(100 * real.fetch_add(0.25)),
                          static_cast<int>(100 * real.fetch_sub(2)),
                          static_cast<int>(100 * x),
                          ++cuda::atomic_ref<unsigned char>(byte)};
    unsigned k = 0;
    for (const int value : values) m->out[k++] = static_cast<unsigned>(value);
}

template <class T, Access<T> SIGNAL, Access<T> WAIT>
OrderCase form(const char* name, Strength strength) {
    return {name, strength, [](Board* m, bool fences) {
                if (fences) pass<T, SIGNAL, WAIT, true><<<2, 64>>>(m);
                if (!fences) pass<T, SIGNAL, WAIT, false><<<2, 64>>>(m);
            }};
}

}  // namespace

std::vector<OrderCase> order_cases() {
    using enum Strength;
    return {form<unsigned, release, ref_acquire>("ref_acquire", ordered),
            form<unsigned, release, ref_relaxed>("ref_relaxed", relaxed),
            form<unsigned, release, ref_compare>("ref_compare", ordered),
            form<unsigned, ref_store, acquire>("ref_store", ordered),
            form<unsigned, ref_release, acquire>("ref_release", ordered),
            form<unsigned, ref_store_relaxed, acquire>("ref_store_relaxed", relaxed),
            form<Wide, ref_add, acquire_wide>("ref_add", ordered),
            form<unsigned, ref_max, acquire>("ref_max", relaxed),
            form<unsigned, release, acquire>("acquire", ordered),
            form<unsigned, release, acquire_global>("acquire_global", ordered),
            form<unsigned, release, global_acquire>("global_acquire", ordered),
            form<unsigned, release, acquire_system>("acquire_system", ordered),
            form<Wide, release_system, acquire_wide>("acquire_wide", ordered),
            form<unsigned, release, acquire_or>("acquire_or", ordered),
            form<Wide, release_system, acquire_cas>("acquire_cas", ordered),
            form<unsigned, release, load_relaxed>("load_relaxed", relaxed),
            form<Wide, release_system, relaxed_wide>("relaxed_wide", relaxed),
            form<unsigned, release, relaxed_add>("relaxed_add", relaxed),
            form<unsigned, release, load_volatile>("load_volatile", relaxed),
            form<Wide, release_system, volatile_wide>("volatile_wide", relaxed),
            form<unsigned, release, load_weak>("load_weak", weak),
            form<Wide, release_system, weak_wide>("weak_wide", weak),
            form<unsigned, release, acquire>("release", ordered),
            form<unsigned, release_global, acquire>("release_global", ordered),
            form<Wide, release_system, acquire_wide>("release_system", ordered),
            form<unsigned, release_add, acquire>("release_add", ordered),
            form<unsigned, release_add_signed, acquire>("release_add_signed", ordered),
            form<Wide, release_max, acquire_wide>("release_max", ordered),
            form<Wide, release_exchange, acquire_wide>("release_exchange", ordered),
            form<unsigned, release_increment, acquire>("release_increment", ordered),
            form<unsigned, release_cas, acquire>("release_cas", ordered),
            form<unsigned, relaxed_store, acquire>("relaxed_store", relaxed),
            form<unsigned, relaxed_red, acquire>("relaxed_red", relaxed),
            form<unsigned, volatile_store, acquire>("volatile_store", relaxed),
            form<Wide, volatile_store_wide, acquire_wide>("volatile_store_wide", relaxed),
            form<unsigned, weak_store, acquire>("weak_store", weak),
            form<Wide, weak_store_wide, acquire_wide>("weak_store_wide", weak)};
}

void launch_returned_values(Board* m) {
    returned_values<<<1, 1>>>(m);
}

}  // namespace sixdays::emulator::tests
