// fill: one value in every element of any layout, and no other write.
#include <cstring>
#include <limits>
#include <string>

#include "common/gpu/device.hpp"
#include "common/gpu/fill.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/packings.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::testing;

namespace {

void check_fill(float value, const Layout& out, Lead lead = {}) {
    CAPTURE(value, to_string(out), lead.elements);
    Tensor<float> want(out.shape);
    for (std::int64_t k = 0; k < want.size(); ++k) want.data()[k] = value;
    DeviceOut<float> got(out, lead);
    gpu::fill(value, got.view());
    CHECK(got.matches(want));
}

TEST_CASE("fill accepts every size and address", "[gpu][fill][small]") {
    for (const std::int64_t n :
         {0, 1, 2, 3, 4, 5, 7, 8, 1023, 1024, 1025, 4095, 4096, 4097, 4100, 5003, 8192}) {
        for (const std::int64_t lead : {0, 1, 2, 3}) check_fill(2.5f, row_major({n}), {lead});
    }
    check_fill(-0.0f, row_major({5, 7}));
    check_fill(std::numeric_limits<float>::infinity(), Layout());
    float nan = 0;
    const std::uint32_t bits = 0x7FC12345;  // a NaN with a payload
    std::memcpy(&nan, &bits, sizeof nan);
    check_fill(nan, row_major({33}));
    check_fill(nan, Layout({3, 5}, {7, 1}));
}

TEST_CASE("fill accepts dimensions in every order and direction, and keeps gaps unchanged",
          "[gpu][fill][small]") {
    for (const Shape& shape : {Shape{3, 5}, Shape{2, 3, 5}, Shape{4, 2, 4}}) {
        for (const std::int64_t pad : {0, 1}) {
            packings::for_each_packing(shape.rank, pad, [&](const packings::Packing& packing) {
                check_fill(7, Layout(shape, packings::strides_of(packing, shape)));
            });
        }
    }
    check_fill(7, Layout({2, 2, 2, 2, 2, 2, 2, 2}, {3, 6, 12, 24, 48, 96, 192, 384}));
    check_fill(7, Layout({300, 7}, {11, 1}));
}

TEST_CASE("fill stores vectors if out is one contiguous run", "[gpu][fill][small]") {
    DeviceOut<float> out({3, 5});
    const View<float> v = out.view();
    const auto kernel_for = [&](const View<float>& to) {
        gpu::fill(1, to);
        return std::string(gpu::last_kernel());
    };
    CHECK(kernel_for(v) == "fill_vectorized_kernel");
    CHECK(kernel_for(transpose(v)) == "fill_vectorized_kernel");
    CHECK(kernel_for(columns(v, 1, 3)) == "fill_kernel");
    CHECK(kernel_for(flip(v, 0)) == "fill_kernel");
}

TEST_CASE("a contiguous fill stores 16 bytes per lane and reads nothing", "[gpu][fill][small]") {
    DeviceOut<float> out(Shape{32 * 1024});
    const auto touched = gpu::touched([&] { gpu::fill(1, out.view()); });
    CHECK(touched.has_value() == gpu::is_emulated());
    if (!touched) return;
    CHECK(touched->requests == 32 * 1024 / 4 / 32);
    CHECK(touched->sectors == 32 * 1024 / 8);
}

TEST_CASE("fill rejects repeated elements and a null pointer", "[gpu][fill][small]") {
    DeviceOut<float> d({2, 3});
    const auto why = [](View<float> out) { return rejection([&] { gpu::fill(1, out); }); };
    CHECK(why(broadcast_to(row(d.view(), 0), {4, 3})) ==
          "fill: out has shape (4, 3), strides (0, 1), where two indices may share one place; "
          "writers of it would race");
    CHECK(why({nullptr, Shape{2, 3}}) ==
          "fill: out is a null pointer, but its shape (2, 3) has 6 elements");
    CHECK(d.untouched());
    // An empty output needs no address and has no repeated elements.
    CHECK(why({nullptr, Layout({0, 4}, {0, 0})}) == "");
}

TEST_CASE("more than 2^31 elements are filled, contiguous or not", "[gpu][fill][huge]") {
    const std::int64_t n = (std::int64_t{1} << 31) + 12;
    need_device_memory(n * 4 + (1 << 20));
    gpu::Buffer<float> memory(n);
    const View<float> flat = memory.view(Shape{n});
    const auto check = [&](float value, const View<float>& out, const char* kernel) {
        gpu::fill(value, out);
        CHECK(std::string(gpu::last_kernel()) == kernel);
        for (const std::int64_t k : {std::int64_t{0}, std::int64_t{4097}, n / 2 - 1, n / 2,
                                     (std::int64_t{1} << 31) - 1, std::int64_t{1} << 31, n - 1}) {
            CAPTURE(k);
            CHECK(memory.download(k, 1)[0] == value);
        }
    };
    check(3, flat, "fill_vectorized_kernel");
    check(2, flip(flat, 0), "fill_kernel");
}

}  // namespace
