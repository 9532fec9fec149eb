/// @file
/// Writes a picture to a PNG file, with libpng.
#pragma once

#include <cstdint>
#include <string>

#include "common/tensor/view.hpp"

namespace sixdays::lesson {

/// Writes `pixels` (H, W), contiguous, 0 black to 255 white. The file appears whole or not at all;
/// an existing one is kept until then. Symbolic links are followed. A device, a pipe or /dev/stdout
/// is written to directly.
/// @throws std::invalid_argument  another rank, gaps, no pixels
/// @throws std::runtime_error     built without libpng, or the file cannot be written
void write_png(const std::string& path, View<const std::uint8_t> pixels);

}  // namespace sixdays::lesson
