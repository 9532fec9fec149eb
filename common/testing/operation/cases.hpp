/// @file
/// The tests of operation.hpp over a table of calls, for the cases of a room's tests/table.cpp.
#pragma once

#include "common/testing/catch.hpp"
#include "common/testing/operation/operation.hpp"

namespace sixdays::testing {

/// What is rejected: host code alone.
inline void check_rejections(const std::vector<Operation>& all) {
    for (const Operation& op : all) {
        CHECK(rejects_invalid_operands(op));
        CHECK(rejects_overlaps(op));
        CHECK(rejects_unknown_paths(op));
    }
}

/// What is computed, by the CPU reference and by every path, wherever the operands lie.
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

/// What is computed, row-major alone: for many shapes.
inline void check_values(const std::vector<Operation>& all) {
    for (const Operation& op : all) CHECK(computes_its_result(op));
}

}  // namespace sixdays::testing
