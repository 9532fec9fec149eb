/// @file
/// The tests of operation.hpp over a table of calls, for two cases of a room's tests/table.cpp.
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

/// What is computed, by the CPU reference and by every path.
inline void check_results(const std::vector<Operation>& all) {
    CHECK(covers_every_path(all));
    for (const Operation& op : all) {
        CHECK(takes_or_rejects_layouts(op));
        CHECK(ignores_unused_strides(op));
        CHECK(spreads_nans_alike(op));
        CHECK(takes_empty_outputs(op));
    }
}

}  // namespace sixdays::testing
