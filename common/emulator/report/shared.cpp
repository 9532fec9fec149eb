/// @file
/// The reports of shared memory: more than a block gets, or another block's of the cluster.
#include "common/emulator/report/sentences.hpp"

namespace sixdays::emulator {

Finding words(const TooMuchShared& fact) {
    return {Kind::invalid_launch, cudaErrorInvalidValue, fact.place,
            format("the kernel's shared arrays take %zu bytes so far, and its dynamic shared "
                   "memory %zu. A block gets up to 48 KB; more must be dynamic, and requested "
                   "with cudaFuncSetAttribute (163 KB in total).",
                   fact.array_bytes, fact.dynamic_bytes)};
}

Finding words(const TileTooLarge& fact) {
    return by_thread(
        Kind::out_of_bounds, cudaErrorIllegalAddress, fact.place,
        format(" places a tile of %zu bytes at byte %zu of the dynamic shared memory, which has "
               "%zu bytes. Does the launch request the sum of all tiles?",
               fact.bytes, fact.offset, fact.dynamic_bytes));
}

namespace {

std::string why(const OutOfReach& fact) {
    const std::string who = fact.who ? name(fact.who->thread, fact.who->block) : name(*current);
    const std::string accesses = who + " accesses the shared memory of block ";
    const std::string other = accesses + std::to_string(fact.rank) + " of its cluster, which ";
    switch (fact.why) {
        using enum OutOfReach::Why;
        case own_block:
            return other +
                   "is its own, through an address that another block computed. The emulator does "
                   "not support that: let each block use its own pointer for its own memory.";
        case not_started:
            return other +
                   "may not have started yet: is a cluster.sync() missing before the first access?";
        case has_ended:
            return other +
                   "has exited: is a cluster.sync() that all blocks reach missing at the end?";
        case may_have_ended:
            return accesses + name(block.index) +
                   ", which may have exited by then: nothing keeps it alive. A cluster.sync() that "
                   "all blocks reach is missing at the end.";
        case no_such_block:
            return who + format(" asks for block %u of its cluster, which has %u.", fact.rank,
                                fact.blocks);
        case not_shared:
            return who +
                   " maps an address to another block of its cluster, but the address is not in "
                   "shared memory.";
    }
    return "";
}

}  // namespace

Finding words(const OutOfReach& fact) {
    const bool barrier = fact.why < OutOfReach::Why::no_such_block;
    return {barrier ? Kind::barrier : Kind::out_of_bounds,
            cudaErrorIllegalAddress,
            fact.place,
            why(fact),
            fact.address,
            {},
            nullptr,
            true,
            {},
            fact.who};
}

}  // namespace sixdays::emulator
