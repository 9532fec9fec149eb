// The argument checks, and the choice of a layer's path on the device.
#include "day06_transformer_ops/gpt2/weights/linear.hpp"

#include "common/tensor/arguments.hpp"
#include "common/tensor/names.hpp"
#include "common/tensor/vectorized.hpp"
#include "day06_transformer_ops/gpt2/weights/phase_shared.hpp"

namespace sixdays::gpt2 {

namespace {

// Weights (N, K) of a type.
void check_product(WeightType type, const std::byte* weights, std::int64_t N, std::int64_t K,
                   const View<const float>& x, const View<const float>& bias,
                   const View<float>& out) {
    const char* const op = "linear";
    (void)bytes_of(type, {N, K});  // rejects unknown types and rows of partial blocks
    require_rank(op, "x", x, 2);
    require_rank(op, "out", out, 2);
    if (x.extent(1) != K || out.extent(1) != N || x.extent(0) != out.extent(0)) {
        reject("linear: weights of ", N, " rows and ", K, " columns, x of shape ", x.shape(),
               " and out of shape ", out.shape(), " do not fit");
    }
    if (bias.data != nullptr) {
        require_rank(op, "bias", bias, 1);
        if (bias.extent(0) != N) {
            reject("linear: a bias of ", bias.extent(0), " for ", N, " outputs");
        }
    }
    if (weights == nullptr && N * K > 0) reject("linear: the weights are a null pointer");
    require_memory(op, "x", x);
    require_output(op, out);
    if (overlap(x, out)) reject("linear: x and out overlap");
}

}  // namespace

void check_linear(const Weight& w, const View<const float>& x, const View<const float>& bias,
                  const View<float>& out) {
    if (w.shape.rank != 2) reject("linear: w has shape ", w.shape);
    check_product(w.type, w.data, w.shape[0], w.shape[1], x, bias, out);
}

void check_linear(const DeviceMatrix& w, const View<const float>& x, const View<const float>& bias,
                  const View<float>& out, std::optional<LinearPath> path) {
    check_product(w.type, w.data, w.N, w.K, x, bias, out);
    require_known_path("linear", path);
    if (path == LinearPath::warp_per_row && choose_linear(w) != path) {
        reject("linear: path ", name(*path), " needs rows of ", storage_of(w.type).name,
               " that begin at multiples of 16 bytes, but row 0 begins ", misalignment(w.data),
               " bytes past one, and ", w.K,
               " columns make a row; it takes up to 24576, which is what shared memory holds");
    }
}

void check_linear_fast(const Weight& w, const View<const float>& x, const View<float>& out) {
    check_linear(w, x, {}, out);
    require_contiguous("linear", "x", x);
    if (out.extent(1) > 1 && out.stride(1) != 1) {
        reject("linear: the columns of out are ", out.stride(1),
               " elements apart, but this loop needs them contiguous");
    }
}

const char* name(LinearPath path) {
    static constexpr Named<LinearPath> kNames[] = {
        {LinearPath::one_output, "one_output"},
        {LinearPath::warp_per_row, "warp_per_row"},
    };
    return name_in(kNames, path);
}

// Rows are counted in ints; a grid's stride must fit as well.
constexpr std::int64_t kMostRows = std::int64_t{1} << 29;

LinearPath choose_linear(const DeviceMatrix& w) {
    const std::int64_t row = device_row_bytes(w.type, w.K);
    const bool vectors = misalignment(w.data) == 0 && row % kVectorBytes == 0;
    const bool takes = vectors && w.N < kMostRows && phase_fits(w.K, 0, slice_of(w.type));
    return takes ? LinearPath::warp_per_row : LinearPath::one_output;
}

}  // namespace sixdays::gpt2
