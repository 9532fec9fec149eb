#include "common/emulator/report/describe.hpp"

#include "common/emulator/memory/cluster.hpp"
#include "common/emulator/memory/memory.hpp"
#include "common/emulator/report/finding.hpp"
#include "common/emulator/report/names.hpp"

namespace sixdays::emulator {

namespace {

// An offset as the kernel's author counts it: in elements of the accessed size.
std::string position(std::size_t offset, std::size_t bytes) {
    if (bytes <= 1 || bytes > 16 || offset % bytes != 0) return format("byte %zu", offset);
    return format("element %zu", offset / bytes);
}

std::string extent(std::size_t size, std::size_t bytes, const std::string& what) {
    const auto counted = [](std::size_t n, const char* one) {
        return format("%zu %s%s", n, one, n == 1 ? "" : "s");
    };
    const std::string all = what + " of ";
    if (bytes <= 1 || bytes > 16 || size % bytes != 0) return all + counted(size, "byte");
    return all + counted(size / bytes, "element") + format(" of that size (%zu bytes)", size);
}

std::string shared_array(const Extent& array) {
    return array.name == nullptr ? "a shared array" : format("the shared array `%s`", array.name);
}

// Thread (0,0,0) of block (0,0,0), which no guard would exclude.
bool is_first_thread() {
    const uint3 b = block.index;
    return current != nullptr && current->id == 0 && b.x == 0 && b.y == 0 && b.z == 0;
}

constexpr const char* kOnePast =
    ": one past its end. Is a guard such as `if (i < n)` missing, or does it use `<=`? If not, ";

std::string outside(const Extent& near, std::uintptr_t address, std::size_t bytes,
                    const std::string& what) {
    if (address < near.begin) {
        const std::size_t ahead = near.begin - address;
        const bool whole = bytes > 1 && bytes <= 16 && ahead % bytes == 0;
        return (whole ? format("at element -%zu, %zu bytes", ahead / bytes, ahead)
                      : format("%zu byte%s", ahead, ahead == 1 ? "" : "s")) +
               " before the start of " + extent(near.bytes, bytes, what) +
               (ahead == bytes
                    ? ": one before its first element. Is a guard such as `if (i > 0)` missing"
                    : ". Is an index negative") +
               ", or does a flipped view start at the wrong end: should its pointer be that of the "
               "last element, or of the last row?";
    }
    const std::size_t offset = address - near.begin;
    if (!near.live) {
        return "at " + position(offset, bytes) + " of " + extent(near.bytes, bytes, what) +
               ", which has been freed by " + near.freed_by + ".";
    }
    const std::string text =
        "at " + position(offset, bytes) + " of " + extent(near.bytes, bytes, what);
    if (offset < near.bytes) return text + ", reaching past its end.";
    const std::size_t past = offset - near.bytes;
    const std::string asked = bytes > 1 && offset / bytes < near.bytes && near.name == nullptr
                                  ? elements_for_bytes(near)
                                  : "";
    if (!asked.empty()) {
        // A number may well be one of bytes, and then a guard is missing.
        const bool number = asked.find_first_not_of("0123456789") == std::string::npos;
        return text + (number && past == 0 ? kOnePast : ". ") +
               format(
                   "cudaMalloc takes a size in bytes: it was called with %s, which is %zu bytes, "
                   "enough for %zu elements of %zu bytes. Is  * sizeof(...)  missing there?",
                   asked.c_str(), near.bytes, near.bytes / bytes, bytes);
    }
    if (past == 0 && is_first_thread()) {
        return text +
               ": one past its end, by the very first thread. Does the view start at the right "
               "element, does a loop end with `<` and not `<=`, and is each index multiplied by "
               "its own stride, or are two of them swapped?";
    }
    const std::string pitch =
        near.name == nullptr && is_pitched(near)
            ? " The pitch from cudaMallocPitch is in bytes: is it added to a pointer to char?"
            : "";
    if (past == 0) return text + kOnePast + "are two extents swapped in the offset?" + pitch;
    return text +
           format(
               ": %zu bytes past its end. Does every index have a guard, and does the offset "
               "use the right extents?",
               past) +
           pitch;
}

}  // namespace

std::string describe_outside(const Region& region, std::uintptr_t address, std::size_t bytes) {
    if (&region == &cluster_memory) {
        const OfBlock of = of_block(address);
        return format("in block %u of the cluster, ", of.rank) +
               describe_outside(*of.region, of.address, bytes);
    }
    if (&region == &shared_dynamic) {
        const Extent all = dynamic_extent();
        const std::string text = outside(all, address, bytes, "the dynamic shared memory");
        if (address < all.begin) return text;
        return text + " Or does the launch request too few bytes, in <<<grid, block, bytes>>>?";
    }
    if (&region == &shared_arrays) {
        const Extent near = nearest_shared_array(address);
        if (near.bytes == 0) return "of shared memory, but the block has no shared array.";
        return outside(near, address, bytes, shared_array(near));
    }
    if (&region == &shared_tiles) {
        const Extent near = nearest_shared_array(address);
        return outside(near, address, bytes, "a tile of the dynamic shared memory");
    }
    const Extent near = nearest_allocation(address);
    if (near.bytes == 0 && near.begin == 0) {
        return "at a device address that belongs to no allocation.";
    }
    return outside(near, address, bytes, "an allocation") + known_as(near);
}

std::string describe_inside(const Region& region, std::uintptr_t address, std::size_t bytes) {
    Extent in;
    std::string what = "an allocation";
    if (&region == &cluster_memory) {
        const OfBlock of = of_block(address);
        return format("in block %u of the cluster, ", of.rank) +
               describe_inside(*of.region, of.address, bytes);
    }
    if (&region == &variables) {
        in = device_variable_at(address);
        what =
            format("the %s variable `%s`", in.is_constant ? "__constant__" : "__device__", in.name);
    } else if (&region == &shared_arrays) {
        in = nearest_shared_array(address);
        what = shared_array(in);
    } else if (&region == &shared_tiles) {
        in = nearest_shared_array(address);
        what = "a tile of the dynamic shared memory";
    } else if (&region == &shared_dynamic) {
        in = dynamic_extent();
        what = "the dynamic shared memory";
    } else {
        in = nearest_allocation(address);
    }
    return "at " + position(address - in.begin, bytes) + " of " + extent(in.bytes, bytes, what);
}

std::string place_in_heap(std::uintptr_t address) {
    const Extent near = nearest_allocation(address);
    return near.live && address - near.begin < near.bytes ? describe_inside(heap, address, 1) + "."
                                                          : describe_outside(heap, address, 1);
}

std::string story(const char* what_happens, std::size_t bytes) {
    return format(" %s %zu byte%s ", what_happens, bytes, bytes == 1 ? "" : "s");
}

std::string story(AccessKind kind, std::size_t bytes) {
    return story(kind == AccessKind::atomic ? "updates" : writes(kind) ? "writes" : "reads", bytes);
}

}  // namespace sixdays::emulator
