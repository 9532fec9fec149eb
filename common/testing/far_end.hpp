/// @file
/// Is every offset of a port 64 bits wide? A tensor that asks for it, without the memory it takes:
///
///     FarEnd<float> out(kBeyond32Bits, poison);         // only the last elements are there
///     INFO(needs_64_bits(kBeyond32Bits));
///     if (gpu::run_last_block(kBeyond32Bits, [&] { op_cuda(in, {out.data(), shape}); })) {
///         REQUIRE(equal(out.last(32), want));
///     }
///
/// For the emulator alone: on a GPU the memory in front may belong to somebody else.
#pragma once

#include "common/gpu/buffer.hpp"
#include "common/testing/compare.hpp"

namespace sixdays::testing {

/// No 32-bit number counts so far, signed or not.
inline constexpr std::int64_t kBeyond32Bits = (std::int64_t{1} << 32) + 1024;

/// The end of a contiguous tensor of `size` elements. The memory before it belongs to nobody, so an
/// index that wrapped around is an access outside of all allocations.
template <class T>
class FarEnd {
public:
    /// @param last  what the last elements hold, rank 1
    FarEnd(std::int64_t size, const Tensor<T>& last) : before_(size - last.size()), end_(last) {}

    /// Where element 0 would lie.
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

/// What to think of when the last of so many elements goes wrong.
std::string needs_64_bits(std::int64_t elements);

}  // namespace sixdays::testing
