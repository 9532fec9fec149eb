// The plain loop, and what the launcher works out before it launches: host code, easily tested.
#include "day02_strides/gather.hpp"

#include <cstdint>

#include "common/tensor/arguments.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/simplify.hpp"
#include "day02_strides/steps/steps.hpp"

namespace sixdays::day02_strides {

// --- loop ----------------------------------------------------------------------------------------
namespace {

// [gather]
void gather_loop(View<const float> in, std::int64_t n, float* out) {
    for (std::int64_t number = 0; number < n; ++number) {
        const Index index = unravel(number, in.layout.shape);
        out[number] = in.data[offset(in.layout, index)];
    }
}
// [gather]

}  // namespace

void gather_cpu(View<const float> in, View<float> out) {
    check_gather(in, out);
    gather_loop(in, out.size(), out.data);
}

// --- what loop and port refuse, in the same words ------------------------------------------------

void check_gather(const View<const float>& in, const View<float>& out) {
    require_same_shape("gather", "in", in, "out", out);
    require_contiguous("gather", "out", out);
    require_memory("gather", "out", out);
    require_memory("gather", "in", in);
    require_same_or_apart("gather", "in", in, "out", out);
}

// --- which kernel gather_cuda takes --------------------------------------------------------------
namespace {

std::int64_t past_multiple_of_16(const float* p) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) % 16);
}

// The layout of `in` with as few dims as it can be walked with beside a contiguous `out`.
Layout simplified(const View<const float>& in, const View<float>& out) {
    return simplify(out.layout, in.layout)[1];
}

}  // namespace

// [choose]
GatherPath choose_gather(const View<const float>& in, const View<float>& out) {
    const bool straight =
        is_contiguous(in.layout) && past_multiple_of_16(in.data) == past_multiple_of_16(out.data);
    if (straight) return GatherPath::straight;
    if (can_walk(in, out, WalkBy::quad)) return GatherPath::quads;
    if (can_walk(in, out, WalkBy::element)) return GatherPath::by_rank;
    return GatherPath::any_size;
}
// [choose]

const char* name(GatherPath path) {
    switch (path) {
        case GatherPath::straight:
            return "straight";
        case GatherPath::quads:
            return "quads";
        case GatherPath::by_rank:
            return "by rank";
        case GatherPath::any_size:
            return "any size";
    }
    return "";
}

bool can_walk(const View<const float>& in, const View<float>& out, WalkBy step) {
    const auto by = static_cast<std::int64_t>(step);
    if (out.size() / by > INT32_MAX) return false;
    if (step == WalkBy::element) return true;
    const Layout l = simplified(in, out);
    const int inner = l.rank() - 1;
    if (inner < 0 || l.stride(inner) != 1 || l.extent(inner) % by != 0) return false;
    for (int d = 0; d < inner; ++d) {
        if (l.stride(d) % by != 0) return false;
    }
    return past_multiple_of_16(in.data) == 0 && past_multiple_of_16(out.data) == 0;
}

Walk walk_of(const View<const float>& in, const View<float>& out, WalkBy step) {
    if (!can_walk(in, out, step)) {
        refuse("gather: " + to_string(in.layout) + " cannot be walked by " +
               (step == WalkBy::quad ? "quads of 16 bytes" : "32-bit numbers"));
    }
    const auto by = static_cast<std::int64_t>(step);
    const Layout l = simplified(in, out);
    Walk walk;
    walk.n = static_cast<std::uint32_t>(out.size() / by);
    walk.rank = l.rank() == 0 ? 1 : l.rank();
    for (int d = 0; d < l.rank(); ++d) {
        const int from_inside = l.rank() - 1 - d;
        const bool innermost = from_inside == 0;
        walk.extent[from_inside] = FastDivisor(l.extent(d) / (innermost ? by : 1));
        walk.stride[from_inside] = l.stride(d) / (innermost ? 1 : by);  // a quad to the next: 1
    }
    return walk;
}

}  // namespace sixdays::day02_strides
