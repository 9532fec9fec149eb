#include "common/emulator/machine/stream_order.hpp"

#include <algorithm>
#include <vector>

#include "common/emulator/machine/events.hpp"

namespace sixdays::emulator {

namespace {

std::map<std::uint64_t, std::vector<Work>> works;  // by stream; without those the host knows of
StreamKnowledge last_work;                         // by stream: number of its last work
StreamKnowledge host, at_launch;
std::vector<CUstream_st*> streams;      // created and not destroyed
constexpr std::size_t kMostAlone = 64;  // works kept while there is only the default stream

bool knows(const StreamKnowledge& one, std::uint64_t stream, std::uint64_t number) {
    const auto found = one.find(stream);
    return found != one.end() && found->second >= number;
}

std::vector<Work>::const_iterator first_unknown(const std::vector<Work>& all,
                                                const StreamKnowledge& one, std::uint64_t stream) {
    return std::partition_point(all.begin(), all.end(),
                                [&](const Work& work) { return knows(one, stream, work.number); });
}

const Work* find_work(std::uint32_t serial, std::uint64_t* stream) {
    const Work* found = nullptr;
    for (const auto& [id, all] : works) {
        const auto after =
            std::upper_bound(all.begin(), all.end(), serial,
                             [](std::uint32_t s, const Work& work) { return s < work.first; });
        if (after == all.begin() || serial >= std::prev(after)->end) continue;
        found = &*std::prev(after);
        *stream = id;
    }
    return found;
}

}  // namespace

std::uint64_t next_stream_number() {
    static std::uint64_t last = 0;
    return ++last;
}

CUstream_st* real(cudaStream_t stream) {
    static auto& default_stream = *new CUstream_st{true, {}};
    return stream == nullptr ? &default_stream : stream;
}

void learn(StreamKnowledge& mine, const StreamKnowledge& more) {
    for (const auto& [stream, number] : more) {
        std::uint64_t& known = mine[stream];
        known = std::max(known, number);
    }
}

StreamKnowledge known_to(cudaStream_t stream) {
    CUstream_st* const me = real(stream);
    learn(me->knows, host);
    if (me == real(nullptr)) {
        for (const CUstream_st* other : streams) {
            if (other->joins_default) learn(me->knows, other->knows);
        }
    } else if (me->joins_default) {
        learn(me->knows, real(nullptr)->knows);
    }
    return me->knows;
}

void begin_work(cudaStream_t stream, const char* what, const Place& where) {
    CUstream_st* const me = real(stream);
    for (auto& [id, all] : works) {  // the last one has ended
        if (!all.empty() && all.back().end == UINT32_MAX) all.back().end = clocks.serial + 1;
    }
    at_launch = known_to(stream);
    at_launch[me->id] = me->knows[me->id] = ++last_work[me->id];
    clocks.first_concurrent = clocks.serial + 1;
    for (const auto& [id, all] : works) {
        const auto unknown = first_unknown(all, at_launch, id);
        if (id != me->id && unknown != all.end()) {
            clocks.first_concurrent = std::min(clocks.first_concurrent, unknown->first);
        }
    }
    std::vector<Work>& mine = works[me->id];
    // A stream created later may be unordered with the default stream's last launches.
    if (streams.empty() && mine.size() >= kMostAlone) mine.erase(mine.begin());
    mine.push_back({clocks.serial + 1, UINT32_MAX, last_work[me->id], what, where});
}

bool work_came_before(std::uint32_t serial) {
    std::uint64_t stream = 0;
    const Work* work = find_work(serial, &stream);
    return work == nullptr || knows(at_launch, stream, work->number);
}

const Work* work_of(std::uint32_t serial) {
    std::uint64_t stream = 0;
    return find_work(serial, &stream);
}

const Work* unfinished_work() {
    const Work* last = nullptr;
    for (const auto& [id, all] : works) {
        if (!all.empty() && (last == nullptr || last->first < all.back().first)) last = &all.back();
    }
    return last;
}

bool same_stream(const PastAccess& a, const PastAccess& b) {
    std::uint64_t of_a = 0, of_b = 0;
    return find_work(a.serial, &of_a) != nullptr && find_work(b.serial, &of_b) != nullptr &&
           of_a == of_b;
}

void host_learns(const StreamKnowledge& known) {
    learn(host, known);
    for (auto& [id, all] : works) {
        all.erase(all.begin(), first_unknown(all, host, id));
    }
    if (unfinished_work() == nullptr) events.host_has_waited();
}
bool host_knows(const StreamKnowledge& known) {
    return std::all_of(known.begin(), known.end(),
                       [](const auto& one) { return knows(host, one.first, one.second); });
}
void host_learns_everything() {
    host_learns(last_work);
}

bool is_stream(cudaStream_t stream) {
    return stream == nullptr || std::count(streams.begin(), streams.end(), stream) > 0;
}
bool has_streams() {
    return !streams.empty();
}
void add_stream(CUstream_st* stream) {
    streams.push_back(stream);
}
// Its pending work still comes before the default stream's next work.
void remove_stream(CUstream_st* stream) {
    if (stream->joins_default) learn(real(nullptr)->knows, stream->knows);
    streams.erase(std::remove(streams.begin(), streams.end(), stream), streams.end());
}

}  // namespace sixdays::emulator
