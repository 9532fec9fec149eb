/// @file
/// The tests in operation.hpp over a table of calls, for the cases in a room's tests/table.cpp.
#pragma once

#include "common/testing/catch.hpp"
#include "common/testing/operation/operation.hpp"

namespace sixdays::testing {

/// Rejections: host code only.
inline void check_rejections(const std::vector<Operation>& all) {
    for (const Operation& op : all) {
        CHECK(rejects_invalid_operands(op));
        CHECK(rejects_overlaps(op));
        CHECK(rejects_unknown_paths(op));
    }
}

/// Results, by the CPU reference and by every path, for every placement of the operands.
inline void check_results(const std::vector<Operation>& all) {
    CHECK(covers_every_path(all));
    for (const Operation& op : all) {
        CHECK(computes_its_result(op));
        CHECK(takes_or_rejects_placements(op));
        CHECK(takes_operands_placed_alike(op));
        CHECK(ignores_unused_strides(op));
        CHECK(spreads_nans_alike(op));
        CHECK(takes_less_memory(op));
        CHECK(takes_empty_outputs(op));
    }
}

/// Results for row-major operands only: for tables with many shapes.
inline void check_values(const std::vector<Operation>& all) {
    for (const Operation& op : all) CHECK(computes_its_result(op));
}

}  // namespace sixdays::testing
