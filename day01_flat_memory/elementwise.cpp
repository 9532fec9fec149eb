// The argument checks that CPU references and kernels share, and the choice of the path.
#include "day01_flat_memory/elementwise.hpp"

#include <string>

#include "common/tensor/arguments.hpp"
#include "common/tensor/names.hpp"

namespace sixdays::day01_flat_memory {
namespace {

template <class T>
void check_input(const char* op, const char* name, const View<const T>& in, const View<T>& out) {
    require_same_shape(op, name, in, "out", out);
    require_contiguous(op, name, in);
    require_memory(op, name, in);
    require_same_or_apart(op, name, in, "out", out);
}

template <class T>
void check_output(const char* op, const View<T>& out) {
    require_contiguous(op, "out", out);
    require_memory(op, "out", out);
}

// float4 accesses need tensors whose addresses are equal modulo 16.
template <class T, class... In>
void check_path(const char* op, std::optional<ElementwisePath> path, const View<T>& out,
                const View<In>&... in) {
    require_known_path(op, path);
    if (path != ElementwisePath::vectorized || choose_elementwise(out, in...) == path) return;
    std::string past;
    for (const std::int64_t bytes : {misalignment(in.data)..., misalignment(out.data)}) {
        past += (past.empty() ? "" : ", ") + std::to_string(bytes);
    }
    reject(op, ": the path \"", name(*path),
           "\" needs tensors that begin equally far past a multiple of 16 bytes, but these begin ",
           past, " bytes past one; \"", name(ElementwisePath::any_address), "\" takes them");
}

}  // namespace

void check_square(const View<const float>& in, const View<float>& out,
                  std::optional<ElementwisePath> path) {
    check_output("square", out);
    check_input("square", "in", in, out);
    check_path("square", path, out, in);
}

void check_scale(const View<const float>& in, const View<float>& out,
                 std::optional<ElementwisePath> path) {
    check_output("scale", out);
    check_input("scale", "in", in, out);
    check_path("scale", path, out, in);
}

void check_saxpy(const View<const float>& x, const View<const float>& y, const View<float>& out,
                 std::optional<ElementwisePath> path) {
    check_output("saxpy", out);
    check_input("saxpy", "x", x, out);
    check_input("saxpy", "y", y, out);
    check_path("saxpy", path, out, x, y);
}

void check_add(const View<const float>& a, const View<const float>& b, const View<float>& out,
               std::optional<ElementwisePath> path) {
    check_output("add", out);
    check_input("add", "a", a, out);
    check_input("add", "b", b, out);
    check_path("add", path, out, a, b);
}

void check_invert(const View<const std::uint8_t>& in, const View<std::uint8_t>& out,
                  std::optional<ElementwisePath> path) {
    check_output("invert", out);
    check_input("invert", "in", in, out);
    check_path("invert", path, out, in);
}

const char* name(ElementwisePath path) {
    static constexpr Named<ElementwisePath> kNames[] = {
        {ElementwisePath::one_element, "one element per thread"},
        {ElementwisePath::grid_stride, "grid-stride loop"},
        {ElementwisePath::vectorized, "vectorized"},
        {ElementwisePath::any_address, "any address"},
        {ElementwisePath::tile, "tile"},
    };
    return name_in(kNames, path);
}

}  // namespace sixdays::day01_flat_memory
