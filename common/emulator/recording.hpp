/// @file
/// Launches captured instead of run, and run later: a CUDA graph of kernels. The arguments are
/// captured as they are, so a pointer among them must still be valid when they run; if it is not,
/// that is a finding, as in any launch.
#pragma once

#include <functional>
#include <list>

struct CUstream_st;  // what cudaStream_t points to

namespace sixdays::emulator {

class Recording {
public:
    /// Calls `work`, which launches on the stream that it is given. Until it returns, every call
    /// that allocates, copies or waits fails with the error of a stream in capture. What `work`
    /// throws ends the recording. A launch on another stream is rejected, as a GPU rejects it.
    explicit Recording(const std::function<void(CUstream_st*)>& work);
    Recording(const Recording&) = delete;
    ~Recording();

    /// Launches everything in order; the errors are those of launches.
    void run() const;

private:
    std::list<std::function<void(CUstream_st*)>> entries_;
};

}  // namespace sixdays::emulator
