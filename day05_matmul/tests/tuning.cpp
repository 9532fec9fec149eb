// The candidates of a tuner: each gives the product, and one is what matmul_cuda() takes.
#include "day05_matmul/tuning.hpp"

#include "day05_matmul/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

// Runs all candidates; returns their names, the chosen one with a star.
std::string tried(std::int64_t M, std::int64_t N, std::int64_t K, MatrixOrder order) {
    CAPTURE(M, N, K, int(order));
    const Tensor<float> a = whole({M, K}, 1), b = whole({K, N}, 2);
    HostOut<float> want({M, N});
    matmul_cpu(a.view(), b.view(), want.view());
    const DeviceIn<float> da(a, layout_of(a.shape(), order)), db(b, layout_of(b.shape(), order));
    DeviceOut<float> same({M, N});
    std::string names;
    int chosen = 0;
    const auto all = candidates(da.view(), db.view(), same.view());
    for (std::size_t i = 0; i < all.size(); ++i) {
        DeviceOut<float> got({M, N});  // a new one each time, so that writing nothing fails
        const Candidate one = candidates(da.view(), db.view(), got.view())[i];
        CAPTURE(one.name);
        gpu::Buffer<std::byte> room(one.workspace_bytes);
        one.run(room);
        CHECK(got.matches(want));
        chosen += one.chosen;
        names += (names.empty() ? "" : ", ") + one.name + (one.chosen ? "*" : "");
    }
    CHECK(chosen == 1);
    return names;
}

TEST_CASE("a tuner tries every step and every tile that supports the product",
          "[day05][tuning][kernels][small]") {
    const std::string any =
        "one element, lanes along N, shared tile, transposed tile, column per thread, square per "
        "thread, ";
    const std::string all = tried(132, 256, 64, MatrixOrder::row_major);
    CHECK(contains(all, any));
    CHECK(contains(all, "fragments, serpentine, spread copies"));
    CHECK(contains(all, "whole tiles of 128 x 256"));
    CHECK(contains(all, "whole tiles of 64 x 64"));
    CHECK(contains(all, "whole tiles of 32 x 128"));
    // 127 rows are fewer than the largest tile has; strides of 2 prevent vector loads.
    const std::string fewer = tried(127, 130, 64, MatrixOrder::every_other);
    CHECK(contains(fewer, any));
    CHECK(!contains(fewer, "vectorized"));
    CHECK(!contains(fewer, "128 x 256"));
    CHECK(contains(fewer, "64 x 64"));
    CHECK(!contains(tried(40, 40, 40, MatrixOrder::row_major), "whole tiles"));
    CHECK(contains(tried(3, 64, 256, MatrixOrder::row_major), "skinny"));
}

TEST_CASE("a tuner rejects what matmul rejects", "[day05][tuning][small]") {
    const Tensor<float> a({2, 3}), b({4, 5});
    Tensor<float> out({2, 5});
    CHECK(contains(rejection([&] { (void)candidates(a.view(), b.view(), out.view()); }),
                   "matmul: a has shape (2, 3)"));
}

}  // namespace
