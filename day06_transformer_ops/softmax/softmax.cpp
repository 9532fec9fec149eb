// The argument checks of softmax and its variants, and the choice of their path.
#include "day06_transformer_ops/softmax/softmax.hpp"

#include "common/tensor/names.hpp"
#include "day06_transformer_ops/softmax/softmax_plan.hpp"

namespace sixdays::day06_transformer_ops {

// --- choice of path ------------------------------------------------------------------------------
namespace {

// The path 'shared' counts vectors in 32 bits.
template <class T>
bool lies_along_memory(const View<const T>& in, int d) {
    return (in.stride(d) == 1 || in.extent(d) == 1) && in.extent(d) < (std::int64_t{1} << 32);
}

template <class T>
bool rows_can_be_held(const View<const T>& in, int d, const View<T>& out) {
    return can_be_held(in, d) && can_be_held(out, d);
}

}  // namespace

template <class T>
SoftmaxPath choose_row_softmax(const View<const Same<T>>& in, int dim, const View<T>& out) {
    const int d = checked_dim("softmax", dim, in.rank());
    if (rows_can_be_held<T>(in, d, out)) return SoftmaxPath::registers;
    // Rows across memory: threads of neighbouring rows read neighbouring elements: coalesced.
    return lies_along_memory(in, d) ? SoftmaxPath::shared : SoftmaxPath::thread_per_row;
}

namespace {

// Few, long rows: one block per row would be too few blocks for a GPU.
bool may_be_shared(const Shape& in, int d) {
    return in[d] >= 16 * kSplitPart && size(in) / in[d] <= 8;
}

}  // namespace

template <class T>
SoftmaxPath choose_softmax(const View<const Same<T>>& in, int dim, const View<T>& out,
                           bool workspace) {
    const int d = checked_dim("softmax", dim, in.rank());
    if (workspace && may_be_shared(in.shape(), d)) return SoftmaxPath::split;
    const SoftmaxPath path = choose_row_softmax<T>(in, d, out);
    return path == SoftmaxPath::shared && in.extent(d) <= 1024 ? SoftmaxPath::warp_per_row : path;
}

template <class T>
View<float> softmax_parts(gpu::Carver& carver, const View<const T>& in, int dim) {
    const std::int64_t length = in.extent(checked_dim("softmax", dim, in.rank()));
    if (length == 0) return {};
    return carver.take<float>({in.size() / length, (length + kSplitPart - 1) / kSplitPart, 2});
}

template <class T>
std::int64_t softmax_workspace_bytes(const View<const T>& in, int dim,
                                     std::optional<SoftmaxPath> path) {
    const int d = checked_dim("softmax", dim, in.rank());
    require_known_path("softmax", path);
    const bool split = path ? path == SoftmaxPath::split : may_be_shared(in.shape(), d);
    if (!split) return 0;
    return gpu::bytes_to_carve([&](gpu::Carver& c) { return softmax_parts(c, in, d); });
}

// --- argument checks -----------------------------------------------------------------------------
namespace {

// Rejects views that `path` does not support. `siblings`: the operation has only thread_per_row,
// registers and shared.
template <class T>
void check_path(const char* op, std::optional<SoftmaxPath> path, const View<const T>& in, int d,
                const View<T>& out, bool siblings) {
    require_known_path(op, path);
    if (!path) return;
    if (siblings && (path == SoftmaxPath::warp_per_row || path == SoftmaxPath::online ||
                     path == SoftmaxPath::split || path == SoftmaxPath::tile)) {
        reject(op, ": only softmax has the path '", name(*path), "'");
    }
    if (in.size() == 0) return;
    if (path == SoftmaxPath::registers && !rows_can_be_held<T>(in, d, out)) {
        reject(op, (kHeldNeeds + to_string(in.layout)), ", out ", out.layout,
               ", and rows run along dimension ", d);
    }
    if (path == SoftmaxPath::tile && !rows_take_tiles<T>(in, d, out)) {
        reject(op, (": the path 'tile' needs rows" + at_one_step()), "; in has ", in.layout,
               ", out ", out.layout, ", and rows run along dimension ", d);
    }
    if (path == SoftmaxPath::shared && !lies_along_memory(in, d)) {
        reject(op, ": the path 'shared' needs rows of in along memory; in has ", in.layout,
               ", and rows run along dimension ", d);
    }
}

}  // namespace

template <class T>
void check_softmax(const View<const Same<T>>& in, int dim, const View<T>& out,
                   std::optional<SoftmaxPath> path) {
    const int d = checked_dim("softmax", dim, in.rank());
    check_rows<T>("softmax", in, out);
    check_path<T>("softmax", path, in, d, out, false);
}

template <class T>
void check_log_softmax(const View<const Same<T>>& in, int dim, const View<T>& out,
                       std::optional<SoftmaxPath> path) {
    const int d = checked_dim("log_softmax", dim, in.rank());
    check_rows<T>("log_softmax", in, out);
    check_path<T>("log_softmax", path, in, d, out, true);
}

template <class T>
void check_masked_softmax(const View<const Same<T>>& in, const View<const std::uint8_t>& mask,
                          int dim, const View<T>& out, std::optional<SoftmaxPath> path) {
    const int d = checked_dim("masked_softmax", dim, in.rank());
    check_rows<T>("masked_softmax", in, out);
    (void)with_prefix("masked_softmax: mask", [&] { return broadcast_to(mask, in.shape()); });
    require_memory("masked_softmax", "mask", mask);
    require_apart("masked_softmax", "mask", mask, "out", out);
    check_path<T>("masked_softmax", path, in, d, out, true);
    if (path == SoftmaxPath::shared) reject("masked_softmax: it has no path 'shared'");
}

template <class T>
void check_causal_softmax(const View<const Same<T>>& in, const View<T>& out,
                          std::optional<SoftmaxPath> path) {
    const int r = in.rank();
    if (r < 2 || in.extent(r - 2) > in.extent(r - 1)) {
        reject("causal_softmax: in has shape ", in.shape(),
               ", but scores have shape (..., T, S) with T <= S: token t sees t + 1 + S - T of S");
    }
    check_rows<T>("causal_softmax", in, out);
    check_path<T>("causal_softmax", path, in, r - 1, out, true);
}

const char* name(SoftmaxPath path) {
    static constexpr Named<SoftmaxPath> kNames[] = {
        {SoftmaxPath::thread_per_row, "thread per row"},
        {SoftmaxPath::warp_per_row, "warp per row"},
        {SoftmaxPath::online, "online"},
        {SoftmaxPath::registers, "registers"},
        {SoftmaxPath::shared, "shared"},
        {SoftmaxPath::split, "split"},
        {SoftmaxPath::tile, "tile"},
    };
    return name_in(kNames, path);
}

template void check_softmax<float>(const View<const float>&, int, const View<float>&,
                                   std::optional<SoftmaxPath>);
template void check_log_softmax<float>(const View<const float>&, int, const View<float>&,
                                       std::optional<SoftmaxPath>);
template void check_masked_softmax<float>(const View<const float>&, const View<const std::uint8_t>&,
                                          int, const View<float>&, std::optional<SoftmaxPath>);
template void check_causal_softmax<float>(const View<const float>&, const View<float>&,
                                          std::optional<SoftmaxPath>);
template SoftmaxPath choose_softmax<float>(const View<const float>&, int, const View<float>&, bool);
template SoftmaxPath choose_row_softmax<float>(const View<const float>&, int, const View<float>&);
template View<float> softmax_parts(gpu::Carver&, const View<const float>&, int);
template std::int64_t softmax_workspace_bytes(const View<const float>&, int,
                                              std::optional<SoftmaxPath>);
template void check_softmax<bf16>(const View<const bf16>&, int, const View<bf16>&,
                                  std::optional<SoftmaxPath>);
template void check_log_softmax<bf16>(const View<const bf16>&, int, const View<bf16>&,
                                      std::optional<SoftmaxPath>);
template void check_masked_softmax<bf16>(const View<const bf16>&, const View<const std::uint8_t>&,
                                         int, const View<bf16>&, std::optional<SoftmaxPath>);
template void check_causal_softmax<bf16>(const View<const bf16>&, const View<bf16>&,
                                         std::optional<SoftmaxPath>);
template SoftmaxPath choose_softmax<bf16>(const View<const bf16>&, int, const View<bf16>&, bool);
template SoftmaxPath choose_row_softmax<bf16>(const View<const bf16>&, int, const View<bf16>&);
template View<float> softmax_parts(gpu::Carver&, const View<const bf16>&, int);
template std::int64_t softmax_workspace_bytes(const View<const bf16>&, int,
                                              std::optional<SoftmaxPath>);

}  // namespace sixdays::day06_transformer_ops
