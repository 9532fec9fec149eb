/// @file
/// Launches that are captured instead of run, and run later: a CUDA graph of kernels. Arguments are
/// captured by value, so pointers among them must still be valid when the kernels run. A stale one
/// is reported as in any launch.
#pragma once

#include <functional>
#include <list>

struct CUstream_st;  // the target of a cudaStream_t

namespace sixdays::emulator {

/// A CUDA graph of kernels on the emulator: launches that are captured instead of run, and run
/// later. Arguments are captured by value, so pointers among them must still be valid then. Not
/// copied.
class Recording {
public:
    /// Calls `work`, which launches on the stream passed to it. Until it returns, every call that
    /// allocates, copies or waits fails with the error of a stream in capture mode. An exception
    /// from `work` ends the recording. Launches on other streams are rejected, as on a GPU.
    explicit Recording(const std::function<void(CUstream_st*)>& work);
    Recording(const Recording&) = delete;
    /// Frees the launches.
    ~Recording();

    /// Launches everything in order. The errors are those of the launches.
    void run() const;

private:
    std::list<std::function<void(CUstream_st*)>> entries_;
};

}  // namespace sixdays::emulator
