/// @file
/// For main.cpp: a move as a line of the report. It is checked on a small shape against the loop,
/// and where there is a GPU timed on a large one and checked there too, every byte.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/bench/measure.hpp"
#include "common/gpu/buffer.hpp"
#include "common/gpu/different.hpp"
#include "common/lesson/report.hpp"
#include "common/tensor/simplify.hpp"
#include "day03_views/moves.hpp"

namespace sixdays::day03_views {

using Move = std::function<void(const BytesIn&, const BytesOut&)>;

// From where to where, as layouts.
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

/// The plainest kernel for any layout, which tests hold against the loop: what the timed ones must
/// equal.
inline void copy_element_by_element(const BytesIn& in, const BytesOut& out) {
    const auto simple = simplify(out.layout, in.layout);
    launch_strided({CopyPath::general,
                    {in.data, in.element, simple[1]},
                    {out.data, out.element, simple[0]},
                    0},
                   {});
}

/// Device memory for the timed runs: as many inputs and outputs as it takes to pass the L2 cache.
/// All sets hold the same, and `out` is row-major.
class Arena {
public:
    /// @param seen  the input as the output's indices see it, from its index (0, 0, ...) on
    Arena(const Kind& kind, const Shapes& s, const Layout& seen)
        : kind_(kind),
          s_(s),
          in_bytes_(round_up(bytes_of(s.in, kind.element))),
          out_bytes_(round_up(bytes_of(s.out, kind.element))),
          sets_(bench::sets_past_cache(in_bytes_ + out_bytes_)),
          in_(sets_ * in_bytes_),
          out_(sets_ * out_bytes_),
          want_(out_bytes_) {
        const std::vector<std::uint8_t> some = noise(std::min(in_bytes_, std::int64_t{1} << 24));
        const auto size = static_cast<std::int64_t>(some.size());
        for (int set = 0; set < sets_; ++set) {
            for (std::int64_t at = 0; at < in_bytes_; at += size) {
                in_.upload(some.data(), std::min(size, in_bytes_ - at), set * in_bytes_ + at);
            }
        }
        want_.fill_bytes(0xff);
        copy_element_by_element({input(0), kind_.element, seen},
                                {want_.data(), kind_.element, row_major(s_.out.shape)});
    }

    void poison() {
        out_.fill_bytes(0xff);
        ran_ = 0;
    }
    void run(const Move& move, int i) {
        const int set = i % sets_;
        ran_ = std::max(ran_, set + 1);
        move({input(set), kind_.element, s_.in},
             {out_.data() + set * out_bytes_, kind_.element, s_.out});
    }
    /// Every byte of every output that a run has written.
    bool verify() const {
        const std::int64_t bytes = bytes_of(s_.out, kind_.element);
        bool ok = ran_ > 0;
        for (int set = 0; set < ran_; ++set) {
            ok &= gpu::count_different(out_.data() + set * out_bytes_, want_.data(), bytes) == 0;
        }
        return ok;
    }

private:
    static std::int64_t round_up(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }
    const std::uint8_t* input(int set) const {
        return origin(in_.data() + set * in_bytes_, s_.in, kind_.element);
    }

    Kind kind_;
    Shapes s_;
    std::int64_t in_bytes_, out_bytes_;
    int sets_, ran_ = 0;
    gpu::Buffer<std::uint8_t> in_, out_, want_;
};

/// One line: `small` against the loop, then `large` timed and held against the plainest kernel.
/// @param seen  large.in as the indices of large.out see it: for a copy large.in itself
inline void report_move(lesson::Report& report, lesson::Version v, const Kind& kind,
                        const Shapes& small, const Shapes& large, const Layout& seen,
                        const Move& loop, const Move& port) {
    v.dtype = kind.dtype;
    v.shape = to_string(large.in.shape);
    v.ok = equals_loop(kind, small, loop, port);
    v.how = "equals the loop, every element";
    v.work.bytes_read = elements_read(large.in) * kind.element;
    v.work.bytes_written = static_cast<double>(large.out.size()) * kind.element;
    std::shared_ptr<Arena> arena;
    if (report.times_ports()) arena = std::make_shared<Arena>(kind, large, seen);
    v.refill = [arena] { arena->poison(); };
    v.run = [arena, port](int i) { arena->run(port, i); };
    v.verify = [arena] { return arena->verify(); };
    report.port(v);
}

}  // namespace sixdays::day03_views
