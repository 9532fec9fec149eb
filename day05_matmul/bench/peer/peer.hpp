/// @file
/// The same product by a library: cuBLAS, where CMake found it and the kernels run on a GPU. The
/// program is linked with cublas.cpp or with none.cpp.
#pragma once

#include <functional>

#include "common/tensor/half.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day05_matmul {

/// Empty if this program has no peer.
template <class T>
using PeerProduct = std::function<void(const T* a, const T* b, float* out)>;

/// Is this program linked with cuBLAS?
[[nodiscard]] bool has_peer();

/// out = a b for device memory of these layouts: cublasLt in pedantic FP32, which excludes TF32, or
/// with bf16 operands and float sums, with the fastest of the algorithms that it proposes, each
/// tried on these views.
/// @param a, b  rank 2, one of the strides is 1
/// @param out   rank 2, contiguous rows
/// @throws std::runtime_error  cuBLAS returns an error
[[nodiscard]] PeerProduct<float> peer_product(View<const float> a, View<const float> b,
                                              View<float> out);
[[nodiscard]] PeerProduct<bf16> peer_product(View<const bf16> a, View<const bf16> b,
                                             View<float> out);

}  // namespace sixdays::day05_matmul
