/// @file
/// Buffer<T>: an array in device memory that frees itself. Day 01 shows the calls underneath.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/tensor/sentence.hpp"
#include "common/tensor/tensor.hpp"

namespace sixdays::gpu {

namespace detail {
// cudaMalloc, cudaFree, cudaMemcpy, cudaMemset. All sizes in bytes.
void* allocate(std::size_t bytes);
void release(void* device) noexcept;
void copy_to_device(void* device, const void* host, std::size_t bytes);
void copy_to_host(void* host, const void* device, std::size_t bytes);
void fill_bytes(void* device, int byte, std::size_t bytes);
}  // namespace detail

/// An array in device memory that frees itself. Movable, not copyable. Copies between host and
/// device use the default stream: they wait for the work queued on it before, and return when they
/// are done.
template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>, "elements are copied byte by byte");

public:
    /// `size` uninitialized elements.
    /// @throws std::invalid_argument  size < 0 or too many bytes for 64 bits
    /// @throws gpu::Error  the device does not have enough free memory
    explicit Buffer(std::int64_t size)
        : size_(size), data_(static_cast<T*>(detail::allocate(bytes_of(size)))) {}

    /// The elements of a host tensor, copied to the device in row-major order.
    /// @throws gpu::Error  the device does not have enough free memory
    explicit Buffer(const Tensor<T>& host) : Buffer(host.size()) { upload(host.data(), size_); }

    /// Takes the memory; `other` is left with no elements.
    Buffer(Buffer&& other) noexcept
        : size_(std::exchange(other.size_, 0)), data_(std::exchange(other.data_, nullptr)) {}
    /// Exchanges the memory with `other`, which frees this one's later.
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(size_, other.size_);
        std::swap(data_, other.data_);
        return *this;
    }
    /// Frees the memory. Never throws.
    ~Buffer() { detail::release(data_); }

    /// Device address of element 0; null if there are no elements.
    T* data() noexcept { return data_; }
    /// Device address of element 0, read-only.
    const T* data() const noexcept { return data_; }
    /// The number of elements.
    std::int64_t size() const noexcept { return size_; }

    /// Copies `count` host elements to the buffer, beginning at its element `first`. Returns when
    /// they have arrived.
    /// @throws std::invalid_argument  elements outside the buffer
    /// @throws gpu::Error  the copy failed, or a kernel before it
    void upload(const T* host, std::int64_t count, std::int64_t first = 0) {
        check_range(first, count);
        detail::copy_to_device(data_ + first, host, bytes_of(count));
    }

    /// Copies `count` elements to the host, beginning at element `first`. Waits for the work queued
    /// before.
    /// @throws std::invalid_argument  elements outside the buffer
    /// @throws gpu::Error  the copy failed, or a kernel before it
    [[nodiscard]] std::vector<T> download(std::int64_t first, std::int64_t count) const {
        check_range(first, count);
        std::vector<T> host(static_cast<std::size_t>(count));
        detail::copy_to_host(host.data(), data_ + first, bytes_of(count));
        return host;
    }
    /// Copies all elements to the host. Waits for the work queued before.
    /// @throws gpu::Error  the copy failed, or a kernel before it
    [[nodiscard]] std::vector<T> download() const { return download(0, size_); }

    /// Sets every byte to the low 8 bits of `byte`. 0xFF in every byte is a NaN for float and
    /// double, the usual poison value.
    /// @throws gpu::Error  the call failed
    void fill_bytes(int byte) { detail::fill_bytes(data_, byte, bytes_of(size_)); }

    /// The buffer as a tensor whose index (0, 0, ...) is element `first`.
    /// @throws std::invalid_argument  the layout reaches outside the buffer
    View<T> view(const Layout& layout, std::int64_t first = 0) {
        check_reach(layout, first);
        return {data_ + first, layout};
    }
    /// The buffer as a read-only tensor whose index (0, 0, ...) is element `first`.
    /// @throws std::invalid_argument  the layout reaches outside the buffer
    View<const T> view(const Layout& layout, std::int64_t first = 0) const {
        check_reach(layout, first);
        return {data_ + first, layout};
    }
    /// The first elements as a row-major tensor of this shape.
    /// @throws std::invalid_argument  the shape has more elements than the buffer, or as
    /// size(shape)
    View<T> view(const Shape& shape) { return view(row_major(shape)); }
    /// The first elements as a read-only row-major tensor of this shape.
    /// @throws std::invalid_argument  the shape has more elements than the buffer, or as
    /// size(shape)
    View<const T> view(const Shape& shape) const { return view(row_major(shape)); }

private:
    static std::size_t bytes_of(std::int64_t count) {
        if (count < 0 || count > INT64_MAX / static_cast<std::int64_t>(sizeof(T))) {
            reject("a device buffer of ", count, " elements of ", sizeof(T),
                   " bytes was asked for");
        }
        return static_cast<std::size_t>(count) * sizeof(T);
    }

    void check_range(std::int64_t first, std::int64_t count) const {
        if (first < 0 || count < 0 || first > size_ || count > size_ - first) {
            reject("elements [", first, ", ", first, " + ", count, ") of a buffer of ", size_);
        }
    }

    void check_reach(const Layout& layout, std::int64_t first) const {
        const Reach r = reach(layout);
        if (required_span(layout) == 0) return;
        if (first < -r.lowest || first > size_ - 1 - r.highest) {
            reject(layout, " from element ", first, " on reaches offsets ", r.lowest, " to ",
                   r.highest, ", but the buffer has ", size_, " elements");
        }
    }

    std::int64_t size_;
    T* data_;
};

}  // namespace sixdays::gpu
