#include "common/emulator/wgmma.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <vector>

#include "common/emulator/checks/async.hpp"
#include "common/emulator/checks/locals.hpp"
#include "common/emulator/checks/proxy.hpp"
#include "common/emulator/machine/facts.hpp"
#include "common/emulator/machine/publish.hpp"
#include "common/emulator/machine/signals.hpp"
#include "common/emulator/memory/access.hpp"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "emulated/ptx.h"

namespace sixdays::emulator {

namespace {

constexpr unsigned kGroup = 128;  // threads per warpgroup
constexpr int kM = 64, kK = 16, kMostN = 256;

struct Call {
    WgmmaOperand a, b;
    bool is_bf16;
    int pairs;
    bool add;
    std::array<float*, kGroup> sums{};
    std::array<std::array<std::uint32_t, 4>, kGroup> fragments{};  // of a, if it is in registers
    unsigned came = 0;
    Place place;
};

// Each thread numbers its calls; those before `done` have been executed.
struct Group {
    std::deque<Call> calls;
    std::size_t done = 0;
    std::array<std::size_t, kGroup> made{};             // by thread: its calls so far
    std::array<std::vector<std::size_t>, kGroup> ends;  // by thread: `made` at each commit
    std::array<bool, kGroup> fenced{};                  // since its last commit
    std::vector<Thread*> waiting;                       // for the rest of the warpgroup
};
struct Groups {
    std::array<Group, kMaxThreads / kGroup> of;
    bool any = false;  // in this block

