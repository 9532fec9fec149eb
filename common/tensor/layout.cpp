#include "common/tensor/layout.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "common/tensor/arguments.hpp"

namespace sixdays {
namespace {

// Product of the extents with 0 counted as 1, for strides.
std::int64_t product_of_nonzero_extents(const Shape& shape) {
    std::int64_t product = 1;
    for (int d = 0; d < shape.rank; ++d) {
        if (shape[d] < 0) {
            reject("shape ", shape, ": the extent of dim ", d, " is ", shape[d],
                   ", and an extent cannot be negative");
        }
        if (__builtin_mul_overflow(product, std::max<std::int64_t>(shape[d], 1), &product)) {
            reject("shape ", shape, ": the number of elements does not fit in 64 bits");
        }
    }
    return product;
}

bool is_empty(const Shape& shape) {
    return std::find(shape.value, shape.value + shape.rank, 0) != shape.value + shape.rank;
}

}  // namespace

// --- Dims ----------------------------------------------------------------------------------------

void Dims::reject_rank(std::int64_t rank) {
    reject("rank ", rank, " asked for, but a tensor here has 0 to ", kMaxRank, " dims");
}

std::string to_string(const Dims& dims) {
    std::string text = "(";
    for (int d = 0; d < dims.rank; ++d) {
        if (d > 0) text += ", ";
        text += std::to_string(dims[d]);
    }
    return text + ")";
}

std::int64_t size(const Shape& shape) {
    const std::int64_t product = product_of_nonzero_extents(shape);
    return is_empty(shape) ? 0 : product;
}

// --- Layout --------------------------------------------------------------------------------------

Layout::Layout(const Shape& shape_, const Strides& strides_) : shape(shape_), strides(strides_) {
    if (shape.rank != strides.rank) {
        reject("shape ", shape, " has rank ", shape.rank, ", strides ", strides, " have rank ",
               strides.rank, "; one stride per dim is needed");
    }
    if (sixdays::size(shape) == 0) return;
    // The span of the offsets, as required_span() computes it: once it fits, no offset overflows.
    std::int64_t span = 1;
    for (int d = 0; d < shape.rank; ++d) {
        std::int64_t step = 0;
        bool overflow = __builtin_mul_overflow(shape[d] - 1, strides[d], &step);
        if (step < 0) overflow |= __builtin_mul_overflow(step, -1, &step);
        if (overflow || __builtin_add_overflow(span, step, &span)) {
            reject("shape ", shape, " with strides ", strides,
                   ": the span of the offsets does not fit in 64 bits");
        }
    }
}

Layout row_major(const Shape& shape) {
    (void)size(shape);  // rejects shapes that would overflow below
    Strides strides = Dims::filled(shape.rank, 1);
    for (int d = shape.rank - 2; d >= 0; --d) {
        strides[d] = strides[d + 1] * std::max<std::int64_t>(shape[d + 1], 1);
    }
    return Layout(shape, strides);
}

Layout column_major(const Shape& shape) {
    (void)size(shape);
    Strides strides = Dims::filled(shape.rank, 1);
    for (int d = 1; d < shape.rank; ++d) {
        strides[d] = strides[d - 1] * std::max<std::int64_t>(shape[d - 1], 1);
    }
    return Layout(shape, strides);
}

Reach reach(const Layout& layout) {
    if (is_empty(layout.shape)) return {0, -1};
    Reach r{0, 0};
    for (int d = 0; d < layout.rank(); ++d) {
        const std::int64_t last = (layout.extent(d) - 1) * layout.stride(d);
        (last < 0 ? r.lowest : r.highest) += last;
    }
    return r;
}

std::int64_t required_span(const Layout& layout) {
    const Reach r = reach(layout);
    return r.highest - r.lowest + 1;
}

bool is_contiguous(const Layout& layout) {
    if (is_empty(layout.shape)) return true;
    std::int64_t expected = 1;  // the row-major stride
    for (int d = layout.rank() - 1; d >= 0; --d) {
        if (layout.extent(d) == 1) continue;
        if (layout.stride(d) != expected) return false;
        expected *= layout.extent(d);
    }
    return true;
}

namespace {

// Whether all offsets are distinct. For layouts small enough to enumerate.
bool is_injective_by_enumeration(const Layout& layout) {
    const std::int64_t lowest = reach(layout).lowest;
    std::vector<std::int64_t> offsets;
    Index index = Dims::filled(layout.rank(), 0);
    for (std::int64_t i = 0; i < layout.size(); ++i) {
        offsets.push_back(offset(layout, index) - lowest);
        for (int d = layout.rank() - 1; d >= 0 && ++index[d] == layout.extent(d); --d) index[d] = 0;
    }
    std::sort(offsets.begin(), offsets.end());
    return std::adjacent_find(offsets.begin(), offsets.end()) == offsets.end();
}

}  // namespace

bool is_injective(const Layout& layout) {
    if (is_empty(layout.shape)) return true;
    struct Walk {
        std::int64_t step;   // |stride|
        std::int64_t count;  // extent
    };
    std::vector<Walk> walks;
    for (int d = 0; d < layout.rank(); ++d) {
        if (layout.extent(d) > 1) walks.push_back({std::abs(layout.stride(d)), layout.extent(d)});
    }
    std::sort(walks.begin(), walks.end(),
              [](const Walk& a, const Walk& b) { return a.step < b.step; });
    // Each stride must exceed the range of all smaller ones together.
    std::int64_t reached = 0;
    bool proved = true;
    for (const Walk& walk : walks) {
        if (walk.step == 0) return false;
        if (walk.step <= reached) proved = false;
        reached += (walk.count - 1) * walk.step;
    }
    if (proved) return true;
    constexpr std::int64_t kEnumerable = 1 << 16;
    return layout.size() <= kEnumerable && is_injective_by_enumeration(layout);
}

bool equivalent(const Layout& a, const Layout& b) {
    if (a.shape != b.shape) return false;
    for (int d = 0; d < a.rank(); ++d) {
        if (a.extent(d) > 1 && a.stride(d) != b.stride(d)) return false;
    }
    return true;
}

std::string to_string(const Layout& layout) {
    return "shape " + to_string(layout.shape) + ", strides " + to_string(layout.strides);
}

}  // namespace sixdays
