/// @file
/// The launchers of the ladder: one matrix each, of rank 2. Step 1 is the naive kernel in
/// matmul_bf16_cuda.cu. Launchers check nothing: MatmulBf16Path lists what each supports.
#pragma once

#include "common/gpu/stream.hpp"
#include "day05_matmul/matmul_bf16.hpp"

namespace sixdays::day05_matmul {

template <class T>
void launch_matmul_bf16_one_warp(View<const T> a, View<const T> b, const Epilogue& epilogue,
                                 View<float> out, gpu::Stream stream);
template <class T, class Out>
void launch_matmul_bf16_shared_tiles(View<const T> a, View<const T> b, const Epilogue& epilogue,
                                     View<Out> out, gpu::Stream stream);
template <class T>
void launch_matmul_bf16_ring(View<const T> a, View<const T> b, const Epilogue& epilogue,
                             View<float> out, gpu::Stream stream);
template <class T, class Out>
void launch_matmul_bf16_fragments_ahead(View<const T> a, View<const T> b, const Epilogue& epilogue,
                                        View<Out> out, gpu::Stream stream);
template <class T>
void launch_matmul_bf16_warpgroups(View<const T> a, View<const T> b, const Epilogue& epilogue,
                                   View<float> out, gpu::Stream stream);
template <class T>
void launch_matmul_bf16_persistent(View<const T> a, View<const T> b, const Epilogue& epilogue,
                                   View<float> out, gpu::Stream stream);
template <class T, class Out>
void launch_matmul_bf16_ping_pong(View<const T> a, View<const T> b, const Epilogue& epilogue,
                                  View<Out> out, gpu::Stream stream);

}  // namespace sixdays::day05_matmul
