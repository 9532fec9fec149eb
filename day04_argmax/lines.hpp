/// @file
/// A tensor as a reduction sees it: one line of elements per output. Host only: it computes layouts
/// and reads no element.
///
///     in (2, 3, 4), reduced over dim 1     first: select(in, 1, 0), shape (2, 4), strides (12, 1)
///     out(b, c) looks at in(b, 0..2, c)    along: shape (3), strides (4)
///
/// The line of output (b, c) begins at offset 12 b + c and has stride 4.
#pragma once

#include <optional>
#include <string>

#include "common/gpu/device.hpp"
#include "common/gpu/how.hpp"
#include "common/tensor/arguments.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day04_argmax {

/// The line of the output at index i: first(i), plus the offsets of `along`.
struct Lines {
    View<const float> first;  ///< in's shape without the reduced dimensions
    Layout along;             ///< the reduced dimensions; if several: simplified

    /// The number of lines, which is that of outputs.
    std::int64_t count() const { return first.size(); }
    /// The number of elements in a line.
    std::int64_t length() const { return along.size(); }
    /// The stride between elements of a line, if `along` is a single strided run; unused if a line
    /// has one element.
    std::int64_t stride() const { return length() == 1 ? 1 : along.stride(0); }
};

/// The lines of a tensor along these dimensions. Reads no element.
/// @param op    the operation, for the message
/// @param dims  the reduced dimensions; each may be negative, counted from the end
/// @throws std::invalid_argument  no such dimension, or one that is named twice
[[nodiscard]] Lines lines_of(const char* op, const View<const float>& in, const Dims& dims);

/// The layout of `out` without the reduced dimensions if it has kept them with extent 1; else `out`
/// itself. For an `out` that require_reduced_shape() accepts.
[[nodiscard]] Layout without_kept(const Layout& out, const View<const float>& in, const Dims& dims);

/// An output must have in's shape without the reduced dimensions, or with extent 1 in their place.
/// @throws std::invalid_argument  another shape; no such dimension, or one that is named twice
void require_reduced_shape(const char* op, const View<const float>& in, const Dims& dims,
                           const Shape& out);

// --- which path ----------------------------------------------------------------------------------

/// The ladder: how a kernel iterates over its lines. Only one_thread supports lines of more than
/// kLongestLine elements, and lines along several dimensions that simplify() cannot merge into one.
enum class LinePath {
    one_thread,   ///< one thread per output: the naive kernel
    shared_tree,  ///< 02: one block per output: a tree in shared memory; argmax only
    walk,         ///< 03: one thread per output, any operation; fast divisions; lines of one stride
    warp,         ///< 04: one warp per output: shuffles
    vectorized,   ///< 05: contiguous lines, 128-bit loads in flight
    strided,      ///< 06: adjacent outputs have adjacent lines
    short_lines,  ///< 07: short lines, packed one after another in memory
    split,        ///< 08: contiguous lines, several blocks per line; needs a workspace
    tile,         ///< CUDA Tile C++, only on request: lines of one stride, none negative
};
[[nodiscard]] const char* name(LinePath path);
/// The path's name with the number of its step: "2 shared tree".
[[nodiscard]] std::string step_name(LinePath path);

/// Steps count the elements of a line in 32 bits, and the counter passes the end before it stops.
inline constexpr std::int64_t kLongestLine = (std::int64_t{1} << 32) - 65536;

/// Step 07 keeps 128 lines of at most this many elements in shared memory.
inline constexpr std::int64_t kShortLine = 80;

/// The number of blocks that share a line in step 08.
[[nodiscard]] std::int64_t parts_of(const Lines& lines);

/// The best path for these lines on a GPU with this many SMs.
///
/// - contiguous lines: `short_lines` if they are packed, up to kShortLine elements, but not 64 or
///   more that are whole float4s; with a workspace, `split` for fewer than two lines per SM, of
///   8,192 elements or more; `vectorized` from 16 elements on; else `walk`
/// - lines of another stride: `walk` below 16 elements; `strided` where 32 or more lines begin at
///   adjacent elements; else `warp`
/// - other lines: `one_thread`
/// @param workspace  is there memory for step 08?
[[nodiscard]] LinePath choose_path(const Lines& lines, bool workspace,
                                   int multiprocessors = gpu::multiprocessors());

/// Rejects a path that does not support these lines. Every path accepts a call without lines.
/// @throws std::invalid_argument  no such path, or its requirement, with the lines' numbers
void require_path(const char* op, std::optional<LinePath> path, const Lines& lines);

/// What a call of a reduction launches: plan_lines().
template <class T>
struct LinesPlan {
    LinePath path;  ///< the one asked for, else the best
    Lines lines;    ///< one for each output
    View<T> out;    ///< without the reduced dimensions: without_kept()
};

/// The one decision of a reduction's CPU reference and CUDA version: rejects invalid arguments and a
/// path in `how` that does not support these lines. Without a path: choose_path().
/// @param op  the operation, for the message
/// @throws std::invalid_argument  no such dimension, or one named twice, a wrong shape of out, an
/// out that is not injective, a null pointer, overlap; require_path()
template <class T>
[[nodiscard]] LinesPlan<T> plan_lines(const char* op, const View<const float>& in, const Dims& dims,
                                      const View<T>& out, const gpu::Launch<LinePath>& how) {
    require_reduced_shape(op, in, dims, out.layout.shape);
    require_memory(op, "in", in);
    require_output(op, out);
    require_same_or_apart(op, "in", in, "out", out);
    const Lines lines = lines_of(op, in, dims);
    require_path(op, how.path, lines);
    return {how.path ? *how.path : choose_path(lines, bool(how.workspace)),
            lines,
            {out.data, without_kept(out.layout, in, dims)}};
}

/// The workspace of step 08: the partial result of each part, and for each line the number of its
/// blocks that are done.
struct Partials {
    View<std::uint64_t> found;  ///< (lines, parts), as raw bytes: 8 are enough for all operations
    View<unsigned> done;        ///< (lines), counters
};
/// Takes the arrays of step 08 from a workspace.
[[nodiscard]] Partials partials_of(gpu::Carver& carver, const Lines& lines);

/// Bytes of workspace that the path needs. Without a path: the bytes with which step 08 is the best
/// path, or 0 if it never is.
/// @param op  the operation, for the message
/// @throws std::invalid_argument  that path does not support these lines
[[nodiscard]] std::int64_t workspace_bytes(const char* op, const Lines& lines,
                                           std::optional<LinePath> path);

}  // namespace sixdays::day04_argmax
