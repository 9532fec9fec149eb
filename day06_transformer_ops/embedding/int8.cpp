// The argument checks of INT8 quantization.
#include "day06_transformer_ops/embedding/int8.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

template <class T>
void require_scales(const char* op, const Shape& matrix, ScalePer per, const View<T>& scales) {
    if (per != ScalePer::row && per != ScalePer::column) {  // an enum can hold any number
        reject(op, ": scale per ", static_cast<int>(per),
               " does not exist; it must be one of: row, column");
    }
    const Shape wanted{matrix[per == ScalePer::row ? 0 : 1]};
    if (scales.shape() != wanted) {
        reject(op, ": scales has shape ", scales.shape(), ", but a matrix of shape ", matrix,
               " with a scale per ", (per == ScalePer::row ? "row" : "column"), " needs ", wanted);
    }
}

}  // namespace

void check_quantize_int8(const View<const float>& in, ScalePer per,
                         const View<const std::uint8_t>& kept, const View<std::int8_t>& values,
                         const View<float>& scales) {
    const char* const op = "quantize_int8";
    require_rank(op, "in", in, 2);
    require_same_shape(op, "in", in, "values", values);
    require_scales(op, in.shape(), per, scales);
    if (kept.rank() > 0 || kept.data != nullptr) {
        if (per == ScalePer::column) {
            reject(
                "quantize_int8: kept needs a scale per row; with a scale per column an outlier "
                "column changes no other");
        }
        if (kept.shape() != Shape{in.extent(1)}) {
            reject("quantize_int8: kept has shape ", kept.shape(), ", but in has shape ",
                   in.shape(), "; it needs one element per column");
        }
        require_memory(op, "kept", kept);
        require_apart(op, "kept", kept, "values", values);
        require_apart(op, "kept", kept, "scales", scales);
    }
    require_memory(op, "in", in);
    require_injective(op, "values", values);
    require_memory(op, "values", values);
    require_injective(op, "scales", scales);
    require_memory(op, "scales", scales);
    require_apart(op, "in", in, "values", values);
    require_apart(op, "in", in, "scales", scales);
    require_apart(op, "scales", scales, "values", values);
}

void check_dequantize_int8(const View<const std::int8_t>& values, ScalePer per,
                           const View<const float>& scales, const View<float>& out) {
    const char* const op = "dequantize_int8";
    require_rank(op, "values", values, 2);
    require_same_shape(op, "values", values, "out", out);
    require_scales(op, values.shape(), per, scales);
    require_memory(op, "values", values);
    require_memory(op, "scales", scales);
    require_output(op, out);
    require_apart(op, "values", values, "out", out);
    require_apart(op, "scales", scales, "out", out);
}

}  // namespace sixdays::day06_transformer_ops
