/// @file
/// Catch2 3, or 2.13 where that is what the system has. Tests keep to what both offer: TEST_CASE,
/// SECTION, GENERATE, CHECK, REQUIRE, CHECK_THROWS_AS, CAPTURE and Catch::Matchers.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
