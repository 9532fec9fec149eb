/// @file
/// The facts of reports, for tests. findings.txt holds their sentences.
#pragma once

#include <optional>

#include "common/emulator/machine/facts.hpp"
#include "common/emulator/report.hpp"
#include "common/testing/catch.hpp"

namespace sixdays::emulator::tests {

/// The test fails if the report states another fact, or if there is none.
template <class F>
F fact_of(const std::optional<Report>& report) {
    REQUIRE((report && report->fact));
    INFO(report->text);
    const F* const fact = std::get_if<F>(report->fact.get());
    REQUIRE(fact != nullptr);
    return *fact;
}

}  // namespace sixdays::emulator::tests
