// blocks_for(): plain arithmetic, but its header is for .cu files, so tests_kernels.cu calls it.
#include "common/gpu/tests_kernels.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::testing;
using gpu::tests::blocks_at_most;
using gpu::tests::blocks_for;

TEST_CASE("blocks_for covers every item with the fewest blocks", "[gpu][small]") {
    CHECK(blocks_for(0, 256) == 0);
    CHECK(blocks_for(1, 256) == 1);
    CHECK(blocks_for(255, 256) == 1);
    CHECK(blocks_for(256, 256) == 1);
    CHECK(blocks_for(257, 256) == 2);
    CHECK(blocks_for(1000, 1) == 1000);
    bool fewest = true;
    for (std::int64_t items = 1; items < 200; ++items) {
        for (int threads = 1; threads < 50; ++threads) {
            const std::int64_t n = blocks_for(items, threads);
            fewest = fewest && n * threads >= items && (n - 1) * threads < items;
        }
    }
    CHECK(fewest);
}

TEST_CASE("blocks_for ends where grid.x does, without an overflow on the way", "[gpu][small]") {
    const std::int64_t most = (std::int64_t{1} << 31) - 1;
    CHECK(blocks_for(most, 1) == most);
    CHECK(blocks_for(most * 256, 256) == most);
    CHECK(refusal([&] { (void)blocks_for(most * 256 + 1, 256); }) ==
          "549755813633 items in blocks of 256 threads need 2147483648 blocks, but a grid has at "
          "most 2147483647");
    CHECK(
        contains(refusal([] { (void)blocks_for(INT64_MAX, 1024); }), "9223372036854775807 items"));
    CHECK(contains(refusal([] { (void)blocks_for(INT64_MAX, 1); }), "9223372036854775807 blocks"));
    CHECK(refusal([] { (void)blocks_for(-1, 256); }) ==
          "-1 items in blocks of 256 threads were asked for");
    CHECK(refusal([] { (void)blocks_for(1, 0); }) ==
          "1 items in blocks of 0 threads were asked for");
}

TEST_CASE("blocks_at_most asks for as many as it takes, up to the most", "[gpu][small]") {
    for (const unsigned most : {1u, 7u, 65535u, 4294967295u}) {
        CAPTURE(most);
        CHECK(blocks_at_most(0, 8, most) == 0);
        CHECK(blocks_at_most(8, 8, most) == 1);
        CHECK(blocks_at_most(8 * std::int64_t{most} - 7, 8, most) == most);
        CHECK(blocks_at_most(8 * std::int64_t{most} + 1, 8, most) == most);
        CHECK(blocks_at_most(INT64_MAX, 1, most) == most);
    }
    CHECK(blocks_at_most(9, 8, 65535) == 2);
    CHECK(contains(refusal([] { (void)blocks_at_most(-1, 8, 7); }), "-1 items"));
}

TEST_CASE("tiles of dynamic shared memory lie behind each other, aligned", "[gpu][small]") {
    for (const std::int64_t n : {1, 31, 250}) {
        Tensor<float> numbers({n}), expected({n});
        Tensor<unsigned char> weights({n});
        for (std::int64_t i = 0; i < n; ++i) {
            numbers.data()[i] = static_cast<float>(i + 1);
            weights.data()[i] = static_cast<unsigned char>(i % 7 + 1);
            expected.data()[i] = static_cast<float>((i % 7 + 1) * (n - i));
        }
        const DeviceIn<float> in(numbers);
        const DeviceIn<unsigned char> by(weights);
        DeviceOut<float> out({n});
        gpu::tests::reverse_in_tiles(in.view(), by.view(), out.view());
        CHECK(out.matches(expected));
    }
}
