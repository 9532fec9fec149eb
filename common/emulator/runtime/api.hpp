/// @file
/// What launches and the runtime's calls tell each other.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <string>

#include "common/emulator/report.hpp"
#include "cuda_runtime_api.h"
#include "emulated/language.h"
#include "emulated/launch.h"

namespace sixdays::emulator {

/// Bytes of dynamic shared memory that this kernel may have: see cudaFuncSetAttribute.
std::size_t shared_limit(const void* kernel);
/// Blocks of a cluster in which it may be launched.
unsigned most_of_cluster(const void* kernel);

/// Forgets whether the last launch failed; findings will name this kernel.
void begin_launch(const Launch& what);

inline constexpr auto kStreamCaptureUnsupported = static_cast<cudaError_t>(900);  // CUDA's number

/// A graph is being written down (recording.hpp): launches are, and other calls that would do
/// something are rejected.
bool recording();
void record(const Launch& what);
/// What a graph holds, in order: each is done on the stream that the graph is launched on.
using WorkList = std::list<std::function<void(cudaStream_t)>>;
/// From now on it is written down there; null: no longer.
/// @param only_launches  other calls are rejected; else also what is asynchronous is written down
void write_down(WorkList* where, bool only_launches);
bool capturing();
/// What a stream is asked for happens now or, in capture, whenever the graph is launched.
cudaError_t in_order(cudaStream_t stream, std::function<cudaError_t(cudaStream_t)> work);
/// cudaSuccess where nothing is being written down.
cudaError_t reject_while_recording();

/// What cudaGetLastError() returns next; a kernel's error also comes from the next call that
/// synchronises.
void set_error(cudaError_t error, bool from_kernel);
/// A runtime call ends: remembers the error, if it is one, and returns it.
cudaError_t result(cudaError_t error);
/// For calls that synchronise: the error of a kernel that ran before, told once.
cudaError_t take_kernel_error();
/// A finding at the caller's line about a pointer that a call was given. Returns the error.
cudaError_t reject_pointer(Kind kind, cudaError_t error, const void* caller, std::string text,
                           const void* pointer, Site made = Site::current());
/// One side of a copy, or an array that a library call is given: does it lie where it should?
/// Otherwise a finding at the caller's line.
/// @param side    what the call takes it for, "target"
/// @param device  in device memory, and in one live allocation; false: in host memory
cudaError_t check_side(const char* call, const char* side, const void* p, std::size_t bytes,
                       bool device, const void* caller);
/// The error was returned by cudaGetLastError(): the next finding may replace the stored one.
void report_was_told();

}  // namespace sixdays::emulator
