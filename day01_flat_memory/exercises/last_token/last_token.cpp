// Argument checks shared by the CPU reference and the CUDA version.
#include "day01_flat_memory/exercises/last_token/last_token.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day01_flat_memory {

void check_last_token(const View<const float>& in, const View<float>& out) {
    const char* const op = "last_token";
    require_rank(op, "in", in, 3);
    if (in.extent(1) < 1) {
        reject("last_token: in has shape ", in.layout.shape,
               "; with 0 tokens there is no last token");
    }
    const Shape wanted{in.extent(0), in.extent(2)};
    if (out.layout.shape != wanted) {
        reject("last_token: out has shape ", out.layout.shape, ", but for in of shape ",
               in.layout.shape, " it must be ", wanted);
    }
    require_contiguous(op, "in", in);
    require_contiguous(op, "out", out);
    require_memory(op, "in", in);
    require_memory(op, "out", out);
    if (overlap(in, out)) reject("last_token: in and out overlap");
}

}  // namespace sixdays::day01_flat_memory
