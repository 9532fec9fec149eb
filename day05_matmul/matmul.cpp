// Which arguments matmul rejects, and which path it takes.
#include "day05_matmul/matmul.hpp"

#include <algorithm>

#include "common/gpu/tile.hpp"
#include "common/tensor/arguments.hpp"
#include "common/tensor/half.hpp"
#include "common/tensor/names.hpp"
#include "day05_matmul/stack.hpp"
#include "day05_matmul/steps/matmul/problem.hpp"
#include "day05_matmul/tiles.hpp"

namespace sixdays::day05_matmul {

// --- what is rejected ----------------------------------------------------------------------------
namespace {

void require_matrix(const std::string& op, const char* name, const Layout& layout) {
    if (layout.rank() < 2) {
        reject(op, ": ", name, " has shape ", layout.shape, " of rank ", layout.rank(),
               ", but a matrix needs at least rank 2; unsqueeze() makes a row or a column of a "
               "vector");
    }
}

// The shape that out must have.
Shape product_shape(const std::string& op, const Layout& a, const Layout& b) {
    const std::int64_t K = a.extent(a.rank() - 1);
    if (b.extent(b.rank() - 2) != K) {
        reject(op, ": a has shape ", a.shape, ", so K is ", K, ", but b has shape ", b.shape,
               ", whose second to last extent is ", b.extent(b.rank() - 2));
    }
    Shape shape = with_prefix(op + ": the stacks of a and b", [&] {
        return broadcast_shapes(stack_of(a).shape, stack_of(b).shape);
    });
    if (shape.rank + 2 > kMaxRank) reject(op, ": more than ", kMaxRank, " dims");
    shape.rank += 2;
    shape[shape.rank - 2] = a.extent(a.rank() - 2);
    shape[shape.rank - 1] = b.extent(b.rank() - 1);
    return shape;
}

// All checks that views without memory allow.
template <class Out>
void require_shapes(const std::string& op, const Layout& a, const Layout& b,
                    const Epilogue& epilogue, View<Out> out) {
    require_matrix(op, "a", a);
    require_matrix(op, "b", b);
    const Shape wanted = product_shape(op, a, b);
    if (out.layout.shape != wanted) {
        reject(op, ": a has shape ", a.shape, " and b ", b.shape, ", so out must have ", wanted,
               ", but has ", out.layout.shape);
    }
    const View<const float> bias = epilogue.bias;
    if (bias.data != nullptr && (bias.rank() != 1 || bias.extent(0) != wanted[wanted.rank - 1])) {
        reject(op, ": bias has shape ", bias.layout.shape, ", but out ", wanted, " needs (",
               wanted[wanted.rank - 1], "), one element per column");
    }
    if (epilogue.relu && epilogue.swish) {
        reject(op, ": relu and swish are both set; choose one of them");
    }
    require_injective(op.c_str(), "out", out);
}

void require_path(MatmulPath path, View<const float> a, View<const float> b,
                  const Epilogue& epilogue, View<float> out, const Problem& x) {
    const std::string needs = path == MatmulPath::tile
                                  ? missing_for_tiles(a.layout, b.layout, epilogue, out.layout)
                                  : missing(path, x);
    if (needs.empty()) return;
    reject("matmul: the path '", name(path), "' needs ", needs, "; a has ", a.layout, ", b ",
           b.layout, ", out ", out.layout);
}

}  // namespace

template <class T, class Out>
void require_product(const char* op, View<const T> a, View<const T> b, const Epilogue& epilogue,
                     View<Out> out) {
    require_shapes(op, a.layout, b.layout, epilogue, out);
    require_memory(op, "a", a);
    require_memory(op, "b", b);
    require_memory(op, "out", out);
    require_apart(op, "a", a, "out", out);
    require_apart(op, "b", b, "out", out);
    if (epilogue.bias.data != nullptr) require_apart(op, "bias", epilogue.bias, "out", out);
}

#define SIXDAYS_FOR(T, Out)                                                                   \
    template void require_product(const char*, View<const T>, View<const T>, const Epilogue&, \
                                  View<Out>);
SIXDAYS_FOR(float, float)
SIXDAYS_FOR(bf16, float)
SIXDAYS_FOR(bf16, bf16)
SIXDAYS_FOR(f16, float)
SIXDAYS_FOR(f16, f16)
#undef SIXDAYS_FOR

// --- which path ----------------------------------------------------------------------------------

namespace {

bool all_have_vectors(const Problem& x) {
    return a_has_vectors(x) && b_has_vectors(x) && out_has_vectors(x);
}
bool b_and_out_have_vectors(const Problem& x) {
    return b_has_vectors(x) && out_has_vectors(x);
}

const auto& matmul_paths() {
    using P = MatmulPath;
    static constexpr char kRows[] =
        "out whose rows are contiguous and begin at multiples of 16 bytes";
    static const std::string all_rows = sentence("a, b and ", kRows),
                             b_and_out = sentence("b and ", kRows);
    static const PathEntry<P, Problem> all[] = {
        {P::one_element, "one element", [](const Problem& x) { return x.N <= kMostRows; },
         sentence("at most ", kMostRows, " columns")},
        {P::lanes_along_n, "lanes along N"},
        {P::shared_tile, "shared tile"},
        {P::transposed_tile, "transposed tile"},
        {P::column_per_thread, "column per thread"},
        {P::square_per_thread, "square per thread"},
        {P::vectorized, "vectorized", all_have_vectors, all_rows},
        {P::warp_tiles, "warp tiles", all_have_vectors, all_rows},
        {P::ring, "ring", b_and_out_have_vectors, b_and_out},
        {P::fragments, "fragments", b_and_out_have_vectors, b_and_out},
        {P::serpentine, "serpentine", b_and_out_have_vectors, b_and_out},
        {P::spread_copies, "spread copies", b_and_out_have_vectors, b_and_out},
        {P::whole_tiles, "whole tiles", has_whole_tiles,
         "a K of at least 16, and room for a tile of 64 x 64 or 32 x 128"},
        {P::skinny, "skinny", [](const Problem& x) { return std::min(x.M, x.N) < kSkinny; },
         sentence("fewer than ", kSkinny, " rows, or columns, of out")},
        {P::split_k, "split K", [](const Problem& x) { return parts_of(x) > 0; },
         "a K that splits into equal parts of at least 64, and outputs for whole tiles, or rows of "
         "b for step 14"},
        {P::shallow, "shallow"},
        {P::tile, "tile"},  // missing_for_tiles() checks it
    };
    return all;
}

}  // namespace

std::string missing(MatmulPath path, const Problem& x) {
    return missing_in(matmul_paths(), path, x);
}

const char* name(MatmulPath path) {
    return name_in(matmul_paths(), path);
}

std::string missing_for_tiles(const Layout& a, const Layout& b, const Epilogue& epilogue,
                              const Layout& out) {
    const View<const float> bias = epilogue.bias;
    const auto forwards = [](const Layout& x) {  // of a stack, each matrix
        return gpu::goes_forwards(matrix_at<float>(nullptr, x).layout);
    };
    if (!forwards(a) || !forwards(b) || !forwards(out)) {
        return "rows and columns with " + gpu::kNoNegativeStride;
    }
    if (bias.data == nullptr || gpu::goes_forwards(bias.layout)) return "";
    return "a bias with " + gpu::kNoNegativeStride + ", and it has " + to_string(bias.layout);
}

std::int64_t matmul_workspace_bytes(View<const float> a, View<const float> b, View<float> out,
                                    std::optional<MatmulPath> path) {
    require_shapes("matmul", a.layout, b.layout, {}, out);
    require_known_path("matmul", path);
    if (out.size() == 0) return 0;
    const Problem x = problem_of(a, b, {}, out);
    if (path) require_path(*path, a, b, {}, out, x);
    return (path ? *path == MatmulPath::split_k : parts_pay(x)) ? bytes_for_parts(x) : 0;
}

// The choice follows what dominates: writing out (short K); multiplying or reading b with too few
// blocks; multiplying; reading b.
MatmulPath choose(const Problem& x, std::int64_t workspace_bytes) {
    const std::int64_t narrow = std::min(x.M, x.N);
    if (x.K <= kShallow && narrow > kNarrow) return MatmulPath::shallow;
    if (workspace_bytes > 0 && parts_pay(x) && workspace_bytes >= bytes_for_parts(x))
        return MatmulPath::split_k;
    return has_whole_tiles(x) ? MatmulPath::whole_tiles : MatmulPath::skinny;
}

MatmulPath choose_matmul(View<const float> a, View<const float> b, const Epilogue& epilogue,
                         View<float> out, gpu::Workspace workspace) {
    return choose(problem_of(a, b, epilogue, out), workspace.bytes);
}

MatmulPlan plan_matmul(View<const float> a, View<const float> b, const Epilogue& epilogue,
                       View<float> out, const gpu::Launch<MatmulPath>& how) {
    require_product("matmul", a, b, epilogue, out);
    require_known_path("matmul", how.path);
    if (out.size() == 0) return {};  // nothing will be launched
    const Problem x = problem_of(a, b, epilogue, out);
    if (how.path) require_path(*how.path, a, b, epilogue, out, x);
    return {how.path ? *how.path : choose(x, how.workspace.bytes), x};
}

}  // namespace sixdays::day05_matmul
