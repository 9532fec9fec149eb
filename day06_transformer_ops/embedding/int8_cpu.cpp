// The CPU references.
#include <cmath>
#include <vector>

#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/embedding/int8.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

void quantize_int8_loop(View<const float> in, View<const std::uint8_t> kept,
                        View<std::int8_t> values, View<float> scales) {
    for (std::int64_t r = 0; r < in.extent(0); ++r) {
        float largest = 0;
        for (std::int64_t c = 0; c < in.extent(1); ++c) {
            const float size = std::fabs(in(r, c));
            const bool counts = kept.data == nullptr || kept(c) == 0;
            if (counts && (size > largest || size != size)) largest = size;  // NaN propagates
        }
        const bool finite = largest < INFINITY;
        const float scale = finite ? largest / 127 : NAN;
        scales(r) = scale;
        for (std::int64_t c = 0; c < in.extent(1); ++c) {
            const bool counts = kept.data == nullptr || kept(c) == 0;
            const float steps = counts && scale > 0 ? std::rint(in(r, c) / scale) : 0;
            values(r, c) = static_cast<std::int8_t>(std::fmin(std::fmax(steps, -127.0f), 127.0f));
        }
    }
}

}  // namespace

void quantize_int8_cpu(View<const float> in, ScalePer per, View<const std::uint8_t> kept,
                       View<std::int8_t> values, View<float> scales) {
    check_quantize_int8(in, per, kept, values, scales);
    if (per == ScalePer::row) return quantize_int8_loop(in, kept, values, scales);
    quantize_int8_loop(transpose(in), kept, transpose(values), scales);  // its rows are the columns
}

void dequantize_int8_cpu(View<const std::int8_t> values, ScalePer per, View<const float> scales,
                         View<float> out) {
    check_dequantize_int8(values, per, scales, out);
    for (std::int64_t r = 0; r < out.extent(0); ++r) {
        for (std::int64_t c = 0; c < out.extent(1); ++c) {
            const float scale = scales(per == ScalePer::row ? r : c);
            out(r, c) = static_cast<float>(values(r, c)) * scale;
        }
    }
}

void outlier_columns_cpu(View<const float> in, double sigmas, View<std::uint8_t> kept) {
    const char* const op = "outlier_columns";
    require_rank(op, "in", in, 2);
    if (kept.shape() != Shape{in.extent(1)}) {
        reject("outlier_columns: kept has shape ", kept.shape(), ", but in has shape ", in.shape(),
               "; it needs one element per column");
    }
    require_memory(op, "in", in);
    require_injective(op, "kept", kept);
    require_memory(op, "kept", kept);
    if (overlap(in, kept)) reject("outlier_columns: in overlaps kept");
    if (!(sigmas >= 0)) {
        reject("outlier_columns: sigmas is ", sigmas, ", but must be 0 or more");
    }
    const std::int64_t C = in.extent(1);
    std::vector<double> largest(static_cast<std::size_t>(C), 0.0);
    double mean = 0, squares = 0;
    for (std::int64_t c = 0; c < C; ++c) {
        double& most = largest[static_cast<std::size_t>(c)];
        for (std::int64_t r = 0; r < in.extent(0); ++r) {
            most = std::fmax(most, std::fabs(static_cast<double>(in(r, c))));
        }
        mean += most / static_cast<double>(C);
    }
    for (const double most : largest) squares += (most - mean) * (most - mean);
    const double deviation = std::sqrt(squares / static_cast<double>(C));
    for (std::int64_t c = 0; c < C; ++c) {
        kept(c) = largest[static_cast<std::size_t>(c)] > mean + sigmas * deviation ? 1 : 0;
    }
}

}  // namespace sixdays::day06_transformer_ops
