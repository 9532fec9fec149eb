// Reductions over a block or over lanes of a warp: every thread gets the result.
#include "common/gpu/tests/kernels.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::testing;
using gpu::Buffer;
using gpu::tests::Found;

namespace {

// The first largest value of sign * in[i], i < count.
Found largest(const float* in, std::int64_t count, float sign, int first) {
    Found best{sign * in[0], first};
    for (std::int64_t i = 1; i < count; ++i) {
        if (sign * in[i] > best.value) best = {sign * in[i], first + static_cast<int>(i)};
    }
    return best;
}

void check_rows(const Tensor<float>& x, const std::vector<Found>& got, std::int64_t group,
                float sign) {
    const std::int64_t threads = x.shape()[1];
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const std::int64_t first = i / group * group;
        const Found want =
            largest(x.data() + first, group, sign, static_cast<int>(first % threads));
        CAPTURE(i, group, sign);
        REQUIRE(got[static_cast<std::size_t>(i)].value == want.value);
        REQUIRE(got[static_cast<std::size_t>(i)].at == want.at);
    }
}

}  // namespace

TEST_CASE("block_reduce gives every thread the result, twice in a row", "[gpu][small]") {
    for (const std::int64_t threads : {32, 64, 256, 1024}) {
        const Shape shape{3, threads};
        const Tensor<float> x = seeded_integers<float>(shape, 5, 0, threads / 4);  // with ties
        const Buffer<float> in(x);
        Buffer<Found> out(x.size()), negated(x.size());
        gpu::tests::reduce_blocks(in.view(shape), out.view(shape), negated.view(shape));
        check_rows(x, out.download(), threads, 1);
        check_rows(x, negated.download(), threads, -1);
    }
}

TEST_CASE("warp_reduce gives every lane of its group the result", "[gpu][small]") {
    for (const int lanes : {2, 4, 8, 16, 32}) {
        const Tensor<float> x = seeded_integers<float>({2, 64}, 6, 0, 20);
        const Buffer<float> in(x);
        Buffer<Found> out(x.size());
        gpu::tests::reduce_lanes(lanes, in.view({2, 64}), out.view({2, 64}));
        check_rows(x, out.download(), lanes, 1);
    }
}
