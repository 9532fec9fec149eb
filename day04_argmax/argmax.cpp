// Which arguments argmax rejects, and which path it takes.
#include "day04_argmax/argmax.hpp"

#include "common/tensor/transform.hpp"

namespace sixdays::day04_argmax {

namespace {

int checked(const View<const float>& in, int dim) {
    const int d = checked_dim("argmax", dim, in.rank());
    if (in.extent(d) == 0) {
        reject("argmax over dim ", d, " of shape ", in.layout.shape, ": the dimension is empty");
    }
    return d;
}

}  // namespace

LinesPlan<std::int64_t> plan_argmax(const View<const float>& in, int dim,
                                    const View<std::int64_t>& out,
                                    const gpu::Launch<ArgmaxPath>& how) {
    return plan_lines("argmax", in, {checked(in, dim)}, out, how);
}

ArgmaxPath choose_argmax(const View<const float>& in, int dim, bool workspace) {
    return choose_path(lines_of("argmax", in, {dim}), workspace);
}

std::int64_t argmax_workspace_bytes(const View<const float>& in, int dim,
                                    std::optional<ArgmaxPath> path) {
    return workspace_bytes("argmax", lines_of("argmax", in, {checked(in, dim)}), path);
}

}  // namespace sixdays::day04_argmax
