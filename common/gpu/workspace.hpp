/// @file
/// Workspace: temporary device memory of an operation, unused after the call. A launcher allocates
/// nothing, so its caller provides it, and may pass the same one to every call:
///
///     gpu::Buffer<std::byte> memory(argmax_workspace_bytes(in, dim));
///     memory.fill_bytes(0);  // once: its first bytes are counters
///     argmax_cuda(in, dim, out, {.workspace = memory, .stream = stream});
///
/// The rule: one workspace serves any operations, paths and shapes in any order on one stream. It
/// begins with counters, which all of them share; its owner sets them to 0 once, and each launch
/// leaves them at 0. The memory after them may hold anything before and after a call. A workspace
/// serves one call at a time, so two streams need two. Without one, an operation takes a path that
/// needs none.
///
/// The operation lists its arrays once; the list serves both to count bytes and to hand out memory:
///
///     struct Partials {
///         View<float> largest;  // (blocks)
///         View<unsigned> done;  // (1), a counter
///     };
///     Partials partials(gpu::Carver& carver, std::int64_t blocks) {
///         return {carver.take<float>({blocks}), carver.counters(1)};
///     }
///     ...
///     gpu::bytes_to_carve([&](gpu::Carver& c) { return partials(c, blocks); })
///     gpu::carve("argmax", workspace, [&](gpu::Carver& c) { return partials(c, blocks); })
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/gpu/buffer.hpp"
#include "common/tensor/arguments.hpp"

namespace sixdays::gpu {

/// Temporary device memory of an operation, owned by the caller and unused after the call. An empty
/// one means "none". One workspace serves any operations, paths and shapes in any order on one
/// stream; two streams need two. It begins with Carver::kCounters counters, which its owner sets to
/// 0 once and each launch leaves at 0; the rest may hold anything.
struct Workspace {
    void* data = nullptr;    ///< device address; a multiple of 256
    std::int64_t bytes = 0;  ///< 0: no workspace

    /// None: the operation takes a path that needs no workspace.
    Workspace() = default;
    /// `bytes_` bytes at this device address, whose counters are 0. Owned by the caller.
    Workspace(void* data_, std::int64_t bytes_) : data(data_), bytes(bytes_) {}

    /// The whole buffer, which must outlive the call.
    Workspace(Buffer<std::byte>& owner) : data(owner.data()), bytes(owner.size()) {}

    /// Whether there is one.
    explicit operator bool() const noexcept { return bytes > 0; }
};

/// Takes arrays from a run of device memory, after its counters and one after another, each at a
/// multiple of 256 bytes as cudaMalloc returns them: fit for 16-byte loads, and no two share a
/// cache line. Or only counts bytes.
class Carver {
public:
    /// Every array, and the workspace, begins at a multiple of this many bytes.
    static constexpr std::int64_t kAlignment = 256;
    /// Every workspace begins with this many counters.
    static constexpr std::int64_t kCounters = 4096;
    /// Bytes of these counters, before the first array.
    static constexpr std::int64_t kCounterBytes = kCounters * sizeof(unsigned);

    Carver() = default;  ///< only counts: the arrays have null pointers
    /// Hands out the memory from this device address on; unchecked, see carve().
    explicit Carver(void* memory) : memory_(static_cast<std::byte*>(memory)) {}

    /// The first n counters: 0 now, and to be left at 0.
    /// @throws std::invalid_argument  n is more than kCounters: take a path that needs fewer
    [[nodiscard]] View<unsigned> counters(std::int64_t n) {
        if (n > kCounters) {
            reject(n, " counters asked for, but a workspace has ", kCounters);
        }
        used_ = used_ || n > 0;
        return {reinterpret_cast<unsigned*>(memory_), Shape{n}};
    }

    /// A separate array, row-major and uninitialized.
    /// @throws std::invalid_argument  as size(shape) does; more bytes in all than 64 bits count
    template <class T>
    [[nodiscard]] View<T> take(const Shape& shape) {
        static_assert(alignof(T) <= kAlignment && std::is_trivially_copyable_v<T>);
        const std::int64_t gap = (kAlignment - end_ % kAlignment) % kAlignment;
        std::int64_t first = 0, bytes = 0, end = 0;
        if (__builtin_add_overflow(end_, gap, &first) ||
            __builtin_mul_overflow(size(shape), sizeof(T), &bytes) ||
            __builtin_add_overflow(first, bytes, &end)) {
            reject("an array of shape ", shape, " after ", end_,
                   " bytes of a workspace: more bytes than 64 bits can count");
        }
        if (bytes > 0) {
            end_ = end;
            used_ = true;
        }
        return {memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + first), shape};
    }

    /// The front of the workspace, counters included, for the operations that this one calls in
    /// sequence. Arrays taken afterwards follow it.
    /// @param bytes  the most that one of them needs, from their `_workspace_bytes` functions
    /// @throws std::invalid_argument  an array was taken before
    [[nodiscard]] Workspace lend(std::int64_t bytes) {
        if (end_ > kCounterBytes) {
            reject("the front of a workspace is lent before arrays are taken, not after ", end_,
                   " bytes");
        }
        if (bytes > 0) {
            end_ = std::max(bytes, kCounterBytes);
            used_ = true;
        }
        return {memory_, bytes};
    }

    /// Bytes from the beginning to the end of the last array; 0 if nothing was taken.
    std::int64_t bytes() const noexcept { return used_ ? end_ : 0; }

private:
    std::byte* memory_ = nullptr;
    std::int64_t end_ = kCounterBytes;
    bool used_ = false;
};

/// The bytes that a workspace needs for `parts(carver)`.
template <class Parts>
[[nodiscard]] std::int64_t bytes_to_carve(const Parts& parts) {
    Carver counting;
    (void)parts(counting);
    return counting.bytes();
}

/// The arrays that `parts(carver)` takes from the workspace.
/// @param op  the name of the operation, for the message
/// @throws std::invalid_argument  the workspace is too small or not aligned to 256 bytes
template <class Parts>
[[nodiscard]] auto carve(const char* op, const Workspace& workspace, const Parts& parts) {
    const std::int64_t needed = bytes_to_carve(parts);
    if (workspace.bytes < needed || (workspace.data == nullptr && needed > 0)) {
        reject(op, ": a workspace of ", workspace.bytes,
               (workspace.data == nullptr ? " bytes at a null pointer" : " bytes"),
               " was given, but ", needed, " are needed");
    }
    const auto past = reinterpret_cast<std::uintptr_t>(workspace.data) % Carver::kAlignment;
    if (past != 0 && needed > 0) {
        reject(op, ": the workspace begins ", past, " bytes past a multiple of ",
               Carver::kAlignment);
    }
    Carver carver(workspace.data);
    return parts(carver);
}

}  // namespace sixdays::gpu
