/// @file
/// The reports of memory that host code accesses too early, or not at all.
#include "common/emulator/machine/stream_order.hpp"
#include "common/emulator/report/describe.hpp"
#include "common/emulator/report/sentences.hpp"

namespace sixdays::emulator {

Finding words(const HostAccess& fact) {
    const std::string text =
        fact.in_device_memory
            ? "device memory, " + place_in_heap(fact.address) +
                  " With a GPU the program crashes here: the host cannot access it. " +
                  (fact.writes ? "Write to host memory and copy it there with"
                               : "Copy it to host memory first, with") +
                  " cudaMemcpy, or let a kernel do this."
            : format("at address 0x%zx, where there is no memory%s.",
                     static_cast<std::size_t>(fact.address),
                     fact.address < 4096 ? ": a null pointer" : "");
    return by_host(Kind::device_memory, cudaErrorIllegalAddress, fact.place,
                   std::string("host code ") + (fact.writes ? "writes " : "reads ") + text,
                   fact.address);
}

Finding words(const PinnedTooEarly& fact) {
    return by_host(
        Kind::pending_copy, cudaErrorIllegalAddress, fact.place,
        format("host code %s byte %zu of the pinned memory that the asynchronous copy of {0} %s. "
               "Wait for it first: cudaStreamSynchronize, cudaDeviceSynchronize, or an event "
               "recorded after it.",
               fact.writes ? "writes" : "reads", fact.byte,
               fact.is_target ? "fills and that may not have arrived yet" : "may still be reading"),
        fact.address, fact.copy);
}

Finding words(const ManagedTooEarly& fact) {
    const Work& work = *work_of(fact.other.serial);
    return by_host(
        Kind::race, cudaErrorLaunchFailure, fact.place,
        format("host code %s managed memory, %s, which %s, started in {0}, %s. Such a call returns "
               "before the GPU is done, so the host must wait first: call cudaDeviceSynchronize(), "
               "or cudaStreamSynchronize() for that stream.",
               fact.writes ? "writes" : "reads", describe_inside(heap, fact.address, 4).c_str(),
               work.what.c_str(), fact.was_read ? "reads" : "writes"),
        fact.address, work.where);
}

}  // namespace sixdays::emulator
