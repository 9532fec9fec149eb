// The argument checks that CPU references and kernels share, and the choice of the path.
#include "day03_views/broadcast.hpp"

#include "common/tensor/names.hpp"
#include "common/tensor/simplify.hpp"
#include "common/tensor/vectorized.hpp"
#include "day03_views/tiles.hpp"
#include "day03_views/untyped.hpp"

namespace sixdays::day03_views {

// --- checks --------------------------------------------------------------------------------------
namespace {

template <class T>
void check_broadcast_input(const char* op, const char* name, const View<const T>& in,
                           const View<float>& out) {
    const View<const T> seen =
        with_prefix(std::string(op) + ": " + name, [&] { return broadcast_to(in, out.shape()); });
    require_memory(op, name, in);
    require_same_or_apart(op, name, seen, "out", out);
}

}  // namespace

AddViews simplified(View<const float> a, View<const float> b, View<float> out) {
    a = broadcast_to(a, out.shape());
    b = broadcast_to(b, out.shape());
    const auto layouts = simplify(out.layout, a.layout, b.layout);
    const bool single = layouts[0].rank() == 0;
    out.layout = single ? row_major({1}) : layouts[0];
    a.layout = single ? row_major({1}) : layouts[1];
    b.layout = single ? row_major({1}) : layouts[2];
    return {a, b, out};
}

void check_add_broadcast(const View<const float>& a, const View<const float>& b,
                         const View<float>& out, std::optional<AddBroadcastPath> path) {
    require_output("add_broadcast", out);
    check_broadcast_input("add_broadcast", "a", a, out);
    check_broadcast_input("add_broadcast", "b", b, out);
    require_known_path("add_broadcast", path);
    if (path == AddBroadcastPath::tile && out.size() > 0) {
        const AddViews seen = simplified(a, b, out);
        for (const Layout& layout : {seen.a.layout, seen.b.layout, seen.out.layout}) {
            if (takes_tiles(layout)) continue;
            reject("add_broadcast: the path 'tile' needs, after simplifying, at most ",
                   kMostTileDims, " dimensions with ", gpu::kNoNegativeStride, "; here one has ",
                   layout);
        }
    }
    if (path != AddBroadcastPath::vectorized || choose_add_broadcast(a, b, out) == path) return;
    reject(
        "add_broadcast: the path 'vectorized' needs rows of whole vectors that begin at multiples "
        "of "
        "16 bytes; a has ",
        a.layout, ", b ", b.layout, ", out ", out.layout);
}

void check_where(const View<const std::uint8_t>& mask, const View<const float>& a,
                 const View<const float>& b, const View<float>& out,
                 std::optional<WherePath> path) {
    require_output("where", out);
    check_broadcast_input("where", "mask", mask, out);
    check_broadcast_input("where", "a", a, out);
    check_broadcast_input("where", "b", b, out);
    require_known_path("where", path);
}

void check_pad(const View<const float>& in, const Dims& before, const View<float>& out) {
    require_output("pad", out);
    require_memory("pad", "in", in);
    require_rank("pad", "in", in, out.rank());
    if (before.rank != out.rank()) {
        reject("pad: before is ", before, ", but out has rank ", out.rank());
    }
    constexpr std::int64_t kFar = std::int64_t{1} << 62;  // an index minus it cannot overflow
    for (int d = 0; d < before.rank; ++d) {
        if (before[d] < -kFar || before[d] > kFar) {
            reject("pad: before is ", before, ", but must be -2^62 to 2^62");
        }
    }
    require_apart("pad", "in", in, "out", out);
}

namespace {

// Checks piece `name`: out's shape except in dimension d.
void check_piece(const std::string& name, const View<const float>& piece, int d,
                 const View<float>& out) {
    require_rank("concat", name.c_str(), piece, out.rank());
    Shape shape = out.shape();
    shape[d] = piece.extent(d);
    if (piece.shape() != shape) {
        reject("concat along dim ", d, ": ", name, " has shape ", piece.shape(), ", out has ",
               out.shape(), "; all other extents must be equal");
    }
    require_memory("concat", name.c_str(), piece);
    require_address("concat", name.c_str(), piece.data, sizeof(float));
    require_apart("concat", name.c_str(), piece, "out", out);
}

}  // namespace

void check_concat(const std::vector<View<const float>>& pieces, int dim, const View<float>& out) {
    const int d = checked_dim("concat", dim, out.rank());
    require_output("concat", out);
    require_address("concat", "out", out.data, sizeof(float));
    if (pieces.empty()) reject("concat: there are no pieces");
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        check_piece("piece " + std::to_string(i), pieces[i], d, out);
        if (__builtin_add_overflow(sum, pieces[i].extent(d), &sum)) {
            reject("concat along dim ", d,
                   ": the extents of the pieces add up to more than 64 bits hold");
        }
    }
    if (sum != out.extent(d)) {
        reject("concat along dim ", d, ": the extents of the pieces add up to ", sum,
               ", but out has ", out.extent(d));
    }
}

// --- which path ----------------------------------------------------------------------------------

AddBroadcastPath choose_add_broadcast(const View<const float>& a, const View<const float>& b,
                                      const View<float>& out) {
    const Shape& shape = out.shape();
    const auto layouts =
        simplify(out.layout, broadcast_to(a.layout, shape), broadcast_to(b.layout, shape));
    const int last = layouts[0].rank() - 1;
    const auto vectorized = [&](const float* data, const Layout& layout) {
        return layout.stride(last) == 0 || has_wider(data, layout, sizeof(float));
    };
    const bool vectors = has_wider(out.data, layouts[0], sizeof(float)) &&
                         vectorized(a.data, layouts[1]) && vectorized(b.data, layouts[2]);
    return vectors ? AddBroadcastPath::vectorized : AddBroadcastPath::any_layout;
}

const char* name(AddBroadcastPath path) {
    static constexpr Named<AddBroadcastPath> kNames[] = {
        {AddBroadcastPath::one_element, "one element"},
        {AddBroadcastPath::any_layout, "any layout"},
        {AddBroadcastPath::vectorized, "vectorized"},
        {AddBroadcastPath::tile, "tile"},
    };
    return name_in(kNames, path);
}

WherePath choose_where(const View<const std::uint8_t>&, const View<const float>&,
                       const View<const float>&, const View<float>&) {
    return WherePath::any_layout;
}

const char* name(WherePath path) {
    static constexpr Named<WherePath> kNames[] = {
        {WherePath::one_element, "one element"},
        {WherePath::any_layout, "any layout"},
    };
    return name_in(kNames, path);
}

}  // namespace sixdays::day03_views
