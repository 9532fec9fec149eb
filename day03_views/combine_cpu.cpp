// The plain loops over multi-indices: every tensor finds its own element by its own strides.
#include "day03_views/combine.hpp"

#include "common/tensor/arguments.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/copy.hpp"
#include "common/tensor/walk.hpp"

namespace sixdays::day03_views {

// --- loops ---------------------------------------------------------------------------------------
namespace {

// [add_broadcast]
// a and b have out's shape by now; where they repeat, a stride is 0.
void add_broadcast_loop(View<const float> a, View<const float> b, View<float> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.layout.shape);
        out(at) = a(at) + b(at);
    }
}
// [add_broadcast]

// [where]
void where_loop(View<const std::uint8_t> mask, View<const float> a, View<const float> b,
                View<float> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.layout.shape);
        out(at) = mask(at) != 0 ? a(at) : b(at);
    }
}
// [where]

}  // namespace

void add_broadcast_cpu(View<const float> a, View<const float> b, View<float> out) {
    check_add_broadcast(a, b, out);
    const Shape& shape = out.layout.shape;
    add_broadcast_loop(broadcast_to(a, shape), broadcast_to(b, shape), out);
}

void where_cpu(View<const std::uint8_t> mask, View<const float> a, View<const float> b,
               View<float> out) {
    check_where(mask, a, b, out);
    const Shape& shape = out.layout.shape;
    where_loop(broadcast_to(mask, shape), broadcast_to(a, shape), broadcast_to(b, shape), out);
}

// [concat]
void concat_cpu(const std::vector<View<const float>>& pieces, int dim, View<float> out) {
    check_concat(pieces, dim, out);
    const int d = checked_dim("concat", dim, out.rank());
    std::int64_t begin = 0;
    for (const View<const float>& piece : pieces) {
        const std::int64_t end = begin + piece.extent(d);
        copy_cpu(piece, slice(out, d, begin, end));
        begin = end;
    }
}
// [concat]

// --- what loop and port refuse, in the same words ------------------------------------------------
namespace {

void check_output(const char* op, const View<float>& out) {
    require_injective(op, "out", out);
    require_memory(op, "out", out);
}

template <class T>
void check_broadcast_input(const char* op, const char* name, const View<const T>& in,
                           const View<float>& out) {
    View<const T> seen;
    try {
        seen = broadcast_to(in, out.layout.shape);
    } catch (const std::invalid_argument& refused) {
        refuse(std::string(op) + ": " + name + ": " + refused.what());
    }
    require_memory(op, name, in);
    require_same_or_apart(op, name, seen, "out", out);
}

}  // namespace

void check_add_broadcast(const View<const float>& a, const View<const float>& b,
                         const View<float>& out) {
    check_output("add_broadcast", out);
    check_broadcast_input("add_broadcast", "a", a, out);
    check_broadcast_input("add_broadcast", "b", b, out);
}

void check_where(const View<const std::uint8_t>& mask, const View<const float>& a,
                 const View<const float>& b, const View<float>& out) {
    check_output("where", out);
    check_broadcast_input("where", "mask", mask, out);
    check_broadcast_input("where", "a", a, out);
    check_broadcast_input("where", "b", b, out);
}

void check_concat(const std::vector<View<const float>>& pieces, int dim, const View<float>& out) {
    const int d = checked_dim("concat", dim, out.rank());
    check_output("concat", out);
    if (pieces.empty()) refuse("concat: there are no pieces");
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const std::string name = "piece " + std::to_string(i);
        require_rank("concat", name.c_str(), pieces[i], out.rank());
        Shape shape = out.layout.shape;
        shape[d] = pieces[i].extent(d);
        if (pieces[i].layout.shape != shape) {
            refuse("concat along dim " + std::to_string(d) + ": " + name + " has shape " +
                   to_string(pieces[i].layout.shape) + ", out has " + to_string(out.layout.shape) +
                   "; all other extents must be equal");
        }
        if (__builtin_add_overflow(sum, shape[d], &sum)) {
            refuse("concat along dim " + std::to_string(d) +
                   ": the pieces have more indices together than 64 bits count");
        }
        require_memory("concat", name.c_str(), pieces[i]);
        if (overlap(pieces[i], out)) {
            refuse("concat: " + name + " overlaps out, and would be overwritten while it is read");
        }
    }
    if (sum != out.extent(d)) {
        refuse("concat along dim " + std::to_string(d) + ": the pieces have " +
               std::to_string(sum) + " indices together, out has " + std::to_string(out.extent(d)));
    }
}

// --- which kernel add_broadcast_cuda takes -------------------------------------------------------

AddBroadcastPath choose_add_broadcast(const View<const float>& a, const View<const float>& b,
                                      const View<float>& out) {
    const Shape& shape = out.layout.shape;
    const auto layouts =
        simplify(out.layout, broadcast_to(a.layout, shape), broadcast_to(b.layout, shape));
    const bool quads = takes_quads(layouts[0], out.data) && takes_quads(layouts[1], a.data) &&
                       takes_quads(layouts[2], b.data);
    return quads ? AddBroadcastPath::quads : AddBroadcastPath::any_layout;
}

const char* name(AddBroadcastPath path) {
    return path == AddBroadcastPath::quads ? "16 bytes a load" : "any layout";
}

}  // namespace sixdays::day03_views
