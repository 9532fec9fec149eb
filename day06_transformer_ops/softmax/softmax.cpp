// What a call of softmax or a variant rejects, and which path it takes.
#include "day06_transformer_ops/softmax/softmax.hpp"

#include "common/tensor/names.hpp"
#include "day06_transformer_ops/softmax/softmax_plan.hpp"

namespace sixdays::day06_transformer_ops {

// --- the paths -----------------------------------------------------------------------------------
namespace {

// The path 'shared' counts vectors in 32 bits.
template <class T>
bool along_memory(const SoftmaxPlan<T>& p) {
    return p.in.stride == 1 && p.in.length < (std::int64_t{1} << 32);
}
template <class T>
bool held(const SoftmaxPlan<T>& p) {
    return can_be_held(p.in) && can_be_held(p.out);
}
template <class T>
bool in_tiles(const SoftmaxPlan<T>& p) {
    return rows_take_tiles(p.in, p.out);
}

template <class T>
const auto& softmax_paths() {
    static const PathEntry<SoftmaxPath, SoftmaxPlan<T>> all[] = {
        {SoftmaxPath::thread_per_row, "thread per row"},
        {SoftmaxPath::warp_per_row, "warp per row"},
        {SoftmaxPath::online, "online"},
        {SoftmaxPath::registers, "registers", held<T>, kHeldNeeds},
        {SoftmaxPath::shared, "shared", along_memory<T>, "rows of in along memory"},
        {SoftmaxPath::split, "split"},
        {SoftmaxPath::tile, "tile", in_tiles<T>, "rows" + at_one_step()},
    };
    return all;
}

bool has_path(SoftmaxKind kind, SoftmaxPath path) {
    if (path == SoftmaxPath::shared) return kind != SoftmaxKind::masked_softmax;
    return kind == SoftmaxKind::softmax || path == SoftmaxPath::thread_per_row ||
           path == SoftmaxPath::registers;
}

// Few, long rows: one block per row would be too few blocks for a GPU.
template <class T>
bool may_be_split(const Rows<T>& rows) {
    return rows.length >= 16 * kSplitPart && rows.count() <= 8;
}

template <class T>
SoftmaxPath best_path(SoftmaxKind kind, const SoftmaxPlan<T>& p, bool workspace) {
    const bool plain = kind == SoftmaxKind::softmax;
    if (plain && workspace && may_be_split(p.in)) return SoftmaxPath::split;
    if (held(p)) return SoftmaxPath::registers;
    if (plain && along_memory(p) && p.in.length <= 1024) return SoftmaxPath::warp_per_row;
    // Rows across memory: threads of neighbouring rows read neighbouring elements: coalesced.
    return has_path(kind, SoftmaxPath::shared) && along_memory(p) ? SoftmaxPath::shared
                                                                  : SoftmaxPath::thread_per_row;
}

}  // namespace

const char* name(SoftmaxPath path) {
    return name_in(softmax_paths<float>(), path);
}

const char* name(SoftmaxKind kind) {
    static constexpr Named<SoftmaxKind> kNames[] = {
        {SoftmaxKind::softmax, "softmax"},
        {SoftmaxKind::log_softmax, "log_softmax"},
        {SoftmaxKind::masked_softmax, "masked_softmax"},
        {SoftmaxKind::causal_softmax, "causal_softmax"},
    };
    return name_in(kNames, kind);
}

// --- the decision --------------------------------------------------------------------------------

template <class T>
SoftmaxPlan<T> plan_softmax(SoftmaxKind kind, const View<const Same<T>>& in, int dim,
                            const View<T>& out, const gpu::Launch<SoftmaxPath>& how,
                            const View<const std::uint8_t>& mask) {
    const char* const op = name(kind);
    const int r = in.rank();
    if (kind == SoftmaxKind::causal_softmax && (r < 2 || in.extent(r - 2) > in.extent(r - 1))) {
        reject(op, ": in has shape ", in.shape(),
               ", but scores have shape (..., T, S) with T <= S: token t sees t + 1 + S - T of S");
    }
    const int d = checked_dim(op, dim, r);
    check_rows<T>(op, in, out);
    SoftmaxPlan<T> p{SoftmaxPath::thread_per_row, rows_along(in, d), rows_along(out, d)};
    if (kind == SoftmaxKind::masked_softmax) {
        p.mask = with_prefix("masked_softmax: mask",
                             [&] { return rows_along(broadcast_to(mask, in.shape()), d); });
        require_memory(op, "mask", mask);
        require_apart(op, "mask", mask, "out", out);
    }
    require_known_path(op, how.path);
    p.path = how.path.value_or(best_path(kind, p, bool(how.workspace)));
    if (!has_path(kind, p.path)) reject(op, ": it has no path '", name(p.path), "'");
    if (in.size() == 0) return p;
    require_support(op, softmax_paths<T>(), p.path, p, "; in has ", in.layout, ", out ", out.layout,
                    ", and rows run along dimension ", d);
    return p;
}

template <class T>
std::int64_t softmax_workspace_bytes(const View<const T>& in, int dim,
                                     std::optional<SoftmaxPath> path) {
    const Rows<const T> rows = rows_along(in, checked_dim("softmax", dim, in.rank()));
    require_known_path("softmax", path);
    const bool split = path ? path == SoftmaxPath::split : may_be_split(rows);
    if (!split) return 0;
    return gpu::bytes_to_carve([&](gpu::Carver& c) { return softmax_parts(c, rows); });
}

template SoftmaxPlan<float> plan_softmax(SoftmaxKind, const View<const float>&, int,
                                         const View<float>&, const gpu::Launch<SoftmaxPath>&,
                                         const View<const std::uint8_t>&);
template std::int64_t softmax_workspace_bytes(const View<const float>&, int,
                                              std::optional<SoftmaxPath>);
template SoftmaxPlan<bf16> plan_softmax(SoftmaxKind, const View<const bf16>&, int,
                                        const View<bf16>&, const gpu::Launch<SoftmaxPath>&,
                                        const View<const std::uint8_t>&);
template std::int64_t softmax_workspace_bytes(const View<const bf16>&, int,
                                              std::optional<SoftmaxPath>);

}  // namespace sixdays::day06_transformer_ops
