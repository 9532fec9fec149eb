/// @file
/// Does a kernel make the fewest possible memory accesses? If not, says why:
///
///     const auto touched = gpu::touched([&] { add_cuda(a, b, out); });
///     REQUIRE(touched.has_value() == gpu::is_emulated());
///     if (touched) REQUIRE(touches(*touched, 96, 384));  // only the emulator counts accesses
#pragma once

#include "common/gpu/trace.hpp"
#include "common/testing/compare.hpp"

namespace sixdays::testing {

/// Whether the launches made at most `requests` requests, moved exactly `sectors` sectors, and had
/// no bank conflicts. A failure says why.
Comparison touches(const gpu::Touched& touched, std::int64_t requests, std::int64_t sectors);

}  // namespace sixdays::testing
