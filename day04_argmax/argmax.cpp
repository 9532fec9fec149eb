// What loop and ports of argmax refuse, and which path it takes.
#include "day04_argmax/argmax.hpp"

#include "common/tensor/transform.hpp"

namespace sixdays::day04_argmax {

void check_argmax(const View<const float>& in, int dim, const View<std::int64_t>& out) {
    const int d = checked_dim("argmax", dim, in.rank());
    if (in.extent(d) == 0) {
        refuse("argmax over dim " + std::to_string(d) + " of shape " + to_string(in.layout.shape) +
               ": there is no element to point at");
    }
    require_lines("argmax", in, {d}, out);
}

void check_argmax(ArgmaxPath path, const View<const float>& in, int dim,
                  const View<std::int64_t>& out) {
    check_argmax(in, dim, out);
    if (out.size() > 0) require_path("argmax", path, lines_of("argmax", in, {dim}));
}

ArgmaxPath choose_argmax(const View<const float>& in, int dim, bool workspace) {
    return choose_path(lines_of("argmax", in, {dim}), workspace);
}

std::int64_t argmax_workspace_bytes(const View<const float>& in, int dim) {
    const Lines lines = lines_of("argmax", in, {dim});
    return lines.count() == 0 ? 0 : workspace_bytes(lines);
}

}  // namespace sixdays::day04_argmax
