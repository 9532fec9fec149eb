/// @file
/// Copying a view: out(i) = in(i) for every index, whatever the two layouts. A transform moves no
/// element; copy does: it writes a transposed, sliced, flipped or broadcast view to memory in the
/// order of `out`.
#pragma once

#include "common/gpu/how.hpp"
#include "day03_views/untyped.hpp"

namespace sixdays::day03_views {

/// The kernel to launch: the caller's choice in gpu::Launch, else that of plan_copy(). one_element
/// and any_layout accept every pair of layouts.
enum class CopyPath {
    one_element,  ///< naive: one thread per element
    nothing,      ///< no elements, or in place
    one_run,      ///< both are contiguous, and their addresses are equal modulo 16
    rows,         ///< both have the same contiguous rows, copied in elements of up to 16 bytes
    repeat,       ///< one element of in fills a contiguous row of out
    transposed,   ///< in and out have stride 1 in different dimensions: transpose.hpp
    any_layout,   ///< element by element, but faster than the naive kernel
    tile,         ///< CUDA Tile C++, only on request: elements of at most 8 bytes; after
                  ///< simplify(), at most 4 dimensions and no negative stride
};
[[nodiscard]] const char* name(CopyPath path);

/// out(i) = in(i) for every index, whatever the two layouts; elements are moved as bytes.
/// @param in   rank 0 to 8, any strides, including 0 and negative ones; elements of 1, 2, 4, 8 or
/// 16 bytes, at a multiple of their size
/// @param out  of in's shape and element size, injective, any strides; may be `in` itself, and then
/// there is nothing to do, but must not otherwise overlap it
/// @throws std::invalid_argument  different shapes, other or different element sizes, a null or
/// misaligned pointer, out not injective, overlap
void copy_untyped_cpu(const UntypedIn& in, const UntypedOut& out);
/// @throws std::invalid_argument  also a path that does not suit these layouts
void copy_untyped_cuda(const UntypedIn& in, const UntypedOut& out,
                       const gpu::Launch<CopyPath>& how = {});
/// Rejects what copy_cpu() and copy_cuda() reject; with a path, also what that path does not suit.
/// @throws std::invalid_argument  as copy_untyped_cpu(); a path other than one_element, any_layout,
/// the one that plan_copy() chooses and, where it can, `tile`
void check_copy(const UntypedIn& in, const UntypedOut& out, std::optional<CopyPath> path = {});

/// out(i) = in(i) for every index, whatever the two layouts: writes a transposed, sliced, flipped
/// or broadcast view to memory in the order of `out`. Elements are moved as bytes.
/// @param in   rank 0 to 8, any strides, including 0 and negative ones; elements of 1, 2, 4, 8 or
/// 16 bytes, at a multiple of their size
/// @param out  of in's shape, injective, any strides; may be `in` itself, and then there is nothing
/// to do, but must not otherwise overlap it
/// @throws std::invalid_argument  different shapes, a null or misaligned pointer, out not
/// injective, overlap
template <class T>
void copy_cpu(View<const Same<T>> in, View<T> out) {
    copy_untyped_cpu(in, out);
}
/// @throws std::invalid_argument  also a path that does not suit these layouts
template <class T>
void copy_cuda(View<const Same<T>> in, View<T> out, const gpu::Launch<CopyPath>& how = {}) {
    copy_untyped_cuda(in, out, how);
}

/// The same elements, contiguous in row-major order: `in` itself if it already is (without a copy,
/// as the pointer shows), else `room`, after a copy to it.
/// @param room  contiguous, of in's shape, `in` itself or disjoint from it; written only if needed
/// @throws std::invalid_argument  as copy_cpu(); room not contiguous; also where nothing is copied
template <class T>
[[nodiscard]] View<const T> contiguous_cpu(View<const Same<T>> in, View<T> room);
template <class T>
[[nodiscard]] View<const T> contiguous_cuda(View<const Same<T>> in, View<T> room,
                                            gpu::Stream stream = {});

// --- which path ----------------------------------------------------------------------------------

/// A copy in the form that a path uses: the same bytes under other indices, with as few dimensions
/// and as large elements as possible. For `transposed` the last two dimensions are (M, N) in `in`
/// and (N, M) in `out`.
struct CopyPlan {
    /// How the copy is done.
    CopyPath path;
    /// What is read.
    UntypedIn in;
    UntypedOut out;  ///< repeat: elements of 16 bytes
};

/// The copy in the form of that path, or of the best one if none is given. Its arguments have
/// passed check_copy().
[[nodiscard]] CopyPlan plan_copy(const UntypedIn& in, const UntypedOut& out,
                                 std::optional<CopyPath> path = {});

// --- contiguous ----------------------------------------------------------------------------------

/// Rejects what contiguous_cpu() and contiguous_cuda() reject, also where nothing would be copied.
/// @throws std::invalid_argument  as check_copy(); room not contiguous
void check_room(const UntypedIn& in, const UntypedOut& room);

template <class T>
View<const T> contiguous_cpu(View<const Same<T>> in, View<T> room) {
    check_room(in, room);
    if (is_contiguous(in.layout)) return in;
    copy_cpu(in, room);
    return room;
}
template <class T>
View<const T> contiguous_cuda(View<const Same<T>> in, View<T> room, gpu::Stream stream) {
    check_room(in, room);
    if (is_contiguous(in.layout)) return in;
    copy_cuda(in, room, {.stream = stream});
    return room;
}

}  // namespace sixdays::day03_views
