// The picture: every pixel.
#include <cmath>
#include "day01_flat_memory/tests/helpers.hpp"

#include "common/gpu/trace.hpp"
#include "day01_flat_memory/offsets.hpp"

using namespace sixdays;
using namespace sixdays::day01_flat_memory;
using namespace sixdays::testing;

namespace {

TEST_CASE("with c = 0 the picture is a disc, and the steps are those of repeated squaring",
          "[day01][picture][small]") {
    // z, z^2, z^4, ...: |z| <= 1 never escapes; |z| = 1.5 exceeds 2 at 2.25, after one step;
    // |z| = 1.25 at 1.25^4 = 2.44, after two. Height 5 in 10 rows: pixel centres are at +-0.25,
    // +-0.75, +-1.25, +-1.75, +-2.25 in y, and as far apart in x.
    const Julia disc{0, 0, 5};
    Tensor<std::uint8_t> p({10, 14});
    picture_cpu(disc, p.view());
    CHECK(p(4, 7) == kMostSteps);  // (0.25, 0.25)
    CHECK(p(4, 8) == kMostSteps);  // (0.75, 0.25)
    CHECK(p(4, 9) == 2);           // (1.25, 0.25): 1.27, 1.63, 2.64
    CHECK(p(4, 10) == 1);          // (1.75, 0.25): 1.77, 3.13
    CHECK(p(4, 11) == 0);          // (2.25, 0.25)
    CHECK(p(0, 7) == 0);           // (0.25, 2.25)
    CHECK(p(3, 13) == 0);
}

TEST_CASE("x runs along a row: a wide picture is not a tall one", "[day01][picture][small]") {
    const Julia julia;
    Tensor<std::uint8_t> p({5, 12});
    picture_cpu(julia, p.view());
    for (std::int64_t y = 0; y < 5; ++y) {
        for (std::int64_t x = 0; x < 12; ++x) {
            CHECK(p.data()[y * 12 + x] == julia_steps(julia, x, y, 12, 5));
            CHECK(p(y, x) == p(4 - y, 11 - x));  // z and -z have the same square
        }
    }
}

// A picture around the origin cannot detect a 180-degree rotation: z and -z have the same square.
TEST_CASE("a picture that is not centred on the origin is in the right place and depends on c",
          "[day01][picture][small]") {
    Julia disc{0, 0, 2};
    disc.centre_re = 1;
    disc.centre_im = 1;
    Tensor<std::uint8_t> p({4, 4});
    picture_cpu(disc,
                p.view());  // rows and columns at 0.25, 0.75, 1.25, 1.75; row 0 is the highest
    CHECK(p(3, 0) == kMostSteps);  // (0.25, 0.25)
    CHECK(p(0, 0) == 1);           // (0.25, 1.75): 1.77, 3.13
    CHECK(p(0, 3) == 0);           // (1.75, 1.75)
    for (const Julia& julia : {disc, Julia{-0.4f, 0.6f, 1.5f, 0.3f, -0.2f}}) {
        HostOut<std::uint8_t> want({9, 33});
        DeviceOut<std::uint8_t> got({9, 33});
        picture_cpu(julia, want.view());
        picture_cuda(julia, got.view());
        CHECK(got.matches(want));
        CHECK(!equal(want.values(), p));
    }
}

TEST_CASE("picture_cuda equals picture_cpu in every pixel", "[day01][picture][small]") {
    for (const Shape& shape : {Shape{1, 1}, Shape{7, 31}, Shape{8, 32}, Shape{9, 33}, Shape{50, 3},
                               Shape{3, 50}, Shape{41, 67}, Shape{0, 3}, Shape{3, 0}}) {
        CAPTURE(to_string(shape));
        HostOut<std::uint8_t> want(shape);
        picture_cpu({}, want.view());
        DeviceOut<std::uint8_t> got(shape, Lead{1});
        picture_cuda({}, got.view());
        CHECK(got.matches(want));
    }
    picture_cuda({}, View<std::uint8_t>(nullptr, Shape{0, 4}));  // 0 elements allow a null pointer
}

TEST_CASE("picture_cuda equals picture_cpu on a large picture", "[day01][picture][full]") {
    HostOut<std::uint8_t> want({401, 603});
    DeviceOut<std::uint8_t> got({401, 603});
    picture_cpu({}, want.view());
    picture_cuda({}, got.view());
    CHECK(got.matches(want));
}

TEST_CASE("picture rejects an output that is not a contiguous matrix", "[day01][picture][small]") {
    Tensor<std::uint8_t> x({2, 3, 4});
    const auto both = [](View<std::uint8_t> out, const char* words) {
        return both_reject([&] { picture_cpu({}, out); }, [&] { picture_cuda({}, out); }, words);
    };
    CHECK(both(x.view(), "picture: out has shape (2, 3, 4) of rank 3, but rank 2 is needed"));
    CHECK(both({x.data(), Layout({2, 3}, {4, 1})}, "not contiguous"));
    CHECK(both({nullptr, Shape{2, 3}}, "picture: out is a null pointer"));
    CHECK(both({nullptr, Shape{kMostRows + 1, 1}}, "picture: out has 524281 rows"));
}

TEST_CASE("a point at a distance of exactly 2 has not escaped", "[day01][picture][small]") {
    // One pixel at the origin, moved to z = 2 and z = 2i; c = -2 keeps 2 at 2 * 2 - 2 = 2 forever,
    // and -2 at 2 from then on.
    for (const float re : {2.0f, -2.0f}) {
        CHECK(julia_steps(Julia{-2, 0, 1, re, 0}, 0, 0, 1, 1) == kMostSteps);
    }
    CHECK(julia_steps(Julia{-2, 0, 1, std::nextafter(2.0f, 3.0f), 0}, 0, 0, 1, 1) == 0);
    CHECK(julia_steps(Julia{0, 0, 1, 0, 2}, 0, 0, 1, 1) == 1);  // |2i| = 2, its square is -4
}

TEST_CASE("the picture is correct past 2^31 pixels", "[day01][picture][full]") {
    const std::int64_t H = 32776, W = 65536;  // 2^31 + 8 * 65,536 pixels of one byte
    if (!gpu::is_emulated()) need_device_memory(H * W);
    gpu::Buffer<std::uint8_t> out(H * W);
    const Julia far{2, 2, 1, 5, 5};  // |z| > 2 everywhere: zero steps
    const std::uint64_t columns = 65536 / 32, rows = 32776 / 8;
    const auto launch = [&] { picture_cuda(far, out.view({H, W})); };
    // The last block of the last row of blocks. A GPU runs them all.
    if (!gpu::run_only_blocks(columns * rows - 1, 1, launch)) launch();
    for (std::int64_t y = H - 8; y < H; ++y) {
        const std::vector<std::uint8_t> got = out.download(offset2(y, W - 32, W), 32);
        CHECK(got == std::vector<std::uint8_t>(32, 0));
    }
}

}  // namespace
