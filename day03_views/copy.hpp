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

#include "common/gpu/stream.hpp"
#include "day03_views/bytes.hpp"

namespace sixdays::day03_views {

void copy_bytes_cpu(const BytesIn& in, const BytesOut& out);
void copy_bytes_cuda(const BytesIn& in, const BytesOut& out, gpu::Stream stream = {});
void check_copy(const BytesIn& in, const BytesOut& out);

/// What contiguous_cpu and contiguous_cuda refuse, even where nothing would be copied.
void check_room(const BytesIn& in, const BytesOut& room);

/// The same for views that know their type.
template <class T>
void copy_cpu(View<const Same<T>> in, View<T> out) {
    copy_bytes_cpu(bytes_in(in), bytes_out(out));
}
template <class T>
void copy_cuda(View<const Same<T>> in, View<T> out, gpu::Stream stream = {}) {
    copy_bytes_cuda(bytes_in(in), bytes_out(out), stream);
}

/// The same elements in row-major order without gaps: `in` itself if it lies so already (nothing is
/// copied, the pointer tells), else `room`, after copying there.
/// @param room  contiguous, of in's shape; written only if it is needed
/// @throws std::invalid_argument  as copy; room not contiguous
template <class T>
[[nodiscard]] View<const T> contiguous_cpu(View<const Same<T>> in, View<T> room) {
    check_room(bytes_in(in), bytes_out(room));
    if (is_contiguous(in.layout)) return in;
    copy_cpu(in, room);
    return room;
}
template <class T>
[[nodiscard]] View<const T> contiguous_cuda(View<const Same<T>> in, View<T> room,
                                            gpu::Stream stream = {}) {
    check_room(bytes_in(in), bytes_out(room));
    if (is_contiguous(in.layout)) return in;
    copy_cuda(in, room, stream);
    return room;
}

/// How copy_cuda goes about it.
enum class CopyPath {
    nothing,     // no elements, or out is in
    straight,    // both are one run of memory, equally far from a multiple of 16 bytes
    rows,        // both have runs of memory in common: these, in pieces of up to 16 bytes
    splat,       // one element of in fills a whole run of out
    tiles,       // in runs along another dim than out: a transpose
    short_rows,  // the same, but one of the two dims has 32 indices at most
    general,     // element by element
};
[[nodiscard]] const char* name(CopyPath path);

/// A copy as copy_cuda sees it: the same elements under other indices, with as few dims as possible
/// and as large elements as possible.
struct CopyPlan {
    CopyPath path = CopyPath::nothing;
    BytesIn in;
    BytesOut out;    // sorted by stride, largest first, none negative; splat: 16 bytes an element
    int across = 0;  // tiles, short_rows: the dim along which in runs; out runs along the last one
};
[[nodiscard]] CopyPlan plan_copy(const BytesIn& in, const BytesOut& out);
[[nodiscard]] inline CopyPath choose_copy(const BytesIn& in, const BytesOut& out) {
    return plan_copy(in, out).path;
}

}  // namespace sixdays::day03_views
