#include "common/lesson/arena.hpp"

#include <algorithm>
#include <random>

#include "common/bench/measure.hpp"

namespace sixdays::lesson {
namespace {

// The start of each array, aligned to 256 bytes, and the end of the last one.
std::vector<std::int64_t> starts_of(const std::vector<std::int64_t>& bytes) {
    std::vector<std::int64_t> starts = {0};
    for (const std::int64_t b : bytes) starts.push_back(starts.back() + (b + 255) / 256 * 256);
    return starts;
}

// Fills `bytes` bytes from `first` on with copies of `part`, the last one truncated.
void repeat(gpu::Buffer<std::uint8_t>& to, std::int64_t first, std::int64_t bytes, const void* part,
            std::int64_t size) {
    for (std::int64_t done = 0; done < bytes; done += size) {
        to.upload(static_cast<const std::uint8_t*>(part), std::min(size, bytes - done),
                  first + done);
    }
}

}  // namespace

std::vector<std::uint8_t> noise(std::int64_t bytes) {
    std::vector<std::uint8_t> some(static_cast<std::size_t>(bytes));
    std::mt19937_64 random;  // its numbers are specified by the standard
    for (std::uint8_t& byte : some) byte = static_cast<std::uint8_t>(random() >> 56);
    return some;
}

Arena::Arena(const std::vector<std::int64_t>& inputs, std::int64_t output)
    : starts_(starts_of(inputs)),
      set_bytes_(starts_.back()),
      output_(output),
      sets_(bench::sets_past_cache(std::max<std::int64_t>(set_bytes_ + padded(output), 1))),
      parts_(inputs.size()),
      in_(sets_ * set_bytes_),
      out_(sets_ * padded(output)),
      want_(output) {}

void Arena::fill(int input, const void* part, std::int64_t bytes) {
    const auto* first = static_cast<const std::uint8_t*>(part);
    parts_[static_cast<std::size_t>(input)].assign(first, first + bytes);
    for (int set = 0; set < sets_; ++set) {
        repeat(in_, set * set_bytes_ + at(input), at(input + 1) - at(input), part, bytes);
    }
}

void Arena::fill_with_noise(int input) {
    const std::int64_t bytes = std::min(at(input + 1) - at(input), std::int64_t{1} << 24);
    fill(input, noise(bytes).data(), bytes);
}

void Arena::copy_value(int number, std::int64_t byte, void* to, std::size_t bytes) const {
    const std::vector<std::uint8_t>& part = parts_[static_cast<std::size_t>(number)];
    for (std::size_t b = 0; b < bytes; ++b) {
        static_cast<std::uint8_t*>(to)[b] =
            part[(static_cast<std::size_t>(byte) + b) % part.size()];
    }
}

void Arena::expect(const void* part, std::int64_t bytes) {
    repeat(want_, 0, output_, part, bytes);
}

std::vector<Outcome> Arena::outcomes() {
    std::vector<Outcome> all;
    for (int set = 0; set < sets_; ++set) {
        all.push_back({output<std::uint8_t>(set), want<std::uint8_t>(), output_});
    }
    return all;
}

}  // namespace sixdays::lesson
