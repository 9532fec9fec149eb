// The twin, one thread per output, and the launchers. Step 2 is phase.hpp's kernel.
#include "day06_transformer_ops/gpt2/weights/linear.hpp"

#include "common/gpu/launch.hpp"
#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"
#include "common/tensor/vectorized.hpp"
#include "day06_transformer_ops/gpt2/weights/phase.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr int kThreads = 128;

template <class W>
__global__ void linear_kernel(const __grid_constant__ W w,
                              const __grid_constant__ View<const float> x,
                              const __grid_constant__ View<const float> bias,
                              const __grid_constant__ View<float> out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < out.size()) {
        const std::int64_t t = i / w.N, n = i % w.N;
        float sum = bias.data != nullptr ? bias(n) : 0;
        for (std::int64_t k = 0; k < w.K; ++k) {
            sum += w(n, k) * x(t, k);
        }
        out(t, n) = sum;
    }
}

// Rows have no gaps, so this is contiguous memory. One thread per piece; the tail is processed one
// element at a time.
template <class W>
__global__ void to_float_kernel(const __grid_constant__ W w, float* out) {
    const std::int64_t size = w.N * w.K;
    const std::int64_t i = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * W::kWeights;
    if (i + W::kWeights <= size) {
        const typename W::Piece piece = w.piece(0, i);
        const float scale = W::scale(piece);
        float x[W::kWeights];
        W::numbers(piece, x);
#pragma unroll
        for (int j = 0; j < W::kWeights; j += 4) {
            *reinterpret_cast<float4*>(out + i + W::step(w.number_in_row(i), j)) =
                make_float4(scale * x[j], scale * x[j + 1], scale * x[j + 2], scale * x[j + 3]);
        }
    } else {
        for (std::int64_t j = i; j < size && j < i + W::kWeights; ++j) out[j] = w(0, j);
    }
}

/// A token's elements, unchanged.
struct Copied {
    static constexpr int kRowsKept = 0;
    static constexpr bool kOnlyCopies = false;  // its elements may have gaps
    View<const float> x;                        // (K)

    __device__ void before(float*, int) const {}
    __device__ void operator()(float* to, float*, int K) const {
        for (int k = threadIdx.x; k < K; k += blockDim.x) to[k] = x(k);
    }
};

struct Stored {
    View<const float> bias;
    View<float> out;  // (N)

    using Added = float;
    __device__ Added load(int n) const { return bias.data != nullptr ? bias(n) : 0; }
    __device__ void operator()(int n, float sum, Added b) const { out(n) = b + sum; }
};

}  // namespace

void linear_cuda(const DeviceMatrix& w, View<const float> x, View<const float> bias,
                 View<float> out, const gpu::Launch<LinearPath>& how) {
    check_linear(w, x, bias, out, how.path);
    if (out.size() == 0) return;
    switch (how.path.value_or(choose_linear(w))) {
        case LinearPath::one_output:
            return with_rows(w, [&](auto rows) {
                const unsigned grid = gpu::blocks_for(out.size(), kThreads);
                linear_kernel<<<grid, kThreads, 0, how.stream>>>(rows, x, bias, out);
                gpu::check_launch("linear_kernel", grid, kThreads);
            });
        case LinearPath::warp_per_row:  // the second token finds the weights in the L2 cache
            for (std::int64_t t = 0; t < x.extent(0); ++t) {
                launch_phase<RowSplit<8, 1, 1>>(w, Copied{select(x, 0, t)},
                                                Stored{bias, select(out, 0, t)}, how.stream);
            }
    }
}

void to_float_cuda(const DeviceMatrix& w, View<float> out, gpu::Stream stream) {
    (void)bytes_of(w.type, {w.N, w.K});
    if (out.shape() != Shape{w.N, w.K}) {
        reject("to_float: weights of shape ", Shape{w.N, w.K}, " and out of shape ", out.shape());
    }
    require_contiguous("to_float", "out", out);
    require_output("to_float", out);
    if (misalignment(w.data) != 0 || misalignment(out.data) != 0) {
        reject("to_float: the weights begin ", misalignment(w.data), " and out ",
               misalignment(out.data), " bytes past a multiple of 16");
    }
    if (out.size() == 0) return;
    with_rows(w, [&](auto rows) {
        const unsigned grid =
            gpu::blocks_for(out.size(), kThreads * static_cast<int>(decltype(rows)::kWeights));
        to_float_kernel<<<grid, kThreads, 0, stream>>>(rows, out.data);
        gpu::check_launch("to_float_kernel", grid, kThreads);
    });
}

View<const float> as_floats(const DeviceMatrix& w, gpu::Buffer<float>& room, gpu::Stream stream) {
    const Shape shape = {w.N, w.K};
    if (w.type == WeightType::f32) return {reinterpret_cast<const float*>(w.data), shape};
    to_float_cuda(w, room.view(shape), stream);
    return room.view(shape);
}

}  // namespace sixdays::gpt2
