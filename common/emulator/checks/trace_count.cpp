/// @file
/// The cost of one request: sectors of global memory, wavefronts of shared memory.
#include <algorithm>
#include <vector>

#include "common/emulator/checks/trace.hpp"

namespace sixdays::emulator {

namespace {

// The distinct units of that size that the lanes touch, in ascending order.
std::vector<std::uint64_t> units_touched(const Request& request, std::uint64_t size) {
    std::vector<std::uint64_t> units;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if ((request.lanes >> lane & 1) == 0) continue;
        const std::uint64_t begin = request.addresses[lane], end = begin + request.bytes;
        for (std::uint64_t unit = begin / size; unit * size < end; ++unit) units.push_back(unit);
    }
    std::sort(units.begin(), units.end());
    units.erase(std::unique(units.begin(), units.end()), units.end());
    return units;
}

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) {
    return (a + b - 1) / b;
}

// The largest number of distinct words that any of the 32 banks must serve.
std::uint64_t fullest_bank(const std::vector<std::uint64_t>& wanted) {
    std::array<std::uint64_t, 32> in_bank{};
    for (const std::uint64_t word : wanted) ++in_bank[word % 32];
    return *std::max_element(in_bank.begin(), in_bank.end());
}

Request some_lanes(const Request& request, std::uint32_t lanes) {
    Request part = request;
    part.lanes &= lanes;
    return part;
}

// The largest number of lanes that update the same word.
std::uint64_t most_lanes_on_a_word(const Request& request) {
    std::uint64_t most = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if ((request.lanes >> lane & 1) == 0) continue;
        std::uint64_t same = 0;
        for (unsigned other = 0; other < 32; ++other) {
            same += (request.lanes >> other & 1) != 0 &&
                    request.addresses[other] / 4 == request.addresses[lane] / 4;
        }
        most = std::max(most, same);
    }
    return most;
}

}  // namespace

Count count_sectors(const Request& request) {
    const std::uint64_t bytes = units_touched(request, 1).size();
    return {bytes, units_touched(request, 32).size(), divide_up(bytes, 32)};
}

Count count_passes(const Request& request, bool atomic) {
    const auto words = units_touched(request, 4);
    Count count{units_touched(request, 1).size(), fullest_bank(words), divide_up(words.size(), 32)};
    // Half a warp at a time with 8 bytes per lane, a quarter with 16, unless one wavefront will do.
    const unsigned parts = request.bytes > 8 ? 4 : request.bytes > 4 ? 2 : 1;
    if (parts > 1 && count.units > 1) {
        count.units = 0;
        for (unsigned part = 0; part < parts; ++part) {
            const unsigned lanes_in_part = 32 / parts;
            const auto lanes = static_cast<std::uint32_t>((1ull << lanes_in_part) - 1)
                               << part * lanes_in_part;
            count.units += fullest_bank(units_touched(some_lanes(request, lanes), 4));
        }
    }
    if (atomic) count.units = std::max(count.units, most_lanes_on_a_word(request));
    return count;
}

}  // namespace sixdays::emulator
