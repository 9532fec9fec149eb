/// @file
/// The sections of the run that --bench measures, on more and larger shapes.
#pragma once

#include "common/lesson/report.hpp"

namespace sixdays::day03_views {

/// Section 4: which path copy takes for which layouts.
void copies(lesson::Report& report, bool bench);

/// Section 5: the transpose, step by step.
void ladder(lesson::Report& report, bool bench);

/// With --bench only: add with broadcast, rows by number, fill.
void combinations(lesson::Report& report);

}  // namespace sixdays::day03_views
