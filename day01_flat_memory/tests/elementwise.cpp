// Elementwise operations: CPU references against results by hand, all paths against the references.
#include <cmath>
#include <cstring>
#include <limits>

#include "common/gpu/different.hpp"
#include "day01_flat_memory/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day01_flat_memory;
using namespace sixdays::testing;

namespace {

TEST_CASE("CPU references give the results worked by hand", "[day01][elementwise][small]") {
    const Tensor<float> a({2, 3}, {1, 2, 3, 4, 5, 6}), b({2, 3}, {10, 20, 30, 40, 50, 60});
    HostOut<float> sum({2, 3}), square({2, 3}), scaled({2, 3}), saxpy({2, 3});
    add_cpu(a.view(), b.view(), sum.view());
    CHECK(sum.matches(Tensor<float>({2, 3}, {11, 22, 33, 44, 55, 66})));
    square_cpu(a.view(), square.view());
    CHECK(square.matches(Tensor<float>({2, 3}, {1, 4, 9, 16, 25, 36})));
    scale_cpu(-0.5f, a.view(), scaled.view());
    CHECK(scaled.matches(Tensor<float>({2, 3}, {-0.5f, -1, -1.5f, -2, -2.5f, -3})));
    saxpy_cpu(2, a.view(), b.view(), saxpy.view());
    CHECK(saxpy.matches(Tensor<float>({2, 3}, {12, 24, 36, 48, 60, 72})));
}

TEST_CASE("invert gives the negative of every byte value", "[day01][elementwise][small]") {
    // By hand: black and white are exchanged, 1 becomes 254, and 127 and 128 are exchanged.
    const Tensor<std::uint8_t> few({5}, {0, 1, 127, 128, 255}), known({5}, {255, 254, 128, 127, 0});
    HostOut<std::uint8_t> out({5}, {}, Poison{77});
    invert_cpu(few.view(), out.view());
    CHECK(out.matches(known));
    // Each of the 256 byte values at each position of a 16-byte vector: 257 = 16 * 16 + 1.
    Tensor<std::uint8_t> all({16 * 257});
    for (std::int64_t i = 0; i < all.size(); ++i) {
        all(i) = static_cast<std::uint8_t>(i % 257 % 256);
    }
    DeviceIn<std::uint8_t> din(all);
    DeviceOut<std::uint8_t> got(all.shape());
    for (const ElementwisePath& path : elementwise_paths()) {
        CAPTURE(name(path));
        invert_cuda(din.view(), got.view(), {.path = path});
        const Tensor<std::uint8_t> values = got.values();
        for (std::int64_t i = 0; i < all.size(); ++i) REQUIRE(values(i) == 255 - all(i));
    }
}

TEST_CASE("saxpy rounds once, on the CPU and on the GPU", "[day01][elementwise][small]") {
    // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24. Rounding the product to float first loses the 2^-24, and
    // subtracting 1 + 2^-11 then gives 0. A single rounding at the end gives 2^-24.
    const float x = 1 + std::ldexp(1.0f, -12);
    const Tensor<float> in(Shape{1}, {x}), less(Shape{1}, {-(1 + std::ldexp(1.0f, -11))});
    const Tensor<float> answer(Shape{1}, {std::ldexp(1.0f, -24)});
    HostOut<float> want(Shape{1});
    saxpy_cpu(x, in.view(), less.view(), want.view());
    CHECK(want.matches(answer));
    DeviceIn<float> din(in), dless(less);
    for (const ElementwisePath& path : elementwise_paths()) {
        CAPTURE(name(path));
        DeviceOut<float> got(Shape{1});
        saxpy_cuda(x, din.view(), dless.view(), got.view(), {.path = path});
        CHECK(got.matches(answer));
    }
}

// --- kernels against CPU references --------------------------------------------------------------

// `lead` elements before the first: pointers 0, 4, 8 or 12 bytes past a multiple of 16.
// [a port against its loop]
void check_port(const Operation& op, AskedPath path, std::int64_t n, Lead lead_x, Lead lead_y,
                Lead lead_out) {
    CAPTURE(op.name, path ? name(*path) : "chosen", n);
    const Tensor<float> x = distinct<float>({n}), y = distinct<float>({n}, 7);
    HostOut<float> want({n});
    op.loop(x.view(), y.view(), want.view());
    DeviceIn<float> dx(x, lead_x), dy(y, lead_y);
    DeviceOut<float> got({n}, lead_out);
    op.port(path, dx.view(), dy.view(), got.view(), {});
    CHECK(got.matches(want));
    CHECK(dx.unchanged());
    CHECK(dy.unchanged());
    if (path && n > 0) CHECK(std::string(gpu::last_kernel()) == kernel_of(*path, op.name));
}
// [a port against its loop]

TEST_CASE("every path of add equals the CPU reference, at every size and alignment",
          "[day01][elementwise][small]") {
    const Operation add = operations(0)[0];
    for (const std::int64_t n : kSizes) {
        for (const std::int64_t lead : {0, 1, 3}) {
            CAPTURE(lead);
            check_port(add, nullptr, n, {lead}, {lead}, {lead});
            for (const ElementwisePath& path : elementwise_paths()) {
                check_port(add, &path, n, {lead}, {lead}, {lead});
            }
        }
    }
}

TEST_CASE("square, scale and saxpy equal the CPU reference", "[day01][elementwise][small]") {
    for (const Operation& op : operations(0.1f)) {
        for (const std::int64_t n : {1, 5, 257, 1023, 2049, 8193}) {
            for (const std::int64_t lead : {0, 1}) {
                CAPTURE(lead);
                check_port(op, nullptr, n, {lead}, {lead}, {lead});
                for (const ElementwisePath& path : elementwise_paths()) {
                    check_port(op, &path, n, {lead}, {lead}, {lead});
                }
            }
        }
        for (const ElementwisePath& path : elementwise_paths())
            check_port(op, &path, 70001, {2}, {2}, {2});
    }
}

TEST_CASE("add equals the CPU reference on a million elements", "[day01][elementwise][full]") {
    const Operation add = operations(0)[0];
    for (const ElementwisePath& path : elementwise_paths())
        check_port(add, &path, 1000003, {1}, {1}, {1});
}

TEST_CASE("the vectorized path rejects addresses that differ modulo 16",
          "[day01][elementwise][small]") {
    alignas(16) float memory[48] = {};
    const auto at = [&](int first) { return View<float>(memory + first, Shape{4}); };
    CHECK(rejection(
              [&] { add_cuda(at(16), at(1), at(35), {.path = ElementwisePath::vectorized}); }) ==
          "add: the path \"vectorized\" needs tensors that begin equally far past a multiple "
          "of 16 bytes, but these begin 0, 4, 12 bytes past one; \"any address\" takes them");
}

TEST_CASE("infinities, signed zeros and NaNs give the same on the CPU and on the GPU",
          "[day01][elementwise][small]") {
    const float inf = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float tiny = std::numeric_limits<float>::denorm_min();
    const float most = std::numeric_limits<float>::max();
    const std::vector<float> specials = {0.0f, -0.0f, 1,      inf,   -inf, nan,
                                         tiny, -tiny, 1e-20f, -most, most};
    const auto count = static_cast<std::int64_t>(specials.size());
    Tensor<float> a({count, count}), b({count, count});
    for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t j = 0; j < count; ++j) {
            a(i, j) = specials[static_cast<std::size_t>(i)];
            b(i, j) = specials[static_cast<std::size_t>(j)];
        }
    }
    // The same bits, except that any NaN matches any NaN: its bits differ between CPU and GPU.
    const auto agree = [](const Tensor<float>& got, const Tensor<float>& want) {
        bool all = true;
        for (std::int64_t i = 0; i < want.size(); ++i) {
            const float g = got.data()[i], w = want.data()[i];
            all &= std::isnan(w) ? std::isnan(g) : std::memcmp(&g, &w, sizeof g) == 0;
        }
        return all;
    };
    Tensor<float> want(a.shape());
    const DeviceIn<float> da(a), db(b);
    DeviceOut<float> got(a.shape());
    for (const float alpha : {0.0f, -0.0f, -1.0f, 0.5f, 1e-30f, inf, nan}) {
        for (const Operation& op : operations(alpha)) {
            op.loop(a.view(), b.view(), want.view());
            for (const ElementwisePath& path : elementwise_paths()) {
                CAPTURE(op.name, alpha, name(path));
                op.port(&path, da.view(), db.view(), got.view(), {});
                CHECK(agree(got.values(), want));
            }
        }
    }
    add_cpu(a.view(), b.view(), want.view());
    CHECK(std::signbit(want(1, 1)));  // -0 + -0 is -0
    square_cpu(a.view(), want.view());
    CHECK(want(8, 0) > 0);  // 1e-20 squared is below the smallest normal float, but not 0
    scale_cpu(0, a.view(), want.view());
    CHECK(std::isnan(want(3, 0)));  // 0 * infinity: no shortcut for alpha = 0
}

