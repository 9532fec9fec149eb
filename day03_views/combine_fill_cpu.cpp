// The plain loops that only write.
#include "day03_views/combine_fill.hpp"

#include "common/tensor/arguments.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/simplify.hpp"

namespace sixdays::day03_views {

// --- loops ---------------------------------------------------------------------------------------
namespace {

// [fill]
void fill_loop(float value, View<float> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        out(unravel(k, out.layout.shape)) = value;
    }
}
// [fill]

void check_output(const char* op, const View<float>& out) {
    require_injective(op, "out", out);
    require_memory(op, "out", out);
}

}  // namespace

void fill_cpu(float value, View<float> out) {
    check_fill(out);
    fill_loop(value, out);
}

// --- what loop and port refuse, in the same words ------------------------------------------------

void check_fill(const View<float>& out) {
    check_output("fill", out);
}

// --- which kernel the ports take -----------------------------------------------------------------

FillPath choose_fill(const View<float>& out) {
    const Layout simple = simplify(out.layout)[0];
    const bool one_run = simple.rank() == 1 && simple.stride(0) == 1;
    return one_run ? FillPath::quads : FillPath::any_layout;
}

const char* name(FillPath path) {
    return path == FillPath::quads ? "16 bytes a store" : "any layout";
}

}  // namespace sixdays::day03_views
