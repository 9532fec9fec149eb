/// @file
/// Helpers for the tests of this day. Tags: [small] runs everywhere, [full] not under sanitizers,
/// [huge] on a GPU only.
#pragma once

#include <cstdint>

#include "common/gpu/device.hpp"
#include "common/gpu/graph.hpp"
#include "common/gpu/trace.hpp"
#include "common/testing/testing.hpp"

namespace sixdays::day02_strides {

inline constexpr std::int64_t kTwo31 = std::int64_t{1} << 31;

/// A *_cuda function only launches, and on the given stream: captured in a graph, nothing happens
/// before the graph is launched. The emulator, which has no graphs, runs it at once.
template <class Launch>
void check_only_launches(const Tensor<float>& want, const Launch& launch) {
    testing::DeviceOut<float> got(want.shape());
    if (gpu::is_emulated()) {
        launch(got.view(), gpu::Stream{});
    } else {
        gpu::Graph graph([&](gpu::Stream stream) { launch(got.view(), stream); });
        CHECK(got.untouched());
        graph.launch();
    }
    CHECK(got.matches(want));
}

/// Compares the memory accesses of a launch with a hand count. A GPU does not count them.
template <class Launch>
void check_touched(std::int64_t requests, std::int64_t sectors, const Launch& launch) {
    const auto touched = gpu::touched(launch);
    CHECK(touched.has_value() == gpu::is_emulated());
    if (!touched) return;
    CHECK(touched->requests == requests);
    CHECK(touched->accesses == 32 * requests);
    CHECK(touched->sectors == sectors);
}

}  // namespace sixdays::day02_strides
