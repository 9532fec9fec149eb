#include "common/emulator/checks/trace.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "common/emulator/machine/place.hpp"
#include "common/emulator/trace.hpp"

namespace sixdays::emulator {

namespace {

/// One instruction of one kernel, and the sum over its requests.
struct Instruction {
    unsigned kernel;
    const void* code;
    LineTrace sum;
    std::uint64_t worst_waste;  // by one request
};

/// One warp's requests at one instruction that are still incomplete, oldest first.
struct Open {
    std::uint64_t first = 0;  // number of requests before these
    std::deque<Request> requests;
};

std::vector<std::string> kernel_names;
std::vector<Instruction> instructions;
std::map<std::tuple<unsigned, const void*, Memory, Operation>, unsigned> numbers;
// Of this block, by instruction, then by warp or by thread.
std::vector<std::array<Open, kMaxThreads / kWarp>> open;
std::vector<std::vector<std::uint64_t>> passed;  // how often each thread executed it

Operation operation_of(AccessKind what) {
    if (what == AccessKind::atomic) return Operation::atomic;
    return what == AccessKind::read || what == AccessKind::volatile_read ? Operation::load
                                                                         : Operation::store;
}

unsigned number_of(Memory memory, Operation operation, const void* code) {
    const auto in_kernel = static_cast<unsigned>(kernel_names.size() - 1);
    const auto [it, is_new] = numbers.try_emplace({in_kernel, code, memory, operation},
                                                  static_cast<unsigned>(instructions.size()));
    if (is_new) {
        Instruction added{in_kernel, code, {}, 0};
        added.sum.memory = memory;
        added.sum.operation = operation;
        instructions.push_back(added);
        open.emplace_back();
        passed.emplace_back(kMaxThreads, 0);
    }
    return it->second;
}

void keep_if_worst(LineTrace& sum, const Request& request, const Count& count,
                   std::uint64_t& worst) {
    const std::uint64_t waste = count.units - count.fewest;
    if (sum.lanes != 0 && waste <= worst) return;
    worst = waste;
    sum.lanes = request.lanes;
    sum.addresses = request.addresses;
    sum.bytes_per_lane = request.bytes;
}

void add(unsigned instruction, const Request& request) {
    Instruction& of = instructions[instruction];
    LineTrace& sum = of.sum;
    const bool global = sum.memory == Memory::global;
    const Count count =
        global ? count_sectors(request) : count_passes(request, sum.operation == Operation::atomic);
    ++sum.requests;
    sum.accesses += static_cast<std::uint64_t>(__builtin_popcount(request.lanes));
    sum.bytes_used += count.bytes_used;
    (global ? sum.sectors : sum.passes) += count.units;
    (global ? sum.fewest_sectors : sum.fewest_passes) += count.fewest;
    keep_if_worst(sum, request, count, of.worst_waste);
}

void merge(LineTrace& all, const LineTrace& more) {
    for (const auto count :
         {&LineTrace::requests, &LineTrace::accesses, &LineTrace::bytes_used, &LineTrace::sectors,
          &LineTrace::fewest_sectors, &LineTrace::passes, &LineTrace::fewest_passes})
        all.*count += more.*count;
}

}  // namespace

void trace_launch(const char* kernel) {
    kernel_names.push_back(kernel);
}

void trace_access(const Region& region, std::uintptr_t address, std::size_t bytes, AccessKind what,
                  const void* code) {
    const Memory memory = region.space == Space::global ? Memory::global : Memory::shared;
    const unsigned instruction = number_of(memory, operation_of(what), code);
    Open& mine = open[instruction][current->warp()];
    const std::uint64_t turn = passed[instruction][current->id]++ - mine.first;
    if (turn >= mine.requests.size()) mine.requests.resize(turn + 1);
    Request& request = mine.requests[turn];
    request.lanes |= 1u << current->lane();
    request.bytes = static_cast<std::uint32_t>(bytes);
    request.addresses[current->lane()] = address;
    while (!mine.requests.empty() && mine.requests.front().lanes == 0xffffffffu) {
        add(instruction, mine.requests.front());
        mine.requests.pop_front();
        ++mine.first;
    }
}

void trace_block_end() {
    for (unsigned i = 0; i < open.size(); ++i) {
        for (Open& mine : open[i]) {
            for (const Request& request : mine.requests) {
                if (request.lanes != 0) add(i, request);
            }
            mine = {};
        }
        std::fill(passed[i].begin(), passed[i].end(), 0);
    }
}

void exchange_requests(std::shared_ptr<void>& aside) {
    std::pair both(std::move(open), std::move(passed));
    exchange(both, aside);
    std::tie(open, passed) = std::move(both);
    open.resize(instructions.size());  // other blocks may have executed more
    passed.resize(instructions.size(), std::vector<std::uint64_t>(kMaxThreads, 0));
}

void start_trace() {
    stop_trace();
    tracing = true;
}

std::vector<LineTrace> stop_trace() {
    using Key = std::tuple<std::string, std::string, int, Memory, Operation>;
    std::map<Key, LineTrace> lines;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
        LineTrace sum = instructions[i].sum;
        if (sum.requests == 0) continue;
        const Line line = find_line(instructions[i].code);
        sum.kernel = kernel_names[instructions[i].kernel];
        sum.file = line.file;
        sum.line = line.line;
        const Key key{sum.kernel, sum.file, sum.line, sum.memory, sum.operation};
        const auto [it, is_new] = lines.try_emplace(key, sum);
        if (is_new) continue;
        LineTrace& all = it->second;
        if (sum.bytes_wasted() > all.bytes_wasted()) {
            all.lanes = sum.lanes;
            all.addresses = sum.addresses;
            all.bytes_per_lane = sum.bytes_per_lane;
        }
        merge(all, sum);
    }
    tracing = false;
    kernel_names.clear();
    instructions.clear();
    numbers.clear();
    open.clear();
    passed.clear();
    std::vector<LineTrace> sorted;
    for (const auto& [key, line] : lines) sorted.push_back(line);
    std::stable_sort(sorted.begin(), sorted.end(), [](const LineTrace& a, const LineTrace& b) {
        return a.bytes_wasted() > b.bytes_wasted();
    });
    return sorted;
}

}  // namespace sixdays::emulator
