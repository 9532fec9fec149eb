/// @file
/// A run's loss curve as an SVG.
#pragma once

#include <string>
#include <vector>

namespace sixdays::day06_transformer_ops {

/// An SVG of the loss over steps, with a logarithmic axis. It follows the reader's light or dark
/// theme. Each point is the mean of several steps.
/// @param losses  one per step; values that are not positive numbers are omitted
[[nodiscard]] std::string loss_curve(const std::vector<float>& losses);

}  // namespace sixdays::day06_transformer_ops
