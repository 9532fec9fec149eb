/// @file
/// The descriptor of copy, for its tests (common/testing/operation/operation.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/gpu/tile.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/transpose.op.hpp"

namespace sixdays::day03_views {

/// The path that suits two layouts, according to copy.hpp, and its kernel.
struct Copying {
    CopyPath path;
    std::string kernel;
};

/// In runs along loop `across`, out along the innermost one: matrices of these two, transposed.
inline std::string transposing_kernel(const Visit& v, std::size_t across) {
    Layout in, out;
    for (std::size_t l = v.loops.size() - 1; l > 0; --l) {
        if (l == across) continue;
        in.shape[in.shape.rank++] = v.loops[l].extent;
        in.strides[in.strides.rank++] = v.loops[l].steps[1];
        out.strides[out.strides.rank++] = v.loops[l].steps[0];
    }
    out.shape = in.shape;
    const Loop &M = v.loops[0], &N = v.loops[across];
    const auto append = [](Layout& x, std::int64_t extent, std::int64_t stride) {
        x.shape[x.shape.rank++] = extent;
        x.strides[x.strides.rank++] = stride;
    };
    append(in, M.extent, M.steps[1]), append(in, N.extent, 1);
    append(out, N.extent, N.steps[0]), append(out, M.extent, 1);
    const auto at = [](std::uintptr_t address, const Layout& layout) {
        return Call::Argument{reinterpret_cast<std::byte*>(address), layout};
    };
    const Transposing t(v.bytes, at(v.address[1], in), at(v.address[0], out));
    return t.kernel(t.best());
}

inline Copying best_copy(Visit v) {
    const Copying any = {CopyPath::any_layout, "copy_walk_kernel"};
    const Loop& run = v.loops.front();
    if (run.steps[0] != 1) return any;
    if (run.steps[1] == 0) {
        return v.has_groups(0, 16) ? Copying{CopyPath::repeat, "copy_repeat_kernel"} : any;
    }
    if (run.steps[1] != 1) {
        for (std::size_t l = v.loops.size() - 1; l > 0; --l) {
            if (v.loops[l].steps[1] != 1) continue;
            if (std::max(run.extent, v.loops[l].extent) <= 32) return any;
            return {CopyPath::transposed, transposing_kernel(v, l)};
        }
        return any;
    }
    if (v.loops.size() == 1 && v.address[0] % 16 == v.address[1] % 16) {
        return {CopyPath::one_run, "copy_one_run_kernel"};
    }
    int wide = 16;
    while (wide > v.bytes && !(v.has_groups(0, wide) && v.has_groups(1, wide))) wide /= 2;
    if (wide == v.bytes || run.extent * v.bytes > wide) return {CopyPath::rows, any.kernel};
    // Each run is one element of up to 16 bytes, and another path may suit these.
    v.loops.erase(v.loops.begin());
    for (Loop& loop : v.loops) {
        for (std::int64_t& step : loop.steps) step = step * v.bytes / wide;
    }
    if (v.loops.empty()) v.loops.push_back({1, {1, 1, 1}});
    v.bytes = wide;
    return best_copy(std::move(v));
}

/// Operands: in, out.
inline Operation copy_operation(int bytes, const Place& in, const Place& out) {
    using namespace testing;
    Operation op{"copy", {input("in", bytes, in), output("out", bytes, out)}};
    op.cpu = [=](const Call& c) {
        copy_untyped_cpu(untyped_in(c, 0, bytes), untyped_out(c, 1, bytes));
    };
    op.cuda = [=](const Call& c) {
        copy_untyped_cuda(untyped_in(c, 0, bytes), untyped_out(c, 1, bytes), c.how<CopyPath>());
    };
    op.exact = [shape = out.layout.shape](const Inputs& inputs, int) {
        std::vector<Expected> all = {Expected(shape)};
        all[0].value = *inputs[0];
        return all;
    };
    op.in_place = {{"in", "out"}};
    op.paths = paths_of<CopyPath>();
    if (in.layout.size() == 0) return op;
    const auto visited = [=](const Call& c) {
        return visit({c.arguments[1], c.arguments[0]}, bytes, true);
    };
    const auto is_itself = [](const Visit& v) {
        return v.address[0] == v.address[1] &&
               std::all_of(v.loops.begin(), v.loops.end(),
                           [](const Loop& loop) { return loop.steps[0] == loop.steps[1]; });
    };
    for (std::size_t p = 0; p < op.paths.size(); ++p) {
        const auto path = static_cast<CopyPath>(p);
        op.paths[p].accepts = [=](const Call& c) {
            if (path == CopyPath::one_element || path == CopyPath::any_layout) return true;
            const Visit v = visited(c);
            if (is_itself(v)) return true;  // nothing to do on any path
            if (path == CopyPath::tile) return gpu::has_tile() && bytes <= 8 && v.takes_tiles();
            return best_copy(v).path == path;
        };
        op.paths[p].kernel_of = [=](const Call& c) -> std::string {
            const Visit v = visited(c);
            if (is_itself(v)) return "";
            return path == CopyPath::one_element  ? "copy_kernel"
                   : path == CopyPath::tile       ? "copy_tile"
                   : path == CopyPath::any_layout ? "copy_walk_kernel"
                                                  : best_copy(v).kernel;
        };
    }
    op.best = [=](const Call& c) {
        const Visit v = visited(c);
        return static_cast<int>(is_itself(v) ? CopyPath::nothing : best_copy(v).path);
    };
    return op;
}
inline Operation copy_operation(int bytes, const Shape& shape) {
    return copy_operation(bytes, row_major(shape), row_major(shape));
}

}  // namespace sixdays::day03_views
