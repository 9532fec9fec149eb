/// @file
/// For .cu files: launches a step's kernel, compiled for heads of at most 64 or at most 128.
#pragma once

#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16_problem.hpp"
#include "day06_transformer_ops/attention_bf16/steps/warp.hpp"

namespace sixdays::day06_transformer_ops {

template <class C>
using AttentionBf16Kernel = void (*)(AttentionBf16Problem<typename C::Element>, unsigned heads);

/// One block per 128 queries of a head.
template <class C>
void launch_blocks(const char* name, AttentionBf16Kernel<C> kernel,
                   const AttentionBf16Problem<typename C::Element>& p, gpu::Stream stream) {
    const std::int64_t heads = p.q.count() / p.tokens();
    const unsigned grid = gpu::blocks_for(heads * gpu::blocks_for(p.tokens(), C::kQueries), 1);
    gpu::allow_shared(kernel, C::kBytes);
    kernel<<<grid, C::kThreads, C::kBytes, stream>>>(p, static_cast<unsigned>(heads));
    gpu::check_launch(name, grid, C::kThreads, C::kBytes);
}

/// @param narrow, wide  the kernels for heads of at most 64 elements and at most 128
template <class T>
void launch_blocks(const char* name, AttentionBf16Kernel<Cut16<T, 64>> narrow,
                   AttentionBf16Kernel<Cut16<T, 128>> wide, const AttentionBf16Problem<T>& p,
                   gpu::Stream stream) {
    p.q.length > 64 ? launch_blocks<Cut16<T, 128>>(name, wide, p, stream)
                    : launch_blocks<Cut16<T, 64>>(name, narrow, p, stream);
}

}  // namespace sixdays::day06_transformer_ops
