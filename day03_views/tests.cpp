// The proof of Day 03's sets copy and transpose. Loops against answers from outside the code, ports
// against loops, over every element. Tags: [small] runs everywhere, [full] not under sanitizers,
// [huge] on a GPU only.
#include "common/testing/testing.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/different.hpp"
#include "common/gpu/graph.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/transform.hpp"
#include "common/tensor/walk_for_tests.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/moves.hpp"
#include "day03_views/steps/steps.hpp"
#include "day03_views/transpose.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;

namespace {

// --- transpose: the loop -------------------------------------------------------------------------

TEST_CASE("a transpose worked by hand", "[day03][transpose][small]") {
    const Tensor<float> in({2, 3}, {1, 2, 3, 4, 5, 6});
    HostOut<float> out({3, 2});
    transpose_cpu(in.view(), out.view());
    CHECK(out.matches(Tensor<float>({3, 2}, {1, 4, 2, 5, 3, 6})));
}

TEST_CASE("a stack of matrices is transposed matrix by matrix", "[day03][transpose][small]") {
    const Tensor<float> in({2, 2, 3}, {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
    HostOut<float> out({2, 3, 2});
    transpose_cpu(in.view(), out.view());
    CHECK(out.matches(Tensor<float>({2, 3, 2}, {1, 4, 2, 5, 3, 6, 10, 40, 20, 50, 30, 60})));
}

// --- transpose: every kernel against the loop ----------------------------------------------------

using Move = std::function<void(const BytesIn&, const BytesOut&, gpu::Stream)>;

template <class F>
Move of_floats(F step) {
    return [step](const BytesIn& in, const BytesOut& out, gpu::Stream stream) {
        step(in.as<float>(), out.as<float>(), stream);
    };
}

struct Step {
    const char* kernel;
    Move move;
    int smallest, largest;  // bytes of an element
    bool sixteen;           // rows must begin at multiples of 16 bytes
};
const std::vector<Step> kSteps = {
    {"transpose_read_coalesced_kernel", of_floats(transpose_read_coalesced), 4, 4, false},
    {"transpose_write_coalesced_kernel", of_floats(transpose_write_coalesced), 4, 4, false},
    {"transpose_shared_tile_kernel", of_floats(transpose_shared_tile), 4, 4, false},
    {"transpose_padded_kernel", of_floats(transpose_padded), 4, 4, false},
    {"transpose_in_flight_kernel", transpose_in_flight, 1, 16, false},
    {"transpose_sixteen_bytes_kernel", of_floats(transpose_sixteen_bytes), 4, 4, true},
    {"transpose_packed_bytes_kernel", transpose_packed_bytes, 1, 2, true},
    {"transpose_whole_sectors_kernel", transpose_whole_sectors, 2, 4, false},
};

// Elements of every size, all bits of which count.
template <class T>
Tensor<T> patterns(const Shape& shape) {
    Tensor<T> x(shape);
    auto* bytes = reinterpret_cast<unsigned char*>(x.data());
    std::uint64_t state = 1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()) * sizeof(T); ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = static_cast<unsigned char>((state >> 33) % 251);  // never the poison, 0xFF
    }
    return x;
}

std::int64_t round_up(std::int64_t n, std::int64_t to) {
    return (n + to - 1) / to * to;
}

// A matrix (..., M, N) whose rows are `pitch` apart.
Layout pitched(const Shape& shape, std::int64_t pitch) {
    Shape room = shape;
    room[shape.rank - 1] = pitch;
    return {shape, row_major(room).strides};
}

template <class T>
void check_step(const Step& step, const Shape& shape, bool gaps, Lead lead = {}) {
    const int r = shape.rank;
    Shape turned = shape;
    std::swap(turned[r - 1], turned[r - 2]);
    const std::int64_t quad = 16 / static_cast<std::int64_t>(sizeof(T));
    const auto layout = [&](const Shape& s) {
        const std::int64_t row = s[s.rank - 1];
        if (step.sixteen) return pitched(s, round_up(row, quad) + (gaps ? quad : 0));
        return pitched(s, row + (gaps ? 3 : 0));
    };
    CAPTURE(step.kernel, sizeof(T), to_string(shape), gaps, lead.elements);
    const Tensor<T> in = patterns<T>(shape);
    HostOut<T> want(turned);
    transpose_cpu(in.view(), want.view());
    DeviceIn<T> from(in, layout(shape), lead);
    DeviceOut<T> got(layout(turned), lead);
    step.move(bytes_in(from.view()), bytes_out(got.view()), {});
    CHECK(got.matches(want));
    CHECK(from.unchanged());
    if (in.size() > 0) CHECK(std::string(gpu::last_kernel()) == step.kernel);
}

template <class T>
void check_steps(const Shape& shape, bool gaps = false, Lead lead = {}) {
    for (const Step& step : kSteps) {
        const int bytes = static_cast<int>(sizeof(T));
        if (bytes < step.smallest || bytes > step.largest) continue;
        check_step<T>(step, shape, gaps, step.sixteen ? Lead{} : lead);
    }
}

TEST_CASE("every step of the ladder equals the loop around its tile", "[day03][transpose][small]") {
    for (const std::int64_t M : {1, 2, 31, 33, 64, 65}) {
        for (const std::int64_t N : {1, 3, 32, 63, 64, 67}) check_steps<float>({M, N});
    }
    check_steps<float>({129, 127});
    check_steps<float>({0, 5});
    check_steps<float>({5, 0});
    check_steps<float>({3, 0, 5});
}

TEST_CASE("elements of every size are transposed, also at edges", "[day03][transpose][small]") {
    for (const Shape& shape : {Shape{65, 67}, Shape{129, 31}, Shape{31, 129}, Shape{127, 145}}) {
        check_steps<std::uint8_t>(shape);
        check_steps<bf16>(shape);
        check_steps<double>(shape);
        check_steps<Sixteen>(shape);
    }
}

TEST_CASE("matrices with gaps between rows and at any address", "[day03][transpose][small]") {
    for (const Shape& shape : {Shape{33, 70}, Shape{66, 34}}) {
        for (const std::int64_t lead : {0, 1, 3}) {
            check_steps<float>(shape, true, {lead});
            check_steps<std::uint8_t>(shape, true, {lead});
            check_steps<bf16>(shape, true, {lead});
        }
    }
}

TEST_CASE("stacks of matrices, of up to six dims", "[day03][transpose][small]") {
    for (const Shape& shape :
         {Shape{3, 33, 35}, Shape{2, 3, 5, 34}, Shape{2, 1, 2, 1, 3, 2, 7, 9}}) {
        for (const bool gaps : {false, true}) {
            check_steps<float>(shape, gaps);
            check_steps<std::uint8_t>(shape, gaps);
        }
    }
}

TEST_CASE("a stack whose matrices lie in another order", "[day03][transpose][small]") {
    // (B, H, M, N) out of (H, B, M, N), written to (B, H, N, M), the last one first.
    const Tensor<float> in = distinct<float>({3, 2, 34, 37});
    const Layout stack = permute(in.view().layout, {1, 0, 2, 3});
    Tensor<float> values({2, 3, 34, 37});
    copy_cpu(View<const float>(in.data(), stack), values.view());
    HostOut<float> want({2, 3, 37, 34});
    transpose_cpu(View<const float>(in.data(), stack), want.view());
    DeviceIn<float> from(values, stack);
    const Cut last_first = flip(row_major({2, 3, 37, 34}), 0);
    DeviceOut<float> got(last_first.layout);
    transpose_cuda(from.view(), got.view());
    CHECK(got.matches(want));
}

TEST_CASE("every transpose of every shape around the tiles", "[day03][transpose][full]") {
    const std::vector<std::int64_t> extents = {1, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129};
    for (const std::int64_t M : extents) {
        for (const std::int64_t N : extents) {
            check_steps<float>({M, N});
            check_steps<bf16>({M, N}, true);
            check_steps<std::uint8_t>({M, N}, true);
            check_steps<Sixteen>({M, N});
        }
    }
}

TEST_CASE("transpose chooses by size and address, and takes what it chose",
          "[day03][transpose][small]") {
    const struct {
        int element;
        std::int64_t M, N, pitch_in, pitch_out, lead;  // in elements
        TransposePath path;
    } cases[] = {
        {4, 8, 12, 12, 8, 0, TransposePath::sixteen_bytes},
        {4, 8, 12, 12, 8, 1, TransposePath::whole_sectors},  // begins 4 bytes past a multiple
        {4, 8, 12, 13, 8, 0, TransposePath::whole_sectors},  // rows of in do
        {4, 8, 12, 12, 9, 0, TransposePath::whole_sectors},  // rows of out do
        {4, 7, 11, 12, 8, 0, TransposePath::sixteen_bytes},  // ragged rows, aligned pitches
        {4, 1, 11, 11, 4, 0, TransposePath::sixteen_bytes},  // one row: its pitch is never used
        {2, 8, 16, 16, 8, 0, TransposePath::packed_bytes},
        {2, 8, 12, 12, 8, 0, TransposePath::whole_sectors},  // 24 bytes a row
        {1, 16, 32, 32, 16, 0, TransposePath::packed_bytes},
        {1, 16, 24, 24, 16, 0, TransposePath::single_elements},
        {8, 8, 8, 8, 8, 0, TransposePath::single_elements},
        {16, 8, 8, 8, 8, 0, TransposePath::single_elements},
    };
    const std::string kernels[] = {"transpose_sixteen_bytes_kernel",
                                   "transpose_packed_bytes_kernel",
                                   "transpose_whole_sectors_kernel", "transpose_in_flight_kernel"};
    gpu::Buffer<std::uint8_t> a(16 * 1024), b(16 * 1024);
    a.fill_bytes(1);
    for (const auto& c : cases) {
        CAPTURE(c.element, c.M, c.N, c.pitch_in, c.pitch_out, c.lead);
        const BytesIn in{a.data() + c.lead * c.element, c.element, pitched({c.M, c.N}, c.pitch_in)};
        const BytesOut out{b.data(), c.element, pitched({c.N, c.M}, c.pitch_out)};
        CHECK(choose_transpose(in, out) == c.path);
        transpose_bytes_cuda(in, out);
        CHECK(gpu::last_kernel() == kernels[static_cast<int>(c.path)]);
    }
}

TEST_CASE("a stack is read 16 bytes at a time only if every matrix begins so",
          "[day03][transpose][small]") {
    gpu::Buffer<float> a(1024), b(1024);
    a.fill_bytes(1);
    const auto path = [&](std::int64_t step_in, std::int64_t step_out) {
        const Layout in({3, 8, 12}, {step_in, 12, 1}), out({3, 12, 8}, {step_out, 8, 1});
        return choose_transpose({a.data(), 4, in}, {b.data(), 4, out});
    };
    CHECK(path(96, 96) == TransposePath::sixteen_bytes);
    CHECK(path(100, 104) == TransposePath::sixteen_bytes);
    CHECK(path(98, 96) == TransposePath::whole_sectors);
    CHECK(path(96, 98) == TransposePath::whole_sectors);
}

TEST_CASE("what the steps touch: sectors and banks", "[day03][transpose][small]") {
    // A matrix of 64 x 64 floats: 4,096 of them, 512 sectors to read and 512 to write.
    const Tensor<float> in = distinct<float>({64, 64});
    DeviceIn<float> from(in);
    DeviceOut<float> got({64, 64});
    const struct {
        const char* name;
        Move move;
        std::int64_t sectors, passes, fewest_passes;
    } steps[] = {
        {"read coalesced", kSteps[0].move, 512 + 4096, 0, 0},
        {"write coalesced", kSteps[1].move, 4096 + 512, 0, 0},
        {"shared tile", kSteps[2].move, 1024, 128 + 32 * 128, 256},
        {"padded", kSteps[3].move, 1024, 256, 256},
        {"in flight", kSteps[4].move, 1024, 256, 256},
        {"16 bytes", kSteps[5].move, 1024, 256, 256},
        {"whole sectors", kSteps[7].move, 1024, 256, 256},
    };
    for (const auto& step : steps) {
        CAPTURE(step.name);
        const auto touched =
            gpu::touched([&] { step.move(bytes_in(from.view()), bytes_out(got.view()), {}); });
        CHECK(touched.has_value() == gpu::is_emulated());
        if (!touched) continue;
        CHECK(touched->sectors == step.sectors);
        CHECK(touched->passes == step.passes);
        CHECK(touched->fewest_passes == step.fewest_passes);
    }
}

TEST_CASE("small elements waste neither sectors nor banks", "[day03][transpose][small]") {
    gpu::Buffer<std::uint8_t> a(128 * 128 * 2), b(128 * 128 * 2);
    a.fill_bytes(1);
    for (const int e : {1, 2}) {
        const auto touched = gpu::touched([&] {
            const Layout square = row_major({128, 128});
            transpose_bytes_cuda({a.data(), e, square}, {b.data(), e, square});
        });
        CHECK(touched.has_value() == gpu::is_emulated());
        if (!touched) continue;
        CHECK(touched->sectors == 2 * 128 * 128 * e / 32);
        CHECK(touched->passes == touched->fewest_passes);
        const auto single = gpu::touched([&] {
            const Layout square = row_major({128, 128});
            transpose_in_flight({a.data(), e, square}, {b.data(), e, square});
        });
        CHECK(single->sectors == 2 * 128 * 128 * e / 32);
        CHECK(single->passes == single->fewest_passes);
    }
}

TEST_CASE("rows that begin anywhere: no block ends within a sector", "[day03][transpose][small]") {
    // The first of three tiles writes 128 elements of a row of out, and on to the sector's end.
    const std::int64_t M = 259, N = 64;
    const gpu::Buffer<float> in(distinct<float>({M, N}));
    gpu::Buffer<float> out(N * M);
    out.fill_bytes(0xff);  // NaNs
    const bool ran = gpu::run_only_blocks(0, 1, [&] {
        transpose_cuda(in.view({M, N}), out.view({N, M}));
    });
    CHECK(ran == gpu::is_emulated());
    if (!ran) return;
    CHECK(std::string(gpu::last_kernel()) == "transpose_whole_sectors_kernel");
    const std::vector<float> got = out.download();
    for (std::int64_t n = 0; n < N; ++n) {
        const float* row = got.data() + n * M;
        const std::int64_t end = std::find_if(row, row + M, [](float x) { return x != x; }) - row;
        const auto address = reinterpret_cast<std::uintptr_t>(out.data() + n * M + end);
        CAPTURE(n, end);
        CHECK(address % 32 == 0);
        CHECK((128 <= end && end < 128 + 8));
        CHECK(std::all_of(row + end, row + M, [](float x) { return x != x; }));
    }
}

TEST_CASE("transpose refuses what it cannot do", "[day03][transpose][small]") {
    Tensor<float> in({2, 3}), out({3, 2}), wrong({2, 3});
    const auto refused = [&](View<const float> from, View<float> to, const char* words) {
        CHECK(both_refuse([&] { transpose_cpu(from, to); }, [&] { transpose_cuda(from, to); },
                          words));
    };
    refused(in.view(), wrong.view(), "out must have (3, 2), but has (2, 3)");
    refused({in.data(), Shape{6}}, {out.data(), Shape{6}}, "a matrix needs rank 2 at least");
    refused({in.data(), Layout({2, 3}, {1, 2})}, out.view(), "must run along memory");
    refused(in.view(), {out.data(), Layout({3, 2}, {2, 2})},
            "where two indices may share one place");
    refused({nullptr, Shape{2, 3}}, out.view(), "null pointer");
    refused(in.view(), {in.data(), Shape{3, 2}}, "in and out overlap");
    CHECK(both_refuse(
        [&] {
            transpose_bytes_cpu({reinterpret_cast<char*>(in.data()) + 1, 4, row_major({1, 1})},
                                {out.data(), 4, row_major({1, 1})});
        },
        [&] {
            transpose_bytes_cuda({reinterpret_cast<char*>(in.data()) + 1, 4, row_major({1, 1})},
                                 {out.data(), 4, row_major({1, 1})});
        },
        "in begins 1 bytes past a multiple of 4"));
    CHECK(both_refuse(
        [&] {
            transpose_bytes_cpu(bytes_in(in.view()), {out.data(), 2, row_major({3, 2})});
        },
        [&] {
            transpose_bytes_cuda(bytes_in(in.view()), {out.data(), 2, row_major({3, 2})});
        },
        "in has elements of 4 bytes, but out of 2"));
    CHECK(both_refuse(
        [&] {
            transpose_bytes_cpu({in.data(), 3, row_major({1, 1})},
                                {out.data(), 3, row_major({1, 1})});
        },
        [&] {
            transpose_bytes_cuda({in.data(), 3, row_major({1, 1})},
                                 {out.data(), 3, row_major({1, 1})});
        },
        "elements of 3 bytes cannot be moved"));
}

// --- copy: the loop ------------------------------------------------------------------------------

TEST_CASE("copies worked by hand", "[day03][copy][small]") {
    const Tensor<float> in({2, 3}, {1, 2, 3, 4, 5, 6});
    const auto expect = [&](const View<const float>& view, const Tensor<float>& want) {
        HostOut<float> out(view.layout.shape);
        copy_cpu(view, out.view());
        CHECK(out.matches(want));
    };
    const View<const float> v = in.view();
    expect(transpose(v), Tensor<float>({3, 2}, {1, 4, 2, 5, 3, 6}));
    expect(flip(v, 1), Tensor<float>({2, 3}, {3, 2, 1, 6, 5, 4}));
    expect(columns(v, 1, 3), Tensor<float>({2, 2}, {2, 3, 5, 6}));
    expect(select(v, 0, 1), Tensor<float>({3}, {4, 5, 6}));
    expect(broadcast_to(column(v, 2), {2, 2}), Tensor<float>({2, 2}, {3, 6, 3, 6}));
    expect(windows(row(v, 0), 0, 2, 1), Tensor<float>({2, 2}, {1, 2, 2, 3}));
    expect(View<const float>(in.data(), Layout()), Tensor<float>(Shape{}, {1}));
}

TEST_CASE("a row is assigned through a view of it", "[day03][copy][small]") {
    const Tensor<float> row_of({3}, {7, 8, 9});
    auto loop = HostOut<float>::holding(Tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
    copy_cpu(row_of.view(), row(loop.view(), 1));
    CHECK(loop.matches(Tensor<float>({2, 3}, {1, 2, 3, 7, 8, 9})));
    DeviceIn<float> from(row_of);
    auto port = DeviceOut<float>::holding(Tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
    copy_cuda(from.view(), row(port.view(), 1));
    CHECK(port.matches(Tensor<float>({2, 3}, {1, 2, 3, 7, 8, 9})));
}

TEST_CASE("bits arrive as they are, those of NaNs too", "[day03][copy][small]") {
    const Tensor<std::uint32_t> bits({5},
                                     {0x7FA00001, 0xFFC12345, 0x80000000, 0x00000001, 0x7F800000});
    DeviceIn<std::uint32_t> from(bits);
    DeviceOut<std::uint32_t> got(Shape{5});
    const View<const float> in(reinterpret_cast<const float*>(from.view().data), Shape{5});
    copy_cuda(in, View<float>(reinterpret_cast<float*>(got.view().data), Shape{5}));
    CHECK(got.matches(bits));
    DeviceOut<std::uint32_t> turned({5, 1});
    const View<const float> row(in.data, Shape{1, 5});
    transpose_cuda(row, View<float>(reinterpret_cast<float*>(turned.view().data), Shape{5, 1}));
    CHECK(turned.matches(Tensor<std::uint32_t>(
        {5, 1}, {0x7FA00001, 0xFFC12345, 0x80000000, 0x00000001, 0x7F800000})));
}

// --- copy: port against loop ---------------------------------------------------------------------

// Values that `in` can hold: where it shows an element twice, both are the same.
template <class T>
Tensor<T> values_for(const Layout& in) {
    const Tensor<T> memory = patterns<T>({required_span(in)});
    Tensor<T> values(in.shape);
    if (in.size() == 0) return values;
    copy_cpu(View<const T>(memory.data() - reach(in).lowest, in), values.view());
    return values;
}

template <class T>
void check_copy_port(const Layout& in, const Layout& out, Lead lead_in = {}, Lead lead_out = {}) {
    CAPTURE(sizeof(T), to_string(in), to_string(out), lead_in.elements, lead_out.elements);
    const Tensor<T> values = values_for<T>(in);
    DeviceIn<T> from(values, in, lead_in);
    DeviceOut<T> got(out, lead_out);
    copy_cuda(from.view(), got.view());
    REQUIRE(got.matches(values));
    REQUIRE(from.unchanged());
}

Layout packed(const walk::Packing& packing, const Shape& shape) {
    return {shape, walk::strides_of(packing, shape)};
}

template <class F>
void for_each_layout(const Shape& shape, const F& f) {
    for (const std::int64_t pad : {0, 1}) {
        walk::for_each_packing(shape.rank, pad,
                               [&](const walk::Packing& p) { f(packed(p, shape)); });
    }
}

TEST_CASE("small shapes in every order, flipped or not, with gaps or not", "[day03][copy][small]") {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{5}, Shape{2, 3}, Shape{3, 0},
                               Shape{1, 4}, Shape{2, 3, 4}, Shape{3, 1, 2}}) {
        for_each_layout(shape, [&](const Layout& layout) {
            check_copy_port<float>(layout, row_major(shape));
            check_copy_port<float>(row_major(shape), layout);
            check_copy_port<std::uint8_t>(layout, column_major(shape));
        });
    }
}

// Around a tile, and with a short dim: all paths.
TEST_CASE("a larger shape in every order, flipped or not, with gaps or not",
          "[day03][copy][small]") {
    for (const Shape& shape : {Shape{34, 3, 37}, Shape{65, 48}}) {
        for_each_layout(
            shape, [&](const Layout& layout) { check_copy_port<float>(layout, row_major(shape)); });
    }
}

template <class T>
void check_many_layouts() {
    for (const Shape& shape :
         {Shape{34, 3, 37}, Shape{64, 48}, Shape{17, 70}, Shape{2, 36, 3, 40}}) {
        for_each_layout(shape, [&](const Layout& layout) {
            const bool some = sizeof(T) == 4 && layout.strides[0] > 0 && layout.strides[2] > 0;
            if (shape.rank == 4 && !some) return;  // of 768 layouts, a quarter
            check_copy_port<T>(layout, row_major(shape));
        });
    }
    const Shape small{34, 3, 36};
    for_each_layout(small, [&](const Layout& out) {
        check_copy_port<T>(row_major(small), out);
        check_copy_port<T>(column_major(small), out);
    });
}

TEST_CASE("every layout, elements of 1 and 2 bytes", "[day03][copy][full]") {
    check_many_layouts<std::uint8_t>();
    check_many_layouts<bf16>();
}
TEST_CASE("every layout, elements of 4, 8 and 16 bytes", "[day03][copy][full]") {
    check_many_layouts<float>();
    check_many_layouts<double>();
    check_many_layouts<Sixteen>();
}

TEST_CASE("pairs of layouts of a small shape", "[day03][copy][full]") {
    const Shape shape{4, 3, 5};
    for_each_layout(shape, [&](const Layout& in) {
        for_each_layout(shape, [&](const Layout& out) { check_copy_port<float>(in, out); });
    });
}

TEST_CASE("any two addresses", "[day03][copy][small]") {
    for (std::int64_t a = 0; a < 17; ++a) {
        for (const std::int64_t b : {0, 1, 5, 16}) {
            for (const std::int64_t n : {1, 15, 16, 17, 47, 100}) {
                check_copy_port<std::uint8_t>(row_major({n}), row_major({n}), {a}, {b});
            }
            check_copy_port<bf16>(row_major({5, 33}), pitched({5, 33}, 35), {a}, {b});
        }
    }
    for (const std::int64_t n : {1023, 4096, 4097, 5000}) {
        check_copy_port<float>(row_major({n}), row_major({n}));
        check_copy_port<float>(row_major({n}), row_major({n}), {3}, {3});
        check_copy_port<float>(row_major({n}), row_major({n}), {3}, {2});
    }
}

TEST_CASE("rows of every width between two pitches", "[day03][copy][small]") {
    for (const std::int64_t K : {1, 2, 3, 4, 5, 7, 8, 16, 30, 32, 64}) {
        for (const std::int64_t pitch : {64, 65, 66, 68}) {
            check_copy_port<float>(pitched({9, K}, pitch), row_major({9, K}));
            check_copy_port<std::uint8_t>(row_major({9, K}), pitched({9, K}, pitch));
        }
    }
}

template <class T>
void check_broadcasts() {
    const std::int64_t n = 48;
    check_copy_port<T>(Layout({37, n}, {0, 1}), row_major({37, n}));          // a row, repeated
    check_copy_port<T>(Layout({37, n}, {1, 0}), row_major({37, n}));          // a column
    check_copy_port<T>(Layout({37, n}, {0, 0}), row_major({37, n}));          // one element
    check_copy_port<T>(Layout({37, n + 1}, {1, 0}), row_major({37, n + 1}));  // rows of odd length
    check_copy_port<T>(Layout({3, 5, n}, {-2, 1, 0}), row_major({3, 5, n}));
    check_copy_port<T>(Layout({3, 5, n}, {n, 0, 1}), row_major({3, 5, n}));
    check_copy_port<T>(Layout({2, 2, 3, 2, 2, 32}, {6, 0, 1, 0, 3, 0}),
                       row_major({2, 2, 3, 2, 2, 32}));
    check_copy_port<T>(Layout({6, 9, 5}, {2, 1, 1}), row_major({6, 9, 5}));  // overlapping windows
}
TEST_CASE("broadcast views are written out", "[day03][copy][small]") {
    check_broadcasts<std::uint8_t>();
    check_broadcasts<bf16>();
    check_broadcasts<float>();
    check_broadcasts<double>();
    check_broadcasts<Sixteen>();
}

TEST_CASE("grouped heads: each key head is seen by two query heads", "[day03][copy][small]") {
    // Keys (B, T, 3, d) for 6 query heads: (B, 6, T, d), where heads 2 g and 2 g + 1 read head g.
    const std::int64_t B = 2, T = 5, d = 8;
    const Tensor<float> keys = distinct<float>({B, T, 3, d});
    const auto grouped = [&](const View<const float>& k) {
        return broadcast_to(unsqueeze(permute(k, {0, 2, 1, 3}), 2), {B, 3, 2, T, d});
    };
    Tensor<float> want({B, 3, 2, T, d});
    for (std::int64_t b = 0; b < B; ++b) {
        for (std::int64_t h = 0; h < 6; ++h) {
            for (std::int64_t t = 0; t < T; ++t) {
                for (std::int64_t c = 0; c < d; ++c)
                    want(b, h / 2, h % 2, t, c) = keys(b, t, h / 2, c);
            }
        }
    }
    DeviceIn<float> from(keys);
    DeviceOut<float> got({B, 3, 2, T, d});
    copy_cuda(grouped(from.view()), got.view());
    CHECK(got.matches(want));
    CHECK(is_contiguous(reshape(got.view(), {B, 6, T, d}).layout));
}

TEST_CASE("tiles and windows of a matrix are copied into their places", "[day03][copy][small]") {
    // Cut into ragged tiles, and put together again tile by tile.
    const Tensor<float> in = distinct<float>({37, 45});
    DeviceIn<float> from(in);
    DeviceOut<float> got({37, 45});
    const Shape shape{16, 16};
    const Dims tiles = tiles_per_dim({37, 45}, shape);
    CHECK(tiles == Dims{3, 3});
    for (std::int64_t i = 0; i < tiles[0]; ++i) {
        for (std::int64_t j = 0; j < tiles[1]; ++j) {
            copy_cuda(tile(from.view(), shape, {i, j}), tile(got.view(), shape, {i, j}));
        }
    }
    CHECK(got.matches(in));
}

TEST_CASE("A + A^T in place depends on the order; every copy of it is refused",
          "[day03][copy][small]") {
    // By hand: in order, a(1, 0) adds an a(0, 1) that is a sum already.
    Tensor<float> a({2, 2}, {1, 2, 10, 20});
    const View<float> x = a.view(), t = transpose(a.view());
    for (int m = 0; m < 2; ++m) {
        for (int n = 0; n < 2; ++n) x(m, n) += t(m, n);
    }
    CHECK(equal(a, Tensor<float>({2, 2}, {2, 12, 22, 40})));  // not 2, 12, 12, 40
    CHECK(refusal([&] { copy_cpu(t, x); }) != "");
    // Cautious: even and odd columns share no element, but their spans overlap.
    Tensor<float> b({2, 4});
    CHECK(refusal([&] { copy_cpu(slice(b.view(), 1, 0, 4, 2), slice(b.view(), 1, 1, 4, 2)); }) !=
          "");
}

TEST_CASE("one short dim: 2 to 32, on either side", "[day03][copy][small]") {
    for (std::int64_t S = 2; S <= 33; ++S) {
        check_copy_port<float>(column_major({S, 333}), row_major({S, 333}));
        check_copy_port<float>(column_major({333, S}), row_major({333, S}));
    }
    for (const std::int64_t S : {2, 3, 17, 32}) {
        check_copy_port<std::uint8_t>(column_major({S, 700}), row_major({S, 700}));
        check_copy_port<bf16>(column_major({700, S}), row_major({700, S}), {1}, {1});
        check_copy_port<double>(column_major({700, S}), row_major({700, S}));
        check_copy_port<Sixteen>(column_major({S, 700}), row_major({S, 700}));
    }
    // The short dim is a part of a longer one, so its rows have gaps; and there is a stack of them.
    check_copy_port<float>(permute(pitched({2, 100, 3}, 4), {0, 2, 1}), row_major({2, 3, 100}));
}

// Rows of S without gaps to columns of n, `gap` elements between the columns, and back.
template <class T>
void check_flat(std::int64_t S, std::int64_t n, std::int64_t gap) {
    CAPTURE(S, n, gap, sizeof(T));
    const Layout columns = pitched({S, n}, n + gap), rows = column_major({S, n});
    check_copy_port<T>(rows, columns);
    CHECK(std::string(gpu::last_kernel()) == "copy_rows_to_columns_kernel");
    check_copy_port<T>(columns, rows);
    CHECK(std::string(gpu::last_kernel()) == "copy_columns_to_rows_kernel");
}

TEST_CASE("short rows without gaps move as they lie, 16 bytes at a time", "[day03][copy][small]") {
    for (std::int64_t S = 2; S <= 32; ++S) check_flat<float>(S, 1040, 0);
    for (const std::int64_t S : {2, 3, 17, 31, 32}) {
        check_flat<std::uint8_t>(S, 2064, 0);
        check_flat<bf16>(S, 2056, 0);
        // The last 16 bytes of a column are not whole.
        check_flat<float>(S, 1037, 3);
        check_flat<std::uint8_t>(S, 2049, 15);
        check_flat<bf16>(S, 37, 3);
    }
}

TEST_CASE("short rows of even width do not pile up in a few banks", "[day03][copy][small]") {
    // Padded, lanes that take 16 bytes of a column each, a group apart, meet in 8 banks: 4 passes
    // for 1, and beside the run, where nobody waits, 3 for 1 at most. Lanes that take an element
    // each wrap round at most once: 2 for 1 on one side. Unpadded it would be up to 32 for 1.
    gpu::Buffer<float> a(1 << 14), b(1 << 14);
    a.fill_bytes(1);
    for (const std::int64_t S : {2, 4, 8, 16, 32}) {
        for (const std::int64_t lead : {0, 1}) {  // flat, and not
            CAPTURE(S, lead);
            const Layout rows = column_major({S, 256}), columns = row_major({S, 256});
            for (const bool there : {true, false}) {
                const auto touched = gpu::touched([&] {
                    copy_bytes_cuda({a.data() + lead, 4, there ? rows : columns},
                                    {b.data(), 4, there ? columns : rows});
                });
                CHECK(touched.has_value() == gpu::is_emulated());
                if (!touched) continue;
                CHECK(2 * touched->passes <= (lead == 0 ? 6 : 3) * touched->fewest_passes);
            }
        }
    }
}

TEST_CASE("copy takes the path that the layouts ask for", "[day03][copy][small]") {
    using P = CopyPath;
    const auto permuted = [](const Shape& shape, const Dims& order) {
        return permute(row_major(shape), order);
    };
    const struct {
        const char* what;
        int element;
        Layout in, out;
        std::int64_t lead_in, lead_out;
        P path;
        int wide;  // bytes of the plan's elements
        const char* kernel;
    } cases[] = {
        {"contiguous", 4, row_major({5, 7}), row_major({5, 7}), 0, 0, P::straight, 4,
         "copy_straight_kernel"},
        {"one element", 4, Layout(), Layout(), 0, 0, P::straight, 4, "copy_straight_kernel"},
        {"both alike", 4, column_major({5, 7}), column_major({5, 7}), 3, 3, P::straight, 4,
         "copy_straight_kernel"},
        {"both backwards", 4, Layout({8}, {-1}), Layout({8}, {-1}), 7, 7, P::straight, 4,
         "copy_straight_kernel"},
        {"other addresses", 4, row_major({64}), row_major({64}), 1, 0, P::rows, 4,
         "copy_strided_kernel"},
        {"8 bytes apart", 4, row_major({64}), row_major({64}), 2, 0, P::rows, 8,
         "copy_strided_kernel"},
        {"aligned rows", 4, pitched({9, 32}, 36), row_major({9, 32}), 0, 0, P::rows, 16,
         "copy_strided_kernel"},
        {"odd pitch", 4, pitched({9, 32}, 37), row_major({9, 32}), 0, 0, P::rows, 4,
         "copy_strided_kernel"},
        {"heads", 4, permuted({2, 8, 3, 64}, {0, 2, 1, 3}), row_major({2, 3, 8, 64}), 0, 0, P::rows,
         16, "copy_strided_kernel"},
        {"reversed rows", 2, Layout({9, 32}, {-32, 1}), row_major({9, 32}), 256, 0, P::rows, 16,
         "copy_strided_kernel"},
        {"a row repeated", 4, Layout({9, 32}, {0, 1}), row_major({9, 32}), 0, 0, P::rows, 16,
         "copy_strided_kernel"},
        {"a column repeated", 4, Layout({9, 32}, {1, 0}), row_major({9, 32}), 0, 0, P::splat, 4,
         "copy_splat_kernel"},
        {"one value", 1, Layout({9, 32}, {0, 0}), row_major({9, 32}), 0, 0, P::splat, 1,
         "copy_splat_kernel"},
        {"repeated, odd rows", 4, Layout({9, 33}, {1, 0}), pitched({9, 33}, 34), 0, 0, P::general,
         4, "copy_strided_kernel"},
        {"repeated, odd pitch", 4, Layout({9, 32}, {1, 0}), pitched({9, 32}, 33), 0, 0, P::general,
         4, "copy_strided_kernel"},
        {"repeated, to an odd place", 4, Layout({9, 32}, {1, 0}), row_major({9, 32}), 0, 1,
         P::general, 4, "copy_strided_kernel"},
        {"transpose", 4, column_major({64, 40}), row_major({64, 40}), 0, 0, P::tiles, 4,
         "transpose_sixteen_bytes_kernel"},
        {"transpose, 1 byte", 1, column_major({64, 48}), row_major({64, 48}), 0, 0, P::tiles, 1,
         "transpose_packed_bytes_kernel"},
        {"transpose, odd", 4, column_major({65, 41}), row_major({65, 41}), 0, 0, P::tiles, 4,
         "transpose_whole_sectors_kernel"},
        {"transpose, odd, 1 byte", 1, column_major({65, 41}), row_major({65, 41}), 0, 0, P::tiles,
         1, "transpose_in_flight_kernel"},
        {"complex transpose", 4, permuted({40, 50, 2}, {1, 0, 2}), row_major({50, 40, 2}), 0, 0,
         P::tiles, 8, "transpose_in_flight_kernel"},
        {"quads transposed", 4, permuted({40, 50, 4}, {1, 0, 2}), row_major({50, 40, 4}), 0, 0,
         P::tiles, 16, "transpose_in_flight_kernel"},
        {"channels last", 4, permuted({3, 10, 20}, {1, 2, 0}), row_major({10, 20, 3}), 0, 0,
         P::short_rows, 4, "copy_columns_to_rows_kernel"},
        {"17 columns", 4, column_major({100, 17}), row_major({100, 17}), 0, 0, P::short_rows, 4,
         "copy_columns_to_rows_kernel"},
        {"17 columns, at an odd place", 4, column_major({100, 17}), row_major({100, 17}), 1, 0,
         P::short_rows, 4, "copy_short_rows_kernel"},
        {"17 rows", 4, column_major({17, 100}), row_major({17, 100}), 0, 0, P::short_rows, 4,
         "copy_rows_to_columns_kernel"},
        {"17 rows with gaps", 4, permute(pitched({100, 17}, 20), {1, 0}), row_major({17, 100}), 0,
         0, P::short_rows, 4, "copy_short_rows_kernel"},
        {"17 of 8 bytes", 8, column_major({100, 17}), row_major({100, 17}), 0, 0, P::short_rows, 8,
         "copy_short_rows_kernel"},
        {"17 rows, to an odd place", 4, column_major({17, 100}), row_major({17, 100}), 0, 1,
         P::short_rows, 4, "copy_short_rows_kernel"},
        {"stacks of 17 rows, odd steps in", 4, Layout({2, 17, 100}, {1701, 1, 17}),
         row_major({2, 17, 100}), 0, 0, P::short_rows, 4, "copy_short_rows_kernel"},
        {"stacks of 17 rows, odd steps out", 4, Layout({2, 17, 100}, {1700, 1, 17}),
         Layout({2, 17, 100}, {1702, 100, 1}), 0, 0, P::short_rows, 4, "copy_short_rows_kernel"},
        {"stacks of 17 rows", 4, Layout({2, 17, 100}, {1700, 1, 17}), row_major({2, 17, 100}), 0, 0,
         P::short_rows, 4, "copy_rows_to_columns_kernel"},
        {"two dims of 32", 4, column_major({32, 32}), row_major({32, 32}), 0, 0, P::general, 4,
         "copy_strided_kernel"},
        {"two dims of 33", 4, column_major({33, 33}), row_major({33, 33}), 0, 0, P::tiles, 4,
         "transpose_whole_sectors_kernel"},
        {"two short dims", 4, column_major({17, 20}), row_major({17, 20}), 0, 0, P::general, 4,
         "copy_strided_kernel"},
        {"every other one", 4, Layout({50}, {2}), row_major({50}), 0, 0, P::general, 4,
         "copy_strided_kernel"},
        {"backwards", 4, Layout({50}, {-1}), row_major({50}), 49, 0, P::general, 4,
         "copy_strided_kernel"},
    };
    gpu::Buffer<std::uint8_t> a(1 << 15), b(1 << 15);
    a.fill_bytes(1);
    for (const auto& c : cases) {
        CAPTURE(c.what);
        const BytesIn in{a.data() + c.lead_in * c.element, c.element, c.in};
        const BytesOut out{b.data() + c.lead_out * c.element, c.element, c.out};
        CHECK(std::string(name(choose_copy(in, out))) == name(c.path));
        CHECK(plan_copy(in, out).in.element == c.wide);
        copy_bytes_cuda(in, out);
        CHECK(std::string(gpu::last_kernel()) == c.kernel);
    }
    const std::string before = gpu::last_kernel();
    const BytesOut here{a.data(), 4, row_major({5, 7})};
    CHECK(choose_copy(here.read_only(), here) == P::nothing);
    copy_bytes_cuda({a.data(), 4, row_major({0, 7})}, {b.data(), 4, row_major({0, 7})});
    CHECK(gpu::last_kernel() == before);
}

TEST_CASE("a copy too large for 31 bits is cut into pieces", "[day03][copy][small]") {
    const Layout in = permute(row_major({5, 7, 3}), {2, 0, 1});
    const Tensor<float> values = values_for<float>(in);
    DeviceIn<float> from(values, in);
    for (const std::int64_t most : {1, 2, 8, 34, 104, 105}) {
        CAPTURE(most);
        DeviceOut<float> got({3, 5, 7});
        int pieces = 0;
        CopyPlan plan = plan_copy(bytes_in(from.view()), bytes_out(got.view()));
        in_pieces(plan, most, [&](const CopyPlan& piece) {
            CHECK(piece.out.layout.size() <= most);
            launch_strided(piece, {});
            ++pieces;
        });
        CHECK(got.matches(values));
        CHECK(pieces >= 105 / most);
    }
}

TEST_CASE("contiguous copies only if it must", "[day03][copy][small]") {
    const Tensor<float> in = distinct<float>({3, 4});
    Tensor<float> room({3, 4}), turned({4, 3});
    CHECK(contiguous_cpu(in.view(), room.view()).data == in.data());
    CHECK(room(0, 0) == 0);
    const View<const float> t = contiguous_cpu(transpose(in.view()), turned.view());
    CHECK(t.data == turned.data());
    CHECK(turned(1, 2) == in(2, 1));
    const View<const float> row_of = rows(in.view(), 1, 2);  // a row is contiguous where it lies
    Tensor<float> one({4, 1});
    CHECK(contiguous_cpu(transpose(row_of), one.view()).data == row_of.data);

    DeviceIn<float> from(in);
    DeviceOut<float> untouched({3, 4}), got({4, 3});
    CHECK(contiguous_cuda(from.view(), untouched.view()).data == from.view().data);
    CHECK(untouched.untouched());
    const View<float> to = got.view();
    CHECK(contiguous_cuda(transpose(from.view()), to).data == to.data);
    CHECK(got.matches(turned));
    CHECK(both_refuse(
        [&] {
            (void)contiguous_cpu(in.view(), View<float>(room.data(), column_major({3, 4})));
        },
        [&] {
            (void)contiguous_cuda(in.view(), View<float>(room.data(), column_major({3, 4})));
        },
        "contiguous: room has shape (3, 4), strides (1, 3), which is not contiguous"));
}

TEST_CASE("copy refuses what would race or overwrite", "[day03][copy][small]") {
    Tensor<float> x({4, 4}), y({4, 4});
    const auto refused = [&](View<const float> from, View<float> to, const char* words) {
        CHECK(both_refuse([&] { copy_cpu(from, to); }, [&] { copy_cuda(from, to); }, words));
    };
    refused(x.view(), {y.data(), Shape{2, 8}}, "in has shape (4, 4), but out has shape (2, 8)");
    refused(x.view(), {y.data(), Layout({4, 4}, {0, 1})}, "writers of it would race");
    refused(x.view(), {y.data(), Layout({4, 4}, {1, 1})}, "writers of it would race");
    refused(transpose(x.view()), x.view(), "overlap without being the same tensor");
    refused(rows(x.view(), 0, 3), rows(x.view(), 1, 4), "overlap without being the same tensor");
    refused({nullptr, Shape{4, 4}}, y.view(), "in is a null pointer");
    refused(x.view(), {nullptr, Shape{4, 4}}, "out is a null pointer");
    copy_cpu(x.view(), x.view());  // the same tensor: nothing to do
    copy_cuda(View<const float>(nullptr, Shape{0, 4}), View<float>(nullptr, Shape{0, 4}));
    const View<const float> none = slice(x.view(), 1, 4, 4);  // an empty slice at the very end
    copy_cuda(none, View<float>(y.data(), none.layout.shape));
}

TEST_CASE("a broadcast is not written through, on the device either", "[day03][copy][small]") {
    const Tensor<float> in = distinct<float>({4, 64});
    DeviceIn<float> from(in);
    Tensor<float> host({64});
    DeviceOut<float> row_of({64});
    const Layout four_rows = broadcast_to(row_major({64}), {4, 64});  // all in one place
    CHECK(both_refuse([&] { copy_cpu(in.view(), View<float>(host.data(), four_rows)); },
                      [&] { copy_cuda(from.view(), View<float>(row_of.view().data, four_rows)); },
                      "writers of it would race"));
    CHECK(row_of.untouched());
}

TEST_CASE("every launcher only launches, and on the stream that it is given", "[day03][small]") {
    const Tensor<float> in = distinct<float>({40, 3, 36});
    const DeviceIn<float> from(in);
    const std::vector<Dims> orders = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}};
    for (const Dims& order : orders) {
        CAPTURE(to_string(order));
        const View<const float> view = permute(from.view(), order);
        const Tensor<float> want = [&] {
            Tensor<float> t(view.layout.shape);
            copy_cpu(permute(in.view(), order), t.view());
            return t;
        }();
        DeviceOut<float> got(view.layout.shape);
        if (gpu::is_emulated()) {
            copy_cuda(view, got.view());
        } else {
            const View<float> to = got.view();
            gpu::Graph graph([&](gpu::Stream stream) { copy_cuda(view, to, stream); });
            CHECK(got.untouched());
            graph.launch();
        }
        CHECK(got.matches(want));
    }
}