    bool empty() const { return !any; }
};
Groups groups;

Group& group() {
    return groups.of[current->id / kGroup];
}

std::uintptr_t place_in(const WgmmaOperand& x, int i, int k) {
    std::uintptr_t at = reinterpret_cast<std::uintptr_t>(x.first);
    if (x.across) {
        at += static_cast<std::uintptr_t>(i / 64 * x.panel_bytes + k * 128 + i % 64 * 2);
    } else {
        at += static_cast<std::uintptr_t>(i * 128 + k * 2);
    }
    return at ^ (at >> 7 & 7) << 4;  // the 128-byte swizzle
}

float number(std::uint32_t bits, bool is_bf16) {
    const auto half = static_cast<std::uint16_t>(bits);
    return is_bf16 ? static_cast<float>(__nv_bfloat16::from_bits(half))
                   : static_cast<float>(__half::from_bits(half));
}

// Register i, lane 4 r + c, warp w: row 16 w + r + 8 (i % 2), columns 2 c + 8 (i / 2) and the next.
void fetch_fragments(const Call& call, float* to) {
    for (int thread = 0; thread < static_cast<int>(kGroup); ++thread) {
        for (int i = 0; i < 4; ++i) {
            const int m = thread / 32 * 16 + thread % 32 / 4 + 8 * (i % 2),
                      k = 2 * (thread % 4) + 8 * (i / 2);
            const std::uint32_t two =
                call.fragments[static_cast<std::size_t>(thread)][static_cast<std::size_t>(i)];
            to[k * kM + m] = number(two, call.is_bf16);
            to[(k + 1) * kM + m] = number(two >> 16, call.is_bf16);
        }
    }
}

// The operand's 16 x `count` values, one k after another. The current thread reads them.
void fetch(const WgmmaOperand& x, bool is_bf16, int count, float* to, const Call& call) {
    const int step = x.across ? 1 : 8, along = x.across ? 8 : 1;
    for (int i = 0; i < count; i += along) {
        for (int k = 0; k < kK; k += step) {
            const auto* row = reinterpret_cast<const std::uint16_t*>(place_in(x, i, k));
            if (!is_shared_address(row))
                fail(WrongWgmma{
                    WrongWgmma::What::operand_leaves, call.place, {}, place_in(x, i, k)});
            access_by_thread(row, 16, AccessKind::read, call.place.code);
            check_seen_by_proxy(row, 16, call.place);
            for (int e = 0; e < 8; ++e) {
                float& one = x.across ? to[k * count + i + e] : to[(k + e) * count + i];
                one = number(row[e], is_bf16);
            }
        }
    }
}

void make(const Call& call) {
    static float a[kK * kM], b[kK * kMostN];
    // No turn may end during these reads: another waiting thread would execute the same call.
    current->accesses_left = kAccessesPerTurn;
    const int N = 8 * call.pairs;
    if (call.a.fragment != nullptr) {
        fetch_fragments(call, a);
    } else {
        fetch(call.a, call.is_bf16, kM, a, call);
    }
    fetch(call.b, call.is_bf16, N, b, call);
    for (int m = 0; m < kM; ++m) {
        static float sum[kMostN];
        // Lane 4 (m % 8) + c of warp m / 16 holds columns 8 j + 2 c and 8 j + 2 c + 1.
        const auto held = [&](int n) -> float& {
            const int thread = m / 16 * 32 + m % 8 * 4 + n % 8 / 2;
            return call.sums[static_cast<std::size_t>(thread)][n / 8 * 4 + m / 8 % 2 * 2 + n % 2];
        };
        for (int n = 0; n < N; ++n) sum[n] = call.add ? held(n) : 0;
        for (int k = 0; k < kK; ++k) {
            for (int n = 0; n < N; ++n) sum[n] += a[k * kM + m] * b[k * N + n];
        }
        for (int n = 0; n < N; ++n) held(n) = sum[n];
    }
}

}  // namespace

void wgmma(const WgmmaOperand& a, const WgmmaOperand& b, bool is_bf16, int pairs, float* sums,
           bool add, Site site) {
    if (current == nullptr) return;
    const InRuntime guard;
    groups.any = true;
    const Place place(site, __builtin_return_address(0));
    const unsigned id = current->id % kGroup;
    Group& mine = group();
    if (!mine.fenced[id]) fail(WrongWgmma{WrongWgmma::What::no_fence, place});
    const std::size_t number = mine.made[id]++, i = number - mine.done;
    if (i == mine.calls.size()) mine.calls.push_back({a, b, is_bf16, pairs, add, {}, {}, 0, place});
    Call& call = mine.calls[i];
    const auto same = [](const WgmmaOperand& x, const WgmmaOperand& y) {
        return x.first == y.first && x.panel_bytes == y.panel_bytes && x.across == y.across;
    };
    if (!same(call.a, a) || !same(call.b, b) || call.pairs != pairs || call.add != add ||
        call.is_bf16 != is_bf16) {
        fail(WrongWgmma{WrongWgmma::What::other_operands, place, call.place});
    }
    call.sums[id] = sums;
    if (a.fragment != nullptr) std::copy_n(a.fragment, 4, call.fragments[id].begin());
    hold_local(sums, sizeof(float) * 4 * static_cast<std::size_t>(pairs), number, place.code);
    if (++call.came < kGroup) return;
    for (Thread* thread : mine.waiting) make_ready(*thread);
    mine.waiting.clear();
}

void wgmma_fence() {
    if (current == nullptr) return;
    const InRuntime guard;
    groups.any = true;
    group().fenced[current->id % kGroup] = true;
}

void wgmma_commit() {
    if (current == nullptr) return;
    const InRuntime guard;
    Group& mine = group();
    const unsigned id = current->id % kGroup;
    mine.ends[id].push_back(mine.made[id]);
    mine.fenced[id] = false;
}

void wgmma_wait(int groups_left, const float* sums, Site site) {
    if (current == nullptr) return;
    const InRuntime guard;
    if (time_is_up) fail_for_time(site);
    Group& mine = group();
    const auto word = reinterpret_cast<std::uintptr_t>(&mine);
    const auto& ends = mine.ends[current->id % kGroup];
    const auto left = static_cast<std::size_t>(groups_left);
    const std::size_t until = ends.size() > left ? ends[ends.size() - 1 - left] : 0;
    while (mine.done < until) {
        if (mine.calls.front().came < kGroup) {
            mine.waiting.push_back(current);
            current->state = Thread::State::at_wgmma;
            current->barrier_site = site;
            current->barrier_code = __builtin_return_address(0);
            wait_for_turn();
            continue;
        }
        make(mine.calls.front());
        mine.calls.pop_front();
        ++mine.done;
        // Threads that wait for this call are ordered after its operand reads.
        use_atomically(Space::shared, word, true, true, MemoryOrder::release);
    }
    use_atomically(Space::shared, word, true, false, MemoryOrder::acquire);
    release_local(sums, mine.done);
}

bool report_waiting_for_wgmma() {
    for (const Group& one : groups.of) {
        if (one.waiting.empty()) continue;
        const Call& call = one.calls.front();
        note(WrongWgmma{
            WrongWgmma::What::never_complete, call.place, {}, 0, one.waiting.front(), call.came});
        return true;
    }
    return false;
}

void forget_wgmma() {
    if (groups.any) groups = {};
}

void exchange_wgmma(std::shared_ptr<void>& aside) {
    exchange(groups, aside);
}

}  // namespace sixdays::emulator