// --- more than 2^32 elements, on a GPU -----------------------------------------------------------

TEST_CASE("every operation is correct past 2^32 elements", "[day01][elementwise][huge]") {
    // Inputs repeat with a period that divides no power of two, so an offset that wrapped at 2^31
    // or 2^32 would read a wrong element. One period is computed on the CPU and copied repeatedly;
    // outputs are compared on the device.
    const std::int64_t n = 2 * kTwo31 + 7, period = 16776898;
    need_device_memory(3 * 4 * (n + 1));
    const Tensor<float> x = distinct<float>({period}), y = distinct<float>({period}, 7);
    Tensor<float> part({period});
    gpu::Buffer<float> dx(n), dy(n), out(n + 1), want(period);
    const auto parts = [&](auto visit) {
        for (std::int64_t first = 0; first < n; first += period) {
            visit(first, std::min(period, n - first));
        }
    };
    parts([&](std::int64_t first, std::int64_t count) {
        dx.upload(x.data(), count, first);
        dy.upload(y.data(), count, first);
    });
    for (const Operation& op : operations(3)) {
        op.loop(x.view(), y.view(), part.view());
        want.upload(part.data(), period);
        for (const ElementwisePath& path : elementwise_paths()) {
            CAPTURE(op.name, name(path));
            out.fill_bytes(0xff);
            op.port(&path, dx.view({n}), dy.view({n}), out.view({n}), {});
            std::int64_t different = 0;
            parts([&](std::int64_t first, std::int64_t count) {
                different += gpu::count_different(out.data() + first, want.data(), 4 * count);
            });
            CHECK(different == 0);
            CHECK(std::isnan(out.download(n, 1)[0]));  // nothing is written past the end
        }
    }
}

