/// @file
/// A run's losses as a picture.
#pragma once

#include <string>
#include <vector>

namespace sixdays::day06_transformer_ops {

/// An SVG of the loss over steps, its axis by powers, since a loss that halves again and again is a
/// line there. Light or dark, as the reader's screen is. Each point is the mean of some steps.
/// @param losses  of each step; what is no number above 0 is left out
[[nodiscard]] std::string loss_curve(const std::vector<float>& losses);

}  // namespace sixdays::day06_transformer_ops
