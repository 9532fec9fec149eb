#include "common/testing/touches.hpp"

#include "common/testing/far_end.hpp"

namespace sixdays::testing {
namespace {

std::string number(std::int64_t n) {
    std::string text = std::to_string(n);
    for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
    return text;
}

}  // namespace

Comparison touches(const gpu::Touched& touched, std::int64_t requests, std::int64_t sectors) {
    const std::string moved = number(touched.sectors) + " sectors of 32 bytes",
                      suffice = number(sectors);
    if (touched.sectors > sectors) {
        return {false, "The values are right, but memory moved " + moved + " where " + suffice +
                           " suffice. The lanes of a warp access elements that are not adjacent in "
                           "memory, or some more than once: threadIdx.x must run along the "
                           "dimension whose elements are adjacent in memory."};
    }
    if (touched.sectors < sectors) {
        return {false, "Memory moved " + moved + ", but the elements to read and write take " +
                           suffice + ": some of it was never accessed."};
    }
    if (touched.passes > touched.fewest_passes) {
        return {false, "The values are right, but shared memory took " + number(touched.passes) +
                           " wavefronts where " + number(touched.fewest_passes) +
                           " suffice. A warp accesses several words of one bank, as in a column of "
                           "a tile: make the tile's rows one word longer."};
    }
    if (touched.requests > requests) {
        return {false, "The values are right, but the warps made " + number(touched.requests) +
                           " requests to memory where " + number(requests) +
                           " suffice. Some have few active lanes, or something is loaded twice: "
                           "make the block size a multiple of 32 threads, and let neighbouring "
                           "threads process neighbouring elements."};
    }
    return {true, moved};
}

std::string needs_64_bits(std::int64_t elements) {
    return "This tensor has " + number(elements) +
           " elements. An offset or a thread's index that is computed or kept in 32 bits (int, "
           "unsigned) wraps around before the last of them: make it std::int64_t, and convert one "
           "factor before multiplying blockIdx.x * blockDim.x.";
}

namespace {
struct Constants {
    float values[1024];
    constexpr Constants() : values() {
        for (int i = 0; i < 1024; ++i) values[i] = static_cast<float>(i) + 0.5f;
    }
};
constexpr Constants kLast;
}  // namespace

const float* far_constants(std::int64_t size) {
    return reinterpret_cast<const float*>(reinterpret_cast<std::uintptr_t>(kLast.values + 1024) -
                                          static_cast<std::uintptr_t>(size) * sizeof(float));
}

}  // namespace sixdays::testing
