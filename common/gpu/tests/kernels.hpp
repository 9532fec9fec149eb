/// @file
/// Kernels for gpu/tests.cpp: launches that must fail, and small ones that must work.
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"
#include "common/tensor/half.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::gpu::tests {

/// Launches an empty kernel with this grid and block. @throws gpu::Error  as check_launch() says
void launch_nothing(unsigned grid, unsigned block);

/// Launches it with so many bytes of dynamic shared memory. @throws gpu::Error
void launch_with_shared(std::int64_t bytes);

/// Gives the runtime a device that does not exist. @throws gpu::Error  naming the call
void select_device(int device);

/// launch.hpp's, for host files.
unsigned blocks_for(std::int64_t items, int threads);
unsigned blocks_at_most(std::int64_t items, int threads, unsigned most);

/// out[i] = value for all elements of a contiguous tensor.
void fill(View<float> out, float value, Stream stream = {});

/// turn[b] = how many blocks had their turn before block b; next holds 0, and then so many as all.
void number_turns(View<int> turn, View<int> next);

/// bits[i] becomes what half.hpp makes of it on the device: to float and back.
void round_trip(View<f16> halves, View<bf16> bfloats);

/// Rounds floats on the device.
void round(View<const float> in, View<f16> halves, View<bf16> bfloats);

/// 2^in[i] and 1 / in[i], by ptx.hpp's functions of one instruction; contiguous.
void fast_functions(View<const float> in, View<float> powers, View<float> reciprocals);

/// out[i] = weights[i] in[n - 1 - i], by way of two tiles of shared memory; n <= 256.
void reverse_in_tiles(View<const float> in, View<const unsigned char> weights, View<float> out);

/// One block: out[i] = in[255 - i] for 256 floats, of which only the first n are read; the others
/// are 0. Through shared memory, by asynchronous copies of 4, of 8 and of 16 bytes, two groups of
/// each.
void reverse_async(int bytes, int n, View<const float> in, View<float> out);

/// in and out (blocks, threads): out(b, t) is what thread t of block b has of block_reduce() of
/// in's row b, largest value and where it is; threads is 32, 64, 256 or 1,024. Each block reduces a
/// second time, the values negated, into negated.
struct Found {
    float value;
    int at;
};
void reduce_blocks(View<const float> in, View<Found> out, View<Found> negated);

/// The same of warp_reduce() for each run of `lanes` lanes, 2 to 32; threads is 64.
void reduce_lanes(int lanes, View<const float> in, View<Found> out);

/// out[i] = in[n - 1 - i] + 1 by a kernel that starts early where its graph allows that;
/// contiguous.
void pass_on(View<const float> in, View<float> out, Stream stream);

}  // namespace sixdays::gpu::tests
