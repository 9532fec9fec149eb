// count_different: every byte counts once, whatever the alignment of the two arrays.
#include <limits>

#include "common/gpu/different.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::testing;
using gpu::Buffer;
using gpu::count_different;

namespace {

TEST_CASE("equal arrays give 0, and every differing byte is counted", "[gpu][small]") {
    for (const std::int64_t n : {1, 2, 15, 16, 17, 255, 256, 257, 4099, 70001}) {
        const Tensor<std::uint8_t> x = distinct<std::uint8_t>({n});
        const Buffer<std::uint8_t> a(x);
        Buffer<std::uint8_t> b(x);
        CAPTURE(n);
        CHECK(count_different(a, b) == 0);
        b.fill_bytes(0xff);  // distinct bytes are 1 to 226
        CHECK(count_different(a, b) == n);
    }
}

TEST_CASE("a differing byte is found at every position", "[gpu][small]") {
    const std::int64_t n = 53;  // three float4s, and five bytes
    const Tensor<std::uint8_t> x = distinct<std::uint8_t>({n});
    const Buffer<std::uint8_t> a(x);
    Buffer<std::uint8_t> b(x);
    for (std::int64_t at = 0; at < n; ++at) {
        for (const int bit : {1, 128}) {
            const std::uint8_t right = x(at);
            const auto wrong = static_cast<std::uint8_t>(right ^ bit);
            b.upload(&wrong, 1, at);
            CAPTURE(at, bit);
            CHECK(count_different(a, b) == 1);
            // A range that ends before it, or begins after it, is equal.
            CHECK(count_different(a.data(), b.data(), at) == 0);
            CHECK(count_different(a.data() + at + 1, b.data() + at + 1, n - at - 1) == 0);
            b.upload(&right, 1, at);
        }
    }
}

TEST_CASE("arrays may start at any addresses, equally aligned or not", "[gpu][small]") {
    const std::int64_t n = 100;
    const Tensor<std::uint8_t> x = distinct<std::uint8_t>({n});
    for (std::int64_t in = 0; in < 17; ++in) {
        for (std::int64_t out : {0, 1, 15}) {
            Buffer<std::uint8_t> a(n + 17), b(n + 17);
            a.fill_bytes(1);
            b.fill_bytes(2);
            a.upload(x.data(), n, in);
            b.upload(x.data(), n, out);
            CAPTURE(in, out);
            CHECK(count_different(a.data() + in, b.data() + out, n) == 0);
            CHECK(count_different(a.data() + in, b.data() + out, n + 1) == 1);
        }
    }
}

TEST_CASE("bytes after the first grid-stride iteration count too", "[gpu][small]") {
    // At odd addresses, 4,096 blocks of 256 threads cover 2^20 bytes per iteration.
    const std::int64_t n = (1 << 20) + 300;
    Buffer<std::uint8_t> a(n + 1), b(n + 1);
    a.fill_bytes(7);
    b.fill_bytes(7);
    const std::uint8_t other = 8;
    for (const std::int64_t at : {std::int64_t{1} << 20, n - 1}) b.upload(&other, 1, at + 1);
    CHECK(count_different(a.data() + 1, b.data() + 1, n) == 2);
    CHECK(count_different(a.data() + 1, b.data() + 1, 1 << 20) == 0);
}

TEST_CASE("bits are compared, not values", "[gpu][small]") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Buffer<float> a(Tensor<float>({3}, {nan, 0.0f, 1})),
        same(Tensor<float>({3}, {nan, 0, 1}));
    const Buffer<float> other(Tensor<float>({3}, {nan, -0.0f, 1}));
    CHECK(count_different(a, same) == 0);
    CHECK(count_different(a, other) == 1);
}

TEST_CASE("empty ranges are equal, and invalid ranges are rejected", "[gpu][small]") {
    CHECK(count_different(nullptr, nullptr, 0) == 0);
    CHECK(count_different(Buffer<float>(0), Buffer<float>(0)) == 0);
    const Buffer<float> a(3), b(4);
    CHECK(rejection([&] { (void)count_different(a, b); }) ==
          "count_different: one buffer has 3 elements, the other 4");
    CHECK(rejection([&] { (void)count_different(a.data(), b.data(), -1); }) ==
          "count_different: -1 bytes");
    CHECK(rejection([&] { (void)count_different(a.data(), nullptr, 4); }) ==
          "count_different: a null pointer, but 4 bytes");
}

}  // namespace
