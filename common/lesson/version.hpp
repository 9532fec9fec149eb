/// @file
/// What an executable tells the report about one version of an operation.
#pragma once

#include <functional>
#include <string>

#include "common/bench/roofline.hpp"

namespace sixdays::lesson {

/// One version of an operation: what it is called, whether it was right, and how it is timed.
struct Version {
    std::string op;                 // "add"
    std::string version;            // "one element a thread"
    std::string dtype = "float32";  // of the elements that are moved
    std::string shape;              // of the timed run, to_string(shape)
    std::string path;               // what the launcher chose, "" if there is no choice
    bool ok = false;                // checked against the loop a moment before
    std::string how;                // "equals the loop, every element"
    std::string cache = "cold";     // "warm" if the inputs of a timed run still lie in the L2 cache
    bench::Work work;               // bytes_read, bytes_written, flops of one timed run
    std::function<void(int)> run;   // timed run number i, on the default stream; use buffer set
                                    // i % sets
    std::function<void()> refill;   // before timing: poison the outputs (optional)
    std::function<bool()> verify;   // after timing: is every set's output right? (optional)
    std::string peer;               // name of a library call that does the same work (optional)
    std::function<void(int)> run_peer;  // it, interleaved with run
};

}  // namespace sixdays::lesson
