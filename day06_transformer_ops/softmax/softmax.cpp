// What loops and ports of softmax and its siblings refuse, and which path is taken.
#include "day06_transformer_ops/softmax/softmax.hpp"

namespace sixdays::day06_transformer_ops {

// --- what is refused -----------------------------------------------------------------------------

template <class T>
void check_softmax(const View<const Same<T>>& in, int dim, const View<T>& out) {
    (void)checked_dim("softmax", dim, in.rank());
    check_rows<T>("softmax", in, out);
}

template <class T>
void check_masked_softmax(const View<const Same<T>>& in, const View<const std::uint8_t>& mask,
                          int dim, const View<T>& out) {
    (void)checked_dim("masked_softmax", dim, in.rank());
    check_rows<T>("masked_softmax", in, out);
    try {
        (void)broadcast_to(mask, in.shape());
    } catch (const std::invalid_argument& refused) {
        refuse(std::string("masked_softmax: mask: ") + refused.what());
    }
    require_memory("masked_softmax", "mask", mask);
    if (overlap(mask, out)) {
        refuse("masked_softmax: mask overlaps out, and would be overwritten before it was read");
    }
}

template <class T>
void check_causal_softmax(const View<const Same<T>>& in, const View<T>& out) {
    const int r = in.rank();
    if (r < 2 || in.extent(r - 2) > in.extent(r - 1)) {
        refuse("causal_softmax: in has shape " + to_string(in.shape()) +
               ", but scores have shape (..., T, S) with T <= S: token t sees t + 1 + S - T of S");
    }
    check_rows<T>("causal_softmax", in, out);
}

template <class T>
void check_cross_entropy(const View<const T>& logits, const View<const std::int64_t>& targets,
                         const View<float>& out) {
    if (logits.rank() == 0 || logits.extent(logits.rank() - 1) == 0) {
        refuse("cross_entropy: logits have shape " + to_string(logits.shape()) +
               ", but need a last dim with at least one logit");
    }
    const Shape wanted = rows_along(logits, logits.rank() - 1).first.layout.shape;
    if (targets.shape() != wanted || out.shape() != wanted) {
        refuse("cross_entropy: logits have shape " + to_string(logits.shape()) +
               ", so targets and out must have " + to_string(wanted) + ", not " +
               to_string(targets.shape()) + " and " + to_string(out.shape()));
    }
    require_memory("cross_entropy", "logits", logits);
    require_memory("cross_entropy", "targets", targets);
    require_output("cross_entropy", out);
    if (overlap(logits, out) || overlap(targets, out)) {
        refuse("cross_entropy: out overlaps an input, which would be overwritten too early");
    }
}

// --- which path ----------------------------------------------------------------------------------
namespace {

// The path 'shared' counts quads in 32 bits.
template <class T>
bool lies_along_memory(const View<const T>& in, int d) {
    return (in.stride(d) == 1 || in.extent(d) == 1) && in.extent(d) < (std::int64_t{1} << 32);
}

template <class T>
void check_path(const char* op, SoftmaxPath path, const View<const T>& in, int d,
                const View<T>& out) {
    if (in.size() == 0) return;
    const bool held = can_be_held(in, d) && can_be_held(out, d);
    if (path == SoftmaxPath::registers && !held) {
        refuse(op + (kHeldNeeds + to_string(in.layout)) + ", out " + to_string(out.layout) +
               ", and rows lie along dim " + std::to_string(d));
    }
    if (path == SoftmaxPath::shared && !lies_along_memory(in, d)) {
        refuse(std::string(op) + ": the path 'shared' needs rows of in along memory; in has " +
               to_string(in.layout) + ", and rows lie along dim " + std::to_string(d));
    }
}

void refuse_softmax_only(const char* op, SoftmaxPath path) {
    if (path == SoftmaxPath::warp_a_row || path == SoftmaxPath::online ||
        path == SoftmaxPath::split) {
        refuse(std::string(op) + ": the path '" + name(path) + "' is softmax' only");
    }
}

}  // namespace

template <class T>
void check_softmax(SoftmaxPath path, const View<const Same<T>>& in, int dim, const View<T>& out) {
    check_softmax<T>(in, dim, out);
    check_path<T>("softmax", path, in, checked_dim("softmax", dim, in.rank()), out);
}

template <class T>
void check_log_softmax(SoftmaxPath path, const View<const Same<T>>& in, int dim,
                       const View<T>& out) {
    check_softmax<T>(in, dim, out);
    refuse_softmax_only("log_softmax", path);
    check_path<T>("log_softmax", path, in, checked_dim("softmax", dim, in.rank()), out);
}

template <class T>
void check_causal_softmax(SoftmaxPath path, const View<const Same<T>>& in, const View<T>& out) {
    check_causal_softmax<T>(in, out);
    refuse_softmax_only("causal_softmax", path);
    check_path<T>("causal_softmax", path, in, in.rank() - 1, out);
}

template <class T>
SoftmaxPath choose_log_softmax(const View<const Same<T>>& in, int dim, const View<T>& out) {
    const int d = checked_dim("softmax", dim, in.rank());
    if (can_be_held(in, d) && can_be_held(out, d)) return SoftmaxPath::registers;
    // Rows across memory: the threads of neighbouring rows read neighbours, and no lane is idle.
    return lies_along_memory(in, d) ? SoftmaxPath::shared : SoftmaxPath::thread_a_row;
}

template <class T>
SoftmaxPath choose_softmax(const View<const Same<T>>& in, int dim, const View<T>& out,
                           bool workspace) {
    const std::int64_t length = in.extent(checked_dim("softmax", dim, in.rank()));
    if (workspace && length >= 16 * kSplitPart && in.size() / length <= 8) {
        return SoftmaxPath::split;
    }
    const SoftmaxPath path = choose_log_softmax<T>(in, dim, out);
    return path == SoftmaxPath::shared && length <= 1024 ? SoftmaxPath::warp_a_row : path;
}

template <class T>
View<float> softmax_parts(gpu::Carver& carver, const View<const T>& in, int dim) {
    const std::int64_t length = in.extent(checked_dim("softmax", dim, in.rank()));
    if (length == 0) return {};
    return carver.take<float>({in.size() / length, (length + kSplitPart - 1) / kSplitPart, 2});
}

template <class T>
std::int64_t softmax_workspace_bytes(const View<const T>& in, int dim) {
    return gpu::bytes_to_carve([&](gpu::Carver& c) { return softmax_parts(c, in, dim); });
}

const char* name(SoftmaxPath path) {
    switch (path) {
        case SoftmaxPath::thread_a_row:
            return "thread a row";
        case SoftmaxPath::warp_a_row:
            return "warp a row";
        case SoftmaxPath::online:
            return "online";
        case SoftmaxPath::registers:
            return "registers";
        case SoftmaxPath::shared:
            return "shared";
        case SoftmaxPath::split:
            return "split";
    }
    return "";
}

template void check_softmax<float>(const View<const float>&, int, const View<float>&);
template void check_softmax<float>(SoftmaxPath, const View<const float>&, int, const View<float>&);
template void check_log_softmax<float>(SoftmaxPath, const View<const float>&, int,
                                       const View<float>&);
template void check_masked_softmax<float>(const View<const float>&, const View<const std::uint8_t>&,
                                          int, const View<float>&);
template void check_causal_softmax<float>(const View<const float>&, const View<float>&);
template void check_causal_softmax<float>(SoftmaxPath, const View<const float>&,
                                          const View<float>&);
template void check_cross_entropy<float>(const View<const float>&, const View<const std::int64_t>&,
                                         const View<float>&);
template SoftmaxPath choose_softmax<float>(const View<const float>&, int, const View<float>&, bool);
template SoftmaxPath choose_log_softmax<float>(const View<const float>&, int, const View<float>&);
template View<float> softmax_parts(gpu::Carver&, const View<const float>&, int);
template std::int64_t softmax_workspace_bytes(const View<const float>&, int);
template void check_softmax<bf16>(const View<const bf16>&, int, const View<bf16>&);
template void check_softmax<bf16>(SoftmaxPath, const View<const bf16>&, int, const View<bf16>&);
template void check_log_softmax<bf16>(SoftmaxPath, const View<const bf16>&, int, const View<bf16>&);
template void check_masked_softmax<bf16>(const View<const bf16>&, const View<const std::uint8_t>&,
                                         int, const View<bf16>&);
template void check_causal_softmax<bf16>(const View<const bf16>&, const View<bf16>&);
template void check_causal_softmax<bf16>(SoftmaxPath, const View<const bf16>&, const View<bf16>&);
template void check_cross_entropy<bf16>(const View<const bf16>&, const View<const std::int64_t>&,
                                        const View<float>&);
template SoftmaxPath choose_softmax<bf16>(const View<const bf16>&, int, const View<bf16>&, bool);
template SoftmaxPath choose_log_softmax<bf16>(const View<const bf16>&, int, const View<bf16>&);
template View<float> softmax_parts(gpu::Carver&, const View<const bf16>&, int);
template std::int64_t softmax_workspace_bytes(const View<const bf16>&, int);

}  // namespace sixdays::day06_transformer_ops
