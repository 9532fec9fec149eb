/// @file
/// A product small enough to be checked against its loop in every bit; and the ladder's steps.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "common/gpu/buffer.hpp"
#include "common/lesson/version.hpp"
#include "common/tensor/tensor.hpp"
#include "common/tensor/transform.hpp"
#include "day05_matmul/bench/bench.hpp"

namespace sixdays::day05_matmul {

struct MatmulStep {
    int number;
    MatmulPath path;
    std::string name() const { return std::to_string(number) + " " + day05_matmul::name(path); }
};
[[nodiscard]] inline std::vector<MatmulStep> ladder() {
    std::vector<MatmulStep> steps;
    for (int i = 0; i <= static_cast<int>(MatmulPath::whole_tiles); ++i) {
        steps.push_back({i + 1, static_cast<MatmulPath>(i)});
    }
    return steps;
}

class SmallProduct {
public:
    explicit SmallProduct(const Sizes& s)
        : a_(noisy({s.M, s.K}, s.a_transposed, 1)),
          b_(noisy({s.K, s.N}, s.b_transposed, 99)),
          want_({s.M, s.N}),
          a_transposed_(s.a_transposed),
          b_transposed_(s.b_transposed),
          device_a_(a_),
          device_b_(b_),
          device_want_(0),
          out_(s.M * s.N) {
        out_.fill_bytes(0xff);
        matmul_cpu(view_of(a_.view(), a_transposed_), view_of(b_.view(), b_transposed_),
                   want_.view());
        device_want_ = gpu::Buffer<float>(want_);
    }

    /// Runs f(a, b, out) on the device; it must give the loop's bits.
    template <class F>
    [[nodiscard]] lesson::Trial trial(const F& f) {
        const View<const float> a =
            view_of(std::as_const(device_a_).view(a_.shape()), a_transposed_);
        const View<const float> b =
            view_of(std::as_const(device_b_).view(b_.shape()), b_transposed_);
        const View<float> out = out_.view(want_.shape());
        return {[=](int) { f(a, b, out); }, {{out_.data(), device_want_.data(), 4 * want_.size()}}};
    }

    /// Does the device's output hold the loop's bits?
    [[nodiscard]] bool same() const {
        const std::vector<float> got = out_.download();
        return std::memcmp(got.data(), want_.data(), got.size() * 4) == 0;
    }

    /// The path that a product of these sizes would take, perhaps with all the workspace it likes.
    [[nodiscard]] static std::string chosen_for(const Sizes& s, bool with_workspace = false) {
        auto* const memory = reinterpret_cast<float*>(std::uintptr_t{1} << 40);
        const auto layout = [](std::int64_t rows, std::int64_t columns, bool transposed) {
            return transposed ? transpose(row_major({columns, rows})) : row_major({rows, columns});
        };
        const View<const float> a(memory, layout(s.M, s.K, s.a_transposed));
        const View<const float> b(memory, layout(s.K, s.N, s.b_transposed));
        const View<float> out(memory, row_major({s.M, s.N}));
        const gpu::Workspace workspace(memory,
                                       with_workspace ? matmul_workspace_bytes(a, b, out) : 0);
        return name(choose_matmul(a, b, {}, out, workspace));
    }

private:
    static Tensor<float> noisy(Shape shape, bool transposed, std::uint64_t seed) {
        if (transposed) std::swap(shape[0], shape[1]);
        Tensor<float> x(shape);
        for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = noise(seed, i);
        return x;
    }
    template <class T>
    static View<T> view_of(View<T> v, bool transposed) {
        return transposed ? transpose(v) : v;
    }

    Tensor<float> a_, b_, want_;
    bool a_transposed_, b_transposed_;
    gpu::Buffer<float> device_a_, device_b_, device_want_, out_;
};

}  // namespace sixdays::day05_matmul
