// The phases of one token that differ from GPT-2's: an RMS norm before a product, the rotation of
// queries and keys, SwiGLU.
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/gpt2/gpu/phase_parts.hpp"
#include "day06_transformer_ops/llama/decode.hpp"

namespace sixdays::llama {
namespace {

using day06_transformer_ops::Pairing;
using gpt2::ByType, gpt2::DeviceMatrix, gpt2::RmsNorm, gpt2::RowSplit;

// How rows are distributed over blocks, tuned on an H200 for Llama 3.2 1B: C = 2048, MLP 8192.
using ProjectRows = RowSplit<8, 2, 2, 4>;                          // queries, keys and values
using FewRows = RowSplit<8, 2, 4, 4>;                              // C rows of C columns
using LongRows = ByType<RowSplit<8, 4, 2, 4>, RowSplit<8, 4, 4>>;  // C rows of 4 C columns
using PairRows = ByType<RowSplit<8, 1, 2, 4>, RowSplit<8, 2, 8>>;  // gate and up in turn
using HeadRows = RowSplit<8, 1, 2>;                                // tens of thousands of rows

static_assert(RmsNorm<HeadRows>::kRowsKept == kRmsNormKeeps);

struct Project {
    const float* bias;
    float* out;

    using Added = float;
    __device__ Added load(int n) const { return bias[n]; }
    __device__ void operator()(int n, float sum, Added b) const { out[n] = sum + b; }
};

/// Are rows 2 i and 2 i + 1 of a block stored by neighbouring lanes?
template <class C>
constexpr bool stores_pairs(C) {
    return (C::PARTS == 1 ? C::ROWS : C::TILE) % 2 == 0;
}
template <class Most, class Runs>
constexpr bool stores_pairs(ByType<Most, Runs>) {
    return stores_pairs(Most{}) && stores_pairs(Runs{});
}
static_assert(stores_pairs(ProjectRows{}) && stores_pairs(PairRows{}));

/// The value of the other lane of the pair.
__device__ float of_neighbour(float x) {
    return __shfl_xor_sync(0b11u << (threadIdx.x % 32 & ~1u), x, 1);
}

/// Rotates pairs of neighbouring rows, whose sums are in neighbouring lanes. Queries go to `raw`, keys
/// and values to the cache.
struct Rotate {
    const float* bias;  // of the part
    Projections of;
    gpt2::KvSlots cache;
    const std::int64_t* place;
    int first;  // row of the part's first row

    struct Added {
        float bias, cosine, sine;
        std::int64_t position;
    };
    __device__ Added load(int n) const {
        const int D = static_cast<int>(of.D), R = static_cast<int>(of.R), d = (first + n) % D;
        const bool rotated = first + n < (of.H + of.G) * D && d < R;
        return {bias[n], rotated ? of.angles[d / 2] : 1, rotated ? of.angles[R / 2 + d / 2] : 0,
                *place};
    }
    __device__ void operator()(int n, float sum, const Added& had) const {
        const int D = static_cast<int>(of.D), H = static_cast<int>(of.H),
                  G = static_cast<int>(of.G);
        const int row = first + n, head = row / D, d = row % D;
        const float x = sum + had.bias;
        const float other = of_neighbour(x);
        const float turned = std::fma(x, had.cosine, (d % 2 == 0 ? -other : other) * had.sine);
        if (head < H) {
            of.raw[row] = turned;
        } else if (head < H + G) {
            cache.keys(head - H, had.position, d) = turned;
        } else {
            cache.values(head - H - G, had.position, d) = x;
        }
    }
};

/// Even rows are gate's, odd rows up's. Their sums are in neighbouring lanes: up's goes to the lane of
/// gate's.
struct Gated {
    float* hidden;

