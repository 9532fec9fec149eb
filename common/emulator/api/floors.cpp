/// @file
/// Where the floors meet: what the lower ones call when something happens.
#include "common/emulator/checks/async.hpp"
#include "common/emulator/checks/deadlock.hpp"
#include "common/emulator/checks/find_fault.hpp"
#include "common/emulator/checks/locals.hpp"
#include "common/emulator/checks/proxy.hpp"
#include "common/emulator/checks/race.hpp"
#include "common/emulator/machine/events.hpp"
#include "common/emulator/memory/access.hpp"
#include "common/emulator/memory/host_access.hpp"
#include "common/emulator/memory/managed.hpp"
#include "common/emulator/memory/memory.hpp"
#include "common/emulator/report.hpp"
#include "common/emulator/report/sentences.hpp"

namespace sixdays::emulator {

namespace {

void start_block() {
    forget_copies();
    forget_mbarriers();
    forget_wgmma();
    forget_tile_stores();
    forget_proxy_fences();
    forget_locals();
}

void end_block() {
    judge_tile_stores();
    judge_block();
}

void pause_thread() {
    if (judgement_pending) judge_stores();
}

}  // namespace

const Events events = {
    .block_starts = start_block,
    .thread_pauses = pause_thread,
    .opens_without_returned = remark_on_returned,
    .deadlock = report_deadlock,
    .block_ends = end_block,
    .open_memory = open_device_memory,
    .host_has_waited = open_managed,
    .found = note_fact,
    .remarked = remark_fact,
    .tell_report = tell_report,
    .host_crashes = tell_crash,
};

const AccessChecks access_checks = {
    .examine = find_fault,
    .local = check_local,
};

}  // namespace sixdays::emulator
