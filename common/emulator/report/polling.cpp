/// @file
/// The report of a thread that polls in vain: who could still write what it waits for?
#include "common/emulator/machine/stream_order.hpp"
#include "common/emulator/memory/access.hpp"
#include "common/emulator/memory/in_flight.hpp"
#include "common/emulator/report/describe.hpp"
#include "common/emulator/report/sentences.hpp"

namespace sixdays::emulator {

namespace {

std::string where_polled(std::uintptr_t address, std::size_t bytes) {
    const Region* const region = region_of(address);
    return region == nullptr ? "" : describe_inside(*region, address, bytes) + ", ";
}

// "2 have returned, 1 polls as well"
std::string what_they_do(const OtherBlocks& others) {
    std::string text;
    const auto add = [&text](std::uint64_t count, const char* one, const char* several) {
        if (count == 0) return;
        text += format("%s%llu %s", text.empty() ? "" : ", ",
                       static_cast<unsigned long long>(count), count == 1 ? one : several);
    };
    add(others.returned, "has returned", "have returned");
    add(others.polling, "polls as well", "poll as well");
    add(others.at_barrier, "waits at a barrier of blocks", "wait at a barrier of blocks");
    add(others.unstarted, "has not started", "have not started");
    return text;
}

std::string why_endless(const EndlessReads& fact) {
    const OtherBlocks& others = fact.others;
    const auto* const p = reinterpret_cast<const void*>(fact.address);
    if (is_shared_with_host(p) || is_registered(p)) {
        return "The host can write there, too: a kernel that waits for the host is not modelled. "
               "Here a launch returns when its kernel has ended, so the host cannot write "
               "meanwhile. On a GPU this loop may end.";
    }
    const std::string them = what_they_do(others);
    if (others.resident > 0) {
        return format(
            "The grid has more blocks than are resident: %llu, of which the device holds "
            "%llu at a time. A block that waits for a later one may keep it from "
            "starting, on a GPU, too. Of the other blocks %s. Launch no more blocks than "
            "fit (cudaLaunchCooperativeKernel checks that), or wait for earlier blocks "
            "only.",
            static_cast<unsigned long long>(last_launch().blocks),
            static_cast<unsigned long long>(others.resident), them.c_str());
    }
    if (others.unstarted > 0) {
        return format("Of the other blocks %s. Waiting for those is not modelled: %s.",
                      them.c_str(),
                      block.in_tiles        ? "the blocks of a tile kernel run one after another"
                      : block.cluster.x > 0 ? "the emulator runs one cluster after another"
                                            : "this launch runs only some of its blocks");
    }
    return (them.empty() ? std::string("The launch has no other block")
                         : "Of the other blocks " + them) +
           ", and this block's other threads have returned, wait or poll as well: no thread is "
           "left "
           "that could write the awaited value. Does every block store before it waits, and does "
           "it store the value that the other one expects?";
}

}  // namespace

Finding words(const EndlessReads& fact) {
    return by_thread(
        Kind::stuck, cudaErrorLaunchTimeout, fact.code,
        (fact.address == 0 ? " waits "
                           : story("reads", fact.bytes) + where_polled(fact.address, fact.bytes)) +
            "again and again, and nothing has been written for a very long time. " +
            why_endless(fact) +
            (has_streams() ? " Waiting for work of another stream, a kernel or a copy, is not "
                             "modelled: launches run one after another."
                           : ""),
        fact.address);
}

}  // namespace sixdays::emulator
