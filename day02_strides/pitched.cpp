// The argument checks that CPU reference and kernels share, and the choice of the path.
#include "day02_strides/pitched.hpp"

#include <string>

#include "common/tensor/arguments.hpp"
#include "common/tensor/names.hpp"
#include "common/tensor/vectorized.hpp"

namespace sixdays::day02_strides {
namespace {

template <class T>
void require_pitch(const char* name, const View<T>& v) {
    require_rank("pitched", name, v, 2);
    if (v.extent(1) > 1 && v.stride(1) != 1) {
        reject("pitched: ", name, " has ", v.layout,
               "; the elements of a row must be contiguous, stride 1");
    }
    if (v.extent(0) > 1 && v.stride(0) < v.extent(1)) {
        reject("pitched: ", name, " has a pitch of ", v.stride(0), ", but a row holds ",
               v.extent(1), " elements");
    }
}

}  // namespace

void check_pitched(const View<const float>& in, const View<float>& out,
                   std::optional<PitchedPath> path) {
    require_same_shape("pitched", "in", in, "out", out);
    require_pitch("in", in);
    require_pitch("out", out);
    require_memory("pitched", "out", out);
    require_memory("pitched", "in", in);
    require_same_or_apart("pitched", "in", in, "out", out);
    require_known_path("pitched", path);
    if (path == PitchedPath::one_element) require_rows_fit("pitched", "out", out);
    if (path == PitchedPath::vectorized && out.size() > 0 &&
        choose_pitched(in, out) != PitchedPath::vectorized) {
        reject("pitched: not every row begins at a multiple of 16 bytes: in has a pitch of ",
               in.stride(0), " elements and begins ", misalignment(in.data),
               " bytes past one, out has ", out.stride(0), " and begins ", misalignment(out.data),
               " past one");
    }
}

PitchedPath choose_pitched(const View<const float>& in, const View<float>& out) {
    const bool aligned = rows_begin_at(in.data, in.layout, sizeof(float)) &&
                         rows_begin_at(out.data, out.layout, sizeof(float));
    return aligned ? PitchedPath::vectorized : PitchedPath::singles;
}

const char* name(PitchedPath path) {
    static constexpr Named<PitchedPath> kNames[] = {
        {PitchedPath::one_element, "one element"},
        {PitchedPath::singles, "singles"},
        {PitchedPath::vectorized, "vectorized"},
        {PitchedPath::tile, "tile"},
    };
    return name_in(kNames, path);
}

}  // namespace sixdays::day02_strides
