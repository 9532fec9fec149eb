/// @file
/// Everything that a day's tests need: Catch2, inputs, outputs, comparisons, rejections.
#pragma once

#include "common/testing/catch.hpp"
#include "common/testing/compare.hpp"
#include "common/testing/device.hpp"
#include "common/testing/far_end.hpp"
#include "common/testing/host.hpp"
#include "common/testing/inputs.hpp"
#include "common/testing/likely.hpp"
#include "common/testing/rejection.hpp"
#include "common/testing/touches.hpp"
