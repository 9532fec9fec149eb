// The plain loop. A row begins `pitch` elements after the one before it, however many it holds.
#include "day02_strides/pitched.hpp"

#include <cstdint>
#include <string>

#include "common/tensor/arguments.hpp"
#include "day02_strides/steps/steps.hpp"

namespace sixdays::day02_strides {

// --- loop ----------------------------------------------------------------------------------------
namespace {

// [pitched]
void pitched_loop(const float* in, std::int64_t in_pitch, std::int64_t M, std::int64_t K,
                  float* out, std::int64_t out_pitch) {
    for (std::int64_t m = 0; m < M; ++m) {
        for (std::int64_t k = 0; k < K; ++k) {
            out[m * out_pitch + k] = in[m * in_pitch + k];
        }
    }
}
// [pitched]

}  // namespace

void pitched_cpu(View<const float> in, View<float> out) {
    check_pitched(in, out);
    pitched_loop(in.data, in.layout.stride(0), out.extent(0), out.extent(1), out.data,
                 out.layout.stride(0));
}

// --- what loop and port refuse, in the same words ------------------------------------------------
namespace {

template <class T>
void require_pitch(const char* name, const View<T>& v) {
    require_rank("pitched", name, v, 2);
    if (v.extent(1) > 1 && v.layout.stride(1) != 1) {
        refuse(std::string("pitched: ") + name + " has " + to_string(v.layout) +
               "; the elements of a row must be neighbours, stride 1");
    }
    if (v.extent(0) > 1 && v.layout.stride(0) < v.extent(1)) {
        refuse(std::string("pitched: ") + name + " has a pitch of " +
               std::to_string(v.layout.stride(0)) + ", but a row holds " +
               std::to_string(v.extent(1)) + " elements");
    }
}

}  // namespace

void check_pitched(const View<const float>& in, const View<float>& out) {
    require_same_shape("pitched", "in", in, "out", out);
    require_pitch("in", in);
    require_pitch("out", out);
    require_memory("pitched", "out", out);
    require_memory("pitched", "in", in);
    require_same_or_apart("pitched", "in", in, "out", out);
}

void check_pitched_one_element(const View<const float>& in, const View<float>& out) {
    check_pitched(in, out);
    constexpr std::int64_t kMostRows = 65535 * 8;  // blocks in y, rows of each
    if (out.extent(0) > kMostRows) {
        refuse("pitched: this step has a block for 8 rows, and " + std::to_string(out.extent(0)) +
               " rows are more than the " + std::to_string(kMostRows) + " of a grid");
    }
}

// --- which kernel pitched_cuda takes -------------------------------------------------------------

// [choose]
PitchedPath choose_pitched(const View<const float>& in, const View<float>& out) {
    const auto rows_begin_at_multiples_of_16 = [](const auto& v) {
        const bool first = reinterpret_cast<std::uintptr_t>(v.data) % 16 == 0;
        return first && (v.extent(0) <= 1 || v.layout.stride(0) % 4 == 0);
    };
    return rows_begin_at_multiples_of_16(in) && rows_begin_at_multiples_of_16(out)
               ? PitchedPath::sixteen_bytes
               : PitchedPath::single;
}
// [choose]

const char* name(PitchedPath path) {
    return path == PitchedPath::sixteen_bytes ? "16 bytes a load" : "single elements";
}

}  // namespace sixdays::day02_strides
