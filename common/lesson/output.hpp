/// @file
/// Checks that everything a program printed was written.
#pragma once

#include <cstdio>

namespace sixdays::lesson {

/// Flushes `out`. False, after a message on standard error, if not everything that was printed to
/// it could be written: the disk is full, or it was closed. To be called last in main():
///
///     return lesson::output_written() ? status : 1;
[[nodiscard]] bool output_written(std::FILE* out = stdout);

}  // namespace sixdays::lesson
