/// @file
/// What cuda_tile.h asks of the runtime. Its own code gets no hooks: each element of memory that a
/// tile takes or gives is told here, with the line of the kernel that asked.
#pragma once

#include <cstddef>
#include <cstdint>

/// For every function of cuda_tile.h. It is no kernel's code, so no hook watches it; and g++ keeps
/// it out of kernels, so its return address is the kernel's line.
#define SIXDAYS_TILE __attribute__((no_sanitize("thread")))
#define SIXDAYS_TILE_CODE __builtin_return_address(0)

namespace sixdays::emulator {

/// A tile kernel begins: as enter_kernel(), and a block is one thread, as the launch must say.
bool enter_tile_kernel(const char* kernel, const char* parameters, const void* caller);

/// The elements of a tile, shared by all copies of it: tiles never change. What a launch that
/// failed has left is given back when the next tile kernel begins.
void* new_elements(std::size_t bytes);
void share_elements(void* elements) noexcept;
void drop_elements(void* elements) noexcept;

/// The tile at the front of an operation has never been given a value.
[[noreturn]] void fail_unset_tile(const void* code);

void read_element(const void* element, std::size_t bytes, const void* code);
void write_element(const void* element, std::size_t bytes, const void* code);
/// Within one call no element may be stored twice: on a GPU its lanes are threads of their own.
void check_distinct(const void* const* elements, std::size_t count, const void* code);

/// One call of an atomic function: its elements are used one after the other, with no order among
/// them. What it releases and acquires, it does as a whole.
struct AtomicCall {
    enum class Use : std::uint8_t { load, store, update };
    Use use;
    bool acquires, releases;
    bool block_scope;  // atomic among the elements of this call, not to other blocks
    const void* code;

    void begin() const noexcept;
    /// Before the element is used. @param expected  what a compare-exchange compares with
    void element(const void* element, std::size_t bytes, const void* expected = nullptr) const;
    /// It has another value now.
    static void changed() noexcept;
    void end() const noexcept;
};

/// @param promise  "divisible by 16", "aligned to 16 bytes", "at most 100"
[[noreturn]] void fail_promise(const char* what, long long value, const char* promise,
                               long long number, const void* code);

/// One tile of a span that is cut into tiles.
constexpr std::size_t kMostTileRank = 8;
struct TileOfSpan {
    const char* call;  // "load", "store_masked"
    const void* span;  // its first element
    std::size_t rank;
    long long index[kMostTileRank], lengths[kMostTileRank], extents[kMostTileRank];
    long long farthest = 0, most = 0;  // offset of its last element, and what the span counts to
};
/// Unmasked, the tile must lie inside; masked, at least one element of it. And offsets must fit the
/// type of numbers that the span counts in.
void check_inside(const TileOfSpan& tile, bool masked, const void* code);
/// For the note that a grid has left tiles of a span out.
void note_stored(const TileOfSpan& tile);

}  // namespace sixdays::emulator
