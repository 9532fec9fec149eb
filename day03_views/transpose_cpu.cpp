// The plain loop.
#include "common/tensor/index.hpp"
#include "day03_views/transpose.hpp"

namespace sixdays::day03_views {
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

template <class T>
void transpose_stack(View<const T> in, View<T> out) {
    const int m = in.rank() - 2, n = in.rank() - 1;
    const Layout stack_in = stack_of(in.layout), stack_out = stack_of(out.layout);
    for (std::int64_t k = 0; k < stack_in.size(); ++k) {
        const Index at = unravel(k, stack_in.shape);
        transpose_loop(in.data + offset(stack_in, at), in.extent(m), in.extent(n), in.stride(m),
                       out.stride(m), out.data + offset(stack_out, at));
    }
}

}  // namespace

void transpose_untyped_cpu(const UntypedIn& in, const UntypedOut& out) {
    check_transpose(in, out);
    if (out.layout.size() == 0) return;
    with_element(in.element, [&](auto element) {
        using T = decltype(element);
        transpose_stack(in.as<T>(), out.as<T>());
    });
}

}  // namespace sixdays::day03_views
