/// @file
/// What an executable passes to the report about one version of an operation: what to run, its
/// outputs and their expected contents, and its work.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/bench/roofline.hpp"

namespace sixdays::lesson {

/// Memory that a run writes. It is poisoned before, and must equal `want` byte for byte afterwards,
/// gaps between elements included. In device memory for a CUDA version, in host memory for a CPU
/// version.
struct Outcome {
    void* out = nullptr;         ///< what the run writes
    const void* want = nullptr;  ///< what it must then hold
    std::int64_t bytes = 0;      ///< of each
};

/// A run over one or more sets of buffers. Run `set` writes outcomes[set].
struct Trial {
    std::function<void(int set)> run;  ///< a CUDA version's: on the default stream
    std::vector<Outcome> outcomes;     ///< at least one
    /// Checks the timed runs' outputs (lesson::sampled()): "" or a message that ends the bench.
    /// Empty if `want` comes from the CPU reference.
    std::function<std::string()> sampled = {};
};

/// One version of an operation. It is checked on `check`. If versions are timed, it is then timed
/// on `timed` and checked there too, before the first timed run and after the last.
struct Version {
    std::string op;                 ///< "add"
    std::string version;            ///< "one element per thread"
    std::string dtype = "float32";  ///< of the elements that are moved
    std::string shape;              ///< of the timed run, to_string(shape)
    std::string path;               ///< the one the launcher chose, "" if there is only one
    std::string how = "equals the loop, every element";  ///< the claim that the check line prints
    std::string cache = "cold";  ///< "warm" if the inputs of a timed run are still in the L2 cache
    bench::Work work;            ///< bytes_read, bytes_written, flops of one timed run
    Trial check;                 ///< compared with the CPU reference
    std::function<Trial()> timed;  ///< called when needed; empty: `check` is timed
    std::string peer;              ///< name of a library call that does the same work (optional)
    std::function<void(int)> run_peer;  ///< runs the peer, interleaved with run
};

}  // namespace sixdays::lesson
