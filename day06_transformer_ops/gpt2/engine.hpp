/// @file
/// The engine: which calls of a backend make a pass, and what a text is while it grows. The same
/// code for every device.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "common/tensor/tensor.hpp"
#include "day06_transformer_ops/gpt2/backend/backend.hpp"

namespace sixdays::gpt2 {

/// The calls of a pass that take time, in their order.
enum class Part {
    embed,
    query_key_value,
    attend,
    add_attention,
    widen,
    add_mlp,
    head,
    choose,
};
inline constexpr int kParts = 8;
[[nodiscard]] const char* name(Part part);

/// Seconds that were spent in each part.
using PartTimes = std::array<double, kParts>;

class Engine {
public:
    /// @param capacity  tokens that a text may have: what the backend was made with
    /// @throws std::invalid_argument  not 1 .. config.context
    Engine(const Config& config, Backend& backend, std::int64_t capacity);

    std::int64_t length() const noexcept { return length_; }  // tokens of the text that were read
    std::int64_t capacity() const noexcept { return capacity_; }
    Backend& backend() noexcept { return backend_; }

    /// Reads tokens behind the text so far, and chooses the next one.
    /// @param ids  (T), T at least 1, in host memory
    /// @throws std::invalid_argument  an id that is none, a text longer than the capacity; nothing
    /// has changed then
    void read(View<const std::int64_t> ids);

    /// Reads the token that was chosen, and chooses the next. @throws std::invalid_argument  no
    /// room
    void next();

    /// The token that was chosen last: what comes at position length().
    [[nodiscard]] std::int64_t chosen() { return backend_.token(length_); }

    /// Reads tokens and shows the logits behind each of them, some rows (.., V) at a time, the
    /// first of which belongs to ids(first). Chooses nothing.
    void score(View<const std::int64_t> ids,
               const std::function<void(std::int64_t first, View<const float> logits)>& see);

    /// The next text begins.
    void forget() noexcept { length_ = 0; }

    /// Called in each pass after the embedding, with 0, and after each block, with 1, 2, ...: then
    /// backend().read_stream() shows what leaves it. No function: nobody looks.
    void watch(std::function<void(std::int64_t)> look) { look_ = std::move(look); }

    /// Measures every part from now on, and waits for each: a little slower than without, and a
    /// device that works ahead no longer does. @param times  what is added to; null: no more
    void measure(PartTimes* times) noexcept { times_ = times; }

private:
    void begin(View<const std::int64_t> ids);
    void check_room(std::int64_t count) const;
    void blocks();
    void last_and_choose(std::int64_t T);
    void timed(Part part, const std::function<void()>& call);

    const Config config_;
    Backend& backend_;
    std::int64_t capacity_, length_ = 0;
    std::function<void(std::int64_t)> look_;
    PartTimes* times_ = nullptr;
};

}  // namespace sixdays::gpt2
