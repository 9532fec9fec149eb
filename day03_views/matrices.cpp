#include "day03_views/matrices.hpp"

#include <algorithm>

#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"

namespace sixdays::day03_views {

Matrices matrices_of(const BytesIn& in, const BytesOut& out, int m, int n) {
    Matrices x;
    x.in = in.data;
    x.out = out.data;
    x.M = in.layout.extent(m);
    x.N = in.layout.extent(n);
    // The stride of a dim of extent 1 is never used and may be absurd: 0 cannot overflow.
    const auto step = [](const Layout& layout, int d) {
        return layout.extent(d) == 1 ? 0 : layout.stride(d);
    };
    x.pitch_in = step(in.layout, m);
    x.pitch_out = step(out.layout, n);
    for (int d = 0; d < in.layout.rank(); ++d) {
        if (d == m || d == n) continue;
        // An extent beyond 32 bits means more tiles than a grid has blocks: cut_into_tiles refuses.
        x.extent[x.dims] =
            static_cast<std::uint32_t>(std::min<std::int64_t>(in.layout.extent(d), UINT32_MAX));
        x.step_in[x.dims] = step(in.layout, d);
        x.step_out[x.dims] = step(out.layout, d);
        ++x.dims;
    }
    return x;
}

Matrices matrices_to_transpose(const BytesIn& in, const BytesOut& out) {
    const int r = in.layout.rank();
    return matrices_of(in, {out.data, out.element, transpose(out.layout)}, r - 2, r - 1);
}

std::uint32_t cut_into_tiles(Matrices& x, int TM, int TN) {
    const std::int64_t down = (x.M + TM - 1) / TM, across = (x.N + TN - 1) / TN;
    std::int64_t tiles = 1;
    bool fits = true;
    const auto times = [&](std::int64_t extent) {
        fits &= extent <= INT32_MAX;
        if (fits) tiles *= extent;
        fits &= tiles <= INT32_MAX;
    };
    times(down);
    times(across);
    for (int d = 0; d < x.dims; ++d) times(x.extent[d]);
    if (!fits) {
        refuse("matrices of shape " + to_string(Shape{x.M, x.N}) +
               ": all of them together are more than 2^31 - 1 tiles of " +
               to_string(Shape{TM, TN}));
    }
    x.down = static_cast<std::uint32_t>(down);
    x.across = static_cast<std::uint32_t>(across);
    return static_cast<std::uint32_t>(tiles);
}

bool rows_begin_at_16(const Matrices& x, int element) {
    const auto whole = [&](std::int64_t elements) { return elements % (16 / element) == 0; };
    bool yes = reinterpret_cast<std::uintptr_t>(x.in) % 16 == 0 &&
               reinterpret_cast<std::uintptr_t>(x.out) % 16 == 0;
    yes &= whole(x.pitch_in) && whole(x.pitch_out);
    for (int d = 0; d < x.dims; ++d) yes &= whole(x.step_in[d]) && whole(x.step_out[d]);
    return yes;
}

}  // namespace sixdays::day03_views
