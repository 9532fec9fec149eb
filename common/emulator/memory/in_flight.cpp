#include "common/emulator/memory/in_flight.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "common/emulator/machine/facts.hpp"
#include "common/emulator/machine/stream_order.hpp"
#include "common/emulator/memory/memory.hpp"

namespace sixdays::emulator {

namespace {

struct InFlight {
    std::uint64_t number;
    Rows rows;                       // of pinned memory
    std::vector<std::byte> arrives;  // contents, row by row; empty if the rows are the source
    cudaStream_t stream;
    bool joins_default;
    Calls calls;  // the call stack that started it
};
std::vector<InFlight> copies;
std::uint64_t last_copy = 0;
using Sizes = std::map<std::uintptr_t, std::size_t>;  // by address: bytes
Sizes pinned, registered;

bool is_in(const Sizes& all, const void* pointer) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const auto after = all.upper_bound(address);
    return after != all.begin() && address - std::prev(after)->first < std::prev(after)->second;
}

std::uintptr_t begin_of(const Rows& rows) {
    return reinterpret_cast<std::uintptr_t>(rows.begin);
}

bool shares_page(const InFlight& copy, std::uintptr_t address) {
    return address / 4096 >= begin_of(copy.rows) / 4096 &&
           address / 4096 <= (begin_of(copy.rows) + span(copy.rows) - 1) / 4096;
}

bool uses(const InFlight& copy, std::uintptr_t address) {
    const std::uintptr_t offset = address - begin_of(copy.rows);
    return offset < span(copy.rows) && offset % copy.rows.pitch < copy.rows.row_bytes;
}

void close(const InFlight& copy) {
    protect(copy.rows.begin, span(copy.rows),
            copy.arrives.empty() ? HostMay::read : HostMay::nothing);
}

// Two copies may share a page, so the stricter protection is applied last.
void close_all() {
    for (const bool arriving : {false, true}) {
        for (const InFlight& copy : copies) {
            if (copy.arrives.empty() != arriving) close(copy);
        }
    }
}

void land(const InFlight& copy) {
    const Rows& rows = copy.rows;
    protect(rows.begin, span(rows), HostMay::write);
    for (std::size_t row = 0; row < rows.count && !copy.arrives.empty(); ++row) {
        std::memcpy(rows.begin + row * rows.pitch, copy.arrives.data() + row * rows.row_bytes,
                    rows.row_bytes);
    }
}

template <class Condition>
void land_if(Condition condition) {
    const auto rest = std::stable_partition(copies.begin(), copies.end(),
                                            [&](const InFlight& copy) { return !condition(copy); });
    if (rest == copies.end()) return;
    for (auto copy = rest; copy != copies.end(); ++copy) land(*copy);
    copies.erase(rest, copies.end());
    close_all();  // copies still in flight may share pages with these
}

// The default stream synchronizes with the others, except non-blocking ones.
bool waits_for(cudaStream_t stream, const InFlight& copy) {
    const bool joined = copy.joins_default && real(stream)->joins_default &&
                        (copy.stream == nullptr || stream == nullptr);
    return copy.stream == stream || joined || real(stream)->covered.count(copy.number) != 0;
}

void start(InFlight copy) {
    copy.number = ++last_copy;
    copy.joins_default = real(copy.stream)->joins_default;
    copy.calls = calls_so_far();
    copies.push_back(std::move(copy));
    close_all();
}

void note_use(const InFlight& copy, std::uintptr_t address, bool writes, const Calls& calls) {
    note(PinnedTooEarly{address, writes, address - begin_of(copy.rows), !copy.arrives.empty(),
                        own_place(calls), own_place(copy.calls)});
}

}  // namespace

void* allocate_pinned(std::size_t bytes) {
    bytes = std::max<std::size_t>(bytes, 1);
    void* p = allocate_shared_with_host(bytes);
    if (p != nullptr) pinned[reinterpret_cast<std::uintptr_t>(p)] = bytes;
    return p;
}

bool release_pinned(void* pointer) {
    const auto found = pinned.find(reinterpret_cast<std::uintptr_t>(pointer));
    if (found == pinned.end()) return false;
    wait_for_all();
    pinned.erase(found);
    return release(pointer, "cudaFreeHost");
}

bool is_pinned(const void* pointer) {
    return is_in(pinned, pointer);
}

void register_host(const void* pointer, std::size_t bytes) {
    registered[reinterpret_cast<std::uintptr_t>(pointer)] = bytes;
}
bool unregister_host(const void* pointer) {
    return registered.erase(reinterpret_cast<std::uintptr_t>(pointer)) > 0;
}
bool is_registered(const void* pointer) {
    return is_in(registered, pointer);
}

void start_to_host(const Rows& to, const Rows& from, cudaStream_t stream) {
    InFlight copy{0, to, std::vector<std::byte>(to.row_bytes * to.count), stream, true, {}};
    for (std::size_t row = 0; row < to.count; ++row) {
        std::memcpy(copy.arrives.data() + row * to.row_bytes, from.begin + row * from.pitch,
                    to.row_bytes);
    }
    start(std::move(copy));
}

void start_to_device(const Rows& from, cudaStream_t stream) {
    start({0, from, {}, stream, true, {}});
}

void wait_for_all() {
    host_learns_everything();
    land_if([](const InFlight&) { return true; });
}
void wait_for_stream(cudaStream_t stream) {
    host_learns(known_to(stream));
    land_if([stream](const InFlight& copy) { return waits_for(stream, copy); });
}
void wait_for_copies(const std::set<std::uint64_t>& numbers) {
    land_if([&](const InFlight& copy) { return numbers.count(copy.number) != 0; });
}

std::set<std::uint64_t> copies_before_now(cudaStream_t stream) {
    std::set<std::uint64_t> numbers;
    for (const InFlight& copy : copies) {
        if (waits_for(stream, copy)) numbers.insert(copy.number);
    }
    return numbers;
}

void cover(cudaStream_t stream, const std::set<std::uint64_t>& numbers) {
    real(stream)->covered.insert(numbers.begin(), numbers.end());
}

void settle(const Rows& rows) {
    land_if([&](const InFlight& copy) {
        return begin_of(rows) < begin_of(copy.rows) + span(copy.rows) &&
               begin_of(copy.rows) < begin_of(rows) + span(rows);
    });
}

bool open_in_flight(std::uintptr_t address, bool writes, const Calls& calls) {
    const auto using_it = [=](const InFlight& copy) {
        return uses(copy, address) && (writes || !copy.arrives.empty());
    };
    if (const auto copy = std::find_if(copies.begin(), copies.end(), using_it);
        copy != copies.end()) {
        note_use(*copy, address, writes, calls);
        land_if(using_it);
        return true;
    }
    const bool ours = std::any_of(copies.begin(), copies.end(), [address](const InFlight& copy) {
        return shares_page(copy, address);
    });
    if (ours) protect(reinterpret_cast<void*>(address), 1, HostMay::write);
    return ours;
}

}  // namespace sixdays::emulator
