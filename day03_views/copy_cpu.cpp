// The CPU reference.
#include "common/tensor/index.hpp"
#include "day03_views/copy.hpp"

namespace sixdays::day03_views {
namespace {

template <class T>
void copy_loop(View<const T> in, View<T> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.shape());
        out(at) = in(at);
    }
}

}  // namespace

void copy_untyped_cpu(const UntypedIn& in, const UntypedOut& out) {
    check_copy(in, out);
    with_element(in.element, [&](auto element) {
        using T = decltype(element);
        copy_loop(in.as<T>(), out.as<T>());
    });
}

}  // namespace sixdays::day03_views
