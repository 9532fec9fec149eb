/// @file
/// Copying a view: out(i) = in(i) for every index, whatever the two layouts. What a transform
/// leaves undone happens here: a transposed, sliced, flipped or broadcast view is written out in
/// the order that `out` asks for.
///
/// For all versions: one shape, rank 0 to 8; elements of 1, 2, 4, 8 or 16 bytes, moved as bytes;
/// `in` of any strides, 0 and negative ones too; 0 elements are fine. `out` may be `in` itself
/// (then there is nothing to do), but not overlap it otherwise.
/// @throws std::invalid_argument  other shapes or sizes of elements, out not injective, a null
/// pointer, an address that is no multiple of the element's bytes, overlap
#pragma once

#include "common/gpu/how.hpp"
#include "day03_views/untyped.hpp"

namespace sixdays::day03_views {

/// How a copy is made. Every pair of layouts can take one_element and any_layout; nobody chooses
/// tile unasked.
enum class CopyPath {
    one_element,  // a thread, an element: the loop's twin
    nothing,      // no elements, or out is in
    one_run,      // both are one run of memory, equally far past a multiple of 16 bytes
    rows,         // both have runs of memory in common: these, in elements of up to 16 bytes
    repeat,       // one element of in fills a whole run of out
    transposed,   // in runs along another dim than out: transpose.hpp
    any_layout,   // element by element, but faster than the twin
    tile,         // CUDA Tile C++: of up to 8 bytes an element; once simplified, four dims at most
                  // and no negative stride
};
[[nodiscard]] const char* name(CopyPath path);

void copy_untyped_cpu(const UntypedIn& in, const UntypedOut& out);
/// @throws std::invalid_argument  also a path that the two layouts do not ask for
void copy_untyped_cuda(const UntypedIn& in, const UntypedOut& out,
                       const gpu::Launch<CopyPath>& how = {});
void check_copy(const UntypedIn& in, const UntypedOut& out, std::optional<CopyPath> path = {});

/// The same for views that know their type.
template <class T>
void copy_cpu(View<const Same<T>> in, View<T> out) {
    copy_untyped_cpu(in, out);
}
template <class T>
void copy_cuda(View<const Same<T>> in, View<T> out, const gpu::Launch<CopyPath>& how = {}) {
    copy_untyped_cuda(in, out, how);
}

/// The same elements in row-major order without gaps: `in` itself if it lies so already (nothing is
/// copied, the pointer tells), else `room`, after copying there.
/// @param room  contiguous, of in's shape; written only if it is needed
/// @throws std::invalid_argument  as copy; room not contiguous
template <class T>
[[nodiscard]] View<const T> contiguous_cpu(View<const Same<T>> in, View<T> room);
template <class T>
[[nodiscard]] View<const T> contiguous_cuda(View<const Same<T>> in, View<T> room,
                                            gpu::Stream stream = {});

// --- which path ----------------------------------------------------------------------------------

/// A copy as a path sees it: the same elements under other indices, with as few dims as possible
/// and as large elements as possible. For `transposed` the last two dims are in's (M, N) and out's
/// (N, M).
struct CopyPlan {
    CopyPath path;
    UntypedIn in;
    UntypedOut out;  // repeat: of 16 bytes an element
};

/// The copy as that path sees it, without one: as the best path does. What check_copy() has not
/// refused.
[[nodiscard]] CopyPlan plan_copy(const UntypedIn& in, const UntypedOut& out,
                                 std::optional<CopyPath> path = {});

// --- contiguous ----------------------------------------------------------------------------------

/// What contiguous_cpu and contiguous_cuda refuse, even where nothing would be copied.
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
