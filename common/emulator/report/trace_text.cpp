/// @file
/// Formats a trace as sentences, tables and pictures.
#include <algorithm>
#include <vector>

#include "common/emulator/report/finding.hpp"
#include "common/emulator/trace.hpp"

namespace sixdays::emulator {

namespace {

const char* operation_name(Operation operation) {
    switch (operation) {
        case Operation::load:
            return "load";
        case Operation::store:
            return "store";
        default:
            return "atomic";
    }
}

double per_request(std::uint64_t n, const LineTrace& line) {
    return static_cast<double>(n) / static_cast<double>(line.requests);
}

std::string place(const LineTrace& line) {
    return line.file + ":" + std::to_string(line.line);
}

// For the table: file name without folders.
std::string short_place(const LineTrace& line) {
    const std::size_t slash = line.file.rfind('/');
    return (slash == std::string::npos ? line.file : line.file.substr(slash + 1)) + ":" +
           std::to_string(line.line);
}

std::vector<std::int64_t> steps(const LineTrace& line) {
    std::vector<std::int64_t> found;
    for (unsigned lane = 0; lane + 1 < 32; ++lane) {
        if ((line.lanes >> lane & 3) != 3) continue;
        found.push_back(static_cast<std::int64_t>(line.addresses[lane + 1] - line.addresses[lane]));
    }
    return found;
}

// "its lanes are 4096 bytes apart", or another description of the worst request.
std::string how_lanes_lie(const LineTrace& line) {
    const auto between = steps(line);
    if (between.empty()) return "few of its lanes are active";
    const bool even =
        std::all_of(between.begin(), between.end(), [&](auto s) { return s == between[0]; });
    if (!even) return "its lanes are scattered";
    if (between[0] == 0) return "all its lanes use the same address";
    const auto step = static_cast<std::uint64_t>(between[0] < 0 ? -between[0] : between[0]);
    if (step == line.bytes_per_lane && line.memory == Memory::global) {
        return "its lanes are contiguous, but the first does not start at a multiple of 32 bytes";
    }
    return format("its lanes are %llu bytes apart", static_cast<unsigned long long>(step));
}

// One character per sector from the lowest to the highest address: the number of lanes in it.
std::string sector_row(const LineTrace& line) {
    std::vector<std::uint64_t> touched;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if ((line.lanes >> lane & 1) == 0) continue;
        const std::uint64_t begin = line.addresses[lane] / 32;
        const std::uint64_t end = (line.addresses[lane] + line.bytes_per_lane - 1) / 32;
        for (std::uint64_t s = begin; s <= end; ++s) touched.push_back(s);
    }
    std::sort(touched.begin(), touched.end());
    std::string row;
    constexpr std::uint64_t kWidest = 64;
    for (std::uint64_t s = touched.front(); s <= touched.back(); ++s) {
        if (s - touched.front() == kWidest) {
            touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
            const auto more = touched.end() - std::lower_bound(touched.begin(), touched.end(), s);
            return row + " and " + std::to_string(more) + " more";
        }
        const auto n = std::count(touched.begin(), touched.end(), s);
        row += n == 0 ? '.' : n > 9 ? '*' : static_cast<char>('0' + n);
    }
    return row;
}

// One character per bank: the number of distinct words requested from it.
std::string bank_row(const LineTrace& line) {
    std::vector<std::uint64_t> wanted;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if ((line.lanes >> lane & 1) == 0) continue;
        for (std::uint64_t b = 0; b < line.bytes_per_lane; b += 4) {
            wanted.push_back((line.addresses[lane] + b) / 4);
        }
    }
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    std::string row;
    for (std::uint64_t bank = 0; bank < 32; ++bank) {
        const auto n = std::count_if(wanted.begin(), wanted.end(),
                                     [bank](std::uint64_t w) { return w % 32 == bank; });
        row += n == 0 ? '.' : n > 9 ? '*' : static_cast<char>('0' + n);
    }
    return row;
}

}  // namespace

