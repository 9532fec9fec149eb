// Transforms that take a target shape: reshape and broadcast. The others are in transform.cpp.
#include <optional>

#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"

namespace sixdays {
// --- reshape -------------------------------------------------------------------------------------

namespace {

std::string reshape_words(const Layout& layout, const Shape& shape) {
    return "reshape of " + to_string(layout) + " to " + to_string(shape);
}

// `shape` with its -1 replaced, and with as many elements as `layout`.
Shape shape_of_as_many(const Layout& layout, const Shape& shape) {
    Shape result = shape;
    int unknown = -1;
    for (int d = 0; d < shape.rank; ++d) {
        if (shape[d] != -1) continue;
        if (unknown >= 0) reject(reshape_words(layout, shape), ": only one extent may be -1");
        unknown = d;
        result[d] = 1;
    }
    const std::int64_t known = size(result);
    if (unknown >= 0) {
        if (known == 0) {
            reject(reshape_words(layout, shape), ": beside an extent of 0, -1 could be any number");
        }
        result[unknown] = layout.size() / known;
    }
    if (size(result) != layout.size()) {
        reject(reshape_words(layout, shape), ": that is ", layout.size(), " elements, which ",
               (unknown >= 0 ? std::to_string(known) + " does not divide"
                             : "cannot fill " + std::to_string(known)));
    }
    return result;
}

// Whether a dimension of this stride continues a run of `walked` elements, `step` apart.
bool goes_on(std::int64_t stride, std::int64_t step, std::int64_t walked) {
    std::int64_t whole = 0;  // may exceed the checked span by one stride
    return !__builtin_mul_overflow(step, walked, &whole) && stride == whole;
}

// The stride of a new dimension with `wanted` elements inside it. Only an extent of 1, which never
// uses it, can have one beyond 64 bits.
std::int64_t stride_after(std::int64_t step, std::int64_t wanted) {
    std::int64_t stride = 0;
    return __builtin_mul_overflow(step, wanted, &stride) ? 0 : stride;
}

// The strides that give `layout` the shape `shape` in row-major order. Where there are none,
// `outer` and `inner` become the neighbouring dimensions that one new dimension would have to
// cover.
std::optional<Strides> strides_for(const Layout& layout, const Shape& shape, int& outer,
                                   int& inner) {
    if (layout.size() == 0) return row_major(shape).strides;
    Strides strides = Dims::filled(shape.rank, 0);
    int d = shape.rank - 1;  // the new dimension whose stride is computed; from the inside out
    std::int64_t walked = 1, wanted = 1;  // elements of the run so far: old and new dimensions
    std::int64_t step = 1;                // stride of the run's innermost old dimension
    outer = inner = -1;
    for (int old = layout.rank() - 1; old >= 0; --old) {
        if (layout.extent(old) == 1) continue;
        if (inner >= 0 && !goes_on(layout.stride(old), step, walked)) {
            // A new run begins, so the new dimensions must have covered the previous one exactly.
            outer = old;
            for (; d >= 0 && wanted < walked; --d) {
                strides[d] = stride_after(step, wanted);
                wanted *= shape[d];
            }
            if (wanted != walked) return std::nullopt;
            walked = wanted = 1;
        }
        if (walked == 1) step = layout.stride(old);
        walked *= layout.extent(old);
        inner = old;
    }
    for (; d >= 0; --d) {
        strides[d] = stride_after(step, wanted);
        wanted *= shape[d];
    }
    return strides;
}

}  // namespace

Layout reshape(const Layout& layout, const Shape& shape) {
    const Shape exact = shape_of_as_many(layout, shape);
    int outer = 0, inner = 0;
    const std::optional<Strides> strides = strides_for(layout, exact, outer, inner);
    if (!strides) {
        reject(reshape_words(layout, exact), ": no single stride describes dims ", outer, " and ",
               inner, "; copy first");
    }
    return Layout(exact, *strides);
}

bool reshape_would_copy(const Layout& layout, const Shape& shape) {
    int outer = 0, inner = 0;
    return !strides_for(layout, shape_of_as_many(layout, shape), outer, inner);
}

// --- broadcast -----------------------------------------------------------------------------------

Layout broadcast_to(const Layout& layout, const Shape& shape) {
    const std::string words =
        "broadcast of shape " + to_string(layout.shape) + " to " + to_string(shape);
    const int added = shape.rank - layout.rank();
    if (added < 0) reject(words, ": a broadcast adds dims and drops none");
    Strides strides = Dims::filled(shape.rank, 0);
    for (int d = 0; d < layout.rank(); ++d) {
        if (layout.extent(d) == shape[added + d]) {
            strides[added + d] = layout.stride(d);
        } else if (layout.extent(d) != 1) {
            reject(words, ": dim ", d, " has extent ", layout.extent(d), ", not ", shape[added + d],
                   ", and only an extent of 1 can be repeated");
        }
    }
    return Layout(shape, strides);
}

Shape broadcast_shapes(const Shape& a, const Shape& b) {
    const Shape& longer = a.rank < b.rank ? b : a;
    const Shape& shorter = a.rank < b.rank ? a : b;
    Shape result = longer;
    for (int d = 0; d < shorter.rank; ++d) {
        const int place = longer.rank - shorter.rank + d;  // aligned at the last dimension
        if (result[place] == 1) result[place] = shorter[d];
        if (result[place] != shorter[d] && shorter[d] != 1) {
            reject("shapes ", a, " and ", b, " cannot be broadcast together: extents ",
                   longer[place], " and ", shorter[d], " differ, and neither is 1");
        }
    }
    return result;
}

}  // namespace sixdays
