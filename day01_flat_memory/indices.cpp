// The argument checks that CPU reference and kernels share, and the choice of the path.
#include "day01_flat_memory/indices.hpp"

#include <string>

#include "common/tensor/names.hpp"
#include "common/tensor/vectorized.hpp"

namespace sixdays::day01_flat_memory {

void check_indices(std::int64_t base, const View<float>& out, std::optional<IndicesPath> path) {
    require_known_path("indices", path);
    if (out.rank() < 2 || out.rank() > 4) {
        reject("indices: out has shape ", out.layout.shape, " of rank ", out.rank(),
               ", but indices is written for ranks 2, 3 and 4");
    }
    if (base < 1) reject("indices: base is ", base, ", but must be at least 1");
    if (out.rank() == 2) require_rows_fit("indices", "out", out);
    require_contiguous("indices", "out", out);
    require_memory("indices", "out", out);
    if (out.size() == 0) return;  // without elements no value can be too large
    // The largest value, at the last index, must fit; then all others do.
    std::int64_t largest = 0;
    for (int d = 0; d < out.rank(); ++d) {
        if (__builtin_mul_overflow(largest, base, &largest) ||
            __builtin_add_overflow(largest, out.extent(d) - 1, &largest)) {
            reject("indices: with base ", base, " the values of shape ", out.layout.shape,
                   " do not fit in 64 bits");
        }
    }
    if (path == IndicesPath::vectorized && choose_indices(out) != path) {
        reject(
            "indices: vectors need rows that begin at multiples of 16 bytes and are made of whole "
            "vectors; out begins ",
            misalignment(out.data),
            " bytes past one and "
            "has shape ",
            out.layout.shape);
    }
}

IndicesPath choose_indices(const View<float>& out) {
    return has_wider(out.data, out.layout, sizeof(float)) ? IndicesPath::vectorized
                                                          : IndicesPath::one_element;
}

const char* name(IndicesPath path) {
    static constexpr Named<IndicesPath> kNames[] = {
        {IndicesPath::one_element, "one element per thread"},
        {IndicesPath::vectorized, "vectorized"},
        {IndicesPath::tile, "tile"},
    };
    return name_in(kNames, path);
}

}  // namespace sixdays::day01_flat_memory
