/// @file
/// The launchers of the tile kernels.
#pragma once

#include "common/gpu/stream.hpp"
#include "day05_matmul/matmul.hpp"

namespace sixdays::day05_matmul {

/// The tile kernel of a float product, for each matrix of a stack. Nothing is checked.
/// @param a, b, out  what missing_for_tiles() accepts
void launch_matmul_tile(View<const float> a, View<const float> b, const Epilogue& epilogue,
                        View<float> out, gpu::Stream stream);
/// The tile kernel of a product of T, bf16 or f16, for each matrix of a stack. Nothing is checked.
/// @param a, b, out  what missing_for_tiles() accepts
template <class T>
void launch_matmul_bf16_tile(View<const T> a, View<const T> b, const Epilogue& epilogue,
                             View<float> out, gpu::Stream stream);

/// Empty if the path `tile` supports them, else what it needs.
[[nodiscard]] std::string missing_for_tiles(const Layout& a, const Layout& b,
                                            const Epilogue& epilogue, const Layout& out);

}  // namespace sixdays::day05_matmul
