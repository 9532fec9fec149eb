/// @file
/// The small half of "check small, time large": the same tensor on the host and on the device. The
/// CPU reference uses one, the CUDA version the other, and afterwards both must hold the same
/// bytes, gaps included. (The large half is an Arena with sampled().)
///
///     Both<float> in(from, [](std::int64_t i) { return i; }), out(to);
///     pack_cpu(in.host(), out.host());
///     version.check = {[&](int) { pack_cuda(in.device(), out.device()); }, {out.outcome()}};
#pragma once

#include <cstring>
#include <vector>

#include "common/gpu/buffer.hpp"
#include "common/lesson/version.hpp"
#include "common/tensor/layout.hpp"

namespace sixdays::lesson {

/// The same tensor on the host and on the device, in any layout. The CPU reference uses one, the
/// CUDA version the other, and afterwards both must hold the same bytes, gaps included.
template <class T>
class Both {
public:
    /// An output: every byte is 0xff, a NaN where elements are floats.
    explicit Both(const Layout& layout)
        : layout_(layout),
          first_(layout.size() == 0 ? 0 : -reach(layout).lowest),
          host_(static_cast<std::size_t>(required_span(layout))),
          device_(required_span(layout)),
          want_(0) {
        if (!host_.empty()) std::memset(host_.data(), 0xff, host_.size() * sizeof(T));
        device_.fill_bytes(0xff);
    }

    /// An input: element i of its memory, gaps included, is value(i).
    template <class F>
    Both(const Layout& layout, const F& value) : Both(layout) {
        std::int64_t i = 0;
        for (T& element : host_) element = static_cast<T>(value(i++));
        device_.upload(host_.data(), device_.size());
    }

    /// The tensor on the host.
    [[nodiscard]] View<T> host() { return {host_.data() + first_, layout_}; }
    /// The tensor on the device.
    [[nodiscard]] View<T> device() { return device_.view(layout_, first_); }

    /// The device's memory, gaps included.
    [[nodiscard]] std::vector<T> written() const { return device_.download(); }
    /// Whether device and host hold the same bytes.
    [[nodiscard]] bool same() const {
        const std::vector<T> there = written();
        return host_.empty() ||
               std::memcmp(there.data(), host_.data(), host_.size() * sizeof(T)) == 0;
    }

    /// The device must hold what the host holds now. Every call returns the same memory.
    [[nodiscard]] Outcome outcome() {
        if (want_.size() == 0) want_ = gpu::Buffer<T>(device_.size());
        want_.upload(host_.data(), want_.size());
        return {device_.data(), want_.data(), want_.size() * static_cast<std::int64_t>(sizeof(T))};
    }

private:
    Layout layout_;
    std::int64_t first_;  // the position of index (0, 0, ...)
    std::vector<T> host_;
    gpu::Buffer<T> device_, want_;
};

}  // namespace sixdays::lesson
