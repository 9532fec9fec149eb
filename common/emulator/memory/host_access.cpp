#include "common/emulator/memory/host_access.hpp"

#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "common/emulator/machine/events.hpp"
#include "common/emulator/memory/in_flight.hpp"
#include "common/emulator/memory/managed.hpp"
#include "common/emulator/memory/memory.hpp"

namespace sixdays::emulator {

namespace {

constexpr std::uintptr_t kPageBytes = 4096;

// Making all of a large heap accessible for each small copy would take longer than the copy. So the
// fault handler opens device memory one piece at a time, where it is accessed. The pieces are
// closed again when the kernel or the copy ends.
constexpr std::uintptr_t kPiece = std::uintptr_t{2} << 20;

int open_count = 0;
struct sigaction previous;

std::vector<std::uintptr_t> open_pieces;

void protect_piece(std::uintptr_t begin, HostMay what) {
    const std::uintptr_t end = std::min(begin + kPiece, heap.base + kHeapBytes);
    protect(reinterpret_cast<void*>(begin), end - begin, what);
}

void open_piece(std::uintptr_t address) {
    open_pieces.push_back(heap.base + (address - heap.base) / kPiece * kPiece);
    protect_piece(open_pieces.back(), HostMay::write);
}

// Is it code of the program itself, not of a library?
bool is_own_code(const void* address) {
    struct Search {
        std::uintptr_t address;
        bool found;
    } search{reinterpret_cast<std::uintptr_t>(address), false};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto& s = *static_cast<Search*>(data);
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& part = info->dlpi_phdr[i];
                if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
                s.found |= s.address - (info->dlpi_addr + part.p_vaddr) < part.p_memsz;
            }
            return 1;  // the first object is the program
        },
        &search);
    return search.found;
}

struct Fault {
    std::uintptr_t address;
    bool writes = false;
    void* code = nullptr;
};

Fault describe(const siginfo_t* info, void* context) {
    Fault fault{reinterpret_cast<std::uintptr_t>(info->si_addr)};
#if defined(__x86_64__)
    const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
    fault.writes = (machine.gregs[REG_ERR] & 2) != 0;
    fault.code = reinterpret_cast<void*>(machine.gregs[REG_RIP]);
#else
    static_cast<void>(context);
#endif
    return fault;
}

// The call stack of a fault, without the frames of its handler.
Calls calls_to(const Fault& fault) {
    Calls calls = calls_so_far();
    void** const end = calls.addresses + calls.count;
    void** const at = std::find(calls.addresses, end, fault.code);
    if (at == end) return calls;
    calls.count = static_cast<int>(std::copy(at, end, calls.addresses) - calls.addresses);
    // One byte past the instruction, like a return address.
    calls.addresses[0] = static_cast<char*>(calls.addresses[0]) + 1;
    return calls;
}

void on_host_fault(int signal, siginfo_t* info, void* context) {
    const Fault fault = describe(info, context);
    if (open_device_memory(fault.address)) return;
    const Calls calls = calls_to(fault);
    if (is_device_only(info->si_addr)) {
        note(HostAccess{fault.address, fault.writes, true, own_place(calls)});
        open_piece(fault.address);
    } else if (!open_in_flight(fault.address, fault.writes, calls) &&
               !open_managed_page(fault.address, fault.writes, calls)) {
        if (previous.sa_handler == SIG_DFL)
            events.host_crashes(HostAccess{fault.address, fault.writes, false, own_place(calls)});
        sigaction(signal, &previous, nullptr);  // not ours: restore the previous handler
    }
}

// The program may have installed a handler since the last time.
void watch_for_faults() {
    struct sigaction action = {}, before = {};
    action.sa_sigaction = on_host_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
    sigaction(SIGSEGV, &action, &before);
    if (before.sa_sigaction != on_host_fault) previous = before;
}

}  // namespace

void close_device_memory() {
    static bool closed = false;
    if (!std::exchange(closed, true)) {
        calls_so_far();  // its first call loads a library, which a signal handler must not do
        protect(reinterpret_cast<void*>(heap.base), kHeapBytes, HostMay::nothing);
    }
    for (const std::uintptr_t piece : open_pieces) protect_piece(piece, HostMay::nothing);
    open_pieces.clear();
    watch_for_faults();
}

bool open_device_memory(std::uintptr_t address) {
    if (open_count == 0 || !is_device_only(reinterpret_cast<void*>(address))) return false;
    const std::uintptr_t piece = heap.base + (address - heap.base) / kPiece * kPiece;
    if (std::find(open_pieces.begin(), open_pieces.end(), piece) != open_pieces.end()) return false;
    open_piece(address);
    return true;
}

DeviceMemoryOpen::DeviceMemoryOpen() {
    if (++open_count == 1) open_managed();
    watch_for_faults();
}

DeviceMemoryOpen::~DeviceMemoryOpen() {
    if (--open_count > 0 || heap.size == 0) return;
    close_device_memory();
    close_managed();
}

void protect(const void* begin, std::size_t bytes, HostMay what) {
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    const std::uintptr_t first = address / kPageBytes * kPageBytes;
    const std::uintptr_t end = (address + bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    mprotect(reinterpret_cast<void*>(first), end - first,
             what == HostMay::write  ? PROT_READ | PROT_WRITE
             : what == HostMay::read ? PROT_READ
                                     : PROT_NONE);
    if (what != HostMay::write) watch_for_faults();
}

Calls calls_so_far() {
    Calls calls;
    calls.count = backtrace(calls.addresses, static_cast<int>(std::size(calls.addresses)));
    return calls;
}

Place own_place(const Calls& calls) {
    static constexpr const char* kOurs[] = {"common/emulator/machine/", "common/emulator/memory/",
                                            "common/emulator/checks/",  "common/emulator/report/",
                                            "common/emulator/api/",     "common/emulator/include/"};
    // Not a prefix test: an object from a compiler cache may have been built in another folder.
    const auto lies_in = [](const Line& line, const char* folder) {
        return line.file.find(folder) != std::string::npos;
    };
    Place first;
    for (int i = 0; i < calls.count; ++i) {
        if (!is_own_code(calls.addresses[i])) continue;
        const Place place(calls.addresses[i]);
        const Line line = find_line(place);
        if (std::any_of(std::begin(kOurs), std::end(kOurs),
                        [&](const char* folder) { return lies_in(line, folder); })) {
            continue;
        }
        if (line.line != 0 && line.file.rfind("/usr/", 0) != 0) return place;
        if (first.code == nullptr) first = place;
    }
    return first;
}

}  // namespace sixdays::emulator