TEST_CASE("invert is correct past 2^31 bytes", "[day01][elementwise][huge]") {
    const std::int64_t n = kTwo31 + 7, period = 226 * 70001;  // distinct bytes have a period of 226
    need_device_memory(2 * (n + 1));
    const Tensor<std::uint8_t> in = distinct<std::uint8_t>({period});
    Tensor<std::uint8_t> want({period});
    invert_cpu(in.view(), want.view());
    gpu::Buffer<std::uint8_t> din(n), dout(n + 1);
    const auto parts = [&](auto visit) {
        for (std::int64_t first = 0; first < n; first += period) {
            visit(first, std::min(period, n - first));
        }
    };
    parts([&](std::int64_t first, std::int64_t count) { din.upload(in.data(), count, first); });
    for (const std::int64_t lead : {0, 1}) {  // 16-byte vectors, then single bytes
        dout.fill_bytes(0xff);
        invert_cuda(din.view({n}), dout.view(row_major({n}), lead));
        parts([&](std::int64_t first, std::int64_t count) {
            const std::vector<std::uint8_t> got = dout.download(first + lead, count);
            CAPTURE(lead, first);
            CHECK(std::memcmp(got.data(), want.data(), static_cast<std::size_t>(count)) == 0);
        });
        CHECK(dout.download(lead == 0 ? n : 0, 1)[0] == 0xff);  // nothing is written next to it
    }
}

}  // namespace
