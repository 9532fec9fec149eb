// Layouts with published answers: a vector broadcast to a matrix, and a slice of a 4 x 5 matrix.
#include <set>

#include "common/tensor/transform.hpp"
#include "day02_strides/pack.hpp"
#include "day02_strides/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;
using namespace sixdays::testing;

namespace {

// The elements of a view in row-major order, packed by the reference and by the kernel.
void check_shows(const View<const float>& host, const View<const float>& device,
                 const Tensor<float>& want) {
    HostOut<float> reference(want.shape());
    pack_cpu(host, reference.view());
    CHECK(reference.matches(want));
    DeviceOut<float> got(want.shape());
    pack_cuda(device, got.view());
    CHECK(got.matches(want));
}

TEST_CASE("a vector (3) broadcast to (4, 3) has strides (0, 1): four equal rows at three addresses",
          "[day02][layouts][small]") {
    const Tensor<float> b({3}, {10, 20, 30});
    const DeviceIn<float> device(b);
    const View<const float> seen = broadcast_to(b.view(), {4, 3});
    CHECK(seen.shape() == Shape{4, 3});
    CHECK(seen.strides() == Strides{0, 1});
    CHECK(seen.data == b.data());
    CHECK(required_span(seen.layout) == 3);
    CHECK(!is_injective(seen.layout));  // so it may be read, and is rejected as an output
    std::set<const float*> addresses;
    for (std::int64_t i = 0; i < 4; ++i) {
        for (std::int64_t j = 0; j < 3; ++j) addresses.insert(&seen(i, j));
    }
    CHECK(addresses.size() == 3);
    check_shows(seen, broadcast_to(device.view(), {4, 3}),
                Tensor<float>({4, 3}, {10, 20, 30, 10, 20, 30, 10, 20, 30, 10, 20, 30}));
}

TEST_CASE("the 3 x 2 block at (1, 2) of 0 to 19 as (4, 5) has offset 7 and strides (5, 1)",
          "[day02][layouts][small]") {
    Tensor<float> x({4, 5});
    for (std::int64_t i = 0; i < 20; ++i) x.data()[i] = static_cast<float>(i);
    const DeviceIn<float> device(x);
    const auto block = [](const View<const float>& v) { return columns(rows(v, 1, 4), 2, 4); };
    const View<const float> part = block(x.view()), turned = transpose(part);
    CHECK(part.data - x.data() == 7);
    CHECK(part.strides() == Strides{5, 1});
    CHECK(turned.data - x.data() == 7);
    CHECK(turned.strides() == Strides{1, 5});
    check_shows(part, block(device.view()), Tensor<float>({3, 2}, {7, 8, 12, 13, 17, 18}));
    check_shows(turned, transpose(block(device.view())),
                Tensor<float>({2, 3}, {7, 12, 17, 8, 13, 18}));
}

}  // namespace
