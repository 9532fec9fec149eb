// The phases of one token that are products: their prologues and epilogues, and the launchers.
// phase.hpp has the mainloop.
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/gpt2/gpu/decode.hpp"
#include "day06_transformer_ops/gpt2/gpu/phase_parts.hpp"

namespace sixdays::gpt2 {
namespace {

// How rows are distributed over blocks, tuned on an H200.
using ManyRows = RowSplit<8, 1, 2>;  // 3 C or 4 C rows of C columns
using FewRows = RowSplit<8, 2, 1>;   // C rows: more blocks, so that every SM has some
using LongRows = RowSplit<8, 4, 1>;  // C rows of 4 C columns
using HeadRows = RowSplit<8, 1, 2>;  // tens of thousands of rows

// --- epilogues: where a sum goes -----------------------------------------------------------------

/// Output n is an element of the query, the key or the value.
struct Append {
    const float* bias;
    float *query, *keys, *values;  // (C), (head, capacity, D) both
    const std::int64_t* place;
    int C, D;
    std::int64_t capacity;

    struct Added {
        float bias;
        std::int64_t place;
    };
    __device__ Added load(int n) const { return {bias[n], *place}; }
    __device__ void operator()(int n, float sum, const Added& had) const {
        const int c = n % C, head = c / D, d = c % D;
        float* const to =
            n < C ? query + c : (n < 2 * C ? keys : values) + (head * capacity + had.place) * D + d;
        *to = had.bias + sum;
    }
};

struct Gelu {
    const float* bias;
    float* out;

    using Added = float;
    __device__ Added load(int n) const { return bias[n]; }
    __device__ void operator()(int n, float sum, Added had) const {
        out[n] = day06_transformer_ops::gelu_tanh(had + sum);
    }
};

template <class C>
Norm<C> norm_of(const float* stream, const NormParameters& norm) {
    return {stream, norm.weight.data, norm.bias.data, norm.eps};
}

constexpr int kThreads = 256;

/// The positions of a model without a row for each.
struct NoRows {
    __device__ float operator()(std::int64_t, std::int64_t) const { return 0; }
};

template <class W, class P>
__global__ void embed_tokens_kernel(const __grid_constant__ W tokens,
                                    const __grid_constant__ P positions, const std::int64_t* ids,
                                    const std::int64_t* place, std::int64_t T, float* stream) {
    gpu::let_next_start();
    gpu::wait_for_previous();
    const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x, C = tokens.K;
    if (i >= T * C) return;
    const std::int64_t position = *place - (T - 1) + i / C, id = ids[position];
    const bool chosen = id >= 0;  // else no logit was finite, which is reported later
    stream[i] = chosen ? tokens(id, i % C) + positions(position, i % C) : NAN;
}

}  // namespace

// --- launchers -----------------------------------------------------------------------------------

void launch_embed(const DeviceMatrix& tokens, const std::optional<DeviceMatrix>& positions,
                  const std::int64_t* ids, const std::int64_t* place, View<float> stream,
                  gpu::Stream queue) {
    with_rows(tokens, [&](auto token_rows) {
        const auto launch = [&](auto position_rows) {
            const unsigned grid = gpu::blocks_for(stream.size(), kThreads);
            embed_tokens_kernel<<<grid, kThreads, 0, queue>>>(token_rows, position_rows, ids, place,
                                                              stream.extent(0), stream.data);
            gpu::check_launch("embed_tokens_kernel", grid, kThreads);
        };
        positions ? with_rows(*positions, launch) : launch(NoRows());
    });
}

void launch_query_key_value(const NormParameters& norm, const DeviceLinear& linear,
                            const float* stream, float* query, const KvSlots& cache,
                            const std::int64_t* place, gpu::Stream queue) {
    const View<float>& keys = cache.keys;
    const Append append = {linear.bias,
                           query,
                           keys.data,
                           cache.values.data,
                           place,
                           static_cast<int>(linear.weight.K),
                           static_cast<int>(keys.extent(2)),
                           keys.stride(0) / keys.stride(1)};
    launch_phase<ManyRows>(linear.weight, norm_of<ManyRows>(stream, norm), append, queue);
}

void launch_add_attention(const AttentionParts& parts, const DeviceLinear& linear, float* stream,
                          gpu::Stream queue) {
    launch_phase<FewRows>(linear.weight, Join{parts}, Add{linear.bias, stream}, queue);
}

void launch_widen(const NormParameters& norm, const DeviceLinear& linear, const float* stream,
                  float* hidden, gpu::Stream queue) {
    launch_phase<ManyRows>(linear.weight, norm_of<ManyRows>(stream, norm),
                           Gelu{linear.bias, hidden}, queue);
}

void launch_add_mlp(const float* hidden, const DeviceLinear& linear, float* stream,
                    gpu::Stream queue) {
    launch_phase<LongRows>(linear.weight, Hidden{hidden}, Add{linear.bias, stream}, queue);
}

void launch_head(const NormParameters& norm, const DeviceMatrix& head, const float* stream,
                 float* logits, unsigned blocks, gpu::Stream queue) {
    launch_phase<HeadRows>(head, norm_of<HeadRows>(stream, norm), Logit{logits}, queue, blocks);
}

unsigned resident_head_blocks(const DeviceMatrix& head) {
    return resident_blocks<HeadRows, Norm<HeadRows>, Logit>(head);
}

}  // namespace sixdays::gpt2
