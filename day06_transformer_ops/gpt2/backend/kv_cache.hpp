/// @file
/// What a model remembers of a text: the key and the value of every position, head and layer, so
/// that a new token costs one row of attention and not all rows again.
///
/// The memory is made for `capacity` positions, and `length` of them are used: along a head, the
/// rows of the next head lie capacity * dim elements further on, not length * dim. Views know that,
/// pointer arithmetic written by hand forgets it.
#pragma once

#include <cstdint>
#include <vector>

#include "common/tensor/view.hpp"

namespace sixdays::gpt2 {

/// Keys and values of some positions of one layer: (head, position, dim) both.
struct KvSlots {
    View<float> keys, values;
};

/// Bytes of both halves of a cache: 2 * 4 * layers * heads * positions * dim.
/// @throws std::invalid_argument  a negative extent, or more than 64 bits can count
[[nodiscard]] std::int64_t kv_cache_bytes(std::int64_t layers, std::int64_t heads,
                                          std::int64_t positions, std::int64_t dim);

/// Bookkeeping over memory that somebody else owns, on the CPU or on the GPU: it hands out views
/// and touches no element. There is no cursor that could be moved too early or too often: each
/// layer counts what it has stored, and a position counts once every layer has it.
class KvCache {
public:
    /// @param keys, values  (layer, head, capacity, dim), injective, of the same shape, each in
    ///        a stretch of memory of its own
    /// @throws std::invalid_argument  anything else
    KvCache(View<float> keys, View<float> values);

    std::int64_t layers() const noexcept { return keys_.extent(0); }
    std::int64_t capacity() const noexcept { return keys_.extent(2); }

    /// Positions that every layer holds: 0 .. length() - 1.
    std::int64_t length() const noexcept;

    /// Refuses positions that no layer could take, before anything is computed for them.
    /// @throws std::invalid_argument  a hole after length(), or an end beyond the capacity
    void check_room(std::int64_t position, std::int64_t count) const;

    /// Where a layer's keys and values of positions `position` .. `position + count - 1` are to be
    /// written. The layer then holds all before them and them; what it held behind them is gone,
    /// for it came from another text.
    /// @throws std::invalid_argument  no such layer, a hole, or an end beyond the capacity
    [[nodiscard]] KvSlots append(std::int64_t layer, std::int64_t position, std::int64_t count);

    /// All that a layer holds, from position 0 on. @throws std::invalid_argument  no such layer
    [[nodiscard]] KvSlots held(std::int64_t layer) const;

    /// Forgets every position from `length` on. @throws std::invalid_argument  not held
    void cut(std::int64_t length);

private:
    KvSlots slots(std::int64_t layer, std::int64_t begin, std::int64_t end) const;
    void check_layer(std::int64_t layer) const;

    View<float> keys_, values_;
    std::vector<std::int64_t> held_;  // positions, by layer
};

}  // namespace sixdays::gpt2
