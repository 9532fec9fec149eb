// The KV cache: where a position is stored, what is held, and argument checks.
#include "day06_transformer_ops/gpt2/backend/kv_cache.hpp"

#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::testing;

namespace {

constexpr std::int64_t kLayers = 3, kHeads = 2, kCapacity = 7, kDim = 4;
const Shape kShape{kLayers, kHeads, kCapacity, kDim};

// A unique value for each layer, head, position and element of one half of the cache.
float value(std::int64_t l, std::int64_t h, std::int64_t t, std::int64_t d, float half) {
    return half + static_cast<float>(((l * 10 + h) * 10 + t) * 10 + d);
}

void write(const View<float>& slots, std::int64_t layer, std::int64_t position, float half) {
    for (std::int64_t h = 0; h < slots.extent(0); ++h) {
        for (std::int64_t t = 0; t < slots.extent(1); ++t) {
            for (std::int64_t d = 0; d < kDim; ++d) {
                slots(h, t, d) = value(layer, h, position + t, d, half);
            }
        }
    }
}

// Does a layer hold exactly positions 0 .. length - 1, each at its index?
bool holds(const KvCache& cache, std::int64_t layer, std::int64_t length) {
    const KvSlots held = cache.held(layer);
    bool right = held.keys.layout.shape == Shape{kHeads, length, kDim} &&
                 held.values.layout.shape == held.keys.layout.shape;
    for (std::int64_t h = 0; h < kHeads; ++h) {
        for (std::int64_t t = 0; t < length; ++t) {
            for (std::int64_t d = 0; d < kDim; ++d) {
                right = right && held.keys(h, t, d) == value(layer, h, t, d, 0.25f) &&
                        held.values(h, t, d) == value(layer, h, t, d, 0.75f);
            }
        }
    }
    return right;
}

struct Cache {
    Tensor<float> keys{kShape}, values{kShape};
    KvCache cache{keys.view(), values.view()};

    void append(std::int64_t layer, std::int64_t position, std::int64_t count) {
        const KvSlots slots = cache.append(layer, position, count);
        CHECK(slots.keys.layout.shape == Shape{kHeads, count, kDim});
        write(slots.keys, layer, position, 0.25f);
        write(slots.values, layer, position, 0.75f);
    }
};

}  // namespace

TEST_CASE("after n tokens the cache holds n positions, not n times the layers", "[day06][small]") {
    Cache c;
    CHECK(c.cache.length() == 0);
    CHECK(c.cache.capacity() == kCapacity);
    CHECK(c.cache.layers() == kLayers);
    for (std::int64_t layer = 0; layer < kLayers; ++layer) {
        CHECK(c.cache.length() == 0);  // a position is valid once every layer has it
        c.append(layer, 0, 3);         // a prompt of three
    }
    CHECK(c.cache.length() == 3);
    for (std::int64_t token = 3; token < kCapacity; ++token) {
        for (std::int64_t layer = 0; layer < kLayers; ++layer) {
            c.append(layer, token, 1);
            CHECK(holds(c.cache, layer, token + 1));
        }
        CHECK(c.cache.length() == token + 1);
    }
    for (std::int64_t layer = 0; layer < kLayers; ++layer) CHECK(holds(c.cache, layer, kCapacity));
}

TEST_CASE("heads are a capacity apart, not a length", "[day06][small]") {
    Cache c;
    for (std::int64_t layer = 0; layer < kLayers; ++layer) c.append(layer, 0, 2);
    const KvSlots held = c.cache.held(1);
    CHECK(held.keys.stride(0) == kCapacity * kDim);
    CHECK_FALSE(is_contiguous(held.keys.layout));
    CHECK(held.keys.data == &c.keys(1, 0, 0, 0));
    CHECK(held.values.data == &c.values(1, 0, 0, 0));
    CHECK(&held.keys(1, 1, 3) == &c.keys(1, 1, 1, 3));
    // Every element past the length is unchanged.
    for (std::int64_t t = 2; t < kCapacity; ++t) CHECK(c.keys(1, 1, t, 0) == 0);
}

TEST_CASE("the memory may have any layout", "[day06][small]") {
    // In memory: position, layer, head, dim; and the values backwards.
    Tensor<float> keys({kCapacity, kLayers, kHeads, kDim}), values(kShape);
    KvCache cache(permute(keys.view(), {1, 2, 0, 3}), flip(values.view(), 3));
    for (std::int64_t layer = 0; layer < kLayers; ++layer) {
        const KvSlots slots = cache.append(layer, 0, 5);
        write(slots.keys, layer, 0, 0.25f);
        write(slots.values, layer, 0, 0.75f);
    }
    CHECK(holds(cache, 2, 5));
    CHECK(keys(4, 2, 1, 3) == value(2, 1, 4, 3, 0.25f));
    CHECK(values(2, 1, 4, 0) == value(2, 1, 4, 3, 0.75f));
}

