/// @file
/// The interface of cuda_tile.h to the emulator. cuda_tile.h itself has no hooks: it passes each
/// element that a tile loads or stores to these functions, with the kernel's line.
#pragma once

#include <cstddef>
#include <cstdint>

/// For every function of cuda_tile.h: disables the hooks, since this is not the kernel's code. g++
/// also does not inline it into kernels, so its return address is on the kernel's line.
#define SIXDAYS_TILE __attribute__((no_sanitize("thread")))
#define SIXDAYS_TILE_CODE __builtin_return_address(0)

namespace sixdays::emulator {

/// A tile kernel starts: like enter_kernel(), and checks that blocks have one thread.
bool enter_tile_kernel(const char* kernel, const char* parameters, const void* caller);

/// Allocates a tile's elements, which its copies share: tiles are immutable. Elements left over by
/// a failed launch are freed when the next tile kernel starts.
void* new_elements(std::size_t bytes);
void share_elements(void* elements) noexcept;
void drop_elements(void* elements) noexcept;

/// Reports the use of a tile that has never been assigned.
[[noreturn]] void fail_unset_tile(const void* code);

void read_element(const void* element, std::size_t bytes, const void* code);
void write_element(const void* element, std::size_t bytes, const void* code);
/// An element must not be stored twice by one call: on a GPU, different threads store it.
void check_distinct(const void* const* elements, std::size_t count, const void* code);

/// One call of an atomic function. Its elements are updated in unspecified order; release and
/// acquire apply to the call as a whole.
struct AtomicCall {
    enum class Use : std::uint8_t { load, store, update };
    Use use;
    bool acquires, releases;
    bool block_scope;  // atomic within this call, not with respect to other blocks
    const void* code;

    void begin() const noexcept;
    /// Called before each access. @param expected  the value a compare-exchange compares with
    void element(const void* element, std::size_t bytes, const void* expected = nullptr) const;
    /// The element's value has changed.
    static void changed() noexcept;
    void end() const noexcept;
};

/// @param promise  "divisible by 16", "aligned to 16 bytes", "at most 100"
[[noreturn]] void fail_promise(const char* what, long long value, const char* promise,
                               long long number, const void* code);

/// One tile of a partitioned span.
constexpr std::size_t kMostTileRank = 8;
struct TileOfSpan {
    const char* call;  // "load", "store_masked"
    const void* span;  // the span's first element
    std::size_t rank;
    long long index[kMostTileRank], lengths[kMostTileRank], extents[kMostTileRank];
    long long farthest = 0, most = 0;  // its last element's offset; maximum of the index type
};
/// Without a mask the whole tile must be inside the span; with one, at least one element. Offsets
/// must fit the span's index type.
void check_inside(const TileOfSpan& tile, bool masked, const void* code);
/// Records a stored tile, for the note about a grid that leaves tiles out.
void note_stored(const TileOfSpan& tile);

}  // namespace sixdays::emulator
