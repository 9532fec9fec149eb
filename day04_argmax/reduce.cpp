// What loops and ports of the reductions refuse, and which path they take.
#include "day04_argmax/reduce.hpp"

#include "common/tensor/transform.hpp"

namespace sixdays::day04_argmax {
namespace {

// Of no element there is no largest one and no mean.
void require_elements(const char* op, const View<const float>& in, const Dims& dims) {
    if (lines_of(op, in, dims).length() > 0) return;
    refuse(std::string(op) + " over dims " + to_string(dims) + " of shape " +
           to_string(in.layout.shape) + ": there is no element");
}

void require_path_of(const char* op, ReducePath path, const View<const float>& in,
                     const Dims& dims) {
    const Lines lines = lines_of(op, in, dims);
    if (lines.count() > 0) require_path(op, path, lines);
}

}  // namespace

void check_argmin(const View<const float>& in, int dim, const View<std::int64_t>& out) {
    const int d = checked_dim("argmin", dim, in.rank());
    require_elements("argmin", in, {d});
    require_lines("argmin", in, {d}, out);
}

void check_argmin(ReducePath path, const View<const float>& in, int dim,
                  const View<std::int64_t>& out) {
    check_argmin(in, dim, out);
    require_path_of("argmin", path, in, {dim});
}

void check_reduce(Reduction what, const View<const float>& in, const Dims& dims,
                  const View<float>& out) {
    require_lines(name(what), in, dims, out);
    const bool of_nothing = what == Reduction::sum || what == Reduction::product;
    if (!of_nothing) require_elements(name(what), in, dims);
}

void check_reduce(ReducePath path, Reduction what, const View<const float>& in, const Dims& dims,
                  const View<float>& out) {
    check_reduce(what, in, dims, out);
    require_path_of(name(what), path, in, dims);
}

ReducePath choose_reduce(const View<const float>& in, const Dims& dims, bool workspace) {
    return choose_path(lines_of("reduce", in, dims), workspace);
}

std::int64_t reduce_workspace_bytes(const View<const float>& in, const Dims& dims) {
    const Lines lines = lines_of("reduce", in, dims);
    return lines.count() == 0 ? 0 : workspace_bytes(lines);
}

const char* name(Reduction what) {
    switch (what) {
        case Reduction::max:
            return "max";
        case Reduction::min:
            return "min";
        case Reduction::sum:
            return "sum";
        case Reduction::mean:
            return "mean";
        case Reduction::product:
            return "product";
    }
    return "";
}

}  // namespace sixdays::day04_argmax
