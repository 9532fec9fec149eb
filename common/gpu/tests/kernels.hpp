/// @file
/// Kernels for the tests of common/gpu: launches that must fail, and small ones that must work.
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"
#include "common/tensor/half.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::gpu::tests {

/// Launches an empty kernel with this grid and block. @throws gpu::Error  as check_launch()
void launch_nothing(unsigned grid, unsigned block);

/// Launches it with this many bytes of dynamic shared memory, and passes `reported` of them to
/// check_launch(). @throws gpu::Error
void launch_with_shared(std::int64_t bytes, std::int64_t reported);

/// Selects a device that does not exist. @throws gpu::Error  naming the call
void select_device(int device);

/// The functions of launch.hpp, for host files.
unsigned blocks_for(std::int64_t items, int threads);
unsigned blocks_at_most(std::int64_t items, int threads, unsigned most);

/// out[i] = value for all elements of a contiguous tensor.
void fill(View<float> out, float value, Stream stream = {});

/// turn[b] = number of blocks that ran before block b; next starts at 0 and ends at the number of
/// blocks.
void number_turns(View<int> turn, View<int> next);

/// Converts bits[i] on the device with half.hpp: to float and back.
void round_trip(View<f16> halves, View<bf16> bfloats);

/// Rounds floats on the device.
void round(View<const float> in, View<f16> halves, View<bf16> bfloats);

/// 2^in[i] and 1 / in[i], by the approximations of ptx.hpp; contiguous.
void fast_functions(View<const float> in, View<float> powers, View<float> reciprocals);

/// out[i] = weights[i] in[n - 1 - i], through two tiles of shared memory; n <= 256.
void reverse_in_tiles(View<const float> in, View<const unsigned char> weights, View<float> out);

/// One block: out[i] = in[255 - i] for 256 floats, of which only the first n are read; the others
/// are 0. Through shared memory, by asynchronous copies of 4, 8 and 16 bytes, two groups of each.
void reverse_async(int bytes, int n, View<const float> in, View<float> out);

/// in and out (blocks, threads): out(b, t) is the result that thread t of block b gets from
/// block_reduce() of row b of in, largest value and its index; threads is 32, 64, 256 or 1,024.
/// Each block reduces a second time, with the values negated, into negated.
struct Found {
    float value;
    int at;
};
void reduce_blocks(View<const float> in, View<Found> out, View<Found> negated);

/// The same for warp_reduce() of each run of `lanes` lanes, 2 to 32; threads is 64.
void reduce_lanes(int lanes, View<const float> in, View<Found> out);

/// out[i] = in[n - 1 - i] + 1 by a kernel that starts early if its graph allows it; contiguous.
void pass_on(View<const float> in, View<float> out, Stream stream);

}  // namespace sixdays::gpu::tests
