/// @file
/// Elementwise operations: element i of the output depends only on element i of the inputs.
/// Only the number of elements matters, not the shape: each is one loop over flat memory.
#pragma once

#include <cstdint>

#include "common/gpu/how.hpp"
#include "common/tensor/vectorized.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day01_flat_memory {

/// The kernel to launch: the caller's choice in gpu::Launch, else that of choose_elementwise().
enum class ElementwisePath {
    one_element,  ///< the naive kernel, one thread per element
    grid_stride,  ///< full occupancy, each thread in a grid-stride loop
    vectorized,   ///< float4: 128-bit loads and stores; all addresses equal modulo 16
    any_address,  ///< scalar loads, eight of them in flight
    tile,         ///< CUDA Tile C++, tiles of 2,048 elements; only on request
};

/// The path of an operation on these tensors. A float4 is aligned to 16 bytes: `vectorized` if all
/// addresses are equal modulo 16, else any_address. Where this returns any_address, the path
/// `vectorized` is rejected.
template <class T, class... In>
[[nodiscard]] ElementwisePath choose_elementwise(const View<T>& out, const View<In>&... in) {
    return equally_misaligned(out.data, in.data...) ? ElementwisePath::vectorized
                                                    : ElementwisePath::any_address;
}
[[nodiscard]] const char* name(ElementwisePath path);

/// The optimization steps, in the order of the run and the benchmark.
inline constexpr ElementwisePath kElementwisePaths[] = {
    ElementwisePath::one_element, ElementwisePath::grid_stride, ElementwisePath::vectorized,
    ElementwisePath::any_address};

/// out = in * in, per element. A loop over flat memory: only the number of elements matters.
/// @param in, out  contiguous, of one shape of any rank and size; `out` may be `in` itself, but
/// must not overlap it otherwise
/// @throws std::invalid_argument  different shapes, a tensor that is not contiguous, a null
/// pointer, overlap
void square_cpu(View<const float> in, View<float> out);
/// @throws std::invalid_argument  also a path that does not support these tensors
void square_cuda(View<const float> in, View<float> out,
                 const gpu::Launch<ElementwisePath>& how = {});
void check_square(const View<const float>& in, const View<float>& out,
                  std::optional<ElementwisePath> path = {});

/// out = alpha * in, per element.
/// @param in, out  contiguous, of one shape of any rank and size; `out` may be `in` itself, but
/// must not overlap it otherwise
/// @throws std::invalid_argument  different shapes, a tensor that is not contiguous, a null
/// pointer, overlap
void scale_cpu(float alpha, View<const float> in, View<float> out);
/// @throws std::invalid_argument  also a path that does not support these tensors
void scale_cuda(float alpha, View<const float> in, View<float> out,
                const gpu::Launch<ElementwisePath>& how = {});
void check_scale(const View<const float>& in, const View<float>& out,
                 std::optional<ElementwisePath> path = {});

/// out = alpha * x + y, per element, rounded once (std::fma). BLAS calls it saxpy: single-precision
/// a x plus y.
/// @param x, y, out  contiguous, of one shape of any rank and size; `out` may be an input itself,
/// but must not overlap one otherwise
/// @throws std::invalid_argument  different shapes, a tensor that is not contiguous, a null
/// pointer, overlap
void saxpy_cpu(float alpha, View<const float> x, View<const float> y, View<float> out);
/// @throws std::invalid_argument  also a path that does not support these tensors
void saxpy_cuda(float alpha, View<const float> x, View<const float> y, View<float> out,
                const gpu::Launch<ElementwisePath>& how = {});
void check_saxpy(const View<const float>& x, const View<const float>& y, const View<float>& out,
                 std::optional<ElementwisePath> path = {});

/// out = a + b, per element.
/// @param a, b, out  contiguous, of one shape of any rank and size; `out` may be an input itself,
/// but must not overlap one otherwise
/// @throws std::invalid_argument  different shapes, a tensor that is not contiguous, a null
/// pointer, overlap
void add_cpu(View<const float> a, View<const float> b, View<float> out);
/// @throws std::invalid_argument  also a path that does not support these tensors
void add_cuda(View<const float> a, View<const float> b, View<float> out,
              const gpu::Launch<ElementwisePath>& how = {});
void check_add(const View<const float>& a, const View<const float>& b, const View<float>& out,
               std::optional<ElementwisePath> path = {});

/// out = 255 - in: the photographic negative of an image, one byte per element.
/// @param in, out  contiguous, of one shape of any rank and size; `out` may be `in` itself, but
/// must not overlap it otherwise
/// @throws std::invalid_argument  different shapes, a tensor that is not contiguous, a null
/// pointer, overlap
void invert_cpu(View<const std::uint8_t> in, View<std::uint8_t> out);
/// @throws std::invalid_argument  also a path that does not support these tensors
void invert_cuda(View<const std::uint8_t> in, View<std::uint8_t> out,
                 const gpu::Launch<ElementwisePath>& how = {});
void check_invert(const View<const std::uint8_t>& in, const View<std::uint8_t>& out,
                  std::optional<ElementwisePath> path = {});

}  // namespace sixdays::day01_flat_memory
