// The argument checks that CPU references and kernels share, and the choice of the path.
#include "day02_strides/sweep.hpp"

#include <string>

#include "common/tensor/arguments.hpp"
#include "common/tensor/names.hpp"

namespace sixdays::day02_strides {

void check_sum_columns(const View<const float>& in, const View<float>& out,
                       std::optional<SumColumnsPath> path) {
    const char* const op = "sum_columns";
    require_known_path(op, path);
    require_rank(op, "in", in, 2);
    require_rank(op, "out", out, 1);
    if (out.extent(0) != in.extent(1)) {
        reject("sum_columns: out has ", out.extent(0), " elements, but in has ", in.extent(1),
               " columns");
    }
    require_contiguous(op, "out", out);
    require_memory(op, "out", out);
    require_memory(op, "in", in);
    require_apart(op, "in", in, "out", out);
}

SumColumnsPath choose_sum_columns(const View<const float>& in) {
    return in.extent(0) < kLoadsInFlight ? SumColumnsPath::one_load : SumColumnsPath::in_flight;
}

const char* name(SumColumnsPath path) {
    static constexpr Named<SumColumnsPath> kNames[] = {
        {SumColumnsPath::one_load, "one load"},
        {SumColumnsPath::in_flight, "in flight"},
    };
    return name_in(kNames, path);
}

void check_ramp(const View<float>& out) {
    require_rank("ramp", "out", out, 2);
    require_output("ramp", out);
}

}  // namespace sixdays::day02_strides
