/// @file
/// CUDA's extensions of C++ that a C++ compiler can express. translate/ rewrites the others
/// (rewrite.hpp).
#pragma once

#include <cstddef>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "emulated/vector_types.h"

// These macros are keywords in CUDA.
//
// flatten: inlines all calls in a kernel before the hooks are inserted. Otherwise g++ would insert
// none for a float4 that is loaded directly into a function argument.
// noipa: the kernel's caller is identified by the return address, so the call must remain.
#define __global__ __attribute__((flatten, noipa))
#define __tile_global__ __attribute__((noipa))
#define __tile__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))

// The emulator sets them before each turn of a thread (machine/built_in.cpp). For kernels they are
// constants, since reads of a constant get no hooks (unless its type has a constructor, which is
// why the last two are not dim3).
extern const uint3 threadIdx;
extern const uint3 blockIdx;
extern const uint3 blockDim;
extern const uint3 gridDim;
constexpr int warpSize = 32;

namespace sixdays::emulator {

/// Source position of a barrier or warp call. Not the return address, since an optimizer may
/// duplicate a call.
using Site = std::source_location;

/// The start of a kernel. False, after a report, if it was called directly, without a launch.
/// @param parameters  as they are declared, `const float * in , int n`
bool enter_kernel(const char* kernel, const char* parameters, const void* caller);
/// The current thread reaches the kernel's closing brace: it has not returned before.
void reach_end_of_kernel() noexcept;

/// The same for `__tile_global__`, whose blocks have one thread.
bool enter_tile_kernel(const char* kernel, const char* parameters, const void* caller);

void block_barrier(Site site);
int block_barrier_count(int predicate, Site site);
void grid_barrier(Site site);
bool is_cooperative_launch();
/// The kernel has the attribute __cluster_dims__(x, y, z).
void cluster_of(unsigned x, unsigned y = 1, unsigned z = 1);
void cluster_arrive(Site site);
void cluster_wait(Site site);
dim3 cluster_extents();
/// Address of the same shared variable in another block of the cluster; and the rank of an address.
void* cluster_address(const void* pointer, unsigned rank, Site site);
unsigned cluster_rank_of(const void* pointer);
void thread_fence() noexcept;
[[noreturn]] void trap(Site site);
long long ticks() noexcept;
/// Lets the block's other threads run: for loops that wait for one of them.
void let_others_run();
void* dynamic_shared_memory() noexcept;
void* cut_shared_tile(const void* memory, std::size_t bytes, Site site);
void open_shared_array(const volatile void* array, std::size_t bytes, const char* name, Site site);
bool register_device_variable(const void* address, std::size_t bytes, const char* name,
                              bool is_constant) noexcept;

/// The translation of malloc, free, new and delete: in kernels they use device memory.
bool is_kernel_at_work() noexcept;
void* allocate_here(std::size_t bytes);
void free_here(void* pointer);
bool is_kernels_own(const void* pointer);
struct Here {};
template <bool Array>
struct Delete {
    template <class T>
    void operator=(T* pointer) const {
        if (is_kernels_own(pointer)) {
            if constexpr (!Array) pointer->~T();
            free_here(const_cast<void*>(static_cast<const volatile void*>(pointer)));
        } else if constexpr (Array) {
            delete[] pointer;
        } else {
            delete pointer;
        }
    }
};

/// Marks the beginning and end of an uninitialized local variable's lifetime.
/// @param values   the bytes of an element that are part of its value, not padding; null: all
/// @param element  bytes per array element, or of the whole variable
void watch_local(const volatile void* variable, std::size_t bytes, const unsigned char* values,
                 std::size_t element, const char* name) noexcept;
void forget_local(const volatile void* variable, std::size_t bytes) noexcept;
/// A shuffle's operand. A lane may pass a variable that has no value, unless another lane reads it:
/// `if (lane == 0) first = atomicAdd(...); first = __shfl_sync(mask, first, 0);`
void note_operand(const volatile void* variable, std::size_t bytes) noexcept;
template <class T>
__attribute__((no_sanitize("thread"))) T shuffled(const T& variable) noexcept {
    note_operand(&variable, sizeof(T));
    return variable;
}

/// Tracks a local variable that was declared without an initializer. The translator inserts it
/// after the declaration.
template <class T>
class Unset {
public:
    constexpr Unset(T& variable, const char* name) noexcept : variable_(&variable) {
        if (!std::is_constant_evaluated()) watch(name);
    }
    constexpr ~Unset() {
        if (!std::is_constant_evaluated() && kHasNoValue) forget_local(variable_, sizeof(T));
    }
    Unset(const Unset&) = delete;
    Unset& operator=(const Unset&) = delete;

private:
    using One = std::remove_cv_t<std::remove_all_extents_t<T>>;
    static constexpr bool kHasNoValue = std::is_trivially_default_constructible_v<One>;

