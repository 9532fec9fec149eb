/// @file
/// The elementwise descriptors, for tests (common/testing/operation/operation.hpp).
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "common/gpu/tile.hpp"
#include "common/testing/inputs.hpp"
#include "common/testing/operation/operation.hpp"
#include "day01_flat_memory/elementwise.hpp"

namespace sixdays::day01_flat_memory {

enum class Elementwise { square, scale, saxpy, add, invert };
inline constexpr Elementwise kElementwise[] = {Elementwise::square, Elementwise::scale,
                                               Elementwise::saxpy, Elementwise::add,
                                               Elementwise::invert};

/// An output element. It is rounded to float once, so all paths must agree to the last bit.
inline double exact_elementwise(Elementwise what, float alpha, double x, double y) {
    const auto a = static_cast<float>(x), b = static_cast<float>(y);
    switch (what) {
        case Elementwise::square:
            return static_cast<double>(a * a);
        case Elementwise::scale:
            return static_cast<double>(alpha * a);
        case Elementwise::saxpy:
            return static_cast<double>(std::fma(alpha, a, b));
        case Elementwise::add:
            return static_cast<double>(a + b);
        case Elementwise::invert:
            return 255 - x;
    }
    return NAN;
}

/// The paths of elementwise_operation(), and the calls that each accepts.
inline void set_elementwise_paths(testing::Operation& op, bool empty) {
    using namespace testing;
    const auto contiguous = [](const Call& c) {
        bool all = true;
        for (const Call::Argument& x : c.arguments) all = all && is_contiguous(x.layout);
        return all;
    };
    const auto past_16 = [](const Call::Argument& x) {
        return reinterpret_cast<std::uintptr_t>(x.data) % 16;
    };
    const auto equally_past_16 = [=](const Call& c) {
        bool all = true;
        for (const Call::Argument& x : c.arguments)
            all = all && past_16(x) == past_16(c.arguments[0]);
        return all;
    };
    op.takes(ElementwisePath::one_element, op.name + "_kernel", contiguous);
    op.takes(ElementwisePath::grid_stride, "grid_stride_kernel", contiguous);
    op.takes(ElementwisePath::any_address, "any_address_kernel", contiguous);
    op.takes(ElementwisePath::vectorized, "vectorized_kernel",
             [=](const Call& c) { return contiguous(c) && equally_past_16(c); });
    op.takes(ElementwisePath::tile, op.name + "_tile",
             [=](const Call& c) { return contiguous(c) && (gpu::has_tile() || empty); });
    op.best = [=](const Call& c) {
        return static_cast<int>(equally_past_16(c) ? ElementwisePath::vectorized
                                                   : ElementwisePath::any_address);
    };
}

/// Operands: in, or the two inputs as the operation calls them; then out.
/// @param alpha  of scale and saxpy
inline testing::Operation elementwise_operation(Elementwise what, const Shape& shape,
                                                float alpha = 3) {
    using namespace testing;
    using Byte = std::uint8_t;
    static constexpr const char* kNames[] = {"square", "scale", "saxpy", "add", "invert"};
    testing::Operation op{kNames[static_cast<int>(what)], {}};
    const bool two = what == Elementwise::saxpy || what == Elementwise::add;
    if (what == Elementwise::invert) {
        op.operands = {reads<Byte>("in", shape).with(taken_from(distinct<Byte>(shape))),
                       writes<Byte>("out", shape)};
    } else {
        const char* first = what == Elementwise::add ? "a" : two ? "x" : "in";
        op.operands = {reads<float>(first, shape).with(taken_from(distinct<float>(shape)))};
        if (two) {
            op.operands.push_back(reads<float>(what == Elementwise::add ? "b" : "y", shape)
                                      .with(taken_from(distinct<float>(shape, 7))));
        }
        op.operands.push_back(writes<float>("out", shape));
    }
    const int out = two ? 2 : 1;
    for (int i = 0; i < out; ++i) {
        op.in_place.emplace_back(op.operands[static_cast<std::size_t>(i)].name, "out");
    }
    op.cpu = [=](const Call& c) {
        switch (what) {
            case Elementwise::square:
                return square_cpu(c.in<float>(0), c.out<float>(1));
            case Elementwise::scale:
                return scale_cpu(alpha, c.in<float>(0), c.out<float>(1));
            case Elementwise::saxpy:
                return saxpy_cpu(alpha, c.in<float>(0), c.in<float>(1), c.out<float>(2));
            case Elementwise::add:
                return add_cpu(c.in<float>(0), c.in<float>(1), c.out<float>(2));
            case Elementwise::invert:
                return invert_cpu(c.in<Byte>(0), c.out<Byte>(1));
        }
    };
    op.cuda = [=](const Call& c) {
        const auto how = c.how<ElementwisePath>();
        switch (what) {
            case Elementwise::square:
                return square_cuda(c.in<float>(0), c.out<float>(1), how);
            case Elementwise::scale:
                return scale_cuda(alpha, c.in<float>(0), c.out<float>(1), how);
            case Elementwise::saxpy:
                return saxpy_cuda(alpha, c.in<float>(0), c.in<float>(1), c.out<float>(2), how);
            case Elementwise::add:
                return add_cuda(c.in<float>(0), c.in<float>(1), c.out<float>(2), how);
            case Elementwise::invert:
                return invert_cuda(c.in<Byte>(0), c.out<Byte>(1), how);
        }
    };
    op.exact = [=](const Inputs& inputs, int) {
        std::vector<Expected> all = {Expected(shape)};
        for (std::int64_t k = 0; k < size(shape); ++k) {
            all[0].value.data()[k] = exact_elementwise(what, alpha, inputs[0]->data()[k],
                                                       two ? inputs[1]->data()[k] : 0);
        }
        return all;
    };
    set_elementwise_paths(op, size(shape) == 0);
    return op;
}

}  // namespace sixdays::day01_flat_memory
