// The plain loop, what loop and ports refuse, and which kernel is chosen.
#include "day03_views/transpose.hpp"

#include <cstdint>

#include "common/tensor/arguments.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/matrices.hpp"

namespace sixdays::day03_views {

// --- loop ----------------------------------------------------------------------------------------
namespace {

// [transpose]
template <class T>
void transpose_loop(const T* in, std::int64_t M, std::int64_t N, std::int64_t pitch_in,
                    std::int64_t pitch_out, T* out) {
    for (std::int64_t m = 0; m < M; ++m) {
        for (std::int64_t n = 0; n < N; ++n) {
            out[n * pitch_out + m] = in[m * pitch_in + n];
        }
    }
}
// [transpose]

// The dims before the last two: which matrix of the stack.
Layout stack_of(const Layout& layout) {
    Layout stack = layout;
    stack.shape.rank = stack.strides.rank = layout.rank() - 2;
    return stack;
}

}  // namespace

void transpose_bytes_cpu(const BytesIn& in, const BytesOut& out) {
    check_transpose(in, out);
    const int r = in.layout.rank();
    if (in.layout.size() == 0) return;
    const Layout stack_in = stack_of(in.layout), stack_out = stack_of(out.layout);
    with_element(in.element, [&](auto element) {
        using E = decltype(element);
        for (std::int64_t k = 0; k < stack_in.size(); ++k) {
            const Index index = unravel(k, stack_in.shape);
            transpose_loop(static_cast<const E*>(in.data) + offset(stack_in, index),
                           in.layout.extent(r - 2), in.layout.extent(r - 1),
                           in.layout.stride(r - 2), out.layout.stride(r - 2),
                           static_cast<E*>(out.data) + offset(stack_out, index));
        }
    });
}

// --- what loop and port refuse, in the same words ------------------------------------------------
namespace {

void check_rows(const char* name, const Layout& layout) {
    const int last = layout.rank() - 1;
    if (layout.extent(last) > 1 && layout.stride(last) != 1) {
        refuse(std::string("transpose: ") + name + " has " + to_string(layout) +
               "; its rows must run along memory, with stride 1 in the last dim");
    }
}

}  // namespace

void check_transpose(const BytesIn& in, const BytesOut& out) {
    require_element("transpose", in, out);
    const int r = in.layout.rank();
    if (r < 2) {
        refuse("transpose: in has shape " + to_string(in.layout.shape) + " of rank " +
               std::to_string(r) + ", but a matrix needs rank 2 at least");
    }
    const Layout turned = transpose(in.layout);
    if (turned.shape != out.layout.shape) {
        refuse("transpose: in has shape " + to_string(in.layout.shape) + ", so out must have " +
               to_string(turned.shape) + ", but has " + to_string(out.layout.shape));
    }
    with_element(in.element, [&](auto element) {
        const auto from = in.as<decltype(element)>();
        const auto to = out.as<decltype(element)>();
        require_memory("transpose", "in", from);
        require_memory("transpose", "out", to);
        require_injective("transpose", "out", to);
        if (overlap(from, to)) {
            refuse(
                "transpose: in and out overlap; elements would be overwritten before they were "
                "read");
        }
    });
    check_rows("in", in.layout);
    check_rows("out", out.layout);
}

// --- which kernel transpose_cuda takes -----------------------------------------------------------

TransposePath choose_transpose(const BytesIn& in, const BytesOut& out) {
    const Matrices x = matrices_to_transpose(in, out);
    if (in.element <= 4 && rows_begin_at_16(x, in.element)) {
        return in.element == 4 ? TransposePath::sixteen_bytes : TransposePath::packed_bytes;
    }
    const bool few_bytes = in.element == 2 || in.element == 4;
    return few_bytes ? TransposePath::whole_sectors : TransposePath::single_elements;
}

const char* name(TransposePath path) {
    switch (path) {
        case TransposePath::sixteen_bytes:
            return "16 bytes a load";
        case TransposePath::packed_bytes:
            return "16 bytes a load, packed";
        case TransposePath::whole_sectors:
            return "whole sectors";
        case TransposePath::single_elements:
            return "single elements";
    }
    return "";
}

}  // namespace sixdays::day03_views
