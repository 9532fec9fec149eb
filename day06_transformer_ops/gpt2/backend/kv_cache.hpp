/// @file
/// The KV cache: the key and the value of every position, head and layer, so a new token costs
/// one row of attention instead of recomputing all rows.
///
/// The memory has room for `capacity` positions, and `length` of them are used: the stride from
/// head to head is capacity * dim elements, not length * dim. Views keep that stride; pointer
/// arithmetic by hand easily gets it wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "common/tensor/view.hpp"

namespace sixdays::gpt2 {

/// Keys and values of some positions of one layer, (head, position, dim) each.
struct KvSlots {
    View<float> keys, values;  // one of each per position
};

/// Bytes of both halves of a cache: 2 * 4 * layers * heads * positions * dim.
/// @throws std::invalid_argument  a negative extent, or an overflow of 64 bits
[[nodiscard]] std::int64_t kv_cache_bytes(std::int64_t layers, std::int64_t heads,
                                          std::int64_t positions, std::int64_t dim);

/// Bookkeeping over memory that it does not own, on the CPU or on the GPU: it returns views and
/// accesses no element. No cursor can be advanced too early or too often: each layer
/// counts its stored positions, and a position is valid once every layer has it.
class KvCache {
public:
    /// @param keys, values  (layer, head, capacity, dim), injective, of the same shape, not
    ///        overlapping
    /// @throws std::invalid_argument  anything else
    KvCache(View<float> keys, View<float> values);

    /// Layers whose keys and values it holds.
    std::int64_t layers() const noexcept { return keys_.extent(0); }
    /// Positions that it has room for.
    std::int64_t capacity() const noexcept { return keys_.extent(2); }

    /// Positions that every layer holds: 0 .. length() - 1.
    std::int64_t length() const noexcept;

    /// Rejects invalid positions, before anything is computed for them.
    /// @throws std::invalid_argument  a gap after length(), or an end beyond the capacity
    void check_room(std::int64_t position, std::int64_t count) const;

    /// Views to which a layer's keys and values of positions `position` .. `position + count - 1`
    /// are to be written. The layer then has all positions up to these; later ones are dropped,
    /// because they belong to another text.
    /// @throws std::invalid_argument  no such layer, a gap, or an end beyond the capacity
    [[nodiscard]] KvSlots append(std::int64_t layer, std::int64_t position, std::int64_t count);

    /// All positions of a layer, from 0 on. @throws std::invalid_argument  no such layer
    [[nodiscard]] KvSlots held(std::int64_t layer) const;

    /// Drops every position from `length` on. @throws std::invalid_argument  length() is smaller
    void cut(std::int64_t length);

private:
    KvSlots slots(std::int64_t layer, std::int64_t begin, std::int64_t end) const;
    void check_layer(std::int64_t layer) const;

    View<float> keys_, values_;
    std::vector<std::int64_t> held_;  // positions, by layer
};

}  // namespace sixdays::gpt2
