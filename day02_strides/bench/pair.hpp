/// @file
/// A pair as the lesson runs it: the same input to loop and port, and their outputs compared.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "common/gpu/buffer.hpp"
#include "common/gpu/different.hpp"
#include "common/lesson/version.hpp"
#include "common/tensor/tensor.hpp"
#include "day02_strides/sweep.hpp"

namespace sixdays::day02_strides {

/// Element i holds i.
inline Tensor<float> counted(std::int64_t n) {
    Tensor<float> x(Shape{n});
    ramp_cpu({x.data(), Shape{1, n}});
    return x;
}

/// Device memory: an input that was counted(), a poisoned output, and what the loop makes of it.
/// What lies between the output's elements must keep its poison.
class Pair {
public:
    using Loop = void (*)(View<const float>, View<float>);
    using Port = std::function<void(View<const float>, View<float>)>;

    Pair(Loop loop, const Layout& from, const Layout& to)
        : from_(from),
          to_(to),
          first_(-reach(from).lowest),
          in_(required_span(from)),
          out_(required_span(to)),
          want_(required_span(to)) {
        const Tensor<float> memory = counted(in_.size());
        Tensor<float> expected(Shape{out_.size()});
        std::memset(expected.data(), 0xff, 4 * static_cast<std::size_t>(expected.size()));
        loop({memory.data() + first_, from}, {expected.data(), to});
        in_.upload(memory.data(), memory.size());
        want_.upload(expected.data(), expected.size());
        out_.fill_bytes(0xff);
    }

    View<const float> in() const { return in_.view(from_, first_); }
    View<float> out() { return out_.view(to_); }

    /// Has the port, run since, written what the loop wrote, and nothing else?
    bool is_right() const { return gpu::count_different(out_, want_) == 0; }
    std::vector<float> written() const { return out_.download(); }
    lesson::Outcome outcome() { return {out_.data(), want_.data(), 4 * out_.size()}; }

private:
    Layout from_, to_;
    std::int64_t first_;  // where index (0, 0, ...) of `from` lies
    gpu::Buffer<float> in_, out_, want_;
};

}  // namespace sixdays::day02_strides
