/// @file
/// A tensor as a reduction sees it: one line of elements for each output. Host only: numbers about
/// layouts, no element is looked at.
///
///     in (2, 3, 4), reduced over dim 1     first: select(in, 1, 0), shape (2, 4), strides (12, 1)
///     out(b, c) looks at in(b, 0..2, c)    along: shape (3), strides (4)
///
/// The line of output (b, c) begins at offset 12 b + c, and its elements lie 4 apart.
#pragma once

#include <optional>
#include <string>

#include "common/gpu/device.hpp"
#include "common/gpu/workspace.hpp"
#include "common/tensor/arguments.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day04_argmax {

/// The line of the output at index i: first(i), and what lies at the offsets of `along` from there.
struct Lines {
    View<const float> first;  // of in's shape without the reduced dims
    Layout along;             // the reduced dims; if there are several: simplified

    std::int64_t count() const { return first.size(); }
    std::int64_t length() const { return along.size(); }
    /// From one element of a line to the next, where `along` is one walk; of a line of one element
    /// nobody uses it.
    std::int64_t stride() const { return length() == 1 ? 1 : along.stride(0); }
};

/// @param dims  the reduced ones; each may count from the back
/// @throws std::invalid_argument  no such dim, or one that is named twice
[[nodiscard]] Lines lines_of(const char* op, const View<const float>& in, const Dims& dims);

/// `out` without the reduced dims, where it has kept them with extent 1.
[[nodiscard]] Layout without_kept(const Layout& out, const View<const float>& in, const Dims& dims);

/// @throws std::invalid_argument  out's shape is neither in's without the reduced dims nor in's
/// with extent 1 in their place
void require_reduced_shape(const char* op, const View<const float>& in, const Dims& dims,
                           const Shape& out);

/// What loop and ports of all reductions refuse: other dims, another shape of out, an out that is
/// not injective, null pointers, overlap.
template <class T>
void require_lines(const char* op, const View<const float>& in, const Dims& dims,
                   const View<T>& out) {
    require_reduced_shape(op, in, dims, out.layout.shape);
    require_memory(op, "in", in);
    require_output(op, out);
    require_same_or_apart(op, "in", in, "out", out);
}

// --- which path ----------------------------------------------------------------------------------

/// The ladder: how a port walks its lines. Only one_thread takes lines of more than
/// kLongestLine elements, or lines along several dims that simplify() cannot make one of.
enum class LinePath {
    one_thread,   // a thread, an output: the loop's twin
    shared_tree,  // 02: a block, an output: a tree in shared memory; argmax only
    walk,         // 03: a thread, an output, any operation, walked by fast divisions
    warp,         // 04: a warp, an output: shuffles
    quads,        // 05: lines along memory, quads in flight
    strided,      // 06: outputs that are neighbours have lines that are neighbours
    short_lines,  // 07: short lines, one behind the other in memory
    split,        // 08: lines along memory, several blocks a line; needs a workspace
    tile,         // CUDA Tile C++, never chosen unasked: lines of one stride, none negative
};
[[nodiscard]] const char* name(LinePath path);
/// With the number that its step has everywhere: "2 shared tree".
[[nodiscard]] std::string step_name(LinePath path);

/// Steps count the elements of a line in 32 bits, and step past its end before they stop.
inline constexpr std::int64_t kLongestLine = (std::int64_t{1} << 32) - 65536;

/// What step 07 keeps of a block's lines in shared memory: 128 lines of so many elements at most.
inline constexpr std::int64_t kShortLine = 80;

/// Blocks that share a line in step 08.
[[nodiscard]] std::int64_t parts_of(const Lines& lines);

/// The best path. @param workspace  is there memory for step 08?
[[nodiscard]] LinePath choose_path(const Lines& lines, bool workspace,
                                   int multiprocessors = gpu::multiprocessors());

/// @throws std::invalid_argument  no such path, or it cannot take these lines; every path takes none
void require_path(const char* op, std::optional<LinePath> path, const Lines& lines);

/// What step 08 keeps between its blocks: what each part has found, and for each line how many of
/// its blocks are done.
struct Partials {
    View<std::uint64_t> found;  // (lines, parts), as bytes: 8 are enough for all operations
    View<unsigned> done;        // (lines), counters
};
[[nodiscard]] Partials partials_of(gpu::Carver& carver, const Lines& lines);

/// Bytes of workspace that the path needs; without one: with which the best path is step 08, or 0
/// if it would not be. @throws std::invalid_argument  that path cannot take these lines
[[nodiscard]] std::int64_t workspace_bytes(const char* op, const Lines& lines,
                                           std::optional<LinePath> path);

}  // namespace sixdays::day04_argmax