TEST_CASE("rewriting a position drops the later ones", "[day06][small]") {
    Cache c;
    for (std::int64_t layer = 0; layer < kLayers; ++layer) c.append(layer, 0, 6);
    c.append(0, 2, 1);
    CHECK(c.cache.length() == 3);
    CHECK(holds(c.cache, 0, 3));
    CHECK(holds(c.cache, 1, 6));
    c.cache.cut(1);
    for (std::int64_t layer = 0; layer < kLayers; ++layer) CHECK(holds(c.cache, layer, 1));
    CHECK(rejection([&] { c.cache.cut(2); }) ==
          "KV cache: cannot be cut to 2 positions, since it holds 1");
    CHECK(contains(rejection([&] { c.cache.cut(-1); }), "cut to -1"));
    c.cache.cut(0);
    CHECK(c.cache.length() == 0);
    CHECK(c.cache.held(0).keys.size() == 0);
}

TEST_CASE("positions beyond the context are rejected before anything is written",
          "[day06][small]") {
    Cache c;
    for (std::int64_t layer = 0; layer < kLayers; ++layer) c.append(layer, 0, 5);
    const Tensor<float> before = c.keys;
    const auto both = [&](std::int64_t position, std::int64_t count) {
        const std::string room = rejection([&] { c.cache.check_room(position, count); });
        CHECK(rejection([&] { (void)c.cache.append(1, position, count); }) == room);
        return room;
    };
    CHECK(both(5, 3) == "KV cache: 3 positions from 5 on, but the context ends at 7");
    CHECK(contains(both(0, 8), "8 positions from 0 on, but"));
    CHECK(contains(both(5, INT64_MAX), "the context ends at 7"));
    CHECK(both(6, 1) == "KV cache: 1 positions from 6 on would leave a gap: only 5 are held");
    CHECK(contains(both(-1, 1), "from -1 on: invalid range"));
    CHECK(contains(both(5, 0), "0 positions from 5 on: invalid range"));
    CHECK(contains(both(5, -1), "-1 positions"));
    CHECK(c.cache.length() == 5);
    CHECK(equal(c.keys, before));
    c.cache.check_room(5, 2);  // the last two fit
    c.append(0, 5, 1);  // one layer ahead: the next position must still be contiguous for all
    CHECK(contains(rejection([&] { c.cache.check_room(6, 1); }), "only 5 are held"));
    CHECK(both(0, 7).empty());
}

TEST_CASE("layers and memory that do not match are rejected", "[day06][small]") {
    Cache c;
    CHECK(rejection([&] { (void)c.cache.append(3, 0, 1); }) == "KV cache: layer 3 of 3");
    CHECK(contains(rejection([&] { (void)c.cache.append(-1, 0, 1); }), "layer -1 of 3"));
    CHECK(contains(rejection([&] { (void)c.cache.held(3); }), "layer 3 of 3"));
    Tensor<float> other({kLayers, kHeads, kCapacity, kDim + 1}), flat({3, 4, 5}),
        none({3, 2, 0, 4});
    const auto made = [](View<float> keys, View<float> values) {
        return rejection([&] { KvCache cache(keys, values); });
    };
    CHECK(contains(made(c.keys.view(), other.view()), "they must be equal"));
    CHECK(contains(made(flat.view(), flat.view()), "rank 4 is needed"));
    CHECK(contains(made(none.view(), none.view()), "shape (3, 2, 0, 4) is empty"));
    CHECK(contains(made(c.keys.view(), c.keys.view()), "keys and values overlap"));
    CHECK(contains(made({nullptr, kShape}, c.values.view()), "keys is a null pointer"));
    CHECK(contains(made(c.keys.view(), {nullptr, kShape}), "values is a null pointer"));
    const Layout repeated(kShape, {0, 28, 4, 1});
    CHECK(contains(made({c.keys.data(), repeated}, c.values.view()), "keys has"));
    CHECK(contains(made(c.keys.view(), {c.values.data(), repeated}), "values has"));
}

TEST_CASE("the size of a cache: keys and values, 4 bytes each", "[day06][small]") {
    // GPT-2's 1024 positions take 72 MiB: 36 each for keys and values.
    CHECK(kv_cache_bytes(12, 12, 1024, 64) == 75497472);
    CHECK(kv_cache_bytes(12, 12, 2048, 64) == 150994944);
    CHECK(contains(rejection([] { (void)kv_cache_bytes(1 << 20, 1 << 20, 1 << 20, 1 << 20); }),
                   "64 bits"));
}
