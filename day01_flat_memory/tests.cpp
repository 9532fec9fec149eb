// The proof of Day 01. Loops against answers from outside the code, ports against loops, over every
// element. Tags: [small] runs everywhere, [full] not under sanitizers, [huge] on a GPU only.
#include "common/testing/testing.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/graph.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/index.hpp"
#include "day01_flat_memory/elementwise.hpp"
#include "day01_flat_memory/fill.hpp"
#include "day01_flat_memory/first.hpp"
#include "day01_flat_memory/offsets.hpp"
#include "day01_flat_memory/parameters.hpp"
#include "day01_flat_memory/picture.hpp"
#include "day01_flat_memory/steps/steps.hpp"

using namespace sixdays;
using namespace sixdays::day01_flat_memory;
using namespace sixdays::testing;

namespace {

constexpr std::int64_t kTwo31 = std::int64_t{1} << 31;

// --- offsets -------------------------------------------------------------------------------------

TEST_CASE("the offset in a 3 x 3 matrix of 1..9", "[day01][offsets][small]") {
    const Tensor<int> x({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(offset2(1, 2, 3) == 5);
    CHECK(x.data()[offset2(1, 2, 3)] == 6);
    CHECK(x.data()[offset2(2, 1, 3)] == 8);  // rows and columns swapped would give 6
}

TEST_CASE("offsets count 0, 1, 2, ... in the order of the loop nest", "[day01][offsets][small]") {
    const std::int64_t B = 2, NH = 3, T = 4, S = 5;
    std::int64_t next = 0;
    for (std::int64_t b = 0; b < B; ++b) {
        for (std::int64_t h = 0; h < NH; ++h) {
            for (std::int64_t q = 0; q < T; ++q) {
                for (std::int64_t k = 0; k < S; ++k, ++next) {
                    CHECK(offset4(b, h, q, k, NH, T, S) == next);
                    CHECK(offset(row_major({B, NH, T, S}), b, h, q, k) == next);
                    CHECK(offset3(b * NH + h, q, k, T, S) == next);  // two dims seen as one
                    CHECK(offset2((b * NH + h) * T + q, k, S) == next);
                }
            }
        }
    }
    CHECK(next == 120);
}

TEST_CASE("a row pointer and the last index give the whole offset", "[day01][offsets][small]") {
    const std::int64_t B = 3, T = 5, C = 7;
    const Tensor<float> x = distinct<float>({B, T, C});
    for (std::int64_t b = 0; b < B; ++b) {
        for (std::int64_t t = 0; t < T; ++t) {
            const float* token = token_at(x.data(), b, t, T, C);
            for (std::int64_t c = 0; c < C; ++c)
                CHECK(&token[c] == x.data() + offset3(b, t, c, T, C));
        }
    }
}

TEST_CASE("offsets do not wrap at 2^31 or 2^32 elements", "[day01][offsets][small]") {
    // Worked by hand: 128 * 4096 * 4096 is 2^31 exactly, so the last offset is the largest int.
    CHECK(offset3(127, 4095, 4095, 4096, 4096) == 2147483647);
    CHECK(offset3(128, 0, 0, 4096, 4096) == kTwo31);
    CHECK(offset2(65536, 1, 65536) == 2 * kTwo31 + 1);
    // 32 sequences, 12 heads, 4,096 positions: 32 * 12 * 4096 * 4096 elements.
    CHECK(offset4(31, 11, 4095, 4095, 12, 4096, 4096) == 6442450943);
}

// --- one allocation, many tensors ----------------------------------------------------------------

TEST_CASE("GPT-2 124M has 124,475,904 parameters in 16 tensors", "[day01][parameters][small]") {
    std::vector<Part> parts = gpt2_parameters();
    const std::int64_t total = cut(parts);
    REQUIRE(parts.size() == 16);
    CHECK(total == 124475904);  // 124,475,136 is the sum without the last tensor
    // Begins, by hand: 50,304 * 768, then + 1,024 * 768, + 12 * 768, ...
    const struct {
        const char* name;
        Shape shape;
        std::int64_t first;
    } llm_c[] = {{"wte", {50304, 768}, 0},
                 {"wpe", {1024, 768}, 38633472},
                 {"ln1w", {12, 768}, 39419904},
                 {"ln1b", {12, 768}, 39429120},
                 {"qkvw", {12, 2304, 768}, 39438336},
                 {"qkvb", {12, 2304}, 60672000},
                 {"attprojw", {12, 768, 768}, 60699648},
                 {"attprojb", {12, 768}, 67777536},
                 {"ln2w", {12, 768}, 67786752},
                 {"ln2b", {12, 768}, 67795968},
                 {"fcw", {12, 3072, 768}, 67805184},
                 {"fcb", {12, 3072}, 96116736},
                 {"fcprojw", {12, 768, 3072}, 96153600},
                 {"fcprojb", {12, 768}, 124465152},
                 {"lnfw", {768}, 124474368},
                 {"lnfb", {768}, 124475136}};
    for (std::size_t i = 0; i < 16; ++i) {
        CAPTURE(llm_c[i].name);
        CHECK(parts[i].name == llm_c[i].name);
        CHECK(parts[i].shape == llm_c[i].shape);
        CHECK(parts[i].first == llm_c[i].first);
    }
    CHECK(parts[0].count == 38633472);  // 50,304 * 768
    CHECK(parts[15].count == 768);
    for (std::size_t i = 1; i < parts.size(); ++i) {
        CHECK(parts[i].first == parts[i - 1].first + parts[i - 1].count);
    }
}

TEST_CASE("an empty tensor takes no room in the cut", "[day01][parameters][small]") {
    std::vector<Part> parts = {{"a", {2, 3}}, {"b", {0, 5}}, {"c", {}}, {"d", {4}}};
    CHECK(cut(parts) == 11);
    CHECK(parts[1].first == 6);
    CHECK(parts[2].first == 6);
    CHECK(parts[2].count == 1);  // rank 0 has one element
    CHECK(parts[3].first == 7);
    std::vector<Part> nothing;
    CHECK(cut(nothing) == 0);
}

TEST_CASE("a cut refuses negative shapes and totals beyond 64 bits", "[day01][parameters][small]") {
    std::vector<Part> negative = {{"a", {2, -3}}};
    CHECK(refusal([&] { cut(negative); }) ==
          "shape (2, -3): the extent of dim 1 is -3, and an extent cannot be negative");
    const std::int64_t large = std::int64_t{1} << 62;
    std::vector<Part> two = {{"a", {large}}, {"b", {large}}};
    CHECK(refusal([&] { cut(two); }) == "cut: the total up to b does not fit in 64 bits");
}

TEST_CASE("bytes of a KV cache", "[day01][parameters][small]") {
    CHECK(kv_cache_bytes({}, 1024, 4) == 75497472);   // 72 MiB: 2 * 12 * 12 * 1024 * 64 * 4
    CHECK(kv_cache_bytes({}, 2048, 4) == 150994944);  // 144 MiB
    CHECK(kv_cache_bytes({}, 0, 4) == 0);
    // A large model: 2 * 80 * 64 * 131072 * 128 * 2 bytes = 320 GiB, far beyond 32 bits.
    Gpt2Sizes large;
    large.L = 80;
    large.NH = 64;
    large.C = 8192;
    CHECK(kv_cache_bytes(large, 131072, 2) == 343597383680);
    CHECK(refusal([] {
              Gpt2Sizes odd;
              odd.NH = 5;
              (void)kv_cache_bytes(odd, 1024, 4);
          }) == "kv_cache_bytes: 768 channels cannot be shared by 5 heads");
    CHECK(refusal([] { (void)kv_cache_bytes({}, -1, 4); }) != "");
    CHECK(refusal([&] { (void)kv_cache_bytes(large, kTwo31 << 31, 2); }) != "");
}

// --- the first kernel ----------------------------------------------------------------------------

TEST_CASE("one thread adds two numbers", "[day01][first][small]") {
    CHECK(add_two_numbers_cuda(2, 7) == 9);
    CHECK(add_two_numbers_cuda(-0.5f, 0.25f) == -0.25f);
}

// --- elementwise: loops --------------------------------------------------------------------------

TEST_CASE("loops give answers worked by hand", "[day01][elementwise][small]") {
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

TEST_CASE("invert gives the negative of every byte there is", "[day01][elementwise][small]") {
    // By hand: black and white change places, 1 becomes 254, and 127 and 128 change places.
    const Tensor<std::uint8_t> few({5}, {0, 1, 127, 128, 255}), known({5}, {255, 254, 128, 127, 0});
    HostOut<std::uint8_t> out({5}, {}, Poison{77});
    invert_cpu(few.view(), out.view());
    CHECK(out.matches(known));
    // Each of the 256 bytes at each place of a piece of 16 bytes: 257 = 16 * 16 + 1.
    Tensor<std::uint8_t> all({16 * 257});
    for (std::int64_t i = 0; i < all.size(); ++i) {
        all(i) = static_cast<std::uint8_t>(i % 257 % 256);
    }
    DeviceIn<std::uint8_t> din(all);
    DeviceOut<std::uint8_t> got(all.shape());
    invert_cuda(din.view(), got.view());
    const Tensor<std::uint8_t> values = got.values();
    for (std::int64_t i = 0; i < all.size(); ++i) REQUIRE(values(i) == 255 - all(i));
}

TEST_CASE("saxpy rounds once, in loop and port", "[day01][elementwise][small]") {
    // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24. As a float of its own the product loses its 2^-24; less
    // 1 + 2^-11 it then leaves 0, where one rounding at the end leaves 2^-24.
    const float x = 1 + std::ldexp(1.0f, -12);
    const Tensor<float> in(Shape{1}, {x}), less(Shape{1}, {-(1 + std::ldexp(1.0f, -11))});
    const Tensor<float> answer(Shape{1}, {std::ldexp(1.0f, -24)});
    HostOut<float> want(Shape{1});
    saxpy_cpu(x, in.view(), less.view(), want.view());
    CHECK(want.matches(answer));
    DeviceIn<float> din(in), dless(less);
    DeviceOut<float> got(Shape{1});
    saxpy_cuda(x, din.view(), dless.view(), got.view());
    CHECK(got.matches(answer));
}

// --- elementwise: ports against loops ------------------------------------------------------------

// One below, at and one above a warp, a block, two blocks of quads; primes.
const std::vector<std::int64_t> kSizes = {
    0,   1,    2,    3,    4,    5,    6,    7,    8,    31,   32,   33,   127,  255,  256,
    257, 1021, 1023, 1024, 1025, 2047, 2048, 2049, 2051, 4096, 4099, 8192, 8193, 20011};

using Add = void (*)(View<const float>, View<const float>, View<float>, gpu::Stream);
const struct {
    const char* name;
    Add add;
} kLadder[] = {{"add_one_element", add_one_element},     {"add_grid_stride", add_grid_stride},
               {"add_sixteen_bytes", add_sixteen_bytes}, {"add_two_in_flight", add_two_in_flight},
               {"add_any_address", add_any_address},     {"add_cuda", add_cuda}};

// `lead` elements before the first: pointers that lie 0, 4, 8 or 12 bytes past a multiple of 16.
// [a port against its loop]
void check_add_port(Add add, std::int64_t n, Lead lead_a, Lead lead_b, Lead lead_out) {
    const Tensor<float> a = distinct<float>({n}), b = distinct<float>({n}, 7);
    HostOut<float> want({n});
    add_cpu(a.view(), b.view(), want.view());
    DeviceIn<float> da(a, lead_a), db(b, lead_b);
    DeviceOut<float> got({n}, lead_out);
    add(da.view(), db.view(), got.view(), {});
    CHECK(got.matches(want));
    CHECK(da.unchanged());
    CHECK(db.unchanged());
}
// [a port against its loop]

TEST_CASE("every step of the ladder equals the loop, at every size and head",
          "[day01][elementwise][small]") {
    for (const auto& step : kLadder) {
        for (const std::int64_t n : kSizes) {
            for (std::int64_t lead = 0; lead < 4; ++lead) {
                CAPTURE(step.name, n, lead);
                check_add_port(step.add, n, {lead}, {lead}, {lead});
            }
        }
    }
}

TEST_CASE("every step of the ladder equals the loop on a million elements",
          "[day01][elementwise][full]") {
    for (const auto& step : kLadder) {
        CAPTURE(step.name);
        check_add_port(step.add, 1000003, {1}, {1}, {1});
    }
}

TEST_CASE("add takes pointers that agree on no multiple of 16", "[day01][elementwise][small]") {
    for (std::int64_t lead = 0; lead < 4 * 4 * 4; ++lead) {
        CAPTURE(lead);
        check_add_port(add_cuda, 261, {lead / 16}, {lead / 4 % 4}, {lead % 4});
    }
}

TEST_CASE("add chooses 16-byte loads exactly where the pointers agree",
          "[day01][elementwise][small]") {
    alignas(16) float memory[16] = {};
    const auto at = [&](int first) { return View<float>(memory + first, Shape{4}); };
    for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) {
            for (int out = 0; out < 4; ++out) {
                const bool agree = a == b && b == out;
                CAPTURE(a, b, out);
                CHECK(choose_add(at(a), at(b), at(out)) ==
                      (agree ? AddPath::sixteen_bytes : AddPath::any_address));
                if (agree) CHECK(head_before_16(at(a), at(b), at(out)) == (4 - out) % 4);
            }
        }
    }
    CHECK(refusal([&] { add_two_in_flight(at(0), at(1), at(0)); }) != "");
    CHECK(refusal([&] { add_sixteen_bytes(at(0), at(0), at(3)); }) != "");
}

TEST_CASE("add takes the path that it chose", "[day01][elementwise][small]") {
    const Tensor<float> a = distinct<float>({1000}), b = distinct<float>({1000}, 7);
    DeviceIn<float> da(a), db(b), db1(b, Lead{1});
    DeviceOut<float> got({1000});
    add_cuda(da.view(), db.view(), got.view());
    CHECK(std::string(gpu::last_kernel()) == "add_two_in_flight_kernel");
    add_cuda(da.view(), db1.view(), got.view());
    CHECK(std::string(gpu::last_kernel()) == "add_any_address_kernel");
}

// An operation of one input: every size at every address, and one size beyond 2^16.
template <class Cpu, class Cuda>
void check_unary_port(const char* kernel, Cpu cpu, Cuda cuda) {
    std::vector<std::int64_t> sizes = kSizes;
    sizes.push_back(70001);
    for (const std::int64_t n : sizes) {
        for (std::int64_t lead = 0; lead < 4; ++lead) {
            CAPTURE(kernel, n, lead);
            const Tensor<float> in = seeded<float>({n}, 1, -3, 5);
            HostOut<float> want({n});
            cpu(in.view(), want.view());
            DeviceIn<float> din(in, Lead{lead});
            DeviceOut<float> got({n}, Lead{3 - lead});
            cuda(din.view(), got.view());
            CHECK(got.matches(want));
            CHECK(din.unchanged());
            if (n > 0) CHECK(std::string(gpu::last_kernel()) == kernel);
        }
    }
}

TEST_CASE("square, scale and saxpy equal their loops, at every size and address",
          "[day01][elementwise][small]") {
    check_unary_port("square_kernel", square_cpu, [](auto in, auto out) { square_cuda(in, out); });
    check_unary_port(
        "scale_kernel", [](auto in, auto out) { scale_cpu(0.1f, in, out); },
        [](auto in, auto out) { scale_cuda(0.1f, in, out); });
    std::vector<std::int64_t> sizes = kSizes;
    sizes.push_back(70001);
    for (const std::int64_t n : sizes) {
        for (std::int64_t lead = 0; lead < 4; ++lead) {
            CAPTURE(n, lead);
            const Tensor<float> x = seeded<float>({n}, 2, -3, 5), y = seeded<float>({n}, 3, -1, 1);
            HostOut<float> want({n});
            saxpy_cpu(0.1f, x.view(), y.view(), want.view());
            DeviceIn<float> dx(x, Lead{lead}), dy(y, Lead{2});
            DeviceOut<float> got({n}, Lead{3 - lead});
            saxpy_cuda(0.1f, dx.view(), dy.view(), got.view());
            CHECK(got.matches(want));
            CHECK(dx.unchanged());
            CHECK(dy.unchanged());
            if (n > 0) CHECK(std::string(gpu::last_kernel()) == "saxpy_kernel");
        }
    }
}

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
    CHECK(choose_invert(din.view(), got.view()) ==
          (agree ? InvertPath::sixteen_bytes : InvertPath::single_bytes));
    CHECK(std::string(gpu::last_kernel()) ==
          (agree ? "invert_sixteen_kernel" : "invert_single_kernel"));
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
    // One below, at and one above a block of pieces: 4 * 256 * 16 bytes.
    for (const std::int64_t n : {15, 16, 17, 29, 30, 4095, 16383, 16384, 16385, 70001}) {
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
    CHECK(std::string(name(InvertPath::sixteen_bytes)) == "16 bytes a load");
    CHECK(std::string(name(InvertPath::single_bytes)) == "single bytes");
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
        invert_cuda(both.view(), both.view());
        CHECK(both.matches(in));
    }
}

TEST_CASE("invert refuses other shapes, gaps, null pointers and overlap",
          "[day01][elementwise][small]") {
    Tensor<std::uint8_t> x({2, 3}), out({2, 3}), wide({3, 2}), run({9});
    const auto both = [](View<const std::uint8_t> in, View<std::uint8_t> to, const char* words) {
        return both_refuse([&] { invert_cpu(in, to); }, [&] { invert_cuda(in, to); }, words);
    };
    const View<std::uint8_t> null(nullptr, Shape{2, 3});
    const View<std::uint8_t> turned(x.data(), Layout({2, 3}, {1, 2}));
    const View<std::uint8_t> low(run.data(), Shape{8}), high(run.data() + 1, Shape{8});
    CHECK(both(wide.view(), out.view(),
               "invert: in has shape (3, 2), but out has shape (2, 3); they must be equal"));
    CHECK(both(turned, out.view(), "invert: in has shape (2, 3), strides (1, 2), which is not"));
    CHECK(both(out.view(), turned, "invert: out has shape (2, 3), strides (1, 2), which is not"));
    CHECK(both(null, out.view(), "invert: in is a null pointer"));
    CHECK(both(x.view(), null, "invert: out is a null pointer"));
    CHECK(both(low, high, "invert: in and out overlap without being the same tensor"));
    const View<std::uint8_t> nothing(nullptr, Shape{3, 0});
    invert_cpu(nothing, nothing);
    invert_cuda(nothing, nothing);
}

TEST_CASE("elementwise operations take any rank from 0 to 8", "[day01][elementwise][small]") {
    for (const Shape& shape : {Shape{}, Shape{7}, Shape{3, 5}, Shape{2, 3, 5},
                               Shape{1, 2, 3, 4, 5, 1, 2, 3}, Shape{4, 0, 3}}) {
        CAPTURE(to_string(shape));
        const Tensor<float> a = distinct<float>(shape), b = distinct<float>(shape, 3);
        HostOut<float> want(shape);
        add_cpu(a.view(), b.view(), want.view());
        DeviceIn<float> da(a), db(b);
        DeviceOut<float> got(shape);
        add_cuda(da.view(), db.view(), got.view());
        CHECK(got.matches(want));
    }
}

TEST_CASE("an input may be the output itself", "[day01][elementwise][small]") {
    const std::int64_t n = 1025;
    const Tensor<float> x = distinct<float>({n}), b = distinct<float>({n}, 7);
    HostOut<float> want({n});
    add_cpu(x.view(), b.view(), want.view());
    DeviceIn<float> db(b);
    for (const auto& step : kLadder) {
        CAPTURE(step.name);
        auto both = DeviceOut<float>::holding(x);
        step.add(both.view(), db.view(), both.view(), {});
        CHECK(both.matches(want));
    }
    auto host = HostOut<float>::holding(x);
    add_cpu(host.view(), b.view(), host.view());
    CHECK(host.matches(want));

    auto host_second = HostOut<float>::holding(x);  // the loops too: b is the output
    add_cpu(b.view(), host_second.view(), host_second.view());
    CHECK(host_second.matches(want));
    HostOut<float> apart({n});
    saxpy_cpu(3, b.view(), x.view(), apart.view());
    auto host_y = HostOut<float>::holding(x);
    saxpy_cpu(3, b.view(), host_y.view(), host_y.view());
    CHECK(host_y.matches(apart));
    saxpy_cpu(3, x.view(), b.view(), apart.view());
    auto host_x = HostOut<float>::holding(x);
    saxpy_cpu(3, host_x.view(), b.view(), host_x.view());
    CHECK(host_x.matches(apart));

    auto second = DeviceOut<float>::holding(x);  // add: b is the output
    add_cuda(db.view(), second.view(), second.view());
    CHECK(second.matches(want));
    auto y = DeviceOut<float>::holding(x);  // saxpy as BLAS has it: y = alpha * x + y
    saxpy_cpu(3, b.view(), x.view(), want.view());
    saxpy_cuda(3, db.view(), y.view(), y.view());
    CHECK(y.matches(want));
    auto squared = DeviceOut<float>::holding(x);
    square_cpu(x.view(), want.view());
    square_cuda(squared.view(), squared.view());
    CHECK(squared.matches(want));
    auto scaled = DeviceOut<float>::holding(x);
    scale_cpu(-2, x.view(), want.view());
    scale_cuda(-2, scaled.view(), scaled.view());
    CHECK(scaled.matches(want));
}

TEST_CASE("infinities, zeros and NaN go through loop and port alike",
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
    // The same bits, but for NaN, whose bits differ between CPU and GPU: a NaN where there is one.
    const auto agree = [](const Tensor<float>& got, const Tensor<float>& want) {
        bool all = true;
        for (std::int64_t i = 0; i < want.size(); ++i) {
            const float g = got.data()[i], w = want.data()[i];
            all &= std::isnan(w) ? std::isnan(g) : std::memcmp(&g, &w, sizeof g) == 0;
        }
        return all;
    };
    Tensor<float> want(a.shape());
    DeviceIn<float> da(a), db(b);
    DeviceOut<float> got(a.shape());
    add_cpu(a.view(), b.view(), want.view());
    CHECK(std::signbit(want(1, 1)));  // -0 + -0 is -0
    for (const auto& step : kLadder) {
        CAPTURE(step.name);
        step.add(da.view(), db.view(), got.view(), {});
        CHECK(agree(got.values(), want));
    }
    square_cpu(a.view(), want.view());
    CHECK(want(8, 0) > 0);  // 1e-20 squared is below the smallest normal float, but not 0
    square_cuda(da.view(), got.view());
    CHECK(agree(got.values(), want));
    for (const float alpha : {0.0f, -0.0f, -1.0f, 0.5f, 1e-30f, inf, nan}) {
        CAPTURE(alpha);
        scale_cpu(alpha, a.view(), want.view());
        scale_cuda(alpha, da.view(), got.view());
        CHECK(agree(got.values(), want));
        saxpy_cpu(alpha, a.view(), b.view(), want.view());
        saxpy_cuda(alpha, da.view(), db.view(), got.view());
        CHECK(agree(got.values(), want));
    }
    scale_cpu(0, a.view(), want.view());
    CHECK(std::isnan(want(3, 0)));  // 0 * infinity: no shortcut for alpha = 0
}

// --- elementwise: refusals -----------------------------------------------------------------------

TEST_CASE("elementwise loops and ports refuse the same arguments in the same words",
          "[day01][elementwise][small]") {
    Tensor<float> x({2, 3}), y({2, 3}), wide({3, 2}), out({2, 3});
    const auto both = [](View<const float> a, View<const float> b, View<float> o,
                         const char* words) {
        return both_refuse([&] { add_cpu(a, b, o); }, [&] { add_cuda(a, b, o); }, words);
    };
    CHECK(both(x.view(), wide.view(), out.view(),
               "add: b has shape (3, 2), but out has shape (2, 3); they must be equal"));
    const View<float> null(nullptr, Shape{2, 3});
    CHECK(both(null, y.view(), out.view(),
               "add: a is a null pointer, but its shape (2, 3) has 6 elements"));
    CHECK(both(x.view(), y.view(), null, "add: out is a null pointer"));
    const View<float> turned(y.data(), Layout({2, 3}, {1, 2}));
    CHECK(
        both(x.view(), turned, out.view(),
             "add: b has shape (2, 3), strides (1, 2), which is not contiguous; row-major strides "
             "would be (3, 1)"));
    Tensor<float> run({9});
    const View<float> low(run.data(), Shape{8}), high(run.data() + 1, Shape{8});
    CHECK(both(low, low, high, "add: a and out overlap without being the same tensor"));

    const View<const float> in = wide.view();
    CHECK(both_refuse([&] { square_cpu(in, out.view()); }, [&] { square_cuda(in, out.view()); },
                      "square: in has shape (3, 2)"));
    CHECK(both_refuse([&] { scale_cpu(2, in, out.view()); }, [&] { scale_cuda(2, in, out.view()); },
                      "scale: in has shape (3, 2)"));
    CHECK(both_refuse([&] { saxpy_cpu(2, x.view(), in, out.view()); },
                      [&] { saxpy_cuda(2, x.view(), in, out.view()); },
                      "saxpy: y has shape (3, 2)"));
}

TEST_CASE("every elementwise operation refuses a bad output and a bad input",
          "[day01][elementwise][small]") {
    Tensor<float> x({2, 3}), y({2, 3}), good({2, 3}), run({9});
    const View<float> null(nullptr, Shape{2, 3});
    const View<float> turned(good.data(), Layout({2, 3}, {1, 2}));
    using Call = std::function<void(View<const float>, View<float>)>;
    const struct {
        const char* op;
        Call cpu, cuda;
    } ops[] = {
        {"add", [&](auto in, auto out) { add_cpu(in, y.view(), out); },
         [&](auto in, auto out) { add_cuda(in, y.view(), out); }},
        {"add", [&](auto in, auto out) { add_cpu(y.view(), in, out); },
         [&](auto in, auto out) { add_cuda(y.view(), in, out); }},
        {"square", [](auto in, auto out) { square_cpu(in, out); },
         [](auto in, auto out) { square_cuda(in, out); }},
        {"scale", [](auto in, auto out) { scale_cpu(2, in, out); },
         [](auto in, auto out) { scale_cuda(2, in, out); }},
        {"saxpy", [&](auto in, auto out) { saxpy_cpu(2, in, y.view(), out); },
         [&](auto in, auto out) { saxpy_cuda(2, in, y.view(), out); }},
        {"saxpy", [&](auto in, auto out) { saxpy_cpu(2, y.view(), in, out); },
         [&](auto in, auto out) { saxpy_cuda(2, y.view(), in, out); }},
    };
    for (const auto& op : ops) {
        CAPTURE(op.op);
        const auto both = [&](View<const float> in, View<float> out, const char* words) {
            return both_refuse([&] { op.cpu(in, out); }, [&] { op.cuda(in, out); },
                               std::string(op.op) + ": " + words);
        };
        CHECK(both(x.view(), null, "out is a null pointer"));
        CHECK(both(x.view(), turned, "out has shape (2, 3), strides (1, 2), which is not"));
        CHECK(refusal([&] { op.cpu(null, good.view()); }) != "");
        CHECK(refusal([&] { op.cuda(null, good.view()); }) != "");
        CHECK(refusal([&] { op.cpu(turned, x.view()); }) != "");
        CHECK(refusal([&] { op.cuda(turned, x.view()); }) != "");
        const View<float> low(run.data(), Shape{2, 3}), high(run.data() + 1, Shape{2, 3});
        CHECK(refusal([&] { op.cpu(low, high); }) != "");
        CHECK(refusal([&] { op.cuda(low, high); }) != "");
    }
}

TEST_CASE("0 elements need no memory and no launch", "[day01][elementwise][small]") {
    const View<float> nothing(nullptr, Shape{3, 0});
    for (const auto& step : kLadder) step.add(nothing, nothing, nothing, {});
    add_cpu(nothing, nothing, nothing);
    square_cuda(nothing, nothing);
    scale_cuda(2, nothing, nothing);
    saxpy_cuda(2, nothing, nothing, nothing);
    fill_cuda(10, nothing);
    picture_cuda({}, View<std::uint8_t>(nullptr, Shape{0, 4}));
    CHECK_NOTHROW(gpu::synchronize());  // a launch with an empty grid would have thrown by now
}

// --- fill ----------------------------------------------------------------------------------------

TEST_CASE("fill writes each element's own index", "[day01][fill][small]") {
    HostOut<float> m({2, 3});
    fill_cpu(10, m.view());
    CHECK(m.matches(Tensor<float>({2, 3}, {0, 1, 2, 10, 11, 12})));
    HostOut<float> x({2, 2, 3});
    fill_cpu(10, x.view());
    CHECK(x.matches(Tensor<float>({2, 2, 3}, {0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112})));
    HostOut<float> scores({1, 2, 2, 2});
    fill_cpu(10, scores.view());
    CHECK(scores.matches(Tensor<float>({1, 2, 2, 2}, {0, 1, 10, 11, 100, 101, 110, 111})));
}

void check_fill_port(std::int64_t base, const Shape& shape) {
    CAPTURE(to_string(shape));
    HostOut<float> want(shape);
    fill_cpu(base, want.view());
    DeviceOut<float> got(shape, Lead{1});
    fill_cuda(base, got.view());
    CHECK(got.matches(want));
}

TEST_CASE("the fill ports equal their loops; no two extents are alike", "[day01][fill][small]") {
    for (const Shape& shape :
         {Shape{1, 1},       Shape{1, 7},       Shape{7, 1},       Shape{8, 32},
          Shape{7, 31},      Shape{9, 33},      Shape{17, 61},     Shape{61, 17},
          Shape{0, 5},       Shape{5, 0},       Shape{1, 1, 1},    Shape{3, 8, 32},
          Shape{2, 9, 33},   Shape{5, 7, 31},   Shape{31, 7, 5},   Shape{4, 0, 2},
          Shape{1, 1, 1, 1}, Shape{2, 3, 5, 7}, Shape{7, 5, 3, 2}, Shape{3, 1, 17, 16},
          Shape{2, 2, 0, 2}}) {
        check_fill_port(64, shape);
    }
}

TEST_CASE("fill computes its values in 64 bits", "[day01][fill][small]") {
    const std::int64_t base = std::int64_t{1} << 40;  // and powers of two stay exact in float
    check_fill_port(base, {3, 5});
    check_fill_port(base >> 10, {2, 3, 5});
    check_fill_port(base >> 20, {2, 1, 2, 3});
    // 2^24 + 1 + 1 is a float, 2^24 + 1 is not: one rounding at the end, not one on the way.
    const std::int64_t odd = (std::int64_t{1} << 24) + 1;
    for (const Shape& shape : {Shape{2, 4}, Shape{1, 2, 4}, Shape{1, 1, 2, 4}}) {
        check_fill_port(odd, shape);
        HostOut<float> rounded(shape);
        fill_cpu(odd, rounded.view());
        CHECK(rounded.values().data()[5] == 16777218.0f);
    }
    HostOut<float> m({2, 1});
    fill_cpu(base, m.view());
    CHECK(m.matches(Tensor<float>({2, 1}, {0, 1099511627776.0f})));
}

TEST_CASE("fill covers the tallest matrix, and in 3-D it walks on", "[day01][fill][full]") {
    check_fill_port(2, {kMostRows, 1});
    check_fill_port(2, {1, kMostRows + 3, 1});  // y
    check_fill_port(2, {65537, 1, 2});          // z
}

TEST_CASE("fill refuses other ranks, gaps and values beyond 64 bits", "[day01][fill][small]") {
    Tensor<float> x({2, 3}), run({6}), five({1, 1, 1, 1, 2});
    const auto both = [](std::int64_t base, View<float> out, const char* words) {
        return both_refuse([&] { fill_cpu(base, out); }, [&] { fill_cuda(base, out); }, words);
    };
    CHECK(
        both(10, run.view(), "fill: out has shape (6) of rank 1, but fill is written for ranks 2"));
    CHECK(both(10, five.view(), "of rank 5"));
    CHECK(both(10, View<float>(x.data(), Shape{kMostRows + 1, 0}),
               "fill: out has 524281 rows, but a grid of 65,535 blocks of 8 rows ends at 524280"));
    CHECK(both(0, x.view(), "fill: base is 0, but must be at least 1"));
    CHECK(both(10, View<float>(x.data(), Layout({2, 3}, {1, 2})), "not contiguous"));
    CHECK(both(10, View<float>(nullptr, Shape{2, 3}), "null pointer"));
    CHECK(both(std::int64_t{1} << 62, View<float>(x.data(), Shape{3, 2}),
               "fill: with base 4611686018427387904 the values of shape (3, 2) do not fit"));
}

// --- picture -------------------------------------------------------------------------------------

TEST_CASE("with c = 0 the picture is a disc, and steps follow from squaring",
          "[day01][picture][small]") {
    // z, z^2, z^4, ...: |z| <= 1 stays near for ever; |z| = 1.5 passes 2 at 2.25, after one step;
    // |z| = 1.25 at 1.25^4 = 2.44, after two. Height 5 in 10 rows: pixel centres lie at +-0.25,
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

TEST_CASE("x runs along the row: a wide picture is not a tall one", "[day01][picture][small]") {
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

// No picture around the origin can tell a rotation by 180 degrees, for z and -z have one square.
TEST_CASE("a picture off the centre is where it should be, and depends on c",
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

TEST_CASE("the picture's port equals its loop in every pixel", "[day01][picture][small]") {
    for (const Shape& shape : {Shape{1, 1}, Shape{7, 31}, Shape{8, 32}, Shape{9, 33}, Shape{50, 3},
                               Shape{3, 50}, Shape{41, 67}, Shape{0, 3}, Shape{3, 0}}) {
        CAPTURE(to_string(shape));
        HostOut<std::uint8_t> want(shape);
        picture_cpu({}, want.view());
        DeviceOut<std::uint8_t> got(shape, Lead{1});
        picture_cuda({}, got.view());
        CHECK(got.matches(want));
    }
}

TEST_CASE("the picture's port equals its loop on a large picture", "[day01][picture][full]") {
    HostOut<std::uint8_t> want({401, 603});
    DeviceOut<std::uint8_t> got({401, 603});
    picture_cpu({}, want.view());
    picture_cuda({}, got.view());
    CHECK(got.matches(want));
}

TEST_CASE("the picture refuses what is not a contiguous matrix", "[day01][picture][small]") {
    Tensor<std::uint8_t> x({2, 3, 4});
    const auto both = [](View<std::uint8_t> out, const char* words) {
        return both_refuse([&] { picture_cpu({}, out); }, [&] { picture_cuda({}, out); }, words);
    };
    CHECK(both(x.view(), "picture: out has shape (2, 3, 4) of rank 3, but rank 2 is needed"));
    CHECK(both({x.data(), Layout({2, 3}, {4, 1})}, "not contiguous"));
    CHECK(both({nullptr, Shape{2, 3}}, "picture: out is a null pointer"));
    CHECK(both({nullptr, Shape{kMostRows + 1, 1}}, "picture: out has 524281 rows"));
}

// --- what the warps touch ------------------------------------------------------------------------

TEST_CASE("each warp asks once for many neighbours, and every lane works", "[day01][small]") {
    // By hand, for 1,024 aligned floats: 32 warps; a load or store of 32 floats is one request for
    // 4 sectors of 32 bytes, one of 32 quads is one request for 16. A byte each: 1 sector.
    const std::int64_t n = 1024;
    const Tensor<float> a = distinct<float>({n}), b = distinct<float>({n}, 7);
    const DeviceIn<float> da(a), db(b);
    DeviceOut<float> out({n});
    DeviceOut<float> matrix({16, 64}), cube({4, 8, 32}), scores({2, 2, 8, 32});
    DeviceOut<std::uint8_t> picture({16, 64}), negative({n});
    const DeviceIn<std::uint8_t> bytes(distinct<std::uint8_t>({n}));
    const auto add = [&](Add port) {
        return [&, port] { port(da.view(), db.view(), out.view(), {}); };
    };
    const struct {
        const char* name;
        std::function<void()> launch;
        std::int64_t requests, sectors;
    } ports[] = {
        {"add_one_element", add(add_one_element), 3 * 32, 3 * 128},
        {"add_grid_stride", add(add_grid_stride), 3 * 32, 3 * 128},
        {"add_sixteen_bytes", add(add_sixteen_bytes), 3 * 8, 3 * 128},
        {"add_two_in_flight", add(add_two_in_flight), 3 * 8, 3 * 128},
        {"add_any_address", add(add_any_address), 3 * 32, 3 * 128},
        {"square", [&] { square_cuda(da.view(), out.view()); }, 2 * 32, 2 * 128},
        {"scale", [&] { scale_cuda(3, da.view(), out.view()); }, 2 * 32, 2 * 128},
        {"saxpy", [&] { saxpy_cuda(3, da.view(), db.view(), out.view()); }, 3 * 32, 3 * 128},
        {"fill2", [&] { fill_cuda(64, matrix.view()); }, 32, 128},
        {"fill3", [&] { fill_cuda(32, cube.view()); }, 32, 128},
        {"fill4", [&] { fill_cuda(32, scores.view()); }, 32, 128},
        {"picture", [&] { picture_cuda({}, picture.view()); }, 32, 32},
        // 64 pieces of 16 bytes: 2 warps.
        {"invert", [&] { invert_cuda(bytes.view(), negative.view()); }, 2 * 2, 2 * 32},
    };
    for (const auto& port : ports) {
        CAPTURE(port.name);
        const auto touched = gpu::touched(port.launch);
        CHECK(touched.has_value() == gpu::is_emulated());  // a GPU does not tell
        if (!touched) continue;
        CHECK(touched->requests == port.requests);
        CHECK(touched->accesses == 32 * port.requests);
        CHECK(touched->sectors == port.sectors);
        CHECK(touched->fewest_sectors == port.sectors);
    }
}

// --- in a graph
// -----------------------------------------------------------------------------------

TEST_CASE("every launcher only launches, and on the stream that it is given", "[day01][small]") {
    // In capture nothing may run, be allocated, copied or waited for, nor another stream be used.
    const std::int64_t n = 1000;
    const Tensor<float> a = distinct<float>({n}), b = distinct<float>({n}, 7);
    const DeviceIn<float> da(a), db(b);
    HostOut<float> want({n}), cube({7, 5, 3}), scores({2, 3, 4, 5}), matrix({9, 33});
    HostOut<std::uint8_t> pixels({9, 33});
    const auto check = [&](auto& expected, const auto& launch) {
        auto got =
            DeviceOut<std::decay_t<decltype(*expected.view().data)>>(expected.view().layout.shape);
        if (gpu::is_emulated()) {  // which has no graphs: it runs at once
            launch(got.view(), nullptr);
        } else {
            gpu::Graph graph([&](gpu::Stream stream) { launch(got.view(), stream); });
            CHECK(got.untouched());
            graph.launch();
        }
        CHECK(got.matches(expected));
    };
    add_cpu(a.view(), b.view(), want.view());
    for (const auto& step : kLadder) {
        CAPTURE(step.name);
        check(want, [&](auto out, auto stream) { step.add(da.view(), db.view(), out, stream); });
    }
    square_cpu(a.view(), want.view());
    check(want, [&](auto out, auto stream) { square_cuda(da.view(), out, stream); });
    scale_cpu(3, a.view(), want.view());
    check(want, [&](auto out, auto stream) { scale_cuda(3, da.view(), out, stream); });
    saxpy_cpu(3, a.view(), b.view(), want.view());
    check(want, [&](auto out, auto stream) { saxpy_cuda(3, da.view(), db.view(), out, stream); });
    for (HostOut<float>* out : {&matrix, &cube, &scores}) {
        fill_cpu(64, out->view());
        check(*out, [&](auto got, auto stream) { fill_cuda(64, got, stream); });
    }
    picture_cpu({}, pixels.view());
    check(pixels, [&](auto out, auto stream) { picture_cuda({}, out, stream); });
    const Tensor<std::uint8_t> grey = distinct<std::uint8_t>({9, 33});
    const DeviceIn<std::uint8_t> dgrey(grey), dgrey1(grey, Lead{1});
    invert_cpu(grey.view(), pixels.view());
    check(pixels, [&](auto out, auto stream) { invert_cuda(dgrey.view(), out, stream); });
    check(pixels, [&](auto out, auto stream) { invert_cuda(dgrey1.view(), out, stream); });
}

// --- more than 2^31 elements, on the emulator: the last blocks only
// --------------------------------

TEST_CASE("the picture reaches past 2^31 pixels", "[day01][picture][full]") {
    const std::int64_t H = 32776, W = 65536;  // 2^31 + 8 * 65,536 pixels of one byte
    if (!gpu::is_emulated()) need_device_memory(H * W);
    gpu::Buffer<std::uint8_t> out(H * W);
    const Julia far{2, 2, 1, 5, 5};  // |z| > 2 everywhere: no step at all
    const std::uint64_t columns = 65536 / 32, rows = 32776 / 8;
    const auto launch = [&] { picture_cuda(far, out.view({H, W})); };
    // The last block of the last row of blocks. A GPU runs them all.
    if (!gpu::run_only_blocks(columns * rows - 1, 1, launch)) launch();
    for (std::int64_t y = H - 8; y < H; ++y) {
        const std::vector<std::uint8_t> got = out.download(offset2(y, W - 32, W), 32);
        CHECK(got == std::vector<std::uint8_t>(32, 0));
    }
}

// --- more than 2^32 elements, on a GPU -----------------------------------------------------------

TEST_CASE("add reaches past 2^32 elements", "[day01][elementwise][huge]") {
    // Inputs repeat with a period that divides no power of two: an offset that wrapped at 2^31 or
    // 2^32 would meet a wrong element. One period is made on the CPU and copied again and again.
    const std::int64_t n = 2 * kTwo31 + 7, period = 16776898;
    need_device_memory(3 * 4 * (n + 1));
    const Tensor<float> a = distinct<float>({period}), b = distinct<float>({period}, 7);
    Tensor<float> want({period});
    add_cpu(a.view(), b.view(), want.view());
    gpu::Buffer<float> da(n + 1), db(n + 1), dout(n + 1);
    const auto parts = [&](auto visit) {
        for (std::int64_t first = 0; first < n; first += period) {
            visit(first, std::min(period, n - first));
        }
    };
    for (const std::int64_t lead_b : {0, 1}) {  // 16-byte loads, then single elements
        parts([&](std::int64_t first, std::int64_t count) {
            da.upload(a.data(), count, first);
            db.upload(b.data(), count, first + lead_b);
        });
        dout.fill_bytes(0xff);
        add_cuda(da.view({n}), db.view(row_major({n}), lead_b), dout.view({n}));
        parts([&](std::int64_t first, std::int64_t count) {
            const std::vector<float> got = dout.download(first, count);
            CAPTURE(lead_b, first);
            CHECK(std::memcmp(got.data(), want.data(),
                              static_cast<std::size_t>(count) * sizeof(float)) == 0);
        });
        const float past_the_end = dout.download(n, 1)[0];
        CHECK(std::isnan(past_the_end));
    }
    // The other operations: b still lies one element further on.
    const struct {
        const char* op;
        std::function<void()> cpu, cuda;
    } others[] = {
        {"square", [&] { square_cpu(a.view(), want.view()); },
         [&] { square_cuda(da.view({n}), dout.view({n})); }},
        {"scale", [&] { scale_cpu(3, a.view(), want.view()); },
         [&] { scale_cuda(3, da.view({n}), dout.view({n})); }},
        {"saxpy", [&] { saxpy_cpu(3, a.view(), b.view(), want.view()); },
         [&] { saxpy_cuda(3, da.view({n}), db.view(row_major({n}), 1), dout.view({n})); }},
    };
    for (const auto& other : others) {
        other.cpu();
        dout.fill_bytes(0xff);
        other.cuda();
        parts([&](std::int64_t first, std::int64_t count) {
            const std::vector<float> got = dout.download(first, count);
            CAPTURE(other.op, first);
            CHECK(std::memcmp(got.data(), want.data(),
                              static_cast<std::size_t>(count) * sizeof(float)) == 0);
        });
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
    for (const std::int64_t lead : {0, 1}) {  // 16-byte loads, then single bytes
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

TEST_CASE("fill reaches past 2^32 elements in 2, 3 and 4 dims", "[day01][fill][huge]") {
    const std::int64_t B = 3, NH = 7, T = 14303, S = 14303, base = 20000;  // 4.3e9 elements
    const std::int64_t n = B * NH * T * S;
    REQUIRE(n > 2 * kTwo31);
    need_device_memory(4 * n);
    gpu::Buffer<float> out(n);
    std::vector<float> want(static_cast<std::size_t>(T * S));
    for (const Shape& shape : {Shape{B, NH, T, S}, Shape{B * NH, T, S}, Shape{B * NH * T, S}}) {
        out.fill_bytes(0xff);
        fill_cuda(base, out.view(shape));
        for (std::int64_t matrix = 0; matrix < B * NH; ++matrix) {
            const std::int64_t b = matrix / NH, h = matrix % NH;
            const std::int64_t before = shape.rank == 4 ? b * base + h : matrix;
            for (std::int64_t q = 0; q < T; ++q) {
                // The index in all dims but the last, as a number in `base`.
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

}  // namespace
