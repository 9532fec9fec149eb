/// @file
/// The engine: the calls of a backend that form a pass, and the state of a growing text. The same
/// code for every device.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "common/tensor/tensor.hpp"
#include "day06_transformer_ops/gpt2/backend/backend.hpp"

namespace sixdays::gpt2 {

/// The timed parts of a pass, in order.
enum class Part {
    embed,            // token row; GPT-2: + position row
    query_key_value,  // norm, products
    attend,           // each token attends to those before it
    add_attention,    // a product, added to the stream
    widen,            // norm, products, activation
    add_mlp,          // a product, added to the stream
    head,             // norm, and a product of V columns
    choose,           // the next token
};
inline constexpr int kParts = 8;  // of a pass
[[nodiscard]] const char* name(Part part);

/// Seconds spent in each part.
using PartTimes = std::array<double, kParts>;

/// The order of work of a model over one backend, the same for every architecture: it checks the
/// arguments, and calls what a pass consists of.
class Engine {
public:
    /// @param capacity  the longest text in tokens, as passed to the backend
    /// @throws std::invalid_argument  capacity not in [1, sizes.context]
    Engine(const Sizes& sizes, Backend& backend, std::int64_t capacity);

    std::int64_t length() const noexcept { return length_; }  // tokens processed so far
    /// The longest text, in tokens.
    std::int64_t capacity() const noexcept { return capacity_; }
    /// The device that it runs on.
    Backend& backend() noexcept { return backend_; }

    /// Processes tokens after the text so far, and chooses the next one.
    /// @param ids  (T), T at least 1, in host memory
    /// @throws std::invalid_argument  an invalid id, a text longer than the capacity; nothing has
    /// changed then
    void read(View<const std::int64_t> ids);

    /// Processes the chosen token, and chooses the next. @throws std::invalid_argument  the context
    /// is full
    void next();

    /// The token that was chosen last, for position length().
    [[nodiscard]] std::int64_t chosen() { return backend_.token(length_); }

    /// Processes tokens and passes on the logits after each of them, some rows (.., V) at a time,
    /// the first of which belongs to ids(first). Chooses nothing.
    void score(View<const std::int64_t> ids,
               const std::function<void(std::int64_t first, View<const float> logits)>& see);

    /// Starts a new text.
    void forget() noexcept { length_ = 0; }

    /// Sets a function to call in each pass after the embedding, with 0, and after each block, with
    /// 1, 2, ...: there backend().read_stream() returns its output. Empty: no calls.
    void watch(std::function<void(std::int64_t)> look) { look_ = std::move(look); }

    /// Times every part from now on, and waits for each: slower, because launches are
    /// no longer asynchronous. @param times  accumulates the times; null: stop timing
    void measure(PartTimes* times) noexcept { times_ = times; }

private:
    void begin(View<const std::int64_t> ids);
    void check_room(std::int64_t count) const;
    void blocks();
    void last_and_choose(std::int64_t T);
    void timed(Part part, const std::function<void()>& call);

    const Sizes sizes_;
    Backend& backend_;
    std::int64_t capacity_, length_ = 0;
    std::function<void(std::int64_t)> look_;
    PartTimes* times_ = nullptr;
};

}  // namespace sixdays::gpt2
