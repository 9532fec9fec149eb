/// @file
/// For .cu files: the launchers of copy's steps. They check nothing: plan_copy() has simplified the
/// layouts and made the elements as wide as possible.
#pragma once

#include <cuda_runtime.h>

#include "common/gpu/stream.hpp"
#include "common/tensor/walk.hpp"
#include "day03_views/untyped.hpp"

namespace sixdays::day03_views {

/// Step 2: any layout. Fast division, and several loads in flight.
void launch_copy_walk(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream);

/// Step 3: both contiguous, addresses equal modulo 16: 128-bit accesses.
void launch_copy_one_run(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream);

/// Step 4: one element of `in` fills 16 bytes of `out`, whose elements have 16 bytes.
void launch_copy_repeat(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream);

/// The element type in a kernel: uint4 loads and stores 16 bytes at once.
template <class E>
struct GpuElement {
    using type = E;
};
template <>
struct GpuElement<Bytes16> {
    using type = uint4;
};

/// Calls f with an element of that many bytes, and with the rank.
template <class F>
void with_element_and_rank(int bytes, int rank, const F& f) {
    with_element(bytes, [&](auto element) {
        using T = typename GpuElement<decltype(element)>::type;
        with_rank(rank, [&](auto r) { f(T{}, r); });
    });
}

}  // namespace sixdays::day03_views