    struct Added {};
    __device__ Added load(int) const { return {}; }
    __device__ void operator()(int n, float sum, Added) const {
        const float other = of_neighbour(sum);
        if (n % 2 == 0) hidden[n / 2] = day06_transformer_ops::silu(sum) * other;
    }
};

template <class C>
RmsNorm<C> norm_of(const float* stream, const RmsNormParameters& norm) {
    return {stream, norm.weight, norm.eps};
}

// A kernel for each part, or for two whose types a kernel takes together.
// @param out_of  the epilogue of a part and its first row
template <class OutOf>
void launch_parts(const RmsNormParameters& norm, const Parts& parts, const float* stream,
                  gpu::Stream queue, const OutOf& out_of) {
    const auto in = norm_of<ProjectRows>(stream, norm);
    int first = 0;
    for (std::size_t i = 0; i < parts.size(); i += 2) {
        const gpt2::DeviceLinear& part = parts[i];
        const auto out = out_of(part, first);
        first += static_cast<int>(part.weight.N);
        if (i + 1 == parts.size()) {
            gpt2::launch_phase<ProjectRows>(part.weight, in, out, queue);
        } else {
            const gpt2::DeviceLinear& next = parts[i + 1];
            gpt2::launch_phases<ProjectRows>(part.weight, next.weight, in, out, out_of(next, first),
                                             queue);
            first += static_cast<int>(next.weight.N);
        }
    }
}

constexpr int kWarps = 4;
constexpr int kPairs = 4;  // of a lane: heads of up to 256 elements

__global__ void angles_kernel(const float* table, const std::int64_t* place, std::int64_t R,
                              float* angles) {
    gpu::let_next_start();
    gpu::wait_for_previous();
    for (std::int64_t i = threadIdx.x; i < R; i += blockDim.x) angles[i] = table[*place * R + i];
}

// One warp per head of queries, keys or values.
__global__ void __launch_bounds__(32 * kWarps)
    rotate_kernel(const __grid_constant__ Projections of,
                  const __grid_constant__ gpt2::KvSlots cache, const std::int64_t* place) {
    gpu::let_next_start();
    gpu::wait_for_previous();
    const int lane = static_cast<int>(threadIdx.x % 32), D = static_cast<int>(of.D);
    const int H = static_cast<int>(of.H), G = static_cast<int>(of.G), R = static_cast<int>(of.R);
    const int head = static_cast<int>(blockIdx.x * kWarps + threadIdx.x / 32);
    if (head >= H + 2 * G) return;
    const std::int64_t position = *place;
    float* const x = of.raw + static_cast<std::int64_t>(head) * D;
    if (head >= H + G) {
        float* const value = &cache.values(head - H - G, position, 0);
        for (int d = lane; d < D; d += 32) value[d] = x[d];
        return;
    }

    const float* const weight = head < H ? of.q_norm : of.k_norm;
    float* const to = head < H ? x : &cache.keys(head - H, position, 0);
    const float* const cosines = of.angles;
    const float* const sines = cosines + R / 2;
    // Pair i of the rotated elements; those after them are pairs of neighbours that stay.
    const auto first_of = [&](int i) {
        return i < R / 2 && of.pairing == Pairing::halves ? i : 2 * i;
    };
    const auto second_of = [&](int i) {
        return i < R / 2 && of.pairing == Pairing::halves ? i + R / 2 : 2 * i + 1;
    };
    float a[kPairs], b[kPairs], squares = 0;
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
        const int i = lane + 32 * p;
        const bool there = i < D / 2;
        a[p] = there ? x[first_of(i)] : 0;
        b[p] = there ? x[second_of(i)] : 0;
        squares += a[p] * a[p] + b[p] * b[p];
    }
    if (weight != nullptr) {
        squares = gpu::warp_reduce(squares, gpu::Plus());
        const float scale = 1 / std::sqrt(squares / static_cast<float>(D) + of.eps);
#pragma unroll
        for (int p = 0; p < kPairs; ++p) {
            const int i = lane + 32 * p;
            if (i < D / 2)
                a[p] *= scale * weight[first_of(i)], b[p] *= scale * weight[second_of(i)];
        }
    }
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
        const int i = lane + 32 * p;
        if (i >= D / 2) continue;
        const float c = i < R / 2 ? cosines[i] : 1, s = i < R / 2 ? sines[i] : 0;
        to[first_of(i)] = std::fma(a[p], c, -(b[p] * s));
        to[second_of(i)] = std::fma(a[p], s, b[p] * c);
    }
}

}  // namespace

void launch_angles(const float* table, const std::int64_t* place, std::int64_t R, float* angles,
                   gpu::Stream queue) {
    angles_kernel<<<1, 128, 0, queue>>>(table, place, R, angles);
    gpu::check_launch("angles_kernel", 1, 128);
}

void launch_project(const RmsNormParameters& norm, const Parts& parts, const float* stream,
                    float* out, gpu::Stream queue) {
    launch_parts(norm, parts, stream, queue, [&](const gpt2::DeviceLinear& part, int first) {
        return Project{part.bias, out + first};
    });
}

void launch_project_and_rotate(const RmsNormParameters& norm, const Parts& parts,
                               const float* stream, const Projections& of,
                               const gpt2::KvSlots& cache, const std::int64_t* place,
                               gpu::Stream queue) {
    launch_parts(norm, parts, stream, queue, [&](const gpt2::DeviceLinear& part, int first) {
        return Rotate{part.bias, of, cache, place, first};
    });
}

void launch_rotate(const Projections& of, const gpt2::KvSlots& cache, const std::int64_t* place,
                   gpu::Stream queue) {
    const unsigned grid = gpu::blocks_for(of.H + 2 * of.G, kWarps);
    rotate_kernel<<<grid, 32 * kWarps, 0, queue>>>(of, cache, place);
    gpu::check_launch("rotate_kernel", grid, 32 * kWarps);
}

void launch_add_attention(const gpt2::AttentionParts& parts, const gpt2::DeviceLinear& linear,
                          float* stream, gpu::Stream queue) {
    gpt2::launch_phase<FewRows>(linear.weight, gpt2::Join{parts}, gpt2::Add{linear.bias, stream},
                                queue);
}

void launch_gated(const RmsNormParameters& norm, const DeviceMatrix& gate_up, const float* stream,
                  float* hidden, gpu::Stream queue) {
    const unsigned resident = gpt2::resident_blocks<PairRows, RmsNorm<PairRows>, Gated>(gate_up);
    gpt2::launch_phase<PairRows>(gate_up, norm_of<PairRows>(stream, norm), Gated{hidden}, queue,
                                 resident);
}

void launch_add_mlp(const float* hidden, const gpt2::DeviceLinear& linear, float* stream,
                    gpu::Stream queue) {
    gpt2::launch_phase<LongRows>(linear.weight, gpt2::Hidden{hidden},
                                 gpt2::Add{linear.bias, stream}, queue);
}

void launch_head(const RmsNormParameters& norm, const DeviceMatrix& head, const float* stream,
                 float* logits, unsigned blocks, gpu::Stream queue) {
    gpt2::launch_phase<HeadRows>(head, norm_of<HeadRows>(stream, norm), gpt2::Logit{logits}, queue,
                                 blocks);
}

unsigned resident_head_blocks(const DeviceMatrix& head) {
    return gpt2::resident_blocks<HeadRows, RmsNorm<HeadRows>, gpt2::Logit>(head);
}

}  // namespace sixdays::llama
