// The CPU reference.
#include "day03_views/transpose.hpp"

namespace sixdays::day03_views {
namespace {

template <class T>
void transpose_loop(  // in (M, N), out (N, M)
    const T* in, std::int64_t M, std::int64_t N, std::int64_t pitch_in, std::int64_t pitch_out,
    T* out) {
    for (std::int64_t m = 0; m < M; ++m) {
        for (std::int64_t n = 0; n < N; ++n) {
            out[n * pitch_out + m] = in[m * pitch_in + n];
        }
    }
}

}  // namespace

void transpose_untyped_cpu(const UntypedIn& in, const UntypedOut& out) {
    check_transpose(in, out);
    if (out.layout.size() == 0) return;
    with_element(in.element, [&](auto element) {
        using T = decltype(element);
        for_each_matrix(in.as<T>(), out.as<T>(), transpose_loop<T>);
    });
}

}  // namespace sixdays::day03_views
