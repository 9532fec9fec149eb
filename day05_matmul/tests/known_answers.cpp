// Products with published answers. They are integers, so every path must give them exactly; their
// values distinguish rows, columns and inner size.
#include "day05_matmul/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

Tensor<float> one_to_sixteen() {
    Tensor<float> x({4, 4});
    for (std::int64_t i = 0; i < 16; ++i) x.data()[i] = static_cast<float>(i + 1);
    return x;
}

// The reference and every path that supports these views.
void check_known(View<const float> host_a, View<const float> host_b, View<const float> a,
                 View<const float> b, const Tensor<float>& want) {
    HostOut<float> reference(want.shape());
    matmul_cpu(host_a, host_b, reference.view());
    CHECK(reference.matches(want));
    int paths = 0;
    for (const P path : all_paths()) {
        CAPTURE(name(path));
        DeviceOut<float> got(want.shape());
        if (!rejection([&] { (void)matmul_workspace_bytes(a, b, got.view(), path); }).empty())
            continue;
        gpu::Buffer<std::byte> room(matmul_workspace_bytes(a, b, got.view(), path));
        matmul_cuda(a, b, got.view(), {.path = path, .workspace = room});
        CHECK(got.matches(want));
        ++paths;
    }
    CHECK(paths >= 7);
}

TEST_CASE("1 to 16 as a (4, 4) matrix, squared: 90 to 600", "[day05][small]") {
    // numpy.arange(1, 17).reshape(4, 4); x @ x
    const Tensor<float> x = one_to_sixteen(),
                        want({4, 4}, {90, 100, 110, 120, 202, 228, 254, 280, 314, 356, 398, 440,
                                      426, 484, 542, 600});
    const DeviceIn<float> in(x);
    check_known(x.view(), x.view(), in.view(), in.view(), want);
}

TEST_CASE("element (2, 1) of that square in two phases of a 2 x 2 tile: 78, then 278, together 356",
          "[day05][small]") {
    // Phase p multiplies columns 2p and 2p + 1 of a by the same rows of b; beta = 1 adds it on.
    const Tensor<float> x = one_to_sixteen();
    const DeviceIn<float> in(x);
    for (const auto& [begin, phase] : {std::pair<std::int64_t, float>{0, 78}, {2, 278}}) {
        HostOut<float> alone({4, 4});
        matmul_cpu(columns(x.view(), begin, begin + 2), rows(x.view(), begin, begin + 2),
                   alone.view());
        CHECK(alone.view()(2, 1) == phase);
    }
    HostOut<float> reference({4, 4});
    DeviceOut<float> got({4, 4});
    for (const std::int64_t begin : {0, 2}) {
        const Epilogue add{.beta = begin == 0 ? 0.0f : 1.0f};
        matmul_cpu(columns(x.view(), begin, begin + 2), rows(x.view(), begin, begin + 2), add,
                   reference.view());
        matmul_cuda(columns(in.view(), begin, begin + 2), rows(in.view(), begin, begin + 2), add,
                    got.view());
    }
    CHECK(reference.view()(2, 1) == 356);
    CHECK(got.matches(reference));
}

TEST_CASE("b stored column-major as 6 2 1 9: the product is 10 19 / 26 39", "[day05][small]") {
    const Tensor<float> a({2, 2}, {1, 2, 3, 4}), stored({2, 2}, {6, 2, 1, 9});
    const Tensor<float> want({2, 2}, {10, 19, 26, 39});
    const DeviceIn<float> da(a), db(stored);
    check_known(a.view(), transpose(stored.view()), da.view(), transpose(db.view()), want);
    // Read row-major the same memory is another matrix.
    HostOut<float> misread({2, 2});
    matmul_cpu(a.view(), stored.view(), misread.view());
    CHECK(misread.matches(Tensor<float>({2, 2}, {8, 20, 22, 42})));
}

}  // namespace
