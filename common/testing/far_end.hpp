/// @file
/// Does a kernel compute every offset in 64 bits? A tensor that needs it, without its memory:
///
///     FarEnd<float> out(kBeyond32Bits, poison);         // only the last elements exist
///     INFO(needs_64_bits(kBeyond32Bits));
///     if (gpu::run_last_block(kBeyond32Bits, [&] { op_cuda(in, {out.data(), shape}); })) {
///         REQUIRE(equal(out.last(32), want));
///     }
///
/// For the emulator only: on a GPU, the memory before them may belong to another allocation.
#pragma once

#include "common/gpu/buffer.hpp"
#include "common/testing/compare.hpp"

namespace sixdays::testing {

/// More elements than a 32-bit integer can count, signed or not.
inline constexpr std::int64_t kBeyond32Bits = (std::int64_t{1} << 32) + 1024;

/// The end of a contiguous tensor of `size` elements. The memory before it is not allocated, so an
/// index that wraps around is an out-of-bounds access.
template <class T>
class FarEnd {
public:
    /// @param last  the values of the last elements, rank 1
    FarEnd(std::int64_t size, const Tensor<T>& last) : before_(size - last.size()), end_(last) {}

    /// Where element 0 would be.
    T* data() noexcept {
        return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(end_.data()) -
                                    static_cast<std::uintptr_t>(before_) * sizeof(T));
    }

    /// The last n elements. @throws gpu::Error  a kernel failed
    Tensor<T> last(std::int64_t n) const {
        Tensor<T> out({n});
        const std::vector<T> got = end_.download(end_.size() - n, n);
        std::copy(got.begin(), got.end(), out.data());
        return out;
    }

private:
    std::int64_t before_;
    gpu::Buffer<T> end_;
};

/// The numbers 0.5, 1.5, ..., 1023.5 as the last of `size` elements, where element 0 would be: for
/// the input of a kernel whose output is a FarEnd. Device memory has no room for two such tensors
/// apart from each other. But a kernel may read constants of the host, and these are far from it.
const float* far_constants(std::int64_t size);

/// Advice if the last of this many elements is wrong.
std::string needs_64_bits(std::int64_t elements);

}  // namespace sixdays::testing
