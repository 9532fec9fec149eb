/// @file
/// Did all that a program printed arrive?
#pragma once

#include <cstdio>

namespace sixdays::lesson {

/// Flushes `out`. False, after a sentence on standard error, if not everything that was printed to
/// it could be written: its disk is full, it was closed. The last thing that main() does:
///
///     return lesson::output_written() ? status : 1;
[[nodiscard]] bool output_written(std::FILE* out = stdout);

}  // namespace sixdays::lesson
