/// @file
/// The asynchronous copies of each thread, in the groups in which it commits them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "common/emulator/machine/block.hpp"

namespace sixdays::emulator {

/// Copies in flight, by thread. Copy has `int group`, initially -1: not committed.
template <class Copy>
class CopyGroups {
public:
    [[nodiscard]] bool empty() const { return used_ == 0; }

    /// The current thread starts a copy.
    void start(Copy copy) {
        used_ = std::max(used_, current->id + std::size_t{1});
        of_[current->id].copies.push_back(std::move(copy));
    }
    /// The current thread closes a group.
    void commit() {
        Queue& mine = of_[current->id];
        for (Copy& copy : mine.copies) {
            if (copy.group < 0) copy.group = mine.groups;
        }
        ++mine.groups;
        used_ = std::max(used_, current->id + std::size_t{1});
    }
    /// Calls land(copy) for the current thread's copies that are not in its latest `left` groups.
    template <class Land>
    void wait(int left, const Land& land) {
        Queue& mine = of_[current->id];
        std::vector<Copy> rest;
        for (Copy& copy : mine.copies) {
            if (copy.group >= 0 && copy.group < mine.groups - left) {
                land(copy);
            } else {
                rest.push_back(std::move(copy));
            }
        }
        mine.copies = std::move(rest);
    }
    /// Calls f(thread, copy) for all copies in flight of all threads.
    template <class F>
    void for_each(const F& f) const {
        for (unsigned id = 0; id < used_; ++id) {
            for (const Copy& copy : of_[id].copies) f(id, copy);
        }
    }
    void clear() {
        std::fill_n(of_.begin(), used_, Queue{});
        used_ = 0;
    }

private:
    struct Queue {
        std::vector<Copy> copies;
        int groups = 0;  // committed so far
    };
    std::vector<Queue> of_ = std::vector<Queue>(kMaxThreads);  // by thread
    std::size_t used_ = 0;  // queues that this block, or an earlier one, may have left nonempty
};

}  // namespace sixdays::emulator