std::string trace_table(const std::vector<LineTrace>& lines) {
    std::string text =
        "  requests   per request       fewest   bytes used\n                               "
        "possible   of moved\n";
    for (const LineTrace& line : lines) {
        const bool global = line.memory == Memory::global;
        const double units = per_request(global ? line.sectors : line.passes, line);
        const double fewest = per_request(global ? line.fewest_sectors : line.fewest_passes, line);
        // A wavefront of shared memory that serves few lanes costs no more than a full one.
        const std::string used =
            global ? format("%5.1f %%", 100.0 * static_cast<double>(line.bytes_used) /
                                            static_cast<double>(line.bytes_moved()))
                   : "       ";
        text +=
            format("  %8llu %7.2f %-10s %7.2f      %s   %s%s, %s, %s\n",
                   static_cast<unsigned long long>(line.requests), units,
                   global ? "sectors" : "wavefronts", fewest, used.c_str(), global ? "" : "shared ",
                   operation_name(line.operation), short_place(line).c_str(), line.kernel.c_str());
    }
    return text;
}

std::string trace_picture(const LineTrace& line) {
    if (line.memory == Memory::global) {
        return "  sectors of 32 bytes, and how many lanes access each (. none, * more than 9):\n   "
               " [" +
               sector_row(line) + "]\n";
    }
    return "  the 32 banks, and how many different words of each are accessed; a request takes "
           "as\n  many wavefronts as its busiest bank has words:\n    [" +
           bank_row(line) + "]\n";
}

std::string trace_explanation(std::vector<LineTrace> lines) {
    if (lines.empty()) return "No kernel accessed memory.";
    std::stable_sort(lines.begin(), lines.end(), [](const LineTrace& a, const LineTrace& b) {
        return a.bytes_moved() > b.bytes_moved();
    });
    std::uint64_t all = 0;
    for (const LineTrace& line : lines) all += line.bytes_moved();
    std::string text;
    for (std::size_t i = 0; i < lines.size() && i < 2; ++i) {
        const LineTrace& line = lines[i];
        const bool global = line.memory == Memory::global;
        text += format(
            "%zu. The %s%s in %s moves %llu bytes, %.0f %% of all bytes that the kernels move: "
            "%llu requests of %.3g %s each.",
            i + 1, global ? "" : "shared ", operation_name(line.operation), place(line).c_str(),
            static_cast<unsigned long long>(line.bytes_moved()),
            100.0 * static_cast<double>(line.bytes_moved()) / static_cast<double>(all),
            static_cast<unsigned long long>(line.requests),
            per_request(global ? line.sectors : line.passes, line),
            global ? "sectors" : "wavefronts");
        if (line.bytes_wasted() == 0) {
            text +=
                std::string(
                    " No request can do with fewer: the cost comes from the number of requests. ") +
                (global ? "To go faster, load each byte once and keep it, in a register or in "
                          "shared memory, or use a smaller type.\n"
                        : "To go faster, keep values that a thread reuses in registers.\n");
            continue;
        }
        text += format(" If the same bytes were contiguous, %.3g would do: %s. ",
                       per_request(global ? line.fewest_sectors : line.fewest_passes, line),
                       how_lanes_lie(line).c_str());
        if (global) {
            text +=
                "Let threadIdx.x run along the dimension whose stride is 1, or load the bytes row "
                "by row into shared memory.\n";
        } else if (line.operation == Operation::atomic) {
            text +=
                "Atomics on one word are serialized: accumulate in registers first, or spread the "
                "lanes over several copies of the array.\n";
        } else {
            text +=
                "Lanes that access different words of one bank are serialized, a bank conflict: "
                "pad each row of the array by one column, so that they access different banks.\n";
        }
    }
    return text;
}

std::string trace_verdict(const std::vector<LineTrace>& lines) {
    if (lines.empty()) return "No kernel accessed memory.";
    const LineTrace& worst = lines.front();
    if (worst.bytes_wasted() == 0) {
        const bool shared = std::any_of(lines.begin(), lines.end(), [](const LineTrace& line) {
            return line.memory == Memory::shared;
        });
        return std::string("Every request moves as little as possible: no sector ") +
               (shared ? "and no wavefront " : "") + "is wasted.";
    }
    const bool global = worst.memory == Memory::global;
    return format(
        "The most waste is in %s, by the %s%s: %s, so a request takes %.3g %s where %.3g would do.",
        place(worst).c_str(), global ? "" : "shared ", operation_name(worst.operation),
        how_lanes_lie(worst).c_str(), per_request(global ? worst.sectors : worst.passes, worst),
        global ? "sectors" : "wavefronts",
        per_request(global ? worst.fewest_sectors : worst.fewest_passes, worst));
}

}  // namespace sixdays::emulator
