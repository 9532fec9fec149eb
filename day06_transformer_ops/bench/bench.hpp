/// @file
/// The timed operations, and how a version that sums in another order than the CPU reference
/// is compared with it.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/gpu/buffer.hpp"
#include "common/lesson/arena.hpp"
#include "common/lesson/lesson.hpp"
#include "common/tensor/half.hpp"
#include "common/tensor/sentence.hpp"

namespace sixdays::day06_transformer_ops {

/// Numbers from -6 to 6.5 in scrambled order.
template <class T>
[[nodiscard]] Tensor<T> noise(const Shape& shape) {
    return lesson::filled<T>(
        shape, [](std::int64_t i) { return T(static_cast<float>((i * 37 + 11) % 101) / 8 - 6); });
}

/// An operation from one tensor to one of the same shape: CPU reference and CUDA version.
template <class T>
struct Op {
    std::string name, version;
    std::function<void(View<const T> in, View<T> out)> loop, port;
    double far = 1e-5;   // largest error, relative to the reference's largest element
    double streams = 2;  // tensors that must be read or written
};

/// The largest difference between two tensors, relative to the largest element; NaN if either
/// contains a NaN.
template <class T>
[[nodiscard]] double distance(const Tensor<T>& a, const Tensor<T>& b) {
    double most = 0, largest = 1e-30;
    for (std::int64_t i = 0; i < a.size(); ++i) {
        const auto x = static_cast<double>(static_cast<float>(a.data()[i]));
        const double d = std::fabs(x - static_cast<double>(static_cast<float>(b.data()[i])));
        if (std::isnan(d) || d > most) most = d;  // a NaN stays: nothing is larger
        if (std::fabs(x) > largest) largest = std::fabs(x);
    }
    return most / largest;
}

template <class T>
[[nodiscard]] lesson::Version version_of(const Op<T>& op, const Shape& large) {
    lesson::Version v;
    v.op = op.name;
    v.version = op.version;
    v.dtype = std::is_same_v<T, float> ? "float32" : "bfloat16";
    v.shape = to_string(large);
    v.how = "as the loop, but for rounding";
    const double bytes = static_cast<double>(size(large)) * sizeof(T);
    v.work = {(op.streams - 1) * bytes, bytes, 0};
    return v;
}

/// Part `at` of a tensor in device memory that consists of consecutive parts of shape `one`.
template <class T>
[[nodiscard]] Tensor<T> part_of(const T* device, const Shape& one, std::int64_t at) {
    Tensor<T> part(one);
    gpu::detail::copy_to_host(part.data(), device + at * part.size(),
                              static_cast<std::size_t>(part.size()) * sizeof(T));
    return part;
}

/// A repeatable result may still be wrong: the first, the middle and the last index of dimension 0
/// are compared with the CPU reference. Sums of n numbers may be off by n 2^-24 more than op.far.
/// @throws std::runtime_error  a larger error; --bench ends with this message
template <class T>
void hold_against_loop(const Op<T>& op, const Shape& shape, const T* in, const T* out) {
    Shape one = shape;
    one[0] = 1;
    const double far = op.far + static_cast<double>(shape[shape.rank - 1]) * 0x1p-24;
    for (const std::int64_t at : {std::int64_t{0}, shape[0] / 2, shape[0] - 1}) {
        Tensor<T> want(one);
        op.loop(part_of(in, one, at).view(), want.view());
        const double off = distance(want, part_of(static_cast<const T*>(out), one, at));
        if (off <= far) continue;
        throw std::runtime_error(
            sentence(op.name, ", ", op.version, ", shape ", shape, ": index ", at, " of dim 0 is ",
                     off, " of its largest element away from the loop; ", far, " is allowed"));
    }
}

/// Compares the CUDA version with the CPU reference on a small tensor, up to op.far. It must then
/// give the same bits again, there and on a large tensor, where it is timed; there
/// hold_against_loop() checks the first result.
template <class T>
void port(lesson::Report& report, const Op<T>& op, const Shape& small, const Shape& large) {
    const Tensor<T> x = noise<T>(small);
    Tensor<T> want(small);
    op.loop(x.view(), want.view());
    const gpu::Buffer<T> in(x);
    gpu::Buffer<T> first(x.size()), again(x.size());
    op.port(in.view(small), first.view(small));
    Tensor<T> got(small);
    const std::vector<T> host = first.download();
    std::memcpy(static_cast<void*>(got.data()), host.data(), host.size() * sizeof(T));
    lesson::Version v = version_of(op, large);
    const double far = distance(want, got);
    if (!(far <= op.far)) {
        report.check(false, op.name + ", " + op.version + ": " + std::to_string(far) +
                                " away from the loop");
        return;
    }
    const auto bytes = static_cast<std::int64_t>(host.size() * sizeof(T));
    v.check = {[&](int) { op.port(in.view(small), again.view(small)); },
               {{again.data(), first.data(), bytes}}};
    v.timed = [op, large] {
        const auto all =
            static_cast<std::int64_t>(size(large) * static_cast<std::int64_t>(sizeof(T)));
        const auto arena = std::make_shared<lesson::Arena>(std::vector{all}, all);
        const Tensor<T> part = noise<T>({1 << 20});
        arena->fill(0, part.data(), part.size() * static_cast<std::int64_t>(sizeof(T)));
        const auto run = [=](T* out, int set) {
            op.port({arena->template input<T>(set, 0), large}, {out, large});
        };
        run(arena->template want<T>(), 0);
        hold_against_loop(op, large, arena->template input<T>(0, 0), arena->template want<T>());
        return lesson::Trial{[=](int set) { run(arena->template output<T>(set), set); },
                             arena->outcomes()};
    };
    report.port(v);
}

/// Attention, and the cost of one token.
void bench_attention(lesson::Report& report);
/// Attention of 16-bit numbers, on tensor cores.
void bench_attention_bf16(lesson::Report& report);

/// --bench
void bench_all(lesson::Report& report);

/// --trace: the memory that the warps access.
void trace_all();

}  // namespace sixdays::day06_transformer_ops
