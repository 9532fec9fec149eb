/// @file
/// The reports of asynchronous copies, mbarriers and wgmma.
#include "common/emulator/report/describe.hpp"
#include "common/emulator/report/sentences.hpp"

namespace sixdays::emulator {

Finding words(const HeldAccumulator& fact) {
    return by_thread(Kind::pending_copy, cudaErrorLaunchFailure, fact.code,
                     format(" %s an accumulator of the wgmma in {0}, which it has not waited for: "
                            "call wgmma_wait() with these accumulators first.",
                            fact.writes ? "writes" : "reads"),
                     0, fact.wgmma);
}

Finding words(const ChangedSource& fact) {
    const bool in_heap = heap.contains(fact.address);
    return by_thread(
        Kind::pending_copy, cudaErrorLaunchFailure, fact.wait,
        format(" waits for the asynchronous copy of %zu bytes that it started in {0}, but its "
               "source has changed in the meantime%s. The copy may deliver old or new bytes: "
               "write there only after the wait.",
               fact.bytes,
               in_heap ? (", " + describe_inside(heap, fact.address, fact.bytes)).c_str() : ""),
        fact.address, fact.start);
}

Finding words(const UnseenWrite& fact) {
    const Thread& writer = block.threads[fact.wrote.thread()];
    return by_thread(
        Kind::pending_copy, cudaErrorLaunchFailure, fact.reads,
        format(" has the async proxy (the copy engine or wgmma) read %zu bytes of shared memory "
               "which %s wrote in {0}. Through this proxy the write may not be visible, even after "
               "a barrier: each thread that writes must call fence_proxy_async() afterwards and "
               "before the barrier (in PTX: fence.proxy.async).",
               fact.bytes, name(writer).c_str()),
        fact.address, code_of(fact.wrote));
}

Finding words(const UnwaitedStore& fact) {
    return {Kind::pending_copy,
            cudaErrorLaunchFailure,
            fact.start,
            name(*fact.thread) +
                " starts to store a tile and never waits: the copy engine may still read shared "
                "memory when the block has ended. Call store_tiles_commit() and then "
                "store_tiles_wait_read<0>() in the same thread (in PTX: "
                "cp.async.bulk.wait_group.read).",
            0,
            {},
            fact.thread};
}

namespace {

std::string what_is_wrong(const WrongMbarrier& fact) {
    const MbarrierState& b = fact.barrier;
    const auto number = static_cast<long long>(fact.number);
    switch (fact.what) {
        using enum WrongMbarrier::What;
        case not_initialized:
            return " uses an mbarrier that was never initialized: call init() first, then "
                   "__syncthreads().";
        case cannot_be_here:
            return " initializes an mbarrier; it must be in shared memory, at a multiple of 8 "
                   "bytes, and expect at least one arrival.";
        case unseen_by_engine:
            return " starts a copy that completes on an mbarrier which the copy engine may not see "
                   "yet: the thread that initialized it in {0} must call mbarriers_are_set_up() "
                   "afterwards (in PTX: fence.proxy.async).";
        case parity:
            return format(
                " waits for an mbarrier phase of parity %lld; the parity must be 0 or 1. Is it "
                "incremented where it should flip (parity ^= 1)? The barrier was initialized in "
                "{0}.",
                number);
        case arrives_early:
            return format(
                " arrives at an mbarrier whose phase %lld has had all its arrivals (%u)%s: this "
                "arrival is too early. A stage may be refilled only after its last tiles have been "
                "read: is the wait for an empty stage missing? The barrier was initialized in {0}.",
                static_cast<long long>(b.phase), b.arrivals,
                b.asked == 0 ? "" : ", and no thread has waited for its tiles yet");
        case waits_again:
            return format(
                " waits again for phase %lld of an mbarrier, which it has waited for already, so "
                "this wait returns at once: the next phase has parity %d. Does the parity flip "
                "each time the ring wraps around? The barrier was initialized in {0}.",
                number, static_cast<int>((number + 1) % 2));
        case too_few_bytes:
            return format(
                " copies a tile of %lld bytes, but in this phase its mbarrier expects %zu bytes, "
                "and %zu are already in flight: the phase would complete before all bytes have "
                "arrived. arrive_and_expect() must count all tiles, and before they are copied.",
                number, b.told, b.asked);
    }
    return "";
}

}  // namespace

Finding words(const WrongMbarrier& fact) {
    return by_thread(Kind::barrier, cudaErrorLaunchFailure, fact.place, what_is_wrong(fact), 0,
                     fact.barrier.set_up);
}

// One thread per mbarrier.
Finding words(const MbarriersNeverComplete& fact) {
    std::string text;
    std::vector<Place> where;
    for (const auto& [waits, b] : fact.all) {
        text += format(
            "%s%s waits in {%zu} for phase %lld (parity %d) of an mbarrier, which lacks %u of %u "
            "arrivals",
            text.empty() ? "" : "; ", name(*waits).c_str(), where.size(),
            static_cast<long long>(b.phase), static_cast<int>(b.phase % 2), b.missing, b.arrivals);
        if (b.told != b.asked) text += format(", %zu bytes of %zu are in flight", b.asked, b.told);
        where.push_back(barrier_of(*waits));
    }
    return {Kind::barrier,
            cudaErrorLaunchFailure,
            where.front(),
            text +
                ". No thread is left that could complete it, so these threads wait forever. "
                "Does every counted thread arrive, are all expected bytes copied, and do both "
                "sides flip the parity each time the ring wraps around?",
            0,
            where,
            fact.all.front().first};
}

Finding words(const WrongCopy& fact) {
    using enum WrongCopy::What;
    const auto finding = [&](Kind kind, cudaError_t error, const std::string& text) {
        return by_thread(kind, error, fact.place, text, fact.target);
    };
    switch (fact.what) {
        case size:
            return finding(
                Kind::undefined_behaviour, cudaErrorLaunchFailure,
                format(" starts an asynchronous copy of %zu bytes; the size must be 4, 8 or 16.",
                       fact.bytes));
        case target_not_shared:
            return finding(Kind::out_of_bounds, cudaErrorIllegalAddress,
                           " starts an asynchronous copy to an address outside of shared memory.");
        case place_of_tile:
            return finding(Kind::misaligned, cudaErrorMisalignedAddress,
                           " copies a tile; its target must be in shared memory, at a multiple of "
                           "1024 bytes, where the swizzle pattern repeats.");
        case place_of_stored_tile:
            return finding(Kind::misaligned, cudaErrorMisalignedAddress,
                           " stores a tile; its source must be in shared memory, at a multiple of "
                           "1024 bytes, where the swizzle pattern repeats.");
        case bulk:
            return finding(
                Kind::misaligned, cudaErrorMisalignedAddress,
                format(" starts a bulk copy of %zu bytes; its target must be in shared memory, and "
                       "both addresses and the number of bytes must be multiples of 16.",
                       fact.bytes));
        case misaligned:
            break;
    }
    const bool in_target = fact.target % fact.bytes != 0;
    return finding(Kind::misaligned, cudaErrorMisalignedAddress,
                   format(" starts an asynchronous copy of %zu bytes, but its %s is %zu bytes past "
                          "a multiple of that.",
                          fact.bytes, in_target ? "target" : "source",
                          (in_target ? fact.target : fact.source) % fact.bytes));
}

Finding words(const WrongWgmma& fact) {
    using enum WrongWgmma::What;
    const std::string text =
        fact.what == operand_leaves ? " passes wgmma an operand that extends past shared memory."
        : fact.what == no_fence
            ? " starts a group of wgmma without wgmma_fence(): the tensor cores may miss what the "
              "threads wrote to their accumulators before."
        : fact.what == other_operands
            ? " passes this wgmma different operands than another thread of its warpgroup in {0}. "
              "All 128 threads must make the same call."
            : format(
                  " waits for this wgmma, which only %u threads of its warpgroup have started: "
                  "all 128 must, four full warps of which the first has an index that is a "
                  "multiple of 4.",
                  fact.came);
    return {fact.what == operand_leaves ? Kind::out_of_bounds : Kind::warp_call,
            fact.what == operand_leaves ? cudaErrorIllegalAddress : cudaErrorLaunchFailure,
            fact.place,
            name(fact.waits != nullptr ? *fact.waits : *current) + text,
            fact.address,
            {fact.other},
            fact.waits};
}

}  // namespace sixdays::emulator
