/// @file
/// A contiguous line, cut into float4s at multiples of 16 bytes. A line may begin anywhere, so its
/// first and its last float4 may reach beyond the line (the scalar head and tail):
///
///     address % 16     8  12   0   4   8  12   0   4
///     element          0   1 | 2   3   4   5 | 6   7       past = 2 elements, 3 float4s
///     float4 number    0     | 1             | 2
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace sixdays::day04_argmax {

struct VectorLine {
    const float* line;
    std::uint32_t length;
    std::uint32_t past;     // elements between the 16-byte boundary before the line and its start
    std::uint32_t vectors;  // float4s that contain at least one element of the line
    std::uint32_t begin, end;  // those that are entirely in the line

    __device__ VectorLine(const float* line_, std::uint32_t length_)
        : line(line_),
          length(length_),
          past(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(line_) / 4 % 4)),
          vectors((length_ + past + 3) / 4),
          begin(past > 0 ? 1 : 0),
          end((length_ + past) / 4) {}

    /// A float4 that is entirely in the line.
    __device__ float4 whole(std::uint32_t number) const {
        return reinterpret_cast<const float4*>(line - past)[number];
    }
    /// Any float4; elements outside the line are `neutral`.
    __device__ float4 part(std::uint32_t number, float neutral) const {
        const std::uint32_t i = 4 * number - past;  // below 0 it wraps around, past length
        float4 x = make_float4(neutral, neutral, neutral, neutral);
        if (i < length) x.x = line[i];
        if (i + 1 < length) x.y = line[i + 1];
        if (i + 2 < length) x.z = line[i + 2];
        if (i + 3 < length) x.w = line[i + 3];
        return x;
    }

    /// The first element of float4 best.at that equals best.value. Its index
    /// was not kept; look it up once.
    template <class BEST>
    __device__ std::uint32_t index_of(const BEST& best) const {
        std::uint32_t index = 0;
        for (int e = 3; e >= 0; --e) {
            const std::uint32_t i = 4 * best.at - past + e;
            const float x = i < length ? line[i] : 0;
            const bool found = x == best.value || (x != x && best.value != best.value);
            if (i < length && found) index = i;
        }
        return index;
    }
};

/// Thread t of THREADS takes its part of the float4s [begin, end), all of them
/// entirely in the line. EACH loads are in flight before the first is needed.
/// It keeps the best value and the number of its float4, not the index of an
/// element.
template <class OP, int THREADS, int EACH>
__device__ void take_whole(typename OP::Partial& mine, const VectorLine& line, std::uint32_t begin,
                           std::uint32_t end, std::uint32_t t) {
    for (std::uint32_t q = begin + t; q < end; q += THREADS * EACH) {
        float4 x[EACH];
        for (int j = 0; j < EACH; ++j) {
            if (q + j * THREADS < end) x[j] = line.whole(q + j * THREADS);
        }
        for (int j = 0; j < EACH; ++j) {
            if (q + j * THREADS < end) OP::take(mine, x[j], q + j * THREADS);
        }
    }
}

/// The partial result of thread t of THREADS over float4s [first, last) of the
/// line. Step 5 passes all of them, step 8 the part of one block.
template <class OP, int THREADS, int EACH>
__device__ typename OP::Partial take_vectors(const VectorLine& line, std::uint32_t first,
                                             std::uint32_t last, std::uint32_t t) {
    auto mine = OP::none();
    auto edge = OP::none();  // from partial float4s at the ends
    if (t == 0 && first < line.begin) {
        OP::take(edge, line.part(0, OP::neutral()), 0);
    }
    // begin > end: the line is inside one float4, and thread 0 has taken it.
    const bool has_end = line.begin <= line.end && first <= line.end;
    if (t == 1 && has_end && line.end < last) {
        OP::take(edge, line.part(line.end, OP::neutral()), line.end);
    }
    take_whole<OP, THREADS, EACH>(mine, line, max(first, line.begin), min(last, line.end), t);
    return OP::combine(mine, edge);
}

}  // namespace sixdays::day04_argmax
