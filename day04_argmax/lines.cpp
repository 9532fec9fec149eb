// Which elements belong to which output, and which path takes them.
#include "day04_argmax/lines.hpp"

#include <algorithm>
#include <cstdint>

#include "common/gpu/tile.hpp"
#include "common/tensor/names.hpp"
#include "common/tensor/simplify.hpp"
#include "common/tensor/transform.hpp"

namespace sixdays::day04_argmax {
namespace {

// The lines in memory order: simplified by the layout of the input.
Layout simple(const Lines& lines) {
    return simplify(lines.first.layout)[0];
}

}  // namespace

Lines lines_of(const char* op, const View<const float>& in, const Dims& dims) {
    const Dims along = checked_dims(op, dims, in.rank());
    Lines lines{{in.data, without(in.layout, along)}, only(in.layout, along)};
    if (lines.along.rank() > 1) lines.along = simplify(lines.along)[0];
    return lines;
}

Layout without_kept(const Layout& out, const View<const float>& in, const Dims& dims) {
    return out.rank() == in.rank() ? without(out, dims) : out;
}

void require_reduced_shape(const char* op, const View<const float>& in, const Dims& dims,
                           const Shape& out) {
    const Dims along = checked_dims(op, dims, in.rank());
    const Shape removed = without(in.layout, along).shape;
    Shape kept = in.layout.shape;
    for (int k = 0; k < along.rank; ++k) kept[static_cast<int>(along[k])] = 1;
    if (out != removed && out != kept) {
        reject(op, ": in has shape ", in.layout.shape, ", reduced over dimensions ", dims,
               ", so out has shape ", removed, " or ", kept, ", not ", out);
    }
}

// --- which path ----------------------------------------------------------------------------------

namespace {

constexpr std::int64_t kPart = 1024;    // elements per block of step 08, at least
constexpr std::int64_t kBlocks = 1024;  // blocks of step 08 for all lines together, at most
static_assert(kBlocks <= gpu::Carver::kCounters, "each line has a counter");
constexpr std::int64_t kLongLine = 8192;   // shorter lines are never split
constexpr std::int64_t kFewForAWarp = 16;  // a line this short leaves half of a warp idle
constexpr std::int64_t kWholeVectors =
    64;                                   // here step 05 becomes faster if lines are whole float4s
constexpr std::int64_t kNeighbours = 32;  // adjacent lines, one per lane of a warp

bool one_walk(const Lines& lines) {
    return lines.along.rank() <= 1 && lines.length() <= kLongestLine;
}
bool along_memory(const Lines& lines) {
    return one_walk(lines) && lines.stride() == 1;
}
bool one_behind_the_other(const Lines& lines) {
    const Layout first = simple(lines);
    return along_memory(lines) && first.rank() <= 1 &&
           (first.rank() == 0 || first.stride(0) == lines.length());
}
// How many adjacent outputs have lines that begin at adjacent elements.
std::int64_t side_by_side(const Lines& lines) {
    const Layout first = simple(lines);
    const int last = first.rank() - 1;
    return one_walk(lines) && last >= 0 && first.stride(last) == 1 ? first.extent(last) : 0;
}

const auto& line_paths() {
    static constexpr char kContiguous[] = "contiguous lines, of at most 2^32 - 65536 elements";
    static constexpr char kOneStride[] = "lines of one stride, of at most 2^32 - 65536 elements";
    static const PathEntry<LinePath, Lines> all[] = {
        {LinePath::one_thread, "one thread"},
        {LinePath::shared_tree, "shared tree",
         [](const Lines& lines) { return one_walk(lines) && lines.count() <= INT32_MAX; },
         sentence("at most 2^31 - 1 ", kOneStride)},
        {LinePath::walk, "walk", one_walk, kOneStride},
        {LinePath::warp, "warp", one_walk, kOneStride},
        {LinePath::vectorized, "vectorized", along_memory, kContiguous},
        {LinePath::strided, "strided", [](const Lines& lines) { return side_by_side(lines) > 0; },
         "lines that begin at adjacent elements"},
        {LinePath::short_lines, "short lines",
         [](const Lines& lines) {
             return one_behind_the_other(lines) && lines.length() <= kShortLine;
         },
         "lines of at most 80 elements, packed one after another in memory"},
        {LinePath::split, "split",
         [](const Lines& lines) { return along_memory(lines) && lines.count() <= kBlocks; },
         "contiguous lines, at most 1024 of them"},
        {LinePath::tile, "tile",
         [](const Lines& lines) {
             return lines.along.rank() <= 1 && gpu::goes_forwards(lines.first.layout) &&
                    gpu::goes_forwards(lines.along);
         },
         "lines of one stride, and " + gpu::kNoNegativeStride},
    };
    return all;
}

}  // namespace

std::int64_t parts_of(const Lines& lines) {
    const std::int64_t fit = std::max<std::int64_t>(kBlocks / lines.count(), 1);
    return std::clamp<std::int64_t>((lines.length() + kPart - 1) / kPart, 1, fit);
}

LinePath choose_path(const Lines& lines, bool workspace, int multiprocessors) {
    if (!one_walk(lines) || lines.length() == 0) return LinePath::one_thread;
    if (lines.stride() == 1 && lines.length() > 1) {
        const bool whole_vectors = lines.length() % 4 == 0 && lines.length() >= kWholeVectors;
        const bool is_short = lines.length() <= kShortLine && !whole_vectors;
        if (is_short && one_behind_the_other(lines)) return LinePath::short_lines;
        // Step 05 uses one block per long line, and two blocks keep an SM busy.
        const bool few = lines.count() < std::min<std::int64_t>(2 * multiprocessors, kBlocks + 1) &&
                         lines.length() >= kLongLine;
        if (few && workspace) return LinePath::split;
        return lines.length() >= kFewForAWarp ? LinePath::vectorized : LinePath::walk;
    }
    if (lines.length() < kFewForAWarp) return LinePath::walk;
    return side_by_side(lines) >= kNeighbours ? LinePath::strided : LinePath::warp;
}

void require_path(const char* op, std::optional<LinePath> path, const Lines& lines) {
    require_known_path(op, path);
    if (!path || lines.count() == 0) return;
    require_support(op, line_paths(), *path, lines, "; the lines have ", lines.along,
                    ", and begin at ", lines.first.layout);
}

Partials partials_of(gpu::Carver& carver, const Lines& lines) {
    return {carver.take<std::uint64_t>({lines.count(), parts_of(lines)}),
            carver.counters(lines.count())};
}

std::int64_t workspace_bytes(const char* op, const Lines& lines, std::optional<LinePath> path) {
    require_path(op, path, lines);
    if (lines.count() == 0 || path.value_or(choose_path(lines, true)) != LinePath::split) return 0;
    return gpu::bytes_to_carve([&](gpu::Carver& c) { return partials_of(c, lines); });
}

const char* name(LinePath path) {
    return name_in(line_paths(), path);
}

std::string step_name(LinePath path) {
    if (path == LinePath::tile) return name(path);  // not a step of the ladder
    return std::to_string(static_cast<int>(path) + 1) + " " + name(path);
}

}  // namespace sixdays::day04_argmax