    __attribute__((no_sanitize("thread"))) void watch(const char* name) const noexcept {
        if constexpr (kHasNoValue) {
            if constexpr (std::is_class_v<One> && std::is_trivially_copyable_v<One>) {
                One one;
                std::memset(static_cast<void*>(&one), 0xff, sizeof(One));
                __builtin_clear_padding(&one);
                unsigned char values[sizeof(One)];
                std::memcpy(values, static_cast<const void*>(&one), sizeof(One));
                watch_local(variable_, sizeof(T), values, sizeof(One), name);
            } else {
                watch_local(variable_, sizeof(T), nullptr, sizeof(One), name);
            }
        }
    }

    T* variable_;
};

template <class T>
T* dynamic_shared() noexcept {
    return static_cast<T*>(dynamic_shared_memory());
}
/// Gap between a block's shared arrays, so that an overrun of one does not reach the next.
constexpr std::size_t kSharedGap = 4096;
/// A `__shared__` variable. It is thread_local, so that its address is fixed while its block runs,
/// and followed by unused bytes. It exists from the first time its block passes the declaration.
template <class T>
struct alignas(128) Shared {
    static_assert(std::is_trivially_default_constructible_v<T>,
                  "CUDA allows no constructors in shared memory");
    T value;
    unsigned char gap[kSharedGap];

    T& open(const char* name, Site site = Site::current()) noexcept {
        open_shared_array(&value, sizeof(T), name, site);
        return value;
    }
};

/// Inserted between a literal and `<<` (translate/rewrite.cpp), so that `1u << n` with n = 32 gives
/// 0, as on a GPU. C++ leaves it undefined, so it also causes a note.
struct ShiftMark {};
inline constexpr ShiftMark shifted;
template <class T>
struct Shifted {
    T value;
};
void note_shift(long long value, long long by);
template <class T>
__forceinline__ constexpr Shifted<decltype(T{} << 0)> operator<<(T value, ShiftMark) {
    return {value};
}
template <class T, class By>
__forceinline__ constexpr T operator<<(Shifted<T> what, By by) {
    constexpr unsigned kBits = 8 * sizeof(T);
    if (static_cast<unsigned long long>(by) < kBits) [[likely]] {
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(what.value) << by);
    }
    note_shift(static_cast<long long>(what.value), static_cast<long long>(by));
    return 0;
}

template <class T>
bool register_variable(const T& variable, const char* name, bool is_constant = false) noexcept {
    return register_device_variable(
        const_cast<const void*>(static_cast<const volatile void*>(&variable)), sizeof(variable),
        name, is_constant);
}

}  // namespace sixdays::emulator

inline void* operator new(std::size_t bytes, sixdays::emulator::Here) {
    if (sixdays::emulator::is_kernel_at_work()) return sixdays::emulator::allocate_here(bytes);
    return operator new(bytes);
}
inline void* operator new[](std::size_t bytes, sixdays::emulator::Here) {
    if (sixdays::emulator::is_kernel_at_work()) return sixdays::emulator::allocate_here(bytes);
    return operator new[](bytes);
}

inline void __syncthreads(sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    sixdays::emulator::block_barrier(site);
}
inline int __syncthreads_count(int predicate,
                               sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    return sixdays::emulator::block_barrier_count(predicate, site);
}
inline int __syncthreads_or(int predicate,
                            sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    return sixdays::emulator::block_barrier_count(predicate, site) != 0;
}
inline int __syncthreads_and(int predicate,
                             sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    return sixdays::emulator::block_barrier_count(predicate == 0, site) == 0;
}

inline void __threadfence() {
    sixdays::emulator::thread_fence();
}
inline void __threadfence_block() {
    sixdays::emulator::thread_fence();
}
inline void __threadfence_system() {
    sixdays::emulator::thread_fence();
}

[[noreturn]] inline void __trap(sixdays::emulator::Site site = sixdays::emulator::Site::current()) {
    sixdays::emulator::trap(site);
}

inline long long clock64() {
    return sixdays::emulator::ticks();
}
inline void __nanosleep(unsigned) {
    sixdays::emulator::let_others_run();
}
