/// @file
/// Argument checks with one bad operand at a time, and the expected message.
#pragma once

#include <functional>

#include "day06_transformer_ops/tests/helpers.hpp"

namespace sixdays::day06_transformer_ops {

using Read = View<const float>;
using Written = View<float>;
using Ids = View<const std::int64_t>;

/// Separate memory for one operand. Nothing is read or written, since every call is rejected.
struct Room {
    Tensor<float> numbers{{64}};
    Tensor<std::int64_t> whole{{64}};
    Written of(const Shape& shape) { return {numbers.data(), shape}; }
    Ids ids(const Shape& shape) { return {whole.data(), shape}; }
};

/// The same memory in another shape.
template <class T>
void reshaped(View<T>& v, const Shape& shape) {
    v = {v.data, shape};
}

/// A view whose elements are all the first one.
template <class T>
View<T> collapsed(const View<T>& v) {
    View<T> one = v;
    for (int d = 0; d < v.rank(); ++d) one.layout.strides[d] = 0;
    return one;
}

/// A change of operands, and words of the expected message.
template <class Operands>
struct Change {
    std::function<void(Operands&)> change;
    const char* words;
};

/// CPU reference and CUDA version give the same message, which begins with the operation's name.
template <class Operands, class Loop, class Port>
void each_alone(const Operands& right, const Loop& loop, const Port& port,
                const std::vector<Change<Operands>>& rows, const std::string& op = "") {
    for (const Change<Operands>& row : rows) {
        CAPTURE(row.words);
        Operands o = right;
        row.change(o);
        CHECK(testing::both_reject([&] { loop(o); }, [&] { port(o); }, row.words));
        CHECK(testing::rejection([&] { loop(o); }).starts_with(op));
    }
}

}  // namespace sixdays::day06_transformer_ops
