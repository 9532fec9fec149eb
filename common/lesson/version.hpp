/// @file
/// What an executable tells the report about one version of an operation: what to run, what it
/// writes, what must stand there afterwards, and which bytes must move.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/bench/roofline.hpp"

namespace sixdays::lesson {

/// A place that a run writes. It is poisoned before, and must hold what `want` holds afterwards,
/// byte for byte: what lies between the elements counts too. All in device memory for a port, in
/// host memory for a loop.
struct Outcome {
    void* out = nullptr;
    const void* want = nullptr;
    std::int64_t bytes = 0;
};

/// A run over one or more sets of buffers. Run `set` writes outcomes[set].
struct Trial {
    std::function<void(int set)> run;  // a port's: on the default stream
    std::vector<Outcome> outcomes;     // at least one
    /// Of the timed runs' outputs, "" or a sentence that ends the bench: lesson::sampled(). Empty
    /// where `want` comes from the loop as it is.
    std::function<std::string()> sampled = {};
};

/// One version of an operation. It is checked on `check`; where versions are timed, it is then
/// timed on `timed` and checked there as well, before the first timed run and after the last.
struct Version {
    std::string op;                 // "add"
    std::string version;            // "one element per thread"
    std::string dtype = "float32";  // of the elements that are moved
    std::string shape;              // of the timed run, to_string(shape)
    std::string path;               // what the launcher chose, "" if there is no choice
    std::string how = "equals the loop, every element";
    std::string cache = "cold";  // "warm" if the inputs of a timed run still lie in the L2 cache
    bench::Work work;            // bytes_read, bytes_written, flops of one timed run
    Trial check;
    std::function<Trial()> timed;       // made when it is needed; empty: `check` is timed
    std::string peer;                   // name of a library call that does the same work (optional)
    std::function<void(int)> run_peer;  // it, interleaved with run
};

}  // namespace sixdays::lesson
