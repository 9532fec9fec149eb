/// @file
/// A CPU reference and a kernel as the lesson runs them: both get the same input, and their outputs
/// are compared.
#pragma once

#include <functional>
#include <vector>

#include "common/lesson/both.hpp"

namespace sixdays::day02_strides {

/// Element i of the input's memory holds i; the CPU reference has run. The gaps between the
/// output's elements must keep their poison.
class Pair {
public:
    using Loop = void (*)(View<const float>, View<float>);
    using Port = std::function<void(View<const float>, View<float>)>;

    Pair(Loop loop, const Layout& from, const Layout& to)
        : in_(from, [](std::int64_t i) { return i; }), out_(to) {
        loop(in_.host(), out_.host());
    }

    View<const float> in() { return in_.device(); }
    View<float> out() { return out_.device(); }

    /// Whether the kernel has since written what the CPU reference wrote, and nothing else.
    bool is_right() const { return out_.same(); }
    std::vector<float> written() const { return out_.written(); }
    lesson::Outcome outcome() { return out_.outcome(); }

private:
    lesson::Both<float> in_, out_;
};

}  // namespace sixdays::day02_strides
