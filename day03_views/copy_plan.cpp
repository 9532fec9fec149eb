// Which kernel copy_cuda takes: numbers about two layouts, no element is looked at.
#include <cstdint>

#include "common/tensor/simplify.hpp"
#include "day03_views/copy.hpp"

namespace sixdays::day03_views {
namespace {

constexpr std::int64_t kShort = 32;  // a dim of at most so many indices wastes a transposed tile

// Where out walks backwards, both may walk from the other end.
void walk_forwards(BytesIn& in, BytesOut& out) {
    for (int d = 0; d < out.layout.rank(); ++d) {
        if (out.layout.stride(d) >= 0 || out.layout.extent(d) < 2) continue;
        const std::int64_t last = out.layout.extent(d) - 1;
        in = moved(in, last * in.layout.stride(d), in.layout);
        out = moved(out, last * out.layout.stride(d), out.layout);
        in.layout.strides[d] = -in.layout.strides[d];
        out.layout.strides[d] = -out.layout.strides[d];
    }
}

// Can elements of `wide` bytes be cut out of the last dim, along which out runs?
bool fits(const void* data, const Layout& layout, int element, int wide) {
    const std::int64_t each = wide / element;
    const int last = layout.rank() - 1;
    bool yes = reinterpret_cast<std::uintptr_t>(data) % static_cast<unsigned>(wide) == 0;
    for (int d = 0; d < last; ++d) yes &= layout.stride(d) % each == 0;
    return yes && layout.extent(last) % each == 0;
}

// The same bytes in larger elements: fewer of them in the last dim, and strides count fewer.
void widen(Layout& layout, std::int64_t each) {
    const int last = layout.rank() - 1;
    layout.shape[last] /= each;
    for (int d = 0; d < last; ++d) layout.strides[d] /= each;
}

int widest(const BytesIn& in, const BytesOut& out) {
    int wide = 16;
    while (wide > in.element && !(fits(in.data, in.layout, in.element, wide) &&
                                  fits(out.data, out.layout, in.element, wide))) {
        wide /= 2;
    }
    return wide;
}

CopyPlan plan_rows(CopyPlan plan) {
    plan.path = CopyPath::rows;
    const int wide = widest(plan.in, plan.out);
    const std::int64_t each = wide / plan.in.element;
    if (each == 1) return plan;
    widen(plan.in.layout, each);
    widen(plan.out.layout, each);
    plan.in.element = plan.out.element = wide;
    // A run of 16 bytes has become one element, and perhaps there is a better way to move it.
    const bool gone = plan.out.layout.extent(plan.out.layout.rank() - 1) == 1;
    return gone ? plan_copy(plan.in, plan.out) : plan;
}

// The dim along which in runs, -1 if there is none.
int dim_of_runs(const Layout& in) {
    for (int d = 0; d < in.rank(); ++d) {
        if (in.stride(d) == 1) return d;
    }
    return -1;
}

}  // namespace

CopyPlan plan_copy(const BytesIn& in, const BytesOut& out) {
    CopyPlan plan{CopyPath::general, in, out, 0};
    if (out.layout.size() == 0 || (in.data == out.data && equivalent(in.layout, out.layout))) {
        plan.path = CopyPath::nothing;
        return plan;
    }
    walk_forwards(plan.in, plan.out);
    const auto simple = simplify(plan.out.layout, plan.in.layout);
    Layout& to = plan.out.layout = simple[0];
    Layout& from = plan.in.layout = simple[1];
    if (to.rank() == 0) to = from = row_major({1});

    const int last = to.rank() - 1;
    if (to.stride(last) != 1) return plan;
    if (from.stride(last) == 1) {
        const auto past = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16; };
        if (last == 0 && past(plan.in.data) == past(plan.out.data)) {
            plan.path = CopyPath::straight;
            return plan;
        }
        return plan_rows(plan);
    }
    if (from.stride(last) == 0) {
        if (!fits(plan.out.data, to, in.element, 16)) return plan;
        plan.path = CopyPath::splat;
        widen(to, 16 / in.element);
        plan.out.element = 16;
        from.shape = to.shape;
        return plan;
    }
    plan.across = dim_of_runs(from);
    if (plan.across < 0) return plan;
    const std::int64_t M = to.extent(last), N = to.extent(plan.across);
    if (M > kShort && N > kShort) plan.path = CopyPath::tiles;
    if ((M > kShort) != (N > kShort)) plan.path = CopyPath::short_rows;
    return plan;
}

const char* name(CopyPath path) {
    switch (path) {
        case CopyPath::nothing:
            return "nothing to do";
        case CopyPath::straight:
            return "straight";
        case CopyPath::rows:
            return "rows";
        case CopyPath::splat:
            return "splat";
        case CopyPath::tiles:
            return "tiles";
        case CopyPath::short_rows:
            return "short rows";
        case CopyPath::general:
            return "general";
    }
    return "";
}

}  // namespace sixdays::day03_views
