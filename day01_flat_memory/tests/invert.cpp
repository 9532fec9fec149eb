// invert: one byte an element, so sixteen in a quad.
#include <cstring>
#include "day01_flat_memory/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day01_flat_memory;
using namespace sixdays::testing;

namespace {

// `lead` bytes before the first: every distance from a multiple of 16.
void check_invert_port(std::int64_t n, Lead lead_in, Lead lead_out) {
    const Tensor<std::uint8_t> in = distinct<std::uint8_t>({n});  // 1 to 226, so never the poison
    HostOut<std::uint8_t> want({n});
    invert_cpu(in.view(), want.view());
    DeviceIn<std::uint8_t> din(in, lead_in);
    DeviceOut<std::uint8_t> got({n}, lead_out);
    invert_cuda(din.view(), got.view());
    CHECK(got.matches(want));
    CHECK(din.unchanged());
    if (n == 0) return;
    const bool agree = lead_in.elements % 16 == lead_out.elements % 16;
    CHECK(std::string(gpu::last_kernel()) == (agree ? "quads_kernel" : "any_address_kernel"));
    for (const ElementwisePath& path : elementwise_paths()) {
        if (needs_quads(&path) && !agree) continue;
        CAPTURE(name(path));
        DeviceOut<std::uint8_t> told({n}, lead_out);
        invert_cuda(din.view(), told.view(), {.path = path});
        CHECK(told.matches(want));
        CHECK(std::string(gpu::last_kernel()) == kernel_of(path, "invert"));
    }
}

TEST_CASE("invert equals its loop, from every address to every other",
          "[day01][elementwise][small]") {
    for (std::int64_t in = 0; in < 17; ++in) {
        for (std::int64_t out = 0; out < 17; ++out) {
            CAPTURE(in, out);
            check_invert_port(261, {in}, {out});
        }
    }
    std::vector<std::int64_t> sizes = kSizes;
    // One below, at and one above a block of 256 quads, and four of them.
    for (const std::int64_t n :
         {15, 16, 17, 29, 30, 4095, 8191, 8207, 16383, 16384, 16385, 70001}) {
        sizes.push_back(n);
    }
    for (const std::int64_t n : sizes) {
        for (const std::int64_t lead : {0, 1, 8, 15}) {
            CAPTURE(n, lead);
            check_invert_port(n, {lead}, {lead});
        }
        CAPTURE(n);
        check_invert_port(n, {3}, {0});
    }
}

TEST_CASE("invert equals its loop on a million bytes", "[day01][elementwise][full]") {
    check_invert_port(1000003, {5}, {5});
    check_invert_port(1000003, {5}, {6});
}

TEST_CASE("invert twice is what it was, in place and in any rank", "[day01][elementwise][small]") {
    for (const Shape& shape :
         {Shape{}, Shape{7}, Shape{3, 5, 11}, Shape{1, 2, 3, 4, 5, 1, 2, 3}, Shape{4, 0, 3}}) {
        CAPTURE(to_string(shape));
        const Tensor<std::uint8_t> in = distinct<std::uint8_t>(shape, 3);
        HostOut<std::uint8_t> want(shape);
        invert_cpu(in.view(), want.view());
        auto host = HostOut<std::uint8_t>::holding(in);
        invert_cpu(host.view(), host.view());
        CHECK(host.matches(want));
        auto both = DeviceOut<std::uint8_t>::holding(in, Lead{3});
        invert_cuda(both.view(), both.view());
        CHECK(both.matches(want));
        for (const ElementwisePath& path : elementwise_paths()) {
            CAPTURE(name(path));
            invert_cuda(both.view(), both.view(), {.path = path});
            CHECK(both.matches(in));
            invert_cuda(both.view(), both.view(), {.path = path});
            CHECK(both.matches(want));
        }
    }
}

TEST_CASE("invert refuses other shapes, gaps, null pointers and overlap",
          "[day01][elementwise][small]") {
    Tensor<std::uint8_t> x({2, 3}), out({2, 3}), wide({3, 2}), run({9});
    const auto both = [](View<const std::uint8_t> in, View<std::uint8_t> to, const char* words) {
        return both_refuse([&] { invert_cpu(in, to); }, [&] { invert_cuda(in, to); }, words);
    };
    const View<std::uint8_t> null(nullptr, Shape{2, 3});
    const View<std::uint8_t> transposed(x.data(), Layout({2, 3}, {1, 2}));
    const View<std::uint8_t> low(run.data(), Shape{8}), high(run.data() + 1, Shape{8});
    CHECK(both(wide.view(), out.view(),
               "invert: in has shape (3, 2), but out has shape (2, 3); they must be equal"));
    CHECK(
        both(transposed, out.view(), "invert: in has shape (2, 3), strides (1, 2), which is not"));
    CHECK(
        both(out.view(), transposed, "invert: out has shape (2, 3), strides (1, 2), which is not"));
    CHECK(both(null, out.view(), "invert: in is a null pointer"));
    CHECK(both(x.view(), null, "invert: out is a null pointer"));
    CHECK(both(low, high, "invert: in and out overlap without being the same tensor"));
    Tensor<std::uint8_t> all({64});
    const View<std::uint8_t> at3(all.data() + 3, Shape{8}), at32(all.data() + 32, Shape{8});
    CHECK(refusal([&] { invert_cuda(at3, at32, {.path = ElementwisePath::quads}); }) != "");
    const View<std::uint8_t> nothing(nullptr, Shape{3, 0});
    invert_cpu(nothing, nothing);
    invert_cuda(nothing, nothing);
    for (const ElementwisePath& path : elementwise_paths()) {
        invert_cuda(nothing, nothing, {.path = path});
    }
}

TEST_CASE("invert reaches past 2^31 bytes", "[day01][elementwise][huge]") {
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
    for (const std::int64_t lead : {0, 1}) {  // quads, then single bytes
        dout.fill_bytes(0xff);
        invert_cuda(din.view({n}), dout.view(row_major({n}), lead));
        parts([&](std::int64_t first, std::int64_t count) {
            const std::vector<std::uint8_t> got = dout.download(first + lead, count);
            CAPTURE(lead, first);
            CHECK(std::memcmp(got.data(), want.data(), static_cast<std::size_t>(count)) == 0);
        });
        CHECK(dout.download(lead == 0 ? n : 0, 1)[0] == 0xff);  // nothing written beside it
    }
}

}  // namespace
