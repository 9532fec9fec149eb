/// @file
/// Workspace: device memory that an operation needs on the way and nobody looks at afterwards. A
/// launcher allocates nothing, so its caller brings it, and may bring the same one to every call:
///
///     gpu::Buffer<std::byte> memory(argmax_workspace_bytes(in.layout, dim));
///     memory.fill_bytes(0);  // once: its first bytes are counters
///     argmax_cuda(in, dim, out, {.workspace = memory, .stream = stream});
///
/// The rule: one workspace serves any operations, paths and shapes in any order on one stream. Its
/// first bytes are counters, at the same place for all of them; whoever owns it sets them to 0
/// once, and each launch leaves them at 0. Behind them anything may lie before a call and after it.
/// A workspace serves one call at a time, so two streams need two. Without one, an operation takes
/// a path that needs none.
///
/// The operation says once what it keeps there, and that one list both counts and hands out:
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

/// Bytes of device memory that somebody else owns. An empty one is the answer "I bring none".
struct Workspace {
    void* data = nullptr;
    std::int64_t bytes = 0;

    Workspace() = default;
    Workspace(void* data_, std::int64_t bytes_) : data(data_), bytes(bytes_) {}

    /// All of a buffer.
    Workspace(Buffer<std::byte>& owner) : data(owner.data()), bytes(owner.size()) {}

    explicit operator bool() const noexcept { return bytes > 0; }
};

/// Takes arrays from a run of device memory, behind its counters and one behind the other, each at
/// a multiple of 256 bytes as cudaMalloc gives them: fit for 16-byte loads, and no two in one cache
/// line. Or only counts.
class Carver {
public:
    static constexpr std::int64_t kAlignment = 256;
    /// With which each workspace begins, whatever else is taken.
    static constexpr std::int64_t kCounters = 4096;
    static constexpr std::int64_t kCounterBytes = kCounters * sizeof(unsigned);

    Carver() = default;  // counts: what it takes has a null pointer
    explicit Carver(void* memory) : memory_(static_cast<std::byte*>(memory)) {}

    /// The first n counters: 0 now, and to be left at 0.
    /// @throws std::invalid_argument  n is more than kCounters: take a path that needs fewer
    [[nodiscard]] View<unsigned> counters(std::int64_t n) {
        if (n > kCounters) {
            refuse(std::to_string(n) + " counters asked for, but a workspace has " +
                   std::to_string(kCounters));
        }
        used_ = used_ || n > 0;
        return {reinterpret_cast<unsigned*>(memory_), Shape{n}};
    }

    /// An array of its own, row-major and not initialised.
    /// @throws std::invalid_argument  as size(shape) does; more bytes in all than 64 bits count
    template <class T>
    [[nodiscard]] View<T> take(const Shape& shape) {
        static_assert(alignof(T) <= kAlignment && std::is_trivially_copyable_v<T>);
        const std::int64_t gap = (kAlignment - end_ % kAlignment) % kAlignment;
        std::int64_t first = 0, bytes = 0, end = 0;
        if (__builtin_add_overflow(end_, gap, &first) ||
            __builtin_mul_overflow(size(shape), sizeof(T), &bytes) ||
            __builtin_add_overflow(first, bytes, &end)) {
            refuse("an array of shape " + to_string(shape) + " behind " + std::to_string(end_) +
                   " bytes of a workspace: more bytes than 64 bits can count");
        }
        if (bytes > 0) {
            end_ = end;
            used_ = true;
        }
        return {memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + first), shape};
    }

    /// The front of the workspace, counters and all, for the operations that this one calls, one
    /// after the other. What is taken afterwards lies behind it.
    /// @param bytes  the most that one of them needs: as their `_workspace_bytes` say
    /// @throws std::invalid_argument  an array was taken before
    [[nodiscard]] Workspace lend(std::int64_t bytes) {
        if (end_ > kCounterBytes) {
            refuse("the front of a workspace is lent before arrays are taken, not behind " +
                   std::to_string(end_) + " bytes");
        }
        if (bytes > 0) {
            end_ = std::max(bytes, kCounterBytes);
            used_ = true;
        }
        return {memory_, bytes};
    }

    /// From the beginning to the end of the last array; 0 if nothing was taken.
    std::int64_t bytes() const noexcept { return used_ ? end_ : 0; }

private:
    std::byte* memory_ = nullptr;
    std::int64_t end_ = kCounterBytes;
    bool used_ = false;
};

/// How many bytes a workspace must have for what `parts(carver)` takes.
template <class Parts>
[[nodiscard]] std::int64_t bytes_to_carve(const Parts& parts) {
    Carver counting;
    (void)parts(counting);
    return counting.bytes();
}

/// What `parts(carver)` takes from the workspace.
/// @param op  whose workspace it is, for the sentence
/// @throws std::invalid_argument  fewer bytes than that takes; an address that is no multiple of
/// 256
template <class Parts>
[[nodiscard]] auto carve(const char* op, const Workspace& workspace, const Parts& parts) {
    const std::int64_t needed = bytes_to_carve(parts);
    if (workspace.bytes < needed || (workspace.data == nullptr && needed > 0)) {
        refuse(std::string(op) + ": a workspace of " + std::to_string(workspace.bytes) +
               (workspace.data == nullptr ? " bytes at a null pointer" : " bytes") +
               " was given, but " + std::to_string(needed) + " are needed");
    }
    const auto past = reinterpret_cast<std::uintptr_t>(workspace.data) % Carver::kAlignment;
    if (past != 0 && needed > 0) {
        refuse(std::string(op) + ": the workspace begins " + std::to_string(past) +
               " bytes past a multiple of " + std::to_string(Carver::kAlignment));
    }
    Carver carver(workspace.data);
    return parts(carver);
}

}  // namespace sixdays::gpu
