// Which arguments the structured products reject.
#include "day05_matmul/structured.hpp"

#include "common/tensor/arguments.hpp"
#include "common/tensor/names.hpp"

namespace sixdays::day05_matmul {
const char* name(Structure structure) {
    static constexpr Named<Structure> kNames[] = {
        {Structure::lower, "lower"},
        {Structure::upper, "upper"},
        {Structure::symmetric_lower, "symmetric lower"},
        {Structure::symmetric_upper, "symmetric upper"},
        {Structure::diagonal, "diagonal"},
    };
    return name_in(kNames, structure);
}

void check_structured_matmul(const View<const float>& a, Structure structure,
                             const View<const float>& b, const View<float>& out) {
    require_known("structured_matmul", "structure", structure);
    require_rank("structured_matmul", "a", a, 2);
    require_rank("structured_matmul", "b", b, 2);
    if (a.extent(0) != a.extent(1) || b.extent(0) != a.extent(0)) {
        reject("structured_matmul: a (", name(structure), ") has shape ", a.shape(), " and b ",
               b.shape(), ", but must have (M, M) and (M, N)");
    }
    require_same_shape("structured_matmul", "b", b, "out", out);
    require_output("structured_matmul", out);
    require_memory("structured_matmul", "a", a);
    require_apart("structured_matmul", "a", a, "out", out);
    require_memory("structured_matmul", "b", b);
    require_apart("structured_matmul", "b", b, "out", out);
}

}  // namespace sixdays::day05_matmul