// --- beyond 2^31 ---------------------------------------------------------------------------------

TEST_CASE("more than 2^31 elements, transposed and copied", "[day03][huge]") {
    const std::int64_t M = 46349, N = 46399, n = M * N;  // 2.15e9 bytes
    need_device_memory(3 * n + (std::int64_t{1} << 30));
    // Row m is a window of random bytes, so that an upload is all it takes.
    const std::int64_t period = 1000003;
    std::vector<std::uint8_t> noise(static_cast<std::size_t>(period + N));
    for (std::size_t i = 0; i < noise.size(); ++i) {
        const auto k = static_cast<std::int64_t>(i) % period;
        noise[i] = static_cast<std::uint8_t>(sixdays::testing::detail::random_bits(1, k) % 255);
    }
    const auto value = [&](std::int64_t m, std::int64_t i) {
        return noise[static_cast<std::size_t>((m * 7919 + i) % period)];
    };
    gpu::Buffer<std::uint8_t> a(n), b(n), back(n);
    for (std::int64_t m = 0; m < M; ++m)
        a.upload(&noise[static_cast<std::size_t>(m * 7919 % period)], N, m * N);

    // There and back: every byte of `back` is a's, and some rows of b are what they should be.
    const View<const std::uint8_t> in = std::as_const(a).view({M, N});
    const auto check = [&](const char* what, const Shape& shape, const auto& there,
                           const auto& return_, const auto& expected) {
        CAPTURE(what);
        b.fill_bytes(0xff);
        back.fill_bytes(0xff);
        there(b.view(shape));
        return_(std::as_const(b).view(shape), back.view({M, N}));
        CHECK(gpu::count_different(a, back) == 0);
        bool ok = true;
        for (std::int64_t k = 0; k < 64; ++k) {
            const std::int64_t r = k * (shape[0] - 1) / 63;
            const auto got = b.download(r * shape[1], shape[1]);
            for (std::int64_t c = 0; c < shape[1]; ++c) {
                ok &= got[static_cast<std::size_t>(c)] == expected(r, c);
            }
        }
        CHECK(ok);
    };
    using Out = View<std::uint8_t>;
    using In = View<const std::uint8_t>;
    const auto turned = [&](std::int64_t r, std::int64_t c) { return value(c, r); };
    check(
        "transpose", {N, M}, [&](Out out) { transpose_cuda(in, out); },
        [](In from, Out out) { transpose_cuda(from, out); }, turned);
    check(
        "copy of a transpose", {N, M}, [&](Out out) { copy_cuda(transpose(in), out); },
        [](In from, Out out) { copy_cuda(transpose(from), out); }, turned);
    check(
        "copy of a flip", {M, N}, [&](Out out) { copy_cuda(flip(in, 1), out); },
        [](In from, Out out) { copy_cuda(flip(from, 1), out); },
        [&](std::int64_t r, std::int64_t c) { return value(r, N - 1 - c); });
    check(
        "straight", {M, N}, [&](Out out) { copy_cuda(in, out); },
        [](In from, Out out) { copy_cuda(from, out); }, value);
}

}  // namespace
