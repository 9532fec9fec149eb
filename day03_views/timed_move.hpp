/// @file
/// For main.cpp: a move as a line of the report. It is checked on a small shape against the loop,
/// and where there is a GPU timed on a large one and checked there at a million places.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/lesson/report.hpp"
#include "common/tensor/index.hpp"
#include "day03_views/bytes.hpp"

namespace sixdays::day03_views {

using Move = std::function<void(const BytesIn&, const BytesOut&)>;

// From where to where, as layouts; their index (0, 0, ...) lies so many elements into the memory.
struct Shapes {
    Layout in, out;
};

struct Kind {
    const char* dtype;
    int element;  // bytes
};
inline constexpr Kind kUint8 = {"uint8", 1}, kBf16 = {"bfloat16", 2}, kFloat = {"float32", 4};

inline std::int64_t bytes_of(const Layout& layout, int element) {
    return required_span(layout) * element;
}

// Where index (0, 0, ...) lies in memory that holds the layout and nothing else.
template <class Byte>
Byte* origin(Byte* memory, const Layout& layout, int element) {
    return layout.size() == 0 ? memory : memory - reach(layout).lowest * element;
}

// Elements that must be read: those that a stride of 0 shows again and again are read once.
inline double elements_read(const Layout& layout) {
    double n = 1;
    for (int d = 0; d < layout.rank(); ++d) {
        if (layout.stride(d) != 0) n *= static_cast<double>(layout.extent(d));
    }
    return n;
}

inline std::vector<std::uint8_t> noise(std::int64_t bytes) {
    std::vector<std::uint8_t> x(static_cast<std::size_t>(bytes));
    std::uint64_t state = 1;
    for (std::uint8_t& byte : x) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        byte = static_cast<std::uint8_t>(state >> 56);
    }
    return x;
}

// Does the port leave the same bytes as the loop, between the elements too?
inline bool equals_loop(const Kind& kind, const Shapes& s, const Move& loop, const Move& port) {
    const std::int64_t in_bytes = bytes_of(s.in, kind.element);
    const std::int64_t out_bytes = bytes_of(s.out, kind.element);
    const std::vector<std::uint8_t> in = noise(in_bytes);
    std::vector<std::uint8_t> want(static_cast<std::size_t>(out_bytes), 0xff);
    loop({origin(in.data(), s.in, kind.element), kind.element, s.in},
         {origin(want.data(), s.out, kind.element), kind.element, s.out});
    gpu::Buffer<std::uint8_t> din(in_bytes), dout(out_bytes);
    din.upload(in.data(), in_bytes);
    dout.fill_bytes(0xff);
    port({origin(din.data(), s.in, kind.element), kind.element, s.in},
         {origin(dout.data(), s.out, kind.element), kind.element, s.out});
    return dout.download() == want;
}

// Device memory for the timed runs: as many inputs and outputs as it takes to pass the L2 cache.
class Arena {
public:
    Arena(const Kind& kind, const Shapes& s) : kind_(kind), s_(s) {
        in_bytes_ = (bytes_of(s.in, kind.element) + 255) / 256 * 256;
        out_bytes_ = (bytes_of(s.out, kind.element) + 255) / 256 * 256;
        const std::int64_t l2 = std::max<std::int64_t>(gpu::device().l2_bytes, 1);
        sets_ = static_cast<int>(2 * l2 / (in_bytes_ + out_bytes_) + 1);
        in_ = std::make_unique<gpu::Buffer<std::uint8_t>>(sets_ * in_bytes_);
        out_ = std::make_unique<gpu::Buffer<std::uint8_t>>(sets_ * out_bytes_);
        const std::vector<std::uint8_t> some = noise(std::min(in_bytes_, std::int64_t{1} << 24));
        const auto size = static_cast<std::int64_t>(some.size());
        for (std::int64_t at = 0; at < in_->size(); at += size) {
            in_->upload(some.data(), std::min(size, in_->size() - at), at);
        }
    }
    int sets() const { return sets_; }
    void poison() { out_->fill_bytes(0xff); }
    void run(const Move& move, int i) {
        const int set = i % sets_;
        move({origin(in_->data() + set * in_bytes_, s_.in, kind_.element), kind_.element, s_.in},
             {origin(out_->data() + set * out_bytes_, s_.out, kind_.element), kind_.element,
              s_.out});
    }
    // A million elements, spread over the whole of the last set, against the formula of the offset.
    // `where`: the offset in `in` of the element at this index of `out`.
    bool spot_checks(const std::function<std::int64_t(const Index&)>& where) {
        const std::size_t e = static_cast<std::size_t>(kind_.element);
        const auto in = in_->download((sets_ - 1) * in_bytes_, in_bytes_);
        const auto out = out_->download((sets_ - 1) * out_bytes_, out_bytes_);
        const std::uint8_t* const from = origin(in.data(), s_.in, kind_.element);
        const std::uint8_t* const to = origin(out.data(), s_.out, kind_.element);
        const std::int64_t n = s_.out.size(), count = std::min(n, std::int64_t{1} << 20);
        bool ok = true;
        for (std::int64_t k = 0; k < count; ++k) {
            const Index index = unravel(n / count * k + k % (n / count), s_.out.shape);
            ok &= std::memcmp(to + offset(s_.out, index) * kind_.element,
                              from + where(index) * kind_.element, e) == 0;
        }
        return ok;
    }

private:
    Kind kind_;
    Shapes s_;
    std::int64_t in_bytes_ = 0, out_bytes_ = 0;
    int sets_ = 1;
    std::unique_ptr<gpu::Buffer<std::uint8_t>> in_, out_;
};

// One line: `small` against the loop, then `large` timed.
inline void report_move(lesson::Report& report, lesson::Version v, const Kind& kind,
                        const Shapes& small, const Shapes& large, const Move& loop,
                        const Move& port, const std::function<std::int64_t(const Index&)>& where) {
    v.dtype = kind.dtype;
    v.shape = to_string(large.in.shape);
    v.ok = equals_loop(kind, small, loop, port);
    if (v.how.empty()) v.how = "equals the loop, every element";
    v.work.bytes_read = elements_read(large.in) * kind.element;
    v.work.bytes_written = static_cast<double>(large.out.size()) * kind.element;
    std::shared_ptr<Arena> arena;
    if (report.times_ports()) arena = std::make_shared<Arena>(kind, large);
    v.refill = [arena] { arena->poison(); };
    v.run = [arena, port](int i) { arena->run(port, i); };
    v.verify = [arena, where, port] {
        arena->run(port, arena->sets() - 1);
        return arena->spot_checks(where);
    };
    report.port(v);
}

}  // namespace sixdays::day03_views
