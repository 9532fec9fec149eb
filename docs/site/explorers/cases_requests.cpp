// Random requests of one warp, and what the emulator's trace counts.
#include <cuda_runtime_api.h>

#include <initializer_list>
#include <stdexcept>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/trace.hpp"
#include "docs/site/explorers/cases.hpp"
#include "docs/site/explorers/requests.hpp"

namespace sixdays::explorers {
namespace {

// What the first line of the launch that passes `which` cost: [units, fewest, bytes used]; null
// where the emulator had something to say.
std::string counted(const std::function<void()>& launch,
                    const std::function<bool(const emulator::LineTrace&)>& which) {
    emulator::start_trace();
    launch();
    const std::vector<emulator::LineTrace> lines = emulator::stop_trace();
    if (cudaDeviceSynchronize() != cudaSuccess) {
        const auto report = emulator::last_report();
        emulator::clear_report();
        (void)cudaGetLastError();
        if (report && report->kind == emulator::Kind::misaligned) return "null";
        throw std::logic_error(report ? report->text : "a launch failed");
    }
    for (const emulator::LineTrace& line : lines) {
        if (!which(line)) continue;
        const bool global = line.memory == emulator::Memory::global;
        return "[" + std::to_string(global ? line.sectors : line.passes) + ", " +
               std::to_string(global ? line.fewest_sectors : line.fewest_passes) + ", " +
               std::to_string(line.bytes_used) + "]";
    }
    throw std::logic_error("no line of the launch was traced");
}

std::string list(std::initializer_list<int> numbers) {
    std::string text;
    for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
    return text;
}

}  // namespace

void write_loads() {
    constexpr std::size_t kBytes = 1 << 18;
    char *data = nullptr, *out = nullptr;
    if (cudaMalloc(reinterpret_cast<void**>(&data), kBytes) != cudaSuccess ||
        cudaMalloc(reinterpret_cast<void**>(&out), 512) != cudaSuccess ||
        cudaMemset(data, 0, kBytes) != cudaSuccess) {
        throw std::logic_error("no device memory");
    }
    for (int i = 0; i < 600; ++i) {
        const int bytes = 1 << roll(0, 4), stride = once_in(2) ? roll(-128, 128) : roll(-9, 9);
        const int first = once_in(3) ? 16 * roll(-60, 60) : roll(-99, 99);
        const bool wide = once_in(3);
        write("load", list({stride, bytes, first}) + ", " + json(wide), [&] {
            return counted(
                [&] { load(data + kBytes / 2, stride, bytes, first, wide, out); },
                [](const auto& line) { return line.operation == emulator::Operation::load; });
        });
    }
    (void)cudaFree(data), (void)cudaFree(out);
}

void write_tiles() {
    for (int i = 0; i < 600; ++i) {
        const int unit = once_in(2) ? 1 : 4, rows = unit == 1 ? 32 : 64;
        const bool swizzle = once_in(2), column = !once_in(3);
        const int places = swizzle ? 1 << roll(0, unit == 1 ? 6 : 4) : roll(1, 64 / unit);
        const int pad = unit * (once_in(2) ? 0 : roll(0, 8 / unit));
        const int columns = column ? 1 + 31 * unit / rows : 0, whole_rows = 1 + 31 / places;
        const int last = column ? places - columns : rows - whole_rows;
        if (last < 0) continue;
        const int number = roll(0, last);
        const Tile tile{places * unit, pad, swizzle, unit};
        write("tile",
              list({tile.width, pad}) + ", " + json(swizzle) + ", " + list({unit}) + ", " +
                  json(column) + ", " + list({number}),
              [&] {
                  return counted(
                      [&] { store(tile, column, number); },
                      [](const auto& line) { return line.memory == emulator::Memory::shared; });
              });
    }
}

}  // namespace sixdays::explorers
