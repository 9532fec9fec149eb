// The cost of a stride, counted by hand and by enumeration.
#include "day02_strides/stride_cost.hpp"

#include <cmath>

#include "day02_strides/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;
using namespace sixdays::testing;

namespace {

TEST_CASE("count_units gives the units counted by hand", "[day02][stride_cost][small]") {
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
    // 3 rows of 6 floats, 10 apart: bytes 0-23, 40-63, 80-103: sectors 0 to 3, none of them whole.
    CHECK(count_units(Layout({3, 6}, {10, 1}), 32).touched == 4);
    CHECK(count_units(Layout({3, 6}, {10, 1}), 32).whole == 0);
    CHECK(count_units(Layout({3, 6}, {10, 1}), 4).whole == 18);
    CHECK(rejection([] { (void)count_units({}, 48); }) ==
          "count_units: a unit of 48 bytes; it must be a power of two, at least 4");
    CHECK(rejection([] { (void)count_units({}, 32, -1); }) != "");
    CHECK(rejection([] { (void)count_units(Layout({4096, 4096}, {5000, 1}), 32); }) != "");
    CHECK(rejection([] { (void)sectors_asked_for(row_major({4})); }) != "");
    // The same rows, in reverse order.
    CHECK(count_units(Layout({3, 6}, {-10, 1}), 32).touched == 4);
    // 40 columns: a warp of 32 takes 4 sectors, one of 8 takes 1; also backwards.
    CHECK(sectors_asked_for(Layout({2, 40}, {64, 1})) == 2 * (4 + 1));
    CHECK(sectors_asked_for(Layout({1, 40}, {0, -1})) == 4 + 1);
    // A column of one element may have any stride, and so may every dimension of an empty matrix.
    CHECK(sectors_asked_for(Layout({3, 1}, {8, INT64_MIN})) == 3);
    CHECK(sectors_asked_for(Layout({3, 0}, {INT64_MIN, INT64_MIN})) == 0);
    CHECK(count_units(Layout({1, 8}, {INT64_MIN, 1}), 32).touched == 1);
}

TEST_CASE("at most 2^22 elements are counted one by one", "[day02][stride_cost][full]") {
    const std::int64_t side = 2048;
    const Layout most({side, side}, {side + 1, 1}), more({side + 1, side}, {side + 1, 1});
    CHECK(count_units(most, 4).whole == side * side);
    CHECK(rejection([&] { (void)count_units(more, 4); }).find("more than 2^22") !=
          std::string::npos);
}

TEST_CASE("the closed formula gives the same units as listing every byte",
          "[day02][stride_cost][small]") {
    for (const std::int64_t unit : {4, 8, 32, 64}) {
        for (std::int64_t count = 1; count <= 20; ++count) {
            for (std::int64_t stride = -20; stride <= 20; ++stride) {
                for (std::int64_t lowest = 0; lowest < 9; ++lowest) {
                    std::vector<int> used(2000, 0);  // elements used in each unit
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

bool close_to_each_other(double a, double b) {
    return std::abs(a - b) <= 1e-9 * b;
}

TEST_CASE("the useful fraction falls to 1/8 with units of 32 bytes, to 1/16 with 64",
          "[day02][stride_cost][small]") {
    const std::int64_t J = 4096, T = std::int64_t{1} << 18;  // 2^30 floats, no enumeration
    const auto fraction = [&](std::int64_t s, std::int64_t unit) {
        const Layout layout({J / s, T}, {T * s, s});
        return useful_fraction(layout, moved_by_reading(layout, {unit}));
    };
    CHECK(fraction(1, 32) == 1);
    CHECK(fraction(2, 32) == 0.5);
    CHECK(fraction(8, 32) == 0.125);
    CHECK(fraction(64, 32) == 0.125);
    CHECK(fraction(8, 64) == 0.125);
    CHECK(fraction(16, 64) == 0.0625);
    CHECK(fraction(33, 64) == 0.0625);
    const Layout every_second({J / 2, T}, {T * 2, 2});
    const bench::Work written = moved_by_writing(every_second, {64, 32, true});
    CHECK(written.bytes_written == 4294967296.0);  // 2^32: all sectors of 2^30 floats
    CHECK(written.bytes_read == written.bytes_written);
    CHECK(moved_by_writing(row_major({J, T}), {64, 32, true}).bytes_read == 0);
}

TEST_CASE("the model's seconds equal those worked out by hand", "[day02][stride_cost][small]") {
    const bench::Limits limits{"a GPU of round numbers", 4e12, 5e12, 4e12, 1e12};
    const std::int64_t T = std::int64_t{1} << 18;
    const auto every = [&](std::int64_t s) { return Layout({1024 / s, T}, {T * s, s}); };
    // 2^28 floats are 2^30 bytes. At 5e12 bytes per second: 2^30 / 5e12 s, whatever a block costs.
    const double all = 1073741824 / 5e12;
    CHECK(close_to_each_other(seconds_to_read(every(1), limits), all));
    CHECK(close_to_each_other(seconds_to_read(every(8), limits), all));
    CHECK(close_to_each_other(seconds_to_read(every(16), limits), all));
    // From stride 16 on, 64 bytes move per float. At stride 64 a block cost of 64 bytes is added to
    // each: 128 bytes at 1.25 * R, for 1/64 of the floats: 2^22 * 128 / 6.25e12.
    CHECK(close_to_each_other(seconds_to_read(every(64), limits), 4194304.0 * 128 / 6.25e12));
    CHECK(close_to_each_other(seconds_to_read(every(128), limits), 2097152.0 * 128 / 6.25e12));
    // At stride 32 there is one block cost per two floats: 2^23 * (64 + 32).
    CHECK(close_to_each_other(seconds_to_read(every(32), limits), 8388608.0 * 96 / 6.25e12));
    // Stride 1: 2^30 bytes at W. Stride 2: all sectors are read and written back, at C.
    CHECK(close_to_each_other(seconds_to_write(every(1), limits), 1073741824 / 4e12));
    CHECK(close_to_each_other(seconds_to_write(every(2), limits), 2147483648.0 / 4e12));
}

}  // namespace
