// The proof of Day 02. Loops against answers from outside the code, ports against loops, over every
// element and on every kind of layout. Tags: [small] runs everywhere, [full] not under sanitizers,
// [huge] on a GPU only.
#include "common/testing/testing.hpp"

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/graph.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/index.hpp"
#include "day02_strides/model.hpp"
#include "day02_strides/sweep.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;
using namespace sixdays::testing;

namespace {

constexpr std::int64_t kTwo31 = std::int64_t{1} << 31;

// --- sweep ---------------------------------------------------------------------------------------

// Every way to lay out a matrix (J, T) that this day knows.
std::vector<Layout> matrix_layouts(std::int64_t J, std::int64_t T) {
    return {
        row_major({J, T}),
        column_major({J, T}),
        Layout({J, T}, {T + 5, 1}),          // a pitch
        Layout({J, T}, {3 * T + 1, 3}),      // every third column
        Layout({J, T}, {1, J + 2}),          // rows of a pitched row-major (T, J)
        Layout({J, T}, {-(T + 2), 1}),       // rows from the last to the first
        Layout({J, T}, {T, -1}),             // each row backwards
        Layout({J, T}, {-2, -(2 * J + 1)}),  // both, transposed, with gaps
    };
}

void check_sum_columns_port(const Layout& layout) {
    CAPTURE(to_string(layout));
    const Tensor<float> values = seeded<float>(layout.shape, 5, -1, 1);  // the order shows in bits
    const HostIn<float> in(values, layout);
    HostOut<float> want({layout.extent(1)}), plain({layout.extent(1)});
    sum_columns_cpu(in.view(), want.view());
    sum_columns_cpu(values.view(), plain.view());  // the same matrix, row-major
    CHECK(want.matches(plain));
    DeviceIn<float> din(values, layout, Lead{1});
    DeviceOut<float> got({layout.extent(1)}, Lead{3});
    sum_columns_cuda(din.view(), got.view());
    CHECK(got.matches(want));
    CHECK(din.unchanged());
}

void check_ramp_port(const Layout& layout) {
    CAPTURE(to_string(layout));
    HostOut<float> want(layout);
    ramp_cpu(want.view());
    Tensor<float> counted(layout.shape);
    for (std::int64_t i = 0; i < counted.size(); ++i) counted.data()[i] = static_cast<float>(i);
    CHECK(want.matches(counted));
    DeviceOut<float> got(layout, Lead{1});
    ramp_cuda(got.view());
    CHECK(got.matches(want));
}

TEST_CASE("sums of columns and of rows, by hand", "[day02][sweep][small]") {
    const Tensor<float> x({2, 3}, {1, 2, 3, 4, 5, 6});
    HostOut<float> columns({3}), rows({2});
    sum_columns_cpu(x.view(), columns.view());
    CHECK(columns.matches(Tensor<float>({3}, {5, 7, 9})));
    // The rows of x are the columns of the same memory read with strides (1, 3).
    sum_columns_cpu(View<const float>(x.data(), Layout({3, 2}, {1, 3})), rows.view());
    CHECK(rows.matches(Tensor<float>({2}, {6, 15})));
    // Every second element of 1..6.
    HostOut<float> odd({3});
    sum_columns_cpu(View<const float>(x.data(), Layout({1, 3}, {6, 2})), odd.view());
    CHECK(odd.matches(Tensor<float>({3}, {1, 3, 5})));
}

TEST_CASE("sums are added in the order of j: (2^24 + 1) + 1 is not 2^24 + (1 + 1)",
          "[day02][sweep][small]") {
    const Tensor<float> in({3, 1}, {16777216, 1, 1});
    HostOut<float> want(Shape{1});
    sum_columns_cpu(in.view(), want.view());
    CHECK(want.matches(Tensor<float>(Shape{1}, {16777216})));
    const DeviceIn<float> din(in);
    DeviceOut<float> got(Shape{1});
    sum_columns_cuda(din.view(), got.view());
    CHECK(got.matches(want));
}

TEST_CASE("sum_columns and ramp equal their loops, in every layout", "[day02][sweep][small]") {
    // One below, at and above a warp, a block, and eight elements in flight.
    for (const std::int64_t J : {0, 1, 2, 7, 8, 9, 17}) {
        for (const std::int64_t T : {0, 1, 3, 31, 33, 255, 257}) {
            for (const Layout& layout : matrix_layouts(J, T)) {
                check_sum_columns_port(layout);
                check_ramp_port(layout);
            }
        }
    }
}

TEST_CASE("sum_columns reads a broadcast row and a broadcast element", "[day02][sweep][small]") {
    const Tensor<float> x({5}, {1, 2, 3, 4, 5});
    const DeviceIn<float> dx(x);
    for (const Strides& strides : {Strides{0, 1}, Strides{1, 0}, Strides{0, 0}}) {
        CAPTURE(to_string(strides));
        const Layout layout({5, 5}, strides);
        HostOut<float> want({5});
        sum_columns_cpu(View<const float>(x.data(), layout), want.view());
        DeviceOut<float> got({5});
        sum_columns_cuda(View<const float>(dx.view().data, layout), got.view());
        CHECK(got.matches(want));
        CHECK(want.values()(1) == (strides[0] == 0 ? (strides[1] == 0 ? 5 : 10) : 15));
    }
}

TEST_CASE("sum_columns and ramp on larger matrices", "[day02][sweep][full]") {
    for (const Layout& layout : matrix_layouts(101, 4099)) {
        check_sum_columns_port(layout);
        check_ramp_port(layout);
    }
}

TEST_CASE("sum_columns and ramp refuse in the same words", "[day02][sweep][small]") {
    Tensor<float> x({2, 3}), sums({3}), run({20});
    const auto sum = [](View<const float> in, View<float> out, const char* words) {
        return both_refuse([&] { sum_columns_cpu(in, out); }, [&] { sum_columns_cuda(in, out); },
                           words);
    };
    CHECK(sum(sums.view(), sums.view(), "sum_columns: in has shape (3) of rank 1, but rank 2"));
    CHECK(sum(x.view(), x.view(), "sum_columns: out has shape (2, 3) of rank 2, but rank 1"));
    CHECK(sum(x.view(), run.view(), "sum_columns: out has 20 elements, but in has 3 columns"));
    CHECK(sum(x.view(), {run.data(), Layout({3}, {2})}, "not contiguous"));
    CHECK(sum({nullptr, Shape{2, 3}}, sums.view(), "in is a null pointer"));
    CHECK(sum(x.view(), {nullptr, Shape{3}}, "out is a null pointer"));
    CHECK(sum({run.data(), Shape{2, 3}}, {run.data() + 5, Shape{3}}, "in and out overlap"));
    const auto ramp = [](View<float> out, const char* words) {
        return both_refuse([&] { ramp_cpu(out); }, [&] { ramp_cuda(out); }, words);
    };
    CHECK(ramp(sums.view(), "ramp: out has shape (3) of rank 1, but rank 2"));
    CHECK(ramp({run.data(), Layout({2, 3}, {0, 1})}, "where two indices may share one place"));
    CHECK(ramp({run.data(), Layout({3, 3}, {2, 1})}, "writers of it would race"));
    CHECK(ramp({nullptr, Shape{2, 3}}, "ramp: out is a null pointer"));
}

// --- what the warps touch, and the model ---------------------------------------------------------

TEST_CASE("units of memory that a stride touches, counted by hand", "[day02][model][small]") {
    const auto touched = [](std::int64_t count, std::int64_t stride, std::int64_t unit,
                            std::int64_t lowest = 0) {
        return count_units(Layout({count}, {stride}), unit, lowest).touched;
    };
    CHECK(touched(32, 1, 32) == 4);  // 128 bytes
    CHECK(touched(32, 1, 32, 1) == 5);
    CHECK(touched(32, 2, 32) == 8);
    CHECK(touched(32, 3, 32) == 12);  // the last begins at byte 372, in sector 11
    CHECK(touched(32, 7, 32) == 28);  // at byte 868, in sector 27
    CHECK(touched(32, 8, 32) == 32);
    CHECK(touched(32, 129, 32) == 32);
    CHECK(touched(32, -3, 32) == 12);
    CHECK(touched(32, 0, 32) == 1);
    CHECK(touched(32, 8, 64) == 16);
    CHECK(touched(32, 16, 64) == 32);
    CHECK(touched(0, 1, 32) == 0);
    CHECK(count_units(row_major({4, 8}), 32).whole == 4);
    CHECK(count_units(row_major({4, 8}), 32, 1).whole == 3);
    CHECK(count_units(Layout({32}, {2}), 32).whole == 0);
    // 3 rows of 6 floats, 10 apart: bytes 0-23, 40-63, 80-103: sectors 0, 1, 2 and 3, none whole.
    CHECK(count_units(Layout({3, 6}, {10, 1}), 32).touched == 4);
    CHECK(count_units(Layout({3, 6}, {10, 1}), 32).whole == 0);
    CHECK(count_units(Layout({3, 6}, {10, 1}), 4).whole == 18);
    CHECK(refusal([] { (void)count_units({}, 48); }) ==
          "count_units: a unit of 48 bytes; it must be a power of two from 4 on");
    CHECK(refusal([] { (void)count_units({}, 32, -1); }) != "");
    CHECK(refusal([] { (void)count_units(Layout({4096, 4096}, {5000, 1}), 32); }) != "");
    CHECK(refusal([] { (void)sectors_asked_for(row_major({4})); }) != "");
}

TEST_CASE("the closed formula counts what a list of all bytes counts", "[day02][model][small]") {
    for (const std::int64_t unit : {4, 8, 32, 64}) {
        for (std::int64_t count = 1; count <= 20; ++count) {
            for (std::int64_t stride = -20; stride <= 20; ++stride) {
                for (std::int64_t lowest = 0; lowest < 9; ++lowest) {
                    std::vector<int> used(2000, 0);  // elements of each unit that the walk touches
                    std::int64_t first = lowest - (stride < 0 ? (count - 1) * stride : 0);
                    std::vector<bool> seen(2000, false);
                    for (std::int64_t i = 0; i < count; ++i, first += stride) {
                        if (seen[static_cast<std::size_t>(first)]) continue;
                        seen[static_cast<std::size_t>(first)] = true;
                        ++used[static_cast<std::size_t>(first * 4 / unit)];
                    }
                    std::int64_t touched = 0, whole = 0;
                    for (const int elements : used) {
                        touched += elements > 0;
                        whole += elements == unit / 4;
                    }
                    const Units units = count_units(Layout({count}, {stride}), unit, lowest);
                    CAPTURE(unit, count, stride, lowest);
                    REQUIRE(units.touched == touched);
                    REQUIRE(units.whole == whole);
                }
            }
        }
    }
}

TEST_CASE("bytes that a stride moves, and the share that was asked for", "[day02][model][small]") {
    const std::int64_t J = 4096, T = std::int64_t{1} << 18;  // 2^30 floats, no enumeration
    const auto share = [&](std::int64_t s, std::int64_t unit) {
        const Layout layout({J / s, T}, {T * s, s});
        return useful_share(layout, moved_by_reading(layout, {unit, unit, false}));
    };
    CHECK(share(1, 32) == 1);
    CHECK(share(2, 32) == 0.5);
    CHECK(share(8, 32) == 0.125);
    CHECK(share(64, 32) == 0.125);
    CHECK(share(8, 64) == 0.125);
    CHECK(share(16, 64) == 0.0625);
    CHECK(share(33, 64) == 0.0625);
    const Layout every_second({J / 2, T}, {T * 2, 2});
    const bench::Work written = moved_by_writing(every_second, {64, 32, true});
    CHECK(written.bytes_written == 4294967296.0);  // 2^32: all sectors of 2^30 floats
    CHECK(written.bytes_read == written.bytes_written);
    CHECK(moved_by_writing(row_major({J, T}), {64, 32, true}).bytes_read == 0);
}

TEST_CASE("the emulator counts the sectors that the model says, at every stride",
          "[day02][sweep][model][small]") {
    const std::int64_t J = 4, T = 256;
    gpu::Buffer<float> memory(J * T * 129), sums(T);
    memory.fill_bytes(0x3f);
    for (const std::int64_t s :
         {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 32, 33, 64, 65, 128, 129}) {
        CAPTURE(s);
        const Layout layout({J, T}, {T * s, s});
        const std::int64_t model = sectors_asked_for(layout);
        const auto read =
            gpu::touched([&] { sum_columns_cuda(memory.view(layout), sums.view({T})); });
        const auto wrote = gpu::touched([&] { ramp_cuda(memory.view(layout)); });
        CHECK(read.has_value() == gpu::is_emulated());
        if (!read || !wrote) continue;
        CHECK(read->requests == J * T / 32 + T / 32);
        CHECK(read->sectors == model + T * 4 / 32);
        CHECK(wrote->requests == J * T / 32);
        CHECK(wrote->sectors == model);
        CHECK(model == count_units(layout, 32).touched);  // warps share no sector
    }
}

TEST_CASE("sums of rows: does adding 1 to threadIdx.x add 1 to the address?",
          "[day02][sweep][small]") {
    // 64 rows of 32. Column-major: neighbours in t are neighbours in memory, 4 sectors a request.
    // Row-major: they are a row apart, and each of a warp's 32 lanes needs a sector of its own.
    const std::int64_t rows = 64, columns = 32;
    const DeviceIn<float> memory(distinct<float>({rows * columns}));
    DeviceOut<float> sums({rows});
    const struct {
        const char* name;
        Layout transposed;  // (columns, rows): sum_columns adds along dim 0
        std::int64_t sectors;
    } cases[] = {{"column-major", Layout({columns, rows}, {rows, 1}), 4},
                 {"row-major", Layout({columns, rows}, {1, columns}), 32}};
    for (const auto& c : cases) {
        CAPTURE(c.name);
        const View<const float> in(memory.view().data, c.transposed);
        const auto touched = gpu::touched([&] { sum_columns_cuda(in, sums.view()); });
        CHECK(sectors_asked_for(c.transposed) == columns * 2 * c.sectors);
        if (touched) CHECK(touched->sectors == columns * 2 * c.sectors + 2 * 4);
    }
    CHECK_NOTHROW(gpu::synchronize());
}

}  // namespace
