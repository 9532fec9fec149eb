// The argument checks that CPU reference and kernels share, and the choice of the path. Only the
// two layouts matter; no element is read.
#include "day03_views/copy.hpp"

#include "common/tensor/names.hpp"
#include "common/tensor/simplify.hpp"
#include "common/tensor/transform.hpp"
#include "common/tensor/vectorized.hpp"
#include "day03_views/tiles.hpp"
#include "day03_views/transpose.hpp"

namespace sixdays::day03_views {

// --- checks --------------------------------------------------------------------------------------

namespace {

void check_views(const UntypedIn& in, const UntypedOut& out) {
    require_element("copy", in, out);
    with_element(in.element, [&](auto element) {
        const auto from = in.as<decltype(element)>();
        const auto to = out.as<decltype(element)>();
        require_same_shape("copy", "in", from, "out", to);
        require_memory("copy", "in", from);
        require_output("copy", to);
        require_same_or_apart("copy", "in", from, "out", to);
    });
}

}  // namespace

void check_copy(const UntypedIn& in, const UntypedOut& out, std::optional<CopyPath> path) {
    check_views(in, out);
    require_known_path("copy", path);
    if (!path || *path == CopyPath::one_element || *path == CopyPath::any_layout) return;
    const CopyPath best = plan_copy(in, out).path;
    if (best == CopyPath::nothing || *path == best) return;
    if (*path == CopyPath::tile) {
        const CopyPlan plan = plan_copy(in, out, path);
        if (in.element <= 8 && takes_tiles(plan.in.layout) && takes_tiles(plan.out.layout)) return;
        reject("copy: the path 'tile' needs at most 8 bytes per element and, simplified, at most ",
               kMostTileDims, " dimensions with ", gpu::kNoNegativeStride, "; in has elements of ",
               in.element, " bytes, simplified ", plan.in.layout, ", out ", plan.out.layout);
    }
    reject("copy: in has ", in.layout, ", out ", out.layout, ": their path is '", name(best),
           "', not '", name(*path), "'");
}

void check_room(const UntypedIn& in, const UntypedOut& room) {
    check_copy(in, room);
    with_element(in.element, [&](auto element) {
        require_contiguous("contiguous", "room", room.as<decltype(element)>());
    });
}

// --- which path ----------------------------------------------------------------------------------
namespace {

// Where out has a negative stride, flip the dimension in both.
void walk_forwards(UntypedIn& in, UntypedOut& out) {
    for (int d = 0; d < out.layout.rank(); ++d) {
        if (out.layout.stride(d) >= 0 || out.layout.extent(d) < 2) continue;
        const Cut from = flip(in.layout, d), to = flip(out.layout, d);
        in = moved(in, from.first, from.layout);
        out = moved(out, to.first, to.layout);
    }
}

// The same copy with as few dimensions as possible, at least one. The strides of out are positive,
// the last one the smallest.
CopyPlan simplified(const UntypedIn& in, const UntypedOut& out) {
    CopyPlan plan{CopyPath::any_layout, in, out};
    walk_forwards(plan.in, plan.out);
    const auto layouts = simplify(plan.out.layout, plan.in.layout);
    const bool single = layouts[0].rank() == 0;
    plan.out.layout = single ? row_major({1}) : layouts[0];
    plan.in.layout = single ? row_major({1}) : layouts[1];
    return plan;
}

// Both have stride 1 in the last dimension: the same bytes, in elements as wide as both allow.
CopyPlan by_rows(CopyPlan plan) {
    UntypedIn& in = plan.in;
    UntypedOut& out = plan.out;
    plan.path = CopyPath::rows;
    int wide = kVectorBytes;
    while (wide > in.element && !(has_wider(in.data, in.layout, in.element, wide) &&
                                  has_wider(out.data, out.layout, out.element, wide))) {
        wide /= 2;
    }
    if (wide == in.element) return plan;
    in = {in.data, wide, wider(in.layout, wide / in.element)};
    out = {out.data, wide, wider(out.layout, wide / out.element)};
    // A run of 16 bytes is now one element, and another path may suit the new layouts better.
    const bool gone = out.layout.extent(out.layout.rank() - 1) == 1;
    return gone ? plan_copy(in, out) : plan;
}

// in has stride 0 and out stride 1 in the last dimension: an element of in fills float4 of out.
CopyPlan by_repeating(CopyPlan plan) {
    UntypedOut& out = plan.out;
    if (!has_wider(out.data, out.layout, out.element)) return plan;
    plan.path = CopyPath::repeat;
    out = {out.data, kVectorBytes, wider(out.layout, kVectorBytes / out.element)};
    plan.in.layout.shape = out.layout.shape;
    return plan;
}

// in has stride 1 in another dimension: in (..., M, N), out (..., N, M), rows of both contiguous.
CopyPlan by_transposing(CopyPlan plan) {
    const Layout& in = plan.in.layout;
    const int last = in.rank() - 1;
    int across = -1;
    Dims order;  // all other dimensions, then the two
    for (int d = 0; d < last; ++d) {
        if (across < 0 && in.stride(d) == 1) {
            across = d;
        } else {
            order[order.rank++] = d;
        }
    }
    if (across < 0) return plan;
    const bool worth_it = in.extent(last) > kShortRow || in.extent(across) > kShortRow;
    if (!worth_it) return plan;  // a tile would be mostly empty
    plan.path = CopyPath::transposed;
    order.rank += 2;
    order[order.rank - 2] = last;
    order[order.rank - 1] = across;
    plan.in.layout = permute(plan.in.layout, order);
    plan.out.layout = transpose(permute(plan.out.layout, order));
    return plan;
}

}  // namespace

namespace {

CopyPlan best_plan(const UntypedIn& in, const UntypedOut& out) {
    const bool same = in.data == out.data && equivalent(in.layout, out.layout);
    if (out.layout.size() == 0 || same) return {CopyPath::nothing, in, out};

    const CopyPlan plan = simplified(in, out);
    const Layout &from = plan.in.layout, &to = plan.out.layout;
    const int last = to.rank() - 1;
    if (to.stride(last) != 1) return plan;  // out has no contiguous rows
    if (from.stride(last) == 0) return by_repeating(plan);
    if (from.stride(last) != 1) return by_transposing(plan);
    if (last == 0 && equally_misaligned(plan.in.data, plan.out.data)) {
        return {CopyPath::one_run, plan.in, plan.out};
    }
    return by_rows(plan);
}

}  // namespace

CopyPlan plan_copy(const UntypedIn& in, const UntypedOut& out, std::optional<CopyPath> path) {
    const CopyPlan best = best_plan(in, out);
    if (!path || best.path == CopyPath::nothing || best.path == *path) return best;
    if (*path == CopyPath::one_element) return {*path, in, out};
    CopyPlan plan = simplified(in, out);
    plan.path = *path;
    return plan;
}

const char* name(CopyPath path) {
    static constexpr Named<CopyPath> kNames[] = {
        {CopyPath::one_element, "one element"}, {CopyPath::nothing, "nothing to do"},
        {CopyPath::one_run, "one run"},         {CopyPath::rows, "rows"},
        {CopyPath::repeat, "repeat"},           {CopyPath::transposed, "transposed"},
        {CopyPath::any_layout, "any layout"},   {CopyPath::tile, "tile"},
    };
    return name_in(kNames, path);
}

}  // namespace sixdays::day03_views
