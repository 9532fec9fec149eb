// indices: each element holds its own multi-index.
#include "day01_flat_memory/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day01_flat_memory;
using namespace sixdays::testing;

namespace {

TEST_CASE("indices writes the index of each element", "[day01][indices][small]") {
    HostOut<float> m({2, 3});
    indices_cpu(10, m.view());
    CHECK(m.matches(Tensor<float>({2, 3}, {0, 1, 2, 10, 11, 12})));
    HostOut<float> x({2, 2, 3});
    indices_cpu(10, x.view());
    CHECK(x.matches(Tensor<float>({2, 2, 3}, {0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112})));
    HostOut<float> scores({1, 2, 2, 2});
    indices_cpu(10, scores.view());
    CHECK(scores.matches(Tensor<float>({1, 2, 2, 2}, {0, 1, 10, 11, 100, 101, 110, 111})));
}

TEST_CASE("indices computes its values in 64 bits and rounds them once",
          "[day01][indices][small]") {
    // 2^24 + 1 + 1 is a float, 2^24 + 1 is not: the sum must be rounded at the end, not in between.
    for (const Shape& shape : {Shape{2, 4}, Shape{1, 2, 4}, Shape{1, 1, 2, 4}}) {
        HostOut<float> rounded(shape);
        indices_cpu((std::int64_t{1} << 24) + 1, rounded.view());
        CHECK(rounded.values().data()[5] == 16777218.0f);
    }
    // 4 * 4,194,305 floats: above 2^24 only even integers are floats.
    const std::int64_t wide = 4194305;
    Tensor<float> row({1, 4 * wide});
    indices_cpu(1, row.view());
    CHECK(row(0, (1 << 24) + 1) == 16777216.0f);
    CHECK(row(0, (1 << 24) + 2) == 16777218.0f);
    CHECK(row(0, (1 << 24) + 3) == 16777220.0f);
    HostOut<float> m({2, 1});
    indices_cpu(std::int64_t{1} << 40, m.view());
    CHECK(m.matches(Tensor<float>({2, 1}, {0, 1099511627776.0f})));
}

TEST_CASE("indices rejects other ranks, gaps and values beyond 64 bits",
          "[day01][indices][small]") {
    Tensor<float> x({2, 3}), run({6}), five({1, 1, 1, 1, 2});
    const auto both = [](std::int64_t base, View<float> out, const char* words) {
        return both_reject([&] { indices_cpu(base, out); }, [&] { indices_cuda(base, out); },
                           words);
    };
    CHECK(both(10, run.view(),
               "indices: out has shape (6) of rank 1, but indices is written for ranks 2"));
    CHECK(both(10, five.view(), "of rank 5"));
    CHECK(
        both(10, View<float>(x.data(), Shape{kMostRows + 1, 0}),
             "indices: out has 524281 rows, but a grid of 65,535 blocks of 8 rows ends at 524280"));
    CHECK(both(0, x.view(), "indices: base is 0, but must be at least 1"));
    CHECK(both(std::int64_t{1} << 62, View<float>(x.data(), Shape{3, 2}),
               "indices: with base 4611686018427387904 the values of shape (3, 2) do not fit"));
    // With no elements, no value can be too large.
    const View<float> none(x.data(), Shape{1 << 20, 1 << 20, 0});
    indices_cpu(std::int64_t{1} << 62, none);
    indices_cuda(std::int64_t{1} << 62, none);
    Tensor<float> odd({2, 6});
    CHECK(rejection([&] {
              indices_cuda(10, odd.view(), {.path = IndicesPath::vectorized});
          }).find("indices: vectors need rows that begin at multiples of 16 bytes") == 0);
    CHECK(std::string(name(IndicesPath::vectorized)) == "vectorized");
}

void check_past_2_32(std::int64_t S) {
    const std::int64_t B = 3, H = 7, T = 14303, base = 20000;  // 4.3e9 elements
    const std::int64_t n = B * H * T * S;
    REQUIRE(n > 2 * kTwo31);
    need_device_memory(4 * n);
    gpu::Buffer<float> out(n);
    std::vector<float> want(static_cast<std::size_t>(T * S));
    for (const Shape& shape : {Shape{B, H, T, S}, Shape{B * H, T, S}, Shape{B * H * T, S}}) {
        out.fill_bytes(0xff);
        indices_cuda(base, out.view(shape));
        // Checking all 17 GB would take ten seconds: so the first matrix, those that contain
        // elements 2^31 and 2^32, and one more per rank.
        for (const std::int64_t matrix :
             {std::int64_t{0}, 3 + std::int64_t{shape.rank}, kTwo31 / (T * S), B * H - 1}) {
            const std::int64_t b = matrix / H, h = matrix % H;
            const std::int64_t before = shape.rank == 4 ? b * base + h : matrix;
            for (std::int64_t q = 0; q < T; ++q) {
                // The index in all dimensions but the last, as a number in `base`.
                const std::int64_t row = shape.rank == 2 ? matrix * T + q : before * base + q;
                for (std::int64_t k = 0; k < S; ++k) {
                    want[static_cast<std::size_t>(q * S + k)] = static_cast<float>(row * base + k);
                }
            }
            CAPTURE(to_string(shape), matrix);
            CHECK(out.download(matrix * T * S, T * S) == want);
        }
    }
}

TEST_CASE("indices is correct past 2^32 elements, at ranks 2 to 4", "[day01][indices][huge]") {
    check_past_2_32(14303);  // one element per thread
    check_past_2_32(14304);  // float4
}

TEST_CASE("indices takes two launches for more than 2^31 float4s", "[day01][indices][huge]") {
    const std::int64_t M = 70001, K = 131072, base = 131072;  // 2.3e9 float4, cut before row 35,000
    need_device_memory(4 * M * K);
    gpu::Buffer<float> out(M * K);
    out.fill_bytes(0xff);
    indices_cuda(base, out.view({M, K}), {.path = IndicesPath::vectorized});
    std::vector<float> want(static_cast<std::size_t>(K));
    for (const std::int64_t m : {0, 1, 34999, 35000, 35001, 52500, 70000}) {
        for (std::int64_t k = 0; k < K; ++k) {
            want[static_cast<std::size_t>(k)] = static_cast<float>(m * base + k);
        }
        CAPTURE(m);
        CHECK(out.download(m * K, K) == want);
    }
}

}  // namespace
