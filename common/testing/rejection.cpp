#include "common/testing/rejection.hpp"

namespace sixdays::testing {

Comparison same_rejection(const std::string& first, const std::string& second,
                          const std::string& words) {
    if (first.empty() || second.empty()) {
        const char* who = first.empty()
                              ? (second.empty() ? "Neither" : "The second, but not the first,")
                              : "The first, but not the second,";
        return {false, std::string(who) + " rejected. " + first + second};
    }
    if (first != second) return {false, "First: " + first + "\nSecond: " + second};
    return contains(first, words);
}

}  // namespace sixdays::testing
