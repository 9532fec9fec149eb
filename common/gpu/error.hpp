/// @file
/// The exception for a failed CUDA call or launch.
#pragma once

#include <stdexcept>
#include <string>

namespace sixdays::gpu {

/// A CUDA call or launch failed. what() names the call, file and line, the error's name and text
/// and, where one is known, what to do.
class Error : public std::runtime_error {
public:
    /// An error with this code, a cudaError_t, and this message.
    Error(int code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}

    /// The error code, a cudaError_t.
    int code() const noexcept { return code_; }

private:
    int code_;
};

}  // namespace sixdays::gpu
