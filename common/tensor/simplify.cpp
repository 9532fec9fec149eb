#include "common/tensor/simplify.hpp"

#include <algorithm>
#include <cstdlib>

#include "common/tensor/sentence.hpp"

namespace sixdays::detail {
namespace {

// Whether stride(a) is stride(b) * extent(b), so that dimensions a and b can merge.
bool continues(const Layout& layout, int a, int b) {
    std::int64_t whole_walk = 0;  // may exceed the checked span by one stride
    return !__builtin_mul_overflow(layout.stride(b), layout.extent(b), &whole_walk) &&
           layout.stride(a) == whole_walk;
}

}  // namespace

void simplify(Layout* layouts, int count) {
    const Shape shape = layouts[0].shape;
    for (int i = 1; i < count; ++i) {
        if (layouts[i].shape != shape) {
            reject("layouts walked together have shapes ", shape, " and ", layouts[i].shape);
        }
    }
    if (layouts[0].size() == 0) {
        std::fill_n(layouts, count, row_major({0}));
        return;
    }

    int order[kMaxRank];
    int rank = 0;
    for (int d = 0; d < shape.rank; ++d) {
        if (shape[d] != 1) order[rank++] = d;
    }
    std::stable_sort(order, order + rank, [&](int a, int b) {
        for (int i = 0; i < count; ++i) {
            const std::int64_t step_a = std::abs(layouts[i].stride(a));
            const std::int64_t step_b = std::abs(layouts[i].stride(b));
            if (step_a != step_b) return step_a > step_b;
        }
        return false;
    });

    for (int i = 0; i < count; ++i) {
        const Layout old = layouts[i];
        Layout& now = layouts[i] = Layout();
        now.shape.rank = now.strides.rank = rank;
        for (int d = 0; d < rank; ++d) {
            now.shape[d] = old.extent(order[d]);
            now.strides[d] = old.stride(order[d]);
        }
    }

    // From the inside out: dimension `inner` absorbs the one before it while all layouts agree.
    for (int inner = rank - 1; inner > 0; --inner) {
        const int outer = inner - 1;
        const bool mergeable = std::all_of(layouts, layouts + count, [&](const Layout& layout) {
            return continues(layout, outer, inner);
        });
        if (!mergeable) continue;
        for (int i = 0; i < count; ++i) {
            Layout& l = layouts[i];
            l.shape[outer] *= l.shape[inner];
            l.strides[outer] = l.strides[inner];
            for (int d = inner; d + 1 < l.rank(); ++d) {
                l.shape[d] = l.shape[d + 1];
                l.strides[d] = l.strides[d + 1];
            }
            l.shape.rank = l.strides.rank = l.rank() - 1;
        }
    }
}

}  // namespace sixdays::detail
