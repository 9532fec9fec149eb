/// @file
/// Bugs whose whole report is in findings.txt: at least one for each line of the emulator that
/// reports, and one for each condition of a check that violates only this condition.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

namespace sixdays::emulator::tests {

struct Provoked {
    const char* name;
    void (*work)(float* x);  // 64 floats of device memory, each 1
};
/// Kernels with a bug, and launches that no GPU accepts.
std::vector<Provoked> provoked_by_kernels();
/// Kernels without a bug.
std::vector<Provoked> right_kernels();

/// out[0] += in[0] by one thread.
void add_one(const float* in, float* out, cudaStream_t stream);
/// The same for bytes.
void add_one_byte(const unsigned char* in, unsigned char* out, cudaStream_t stream);
/// The seconds that each of 4 blocks finds left of its time limit, which it then uses up.
enum class Together { no, in_grid, in_clusters };
void time_of_blocks(Together how, float* x);
float* address_of_variable();  // a variable of 4 floats

/// Readers of one word, and a writer that waits for all of them except `left_out` (-1: for all):
/// through signals in memory, or a warp call of some lanes.
enum class ReadersAre { blocks, warps, warps_in_shared_memory, lanes };
void readers_and_a_writer(ReadersAre what, int readers, int left_out, float* word, int* done);

}  // namespace sixdays::emulator::tests
