// The CPU reference: flat index -> multi-index -> offset.
#include <cstdint>

#include "common/tensor/index.hpp"
#include "day02_strides/pack.hpp"

namespace sixdays::day02_strides {
namespace {

// [pack]
void pack_loop(View<const float> in, std::int64_t n, float* out) {
    for (std::int64_t number = 0; number < n; ++number) {
        const Index index = unravel(number, in.shape());
        out[number] = in.data[offset(in.layout, index)];
    }
}
// [pack]

}  // namespace

void pack_cpu(View<const float> in, View<float> out) {
    check_pack(in, out);
    pack_loop(in, out.size(), out.data);
}

}  // namespace sixdays::day02_strides
