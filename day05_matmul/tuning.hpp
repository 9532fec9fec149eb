/// @file
/// Every way in which this day can compute one product, for a tuner to try: the steps, and the
/// tiles of step 13 one by one. choose_matmul() decides by a model that was fitted to an H200. On
/// another GPU another way may be faster, and a tuner finds it by measuring.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/gpu/stream.hpp"
#include "common/gpu/workspace.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day05_matmul {

/// One way to compute a product.
struct Candidate {
    std::string name;                         ///< "fragments", "whole tiles of 64 x 64", ...
    bool chosen = false;                      ///< what matmul_cuda() takes with enough workspace
    std::int64_t workspace_bytes = 0;         ///< what run() must be given
    std::function<void(gpu::Workspace)> run;  ///< launches it on the default stream
};

/// All ways that support a product of these views, in the order of the ladder; one of them is
/// `chosen`. The tile kernel, which is used only on request, is left out.
/// @param a, b, out  in device memory; as matmul_cuda() takes them
/// @throws std::invalid_argument  as matmul_cuda()
[[nodiscard]] std::vector<Candidate> candidates(View<const float> a, View<const float> b,
                                                View<float> out);

}  // namespace sixdays::day05_matmul
