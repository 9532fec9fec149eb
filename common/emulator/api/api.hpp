/// @file
/// The state that launches share with runtime calls.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "common/emulator/machine/block.hpp"
#include "common/emulator/report.hpp"
#include "cuda_runtime_api.h"
#include "emulated/language.h"
#include "emulated/launch.h"

namespace sixdays::emulator {

/// Limit on this kernel's dynamic shared memory, in bytes: see cudaFuncSetAttribute.
std::size_t shared_limit(const void* kernel);
/// Maximum cluster size of this kernel, in blocks.
unsigned most_of_cluster(const void* kernel);

/// Reports a launch that no GPU accepts.
void reject(const Launch& what, std::string why, cudaError_t error = cudaErrorInvalidConfiguration,
            Site made = Site::current());
/// Runs these blocks in turns, since they can wait for each other (cooperative.cpp).
/// @param others  blocks of the grid besides these
void run_together(const Launch& what, const std::vector<uint3>& blocks,
                  const OtherBlocks& others = {});
/// Runs all blocks of a cooperative launch, from one grid barrier to the next.
void run_cooperative_grid(const Launch& what, std::uint64_t blocks);
/// The block in position `turn` of a plain launch polls: runs it and the rest of `blocks` in turns.
void run_rest_together(const Launch& what, std::uint64_t turn, std::uint64_t blocks);
/// Runs all blocks of a launch in clusters, one cluster after another (clusters.cpp).
void run_clusters(const Launch& what, dim3 extents);

inline constexpr auto kStreamCaptureUnsupported = static_cast<cudaError_t>(900);  // CUDA's number

/// True while a graph is being captured (recording.hpp): launches are recorded, and other calls
/// with an effect are rejected.
bool recording();
void record(const Launch& what);
/// The nodes of a graph, in order. Each runs on the stream that the graph is launched on.
using WorkList = std::list<std::function<void(cudaStream_t)>>;
/// Starts capturing into `where`, or stops if it is null.
/// @param only_launches  true: other calls are rejected; false: asynchronous calls are captured too
void write_down(WorkList* where, bool only_launches = false);
bool capturing();
/// Runs the work of a stream now or, during capture, whenever the graph is launched.
cudaError_t in_order(cudaStream_t stream, std::function<cudaError_t(cudaStream_t)> work);
/// cudaSuccess unless a graph is being captured.
cudaError_t reject_while_recording();

/// The end of every runtime call: remembers the error, if any, and returns it.
cudaError_t result(cudaError_t error);
/// For synchronizing calls: the error of an earlier kernel, returned once.
cudaError_t take_kernel_error();
/// Reports a pointer argument at the caller's line. Returns the error.
cudaError_t reject_pointer(Kind kind, cudaError_t error, const void* caller, std::string text,
                           const void* pointer, Site made = Site::current());
/// Checks that one side of a copy, or an array passed to a library call, is in the right kind of
/// memory. Otherwise reports it at the caller's line.
/// @param side    the role of the pointer in the call, "target"
/// @param device  true: it must be in one live device allocation; false: in host memory
cudaError_t check_side(const char* call, const char* side, const void* p, std::size_t bytes,
                       bool device, const void* caller);
}  // namespace sixdays::emulator
