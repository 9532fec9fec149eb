/// @file
/// Device memory for the timed runs of one version.
#pragma once

#include <cstdint>
#include <vector>

#include "common/gpu/buffer.hpp"
#include "common/lesson/version.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"

namespace sixdays::lesson {

/// Pseudo-random bytes, the same every time.
[[nodiscard]] std::vector<std::uint8_t> noise(std::int64_t bytes);

/// Inputs and an output in enough sets to exceed the L2 cache: a run that cycles through them never
/// finds its input there. All sets hold the same data. Each array is aligned to 256 bytes. A
/// Trial's run keeps its arena alive by capturing the pointer:
///
///     const auto arena = std::make_shared<Arena>(std::vector{a_bytes, b_bytes}, out_bytes);
///     ... fill the inputs and the expected output ...
///     return Trial{[=](int set) { op(arena->input<float>(set, 0), ...); }, arena->outcomes()};
class Arena {
public:
    /// @param inputs  bytes of each input
    /// @param output  bytes of the output
    Arena(const std::vector<std::int64_t>& inputs, std::int64_t output);

    /// Fills input number `input` of every set with the same host bytes, repeated.
    void fill(int input, const void* part, std::int64_t bytes);
    /// Fills input number `input` of every set with noise(), repeated.
    void fill_with_noise(int input);
    /// Sets the expected output: these host bytes, repeated. Or let a kernel write to want().
    void expect(const void* part, std::int64_t bytes);

    /// Device address of input `number` in set `set`.
    template <class T>
    [[nodiscard]] const T* input(int set, int number) const {
        return reinterpret_cast<const T*>(in_.data() + set * set_bytes_ + at(number));
    }
    /// The elements of a part of an input, on the host, row-major.
    template <class T>
    [[nodiscard]] Tensor<T> gathered(int number, const Cut& part) const {
        Tensor<T> values(part.layout.shape);
        for (std::int64_t k = 0; k < values.size(); ++k) {
            const Index at = unravel(k, values.shape());
            copy_value(number, (part.first + offset(part.layout, at)) * std::int64_t{sizeof(T)},
                       values.data() + k, sizeof(T));
        }
        return values;
    }
    /// Device address of the output of set `set`.
    template <class T>
    [[nodiscard]] T* output(int set) {
        return reinterpret_cast<T*>(out_.data() + set * padded(output_));
    }
    /// Device address of the expected output, one for all sets.
    template <class T>
    [[nodiscard]] T* want() {
        return reinterpret_cast<T*>(want_.data());
    }
    /// The number of sets.
    [[nodiscard]] int sets() const noexcept { return sets_; }

    /// One per set: its whole output.
    [[nodiscard]] std::vector<Outcome> outcomes();

private:
    void copy_value(int number, std::int64_t byte, void* to, std::size_t bytes) const;
    static std::int64_t padded(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }
    std::int64_t at(int number) const { return starts_[static_cast<std::size_t>(number)]; }

    std::vector<std::int64_t> starts_;  // of each input in its set, and the end of the last
    std::int64_t set_bytes_, output_;
    int sets_;
    std::vector<std::vector<std::uint8_t>> parts_;  // of each input, the bytes that it repeats
    gpu::Buffer<std::uint8_t> in_, out_, want_;
};

}  // namespace sixdays::lesson
