#include "day06_transformer_ops/gpt2/backend/kv_cache.hpp"

#include <algorithm>

#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr int kPosition = 1;  // dimension of (head, position, dim)

// Positions begin .. begin + count - 1, if `held` exist and `capacity` fit.
void check_positions(std::int64_t position, std::int64_t count, std::int64_t held,
                     std::int64_t capacity) {
    const std::string asked = "KV cache: " + std::to_string(count) + " positions from " +
                              std::to_string(position) + " on";
    if (position < 0 || count < 1) reject(asked, ": invalid range");
    if (position > held) {
        reject(asked, " would leave a gap: only ", held, " are held");
    }
    if (count > capacity - position) {
        reject(asked, ", but the context ends at ", capacity);
    }
}

}  // namespace

std::int64_t kv_cache_bytes(std::int64_t layers, std::int64_t heads, std::int64_t positions,
                            std::int64_t dim) {
    return size({2, sizeof(float), layers, heads, positions, dim});
}

KvCache::KvCache(View<float> keys, View<float> values) : keys_(keys), values_(values) {
    const char* const op = "KV cache";
    require_rank(op, "keys", keys, 4);
    require_same_shape(op, "keys", keys, "values", values);
    if (keys.size() == 0) reject("KV cache: shape ", keys.layout.shape, " is empty");
    require_injective(op, "keys", keys);
    require_injective(op, "values", values);
    require_memory(op, "keys", keys);
    require_memory(op, "values", values);
    if (overlap(keys, values)) reject("KV cache: keys and values overlap");
    held_.resize(static_cast<std::size_t>(keys.extent(0)), 0);
}

std::int64_t KvCache::length() const noexcept {
    return *std::min_element(held_.begin(), held_.end());
}

void KvCache::check_room(std::int64_t position, std::int64_t count) const {
    check_positions(position, count, length(), capacity());
}

KvSlots KvCache::append(std::int64_t layer, std::int64_t position, std::int64_t count) {
    check_layer(layer);
    std::int64_t& held = held_[static_cast<std::size_t>(layer)];
    check_positions(position, count, held, capacity());
    held = position + count;
    return slots(layer, position, held);
}

KvSlots KvCache::held(std::int64_t layer) const {
    check_layer(layer);
    return slots(layer, 0, held_[static_cast<std::size_t>(layer)]);
}

void KvCache::cut(std::int64_t length) {
    if (length < 0 || length > this->length()) {
        reject("KV cache: cannot be cut to ", length, " positions, since it holds ",
               this->length());
    }
    std::fill(held_.begin(), held_.end(), length);
}

// [slots]
KvSlots KvCache::slots(std::int64_t layer, std::int64_t begin, std::int64_t end) const {
    return {slice(select(keys_, 0, layer), kPosition, begin, end),
            slice(select(values_, 0, layer), kPosition, begin, end)};
}
// [slots]

void KvCache::check_layer(std::int64_t layer) const {
    if (layer < 0 || layer >= layers()) {
        reject("KV cache: layer ", layer, " of ", layers());
    }
}

}  // namespace sixdays::gpt2
