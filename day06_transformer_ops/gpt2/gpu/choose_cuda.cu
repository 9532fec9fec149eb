// The sampler as one block. What the CPU sorts for is found here without sorting: candidates.hpp.
#include "day06_transformer_ops/gpt2/gpu/choose.hpp"

#include <cmath>

#include "common/gpu/launch.hpp"
#include "common/gpu/ptx.hpp"
#include "common/tensor/arguments.hpp"
#include "day06_transformer_ops/gpt2/gpu/candidates.hpp"
#include "day06_transformer_ops/gpt2/backend/philox.hpp"

namespace sixdays::gpt2 {
namespace {

// [choose]
__global__ void __launch_bounds__(kThreads)
    choose_kernel(const float* logits, std::int64_t V, const SamplerOptions* options,
                  std::int64_t* tokens, std::int64_t* place) {
    gpu::let_next_start();
    gpu::wait_for_previous();
    Best best = {-INFINITY, threadIdx.x};
    each_logit(logits, V, [&](std::int64_t v, float logit) {
        const bool better = day04_argmax::beats(logit, best.logit);  // which came before it
        best = better ? Best{logit, static_cast<unsigned>(v)} : best;
    });
    best = gpu::block_reduce<kThreads>(best, Better());
    const std::int64_t position = *place + 1;
    const SamplerOptions how = *options;
    __syncthreads();  // all have read *place
    if (threadIdx.x == 0) *place = position;
    if (!(fabsf(best.logit) < INFINITY) || how.temperature == 0) {
        const bool none = best.logit == -INFINITY, bad = !(fabsf(best.logit) < INFINITY);
        const std::int64_t token = best.token;
        if (threadIdx.x == 0) tokens[position] = none ? kNoToken : bad ? -1 - token : token;
        return;
    }
    Candidates c = {logits, nullptr, V, 0, best.logit, how.temperature, 0};
    if (how.top_k > 0 && how.top_k < V) {
        const auto k = static_cast<unsigned>(how.top_k);
        gather(c, k);
        c.floor = threshold(c, k, [](std::int64_t) { return 1u; });
    }
    float total = 0;
    for (std::int64_t i = threadIdx.x; i < c.count; i += kThreads) {
        const std::int64_t v = c.token(i);
        total += c.stays(v) ? c.weight(v) : 0;
    }
    total = gpu::block_reduce<kThreads>(total, gpu::Plus());
    c.unit = 0x1p31f / total;
    if (how.top_p < 1) {
        const unsigned target = max(1u, static_cast<unsigned>(std::ceil(how.top_p * 0x1p31)));
        c.floor = threshold(c, target, [&](std::int64_t v) { return c.mass(v); });
    }
    const double u = uniform(how.seed, static_cast<std::uint64_t>(position));
    const std::int64_t token = c.token(at_place(c, u));
    if (threadIdx.x == 0) tokens[position] = token;
}
// [choose]

}  // namespace

void launch_choose(View<const float> logits, const SamplerOptions* options, std::int64_t* tokens,
                   std::int64_t* place, gpu::Stream queue) {
    choose_kernel<<<1, kThreads, 0, queue>>>(logits.data, logits.extent(0), options, tokens, place);
    gpu::check_launch("choose_kernel", 1, kThreads);
}

void refuse_logits(std::int64_t instead_of_token, std::int64_t V) {
    if (instead_of_token == kNoToken) {
        refuse("sample: none of " + std::to_string(V) + " logits is finite, so no token can come");
    }
    refuse("sample: the logit of token " + std::to_string(-1 - instead_of_token) +
           " is NaN or infinite; a finite number or -inf is needed");
}

}  // namespace sixdays::gpt2
