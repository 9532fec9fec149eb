/// @file
/// Sizes of the program's own buffers: replaces new and malloc at link time, so that a copy past
/// the end of a buffer is reported. Stack arrays and globals are not tracked.
#include <map>
#include <mutex>
#include <new>

#include "common/emulator/report.hpp"

extern "C" {
void* __real_malloc(std::size_t bytes);
void* __real_calloc(std::size_t count, std::size_t bytes);
void* __real_realloc(void* pointer, std::size_t bytes);
void __real_free(void* pointer);
}

namespace {

thread_local bool busy = false;  // an allocation by this file itself
std::mutex mutex;

std::map<const char*, std::size_t>& buffers() {
    static auto& all = *new std::map<const char*, std::size_t>;  // used until the program ends
    return all;
}

template <class Work>
void with_buffers(Work work) {
    if (busy) return;
    busy = true;
    {
        const std::lock_guard lock(mutex);
        work(buffers());
    }
    busy = false;
}

void* added(void* pointer, std::size_t bytes) {
    if (pointer != nullptr) {
        with_buffers([&](auto& all) { all[static_cast<const char*>(pointer)] = bytes; });
    }
    return pointer;
}
void remove(void* pointer) {
    with_buffers([&](auto& all) { all.erase(static_cast<const char*>(pointer)); });
}

// Bytes from here to the end of the buffer; 0 if it is not tracked.
std::size_t bytes_from(const void* pointer) {
    std::size_t left = 0;
    with_buffers([&](auto& all) {
        const auto* p = static_cast<const char*>(pointer);
        const auto after = all.upper_bound(p);
        if (after == all.begin()) return;
        const auto& [begin, bytes] = *std::prev(after);
        if (p < begin + bytes) left = static_cast<std::size_t>(begin + bytes - p);
    });
    return left;
}

const bool told = [] {
    sixdays::emulator::know_host_buffers(bytes_from);
    return true;
}();

}  // namespace

extern "C" {
void* __wrap_malloc(std::size_t bytes) {
    return added(__real_malloc(bytes), bytes);
}
void* __wrap_calloc(std::size_t count, std::size_t bytes) {
    return added(__real_calloc(count, bytes), count * bytes);
}
void* __wrap_realloc(void* pointer, std::size_t bytes) {
    remove(pointer);
    return added(__real_realloc(pointer, bytes), bytes);
}
void __wrap_free(void* pointer) {
    remove(pointer);
    __real_free(pointer);
}
}

void* operator new(std::size_t bytes) {
    void* pointer = __real_malloc(bytes == 0 ? 1 : bytes);
    if (pointer == nullptr) throw std::bad_alloc();
    return added(pointer, bytes);
}
void* operator new[](std::size_t bytes) {
    return operator new(bytes);
}
void operator delete(void* pointer) noexcept {
    __wrap_free(pointer);
}
void operator delete(void* pointer, std::size_t) noexcept {
    __wrap_free(pointer);
}
void operator delete[](void* pointer) noexcept {
    __wrap_free(pointer);
}
void operator delete[](void* pointer, std::size_t) noexcept {
    __wrap_free(pointer);
}
