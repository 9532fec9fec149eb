/// @file
/// The operations of the steps. An operation defines what a thread keeps for the elements seen so
/// far (Partial), how to add an element, how to combine two partial results, and what to write.
///
/// A line has at least one element unless it is a sum or a product.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "day04_argmax/joins.hpp"

namespace sixdays::day04_argmax {

// [best]
/// The best element so far, and where it is: its index in the line.
struct Best {
    float value;
    std::uint32_t at;
};
// [best]

/// argmax, argmin, max, min.
template <class ORDER>
struct Pick {
    using Partial = Best;
    std::int64_t* index;  // exactly one of the two is set; the other is null
    float* value;

    /// The result before any element. Every line has an index 0: where no element beats minus
    /// infinity, all are minus infinity, and index 0 is the answer.
    static __device__ Best none() { return {ORDER::kStart, 0}; }
    /// Replaces elements outside the line.
    static __device__ float neutral() { return ORDER::kStart; }

    /// A later element or float4: it must be better, equal is not enough.
    static __device__ void take(Best& best, float x, std::uint32_t at) {
        if (ORDER::beats(x, best.value)) best = {x, at};
    }
    static __device__ void take(Best& best, float4 x, std::uint32_t at) {
        take(best, ORDER::of(ORDER::of(x.x, x.y), ORDER::of(x.z, x.w)), at);
    }

    /// Combines two candidates from anywhere in the line: the better one, else
    /// the earlier one.
    static __device__ Best combine(Best a, Best b) {
        if (ORDER::beats(b.value, a.value)) return b;
        return !ORDER::beats(a.value, b.value) && b.at < a.at ? b : a;
    }

    __device__ void write(std::int64_t to, Best best) const {
        if (index != nullptr) {
            index[to] = best.at;
        } else {
            value[to] = best.value;
        }
    }
    /// The same where `at` is the number of a float4 of the line.
    template <class VectorLine>
    __device__ void write(std::int64_t to, Best best, const VectorLine& line) const {
        if (index != nullptr) best.at = line.index_of(best);
        write(to, best);
    }

    /// The operation with its outputs shifted by `elements`.
    Pick moved(std::int64_t elements) const {
        return {index == nullptr ? nullptr : index + elements,
                value == nullptr ? nullptr : value + elements};
    }
};

/// sum, mean, product.
template <class HOW>
struct Fold {
    using Partial = float;
    float* out;
    float divisor;  // number of elements for a mean, else 1

    static __device__ float none() { return HOW::kStart; }
    static __device__ float neutral() { return HOW::kStart; }
    static __device__ void take(float& mine, float x, std::uint32_t) { mine = HOW::of(mine, x); }
    static __device__ void take(float& mine, float4 x, std::uint32_t) {
        mine = HOW::of(mine, HOW::of(HOW::of(x.x, x.y), HOW::of(x.z, x.w)));
    }
    static __device__ float combine(float a, float b) { return HOW::of(a, b); }
    __device__ void write(std::int64_t to, float mine) const { out[to] = mine / divisor; }
    template <class VectorLine>
    __device__ void write(std::int64_t to, float mine, const VectorLine&) const {
        write(to, mine);
    }
    Fold moved(std::int64_t elements) const { return {out + elements, divisor}; }
};

}  // namespace sixdays::day04_argmax
