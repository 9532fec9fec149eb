/// @file
/// Are a port's accesses as few as they can be? With the reason, if not:
///
///     const auto touched = gpu::touched([&] { add_cuda(a, b, out); });
///     REQUIRE(touched.has_value() == gpu::is_emulated());
///     if (touched) REQUIRE(touches(*touched, 96, 384));  // the emulator tells; a GPU does not
#pragma once

#include "common/gpu/trace.hpp"
#include "common/testing/compare.hpp"

namespace sixdays::testing {

/// At most `requests` requests, exactly `sectors` sectors, and no two words of one bank at once.
Comparison touches(const gpu::Touched& touched, std::int64_t requests, std::int64_t sectors);

}  // namespace sixdays::testing
