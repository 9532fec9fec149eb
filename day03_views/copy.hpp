/// @file
/// Copying a view: out(i) = in(i) for every index, whatever the two layouts. A transform moves no
/// element; copy does: it writes a transposed, sliced, flipped or broadcast view to memory in the
/// order of `out`.
///
/// For all versions: one shape, rank 0 to 8; elements of 1, 2, 4, 8 or 16 bytes, moved as bytes;
/// `in` of any strides, including 0 and negative ones; 0 elements are valid. `out` may be `in`
/// itself, and then there is nothing to do, but must not otherwise overlap it.
/// @throws std::invalid_argument  different shapes or element sizes, out not injective, a null
#pragma once

#include "common/gpu/how.hpp"
#include "day03_views/untyped.hpp"

namespace sixdays::day03_views {

/// The paths of a copy. one_element and any_layout accept every pair of layouts. tile is taken only
/// on request.
enum class CopyPath {
    one_element,  // naive: one thread per element
    nothing,      // no elements, or in place
    one_run,      // both are contiguous, and their addresses are equal modulo 16
    rows,         // both have the same contiguous rows, copied in elements of up to 16 bytes
    repeat,       // one element of in fills a contiguous row of out
    transposed,   // in and out have stride 1 in different dimensions: transpose.hpp
    any_layout,   // element by element, but faster than the naive kernel
    tile,  // CUDA Tile C++: elements of at most 8 bytes; after simplify(), at most 4 dimensions
           // and no negative stride
};
[[nodiscard]] const char* name(CopyPath path);

void copy_untyped_cpu(const UntypedIn& in, const UntypedOut& out);
/// @throws std::invalid_argument  also a path that does not suit these layouts
void copy_untyped_cuda(const UntypedIn& in, const UntypedOut& out,
                       const gpu::Launch<CopyPath>& how = {});
void check_copy(const UntypedIn& in, const UntypedOut& out, std::optional<CopyPath> path = {});

/// The same for typed views.
template <class T>
void copy_cpu(View<const Same<T>> in, View<T> out) {
    copy_untyped_cpu(in, out);
}
template <class T>
void copy_cuda(View<const Same<T>> in, View<T> out, const gpu::Launch<CopyPath>& how = {}) {
    copy_untyped_cuda(in, out, how);
}

/// The same elements, contiguous in row-major order: `in` itself if it already is (without a copy,
/// as the pointer shows), else `room`, after a copy to it.
/// @param room  contiguous, of in's shape; written only if it is needed
/// @throws std::invalid_argument  as copy; room not contiguous
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
    CopyPath path;
    UntypedIn in;
    UntypedOut out;  // repeat: elements of 16 bytes
};

/// The copy in the form of that path, or of the best one if none is given. Its arguments have
/// passed check_copy().
[[nodiscard]] CopyPlan plan_copy(const UntypedIn& in, const UntypedOut& out,
                                 std::optional<CopyPath> path = {});

// --- contiguous ----------------------------------------------------------------------------------

/// Checks for contiguous_cpu and contiguous_cuda, also where nothing would be copied.
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
