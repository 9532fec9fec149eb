#include "day02_strides/stride_cost.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "common/tensor/arguments.hpp"
#include "common/tensor/simplify.hpp"

namespace sixdays::day02_strides {
namespace {

constexpr std::int64_t kElement = 4;  // bytes of a float
constexpr std::int64_t kWarp = 32;

// `count` elements, `step` apart, the lowest at element `lowest`; units of `per` elements.
Units units_of_progression(std::int64_t count, std::int64_t step, std::int64_t lowest,
                           std::int64_t per) {
    if (step == 0) count = 1;
    if (count == 1) return {1, per == 1};
    if (step >= per) return {count, per == 1 ? count : 0};  // each in its own unit
    // Less than a unit apart: no unit between the first and the last is skipped.
    const std::int64_t last = lowest + (count - 1) * step;
    Units units;
    units.touched = last / per - lowest / per + 1;
    if (step == 1) {
        units.whole = std::max<std::int64_t>(0, (last + 1) / per - (lowest + per - 1) / per);
    }
    return units;
}

// A list of all offsets, for layouts that are not a single progression.
Units units_by_enumeration(const Layout& layout, std::int64_t lowest, std::int64_t per) {
    const std::int64_t shift = lowest - reach(layout).lowest;
    std::vector<std::int64_t> places;
    Index index = Dims::filled(layout.rank(), 0);
    for (std::int64_t i = 0; i < layout.size(); ++i) {
        places.push_back(offset(layout, index) + shift);
        for (int d = layout.rank() - 1; d >= 0 && ++index[d] == layout.extent(d); --d) index[d] = 0;
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    Units units;
    std::int64_t in_this_unit = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const bool new_unit = i == 0 || places[i] / per != places[i - 1] / per;
        if (new_unit) ++units.touched;
        in_this_unit = new_unit ? 1 : in_this_unit + 1;
        if (in_this_unit == per) ++units.whole;
    }
    return units;
}

}  // namespace

Units count_units(const Layout& layout, std::int64_t unit, std::int64_t lowest) {
    if (unit < kElement || (unit & (unit - 1)) != 0) {
        reject("count_units: a unit of ", unit, " bytes; it must be a power of two, at least 4");
    }
    if (lowest < 0) reject("count_units: lowest is ", lowest, ", below 0");
    if (layout.size() == 0) return {};
    const std::int64_t per = unit / kElement;
    const Layout simple = simplify(layout)[0];
    if (simple.rank() == 0) return units_of_progression(1, 0, lowest, per);
    if (simple.rank() == 1) {
        return units_of_progression(simple.extent(0), std::abs(simple.stride(0)), lowest, per);
    }
    constexpr std::int64_t kEnumerable = 1 << 22;
    if (simple.size() > kEnumerable) {
        reject("count_units: ", layout,
               " is not a single progression, and has more than 2^22 elements to count");
    }
    return units_by_enumeration(simple, lowest, per);
}

std::int64_t sectors_asked_for(const Layout& layout, std::int64_t lowest) {
    if (layout.rank() != 2) {
        reject("sectors_asked_for: ", layout, ", but rank 2 is needed");
    }
    const std::int64_t J = layout.extent(0), T = layout.extent(1);
    const std::int64_t step = T > 1 ? std::abs(layout.stride(1)) : 0;  // else it is arbitrary
    const std::int64_t first = lowest - reach(layout).lowest;          // position of index (0, 0)
    std::int64_t sectors = 0;
    for (std::int64_t j = 0; j < J; ++j) {
        for (std::int64_t t = 0; t < T; t += kWarp) {
            const std::int64_t lanes = std::min(kWarp, T - t);
            const std::int64_t a = first + offset(layout, j, t);
            const std::int64_t b = first + offset(layout, j, t + lanes - 1);
            sectors +=
                units_of_progression(lanes, step, std::min(a, b), kSector / kElement).touched;
        }
    }
    return sectors;
}

bench::Work moved_by_reading(const Layout& layout, const Memory& memory) {
    const Units units = count_units(layout, memory.read_unit);
    bench::Work work;
    work.bytes_read = static_cast<double>(units.touched * memory.read_unit);
    return work;
}

bench::Work moved_by_writing(const Layout& layout, const Memory& memory) {
    const Units units = count_units(layout, memory.write_unit);
    bench::Work work;
    work.bytes_written = static_cast<double>(units.touched * memory.write_unit);
    if (memory.fills_partly_written) {
        work.bytes_read = static_cast<double>((units.touched - units.whole) * memory.write_unit);
    }
    return work;
}

double seconds_to_read(const Layout& layout, const bench::Limits& limits, const Memory& memory) {
    const double moved = moved_by_reading(layout, memory).bytes_read;
    const double visits = static_cast<double>(count_units(layout, memory.block).touched);
    const double visit = static_cast<double>(memory.visit);
    // Without gaps: one block cost per `block` bytes.
    const double slower = 1 + visit / static_cast<double>(memory.block);
    return (moved + visits * visit) / (slower * limits.read);
}

double seconds_to_write(const Layout& layout, const bench::Limits& limits, const Memory& memory) {
    const bench::Work work = moved_by_writing(layout, memory);
    const double filled = work.bytes_read;  // the same number is written back
    return 2 * filled / limits.copy + (work.bytes_written - filled) / limits.write;
}

double useful_fraction(const Layout& layout, const bench::Work& moved) {
    return static_cast<double>(layout.size() * kElement) / moved.bytes();
}

}  // namespace sixdays::day02_strides
