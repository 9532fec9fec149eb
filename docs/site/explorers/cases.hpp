/// @file
/// What the two parts of explorer_cases share: dice, and a case as a line of JavaScript.
#pragma once

#include <functional>
#include <string>

namespace sixdays::explorers {

/// A random number from `least` to `most`; the same ones in each run.
int roll(int least, int most);
inline bool once_in(int times) {
    return roll(1, times) == 1;
}

inline std::string json(bool yes) {
    return yes ? "true" : "false";
}

/// {op, args, gives: what `ask` returns}, or, where it throws std::invalid_argument, {op, args,
/// rejected: the sentence}. Arguments and answers are JSON.
void write(const std::string& op, const std::string& args, const std::function<std::string()>& ask);

/// Requests of one warp, as the emulator counts them (cases_requests.cpp).
void write_loads();
void write_tiles();

/// Many threads, one answer: trees, tiles of a product, running maxima (cases_sums.cpp).
void write_sums();

}  // namespace sixdays::explorers
