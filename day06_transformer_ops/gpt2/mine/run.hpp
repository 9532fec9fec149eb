/// @file
/// One launch of an exercise's kernel on numbers in host memory; its output is compared with the
/// exercise's CPU reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/tensor/tensor.hpp"
#include "day03_views/copy.hpp"
#include "day06_transformer_ops/gpt2/generate.hpp"

namespace sixdays::gpt2 {

/// Copies host numbers to the device, contiguously.
inline gpu::Buffer<float> sent(View<const float> host) {
    Tensor<float> packed(host.shape());
    day03_views::copy_cpu(host, packed.view());
    return gpu::Buffer<float>(packed);
}

/// @param what  for a learner who has changed a kernel since it passed
[[noreturn]] inline void not_right(const std::string& what) {
    throw std::runtime_error(
        what + "\nOne of your kernels is no longer right: common/learn check says which.");
}

/// Returns what `launch` writes to device memory of out's shape. Exercises do not check their
/// launch for errors, so it is checked here.
template <class T, class Launch>
void run(const std::string& exercise, View<T> out, const Launch& launch) {
    gpu::Buffer<T> device(out.size());
    device.fill_bytes(0xFF);
    try {
        launch(device.view(out.shape()));
        gpu::synchronize();
        gpu::check_pending();
    } catch (const std::exception& error) {
        not_right(exercise + ": " + error.what());
    }
    std::vector<T> made = device.download();
    day03_views::copy_cpu(View<T>(made.data(), out.shape()), out);
}

/// The same, compared with the exercise's CPU reference: otherwise a wrong kernel would only
/// produce wrong text.
template <class Launch, class Loop>
void run(const std::string& exercise, View<float> out, const Launch& launch, const Loop& loop) {
    run(exercise, out, launch);
    Tensor<float> made(out.shape()), right(out.shape());
    day03_views::copy_cpu(View<const float>(out), made.view());
    loop(right.view());
    double largest = 0;
    for (std::int64_t i = 0; i < right.size(); ++i) {
        largest = std::max(largest, std::abs(double{right.data()[i]}));
    }
    for (std::int64_t i = 0; i < right.size(); ++i) {
        const double got = made.data()[i], want = right.data()[i];
        if (!(std::abs(got - want) <= LayerDifference::kBound * largest)) {
            not_right(exercise + ": number " + std::to_string(i) + " of " +
                      std::to_string(right.size()) + " is " + std::to_string(got) +
                      "; the loop's is " + std::to_string(want));
        }
    }
}

}  // namespace sixdays::gpt2
