/// @file
/// Facts in words: what happened, with values, and what is probably missing. Those without a
/// declaration here are in access.cpp, with the functions that choose among them.
#pragma once

#include "common/emulator/report/finding.hpp"

namespace sixdays::emulator {

/// For Events: what fail(), note() and remark() do with a fact.
void note_fact(const Fact& fact, const Site& made);
void remark_fact(const Place& where, const Fact& fact, const Site& made);
/// Host code faults, and nothing handles that.
void tell_crash(const Fact& fact);

Finding words(const Race& race);
Finding words(const StreamRace& race);
Finding words(const EndlessReads& fact);
Finding words(const TooMuchShared& fact);
Finding words(const TileTooLarge& fact);
Finding words(const OutOfReach& fact);
Finding words(const HostAccess& fact);
Finding words(const PinnedTooEarly& fact);
Finding words(const ManagedTooEarly& fact);
Finding words(const DifferentBarriers& fact);
Finding words(const ReturnedBeforeBarrier& fact);
Finding words(const BarrierNeverOpens& fact);
Finding words(const WrongArrival& fact);
Finding words(const WrongWarpCall& fact);
Finding words(const HeldAccumulator& fact);
Finding words(const ChangedSource& fact);
Finding words(const UnseenWrite& fact);
Finding words(const UnwaitedStore& fact);
Finding words(const WrongMbarrier& fact);
Finding words(const MbarriersNeverComplete& fact);
Finding words(const WrongCopy& fact);
Finding words(const WrongWgmma& fact);
Finding words(const UndefinedBehaviour& fact);
Finding words(const Assertion& fact);

}  // namespace sixdays::emulator
