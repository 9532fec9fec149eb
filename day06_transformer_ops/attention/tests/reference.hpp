/// @file
/// What attention's tests share: the definition in float64, how far from it a path may be, and one
/// case by all paths.
#pragma once

#include "common/gpu/tile.hpp"
#include "common/testing/shared_workspace.hpp"
#include "day06_transformer_ops/attention/attention.hpp"
#include "day06_transformer_ops/tests/helpers.hpp"

namespace sixdays::day06_transformer_ops {

inline const std::vector<AttentionPath> kPaths = [] {
    std::vector<AttentionPath> all = {AttentionPath::four_passes,  AttentionPath::fused,
                                      AttentionPath::split_keys,   AttentionPath::tiles,
                                      AttentionPath::split_blocks, AttentionPath::wide_heads};
    if (gpu::has_tile()) all.push_back(AttentionPath::tile);
    return all;
}();

// Can this path take these views at all? Which ones it must take has a case of its own.
inline bool takes(AttentionPath path, View<const float> q, View<const float> k, View<const float> v,
                  View<float> out) {
    return testing::refusal([&] { check_attention(q, k, v, {}, out, path); }).empty();
}

// By one path, with the workspace that it asks for; twice if there is one: the second call finds
// what the first left.
inline void attend(AttentionPath path, View<const float> q, View<const float> k,
                   View<const float> v, const AttentionOptions& options, View<float> out) {
    const std::int64_t bytes = attention_workspace_bytes(q, k, v, path);
    testing::SharedWorkspace memory(bytes);
    for (int call = 0; call < (bytes > 0 ? 2 : 1); ++call) {
        attention_cuda(q, k, v, options, out, {.path = path, .workspace = memory.next(bytes)});
        CHECK(memory.kept());
    }
}

// Whole quarters in no order: golden_attention.py's few().
inline Tensor<float> few(const Shape& shape, std::int64_t factor, std::int64_t period) {
    return few_values_of(shape, factor, period);
}

struct Case {
    Tensor<float> q, k, v;  // (..., T, D), (..., S, D), (..., S, D), of equal stacks
    bool causal = true;
    double scale = 0;           // 0: 1 / sqrt(D)
    std::int64_t counted = -1;  // -1: S
};

inline Case case_of(const Shape& stack, std::int64_t T, std::int64_t S, std::int64_t D) {
    const auto shape = [&](std::int64_t rows) {
        Shape all = stack;
        all[all.rank++] = rows;
        all[all.rank++] = D;
        return all;
    };
    return {few(shape(T), 5, 13), few(shape(S), 7, 11), few(shape(S), 3, 17)};
}

// The definition in double, and attention.hpp's bound. A score is off by D + 2 units of
// scale |q| . |k|, 2 where log2(e) is multiplied in, and 2 where the maximum is subtracted; that
// moves its share and the sum. For each key the sum and the output are corrected and added to, a
// rounding each: 4 n. 40 are exp, the product and the division, and the joints of warps and blocks.
inline Expected wanted(const Case& c) {
    Expected want(c.q.shape());
    const int r = c.q.shape().rank;
    const std::int64_t T = c.q.shape()[r - 2], D = c.q.shape()[r - 1], S = c.k.shape()[r - 2];
    const std::int64_t counted = c.counted < 0 ? S : c.counted,
                       stack = c.q.size() / std::max<std::int64_t>(T * D, 1);
    const double scale = c.scale != 0 ? c.scale : 1 / std::sqrt(static_cast<double>(D));
    for (std::int64_t h = 0; h < stack; ++h) {
        const auto at = [D](const Tensor<float>& x, std::int64_t first, std::int64_t row,
                            std::int64_t d) {
            return static_cast<double>(x.data()[(first + row) * D + d]);
        };
        for (std::int64_t t = 0; t < T; ++t) {
            const std::int64_t n =
                c.causal ? std::max<std::int64_t>(counted - T + t + 1, 0) : counted;
            std::vector<double> score(static_cast<std::size_t>(n), 0.0);
            double m = -INFINITY, sum = 0, off = 0;
            for (std::int64_t s = 0; s < n; ++s) {
                double size = 0;
                for (std::int64_t d = 0; d < D; ++d) {
                    const double product = at(c.q, h * T, t, d) * at(c.k, h * S, s, d);
                    score[static_cast<std::size_t>(s)] += scale * product;
                    size += std::fabs(scale * product);
                }
                m = std::max(m, score[static_cast<std::size_t>(s)]);
                off = std::max(off, (static_cast<double>(D) + 6) * size);
            }
            for (double& x : score) {
                x = std::exp(x - m);
                sum += x;
            }
            for (std::int64_t d = 0; d < D; ++d) {
                double y = 0, size = 0;
                for (std::int64_t s = 0; s < n; ++s) {
                    const double term =
                        score[static_cast<std::size_t>(s)] / sum * at(c.v, h * S, s, d);
                    y += term;
                    size += std::fabs(term);
                }
                want.value.data()[(h * T + t) * D + d] = y;
                want.error.data()[(h * T + t) * D + d] =
                    std::isfinite(y) ? size * (2 * off + 4 * static_cast<double>(n) + 40) * kU : 0;
            }
        }
    }
    return want;
}

// What a test hands to attention: layouts of the four tensors, row-major ones if they are empty.
struct Layouts {
    Layout q, k, v, out;
    Lead lead_q = {}, lead_k = {}, lead_v = {}, lead_out = {};
};

inline void check_case(const Case& c, const Layouts& given = {}, bool tiles = true) {
    const auto or_row_major = [](const Layout& layout, const Tensor<float>& x) {
        return layout.rank() > 0 ? layout : row_major(x.shape());
    };
    const Layout lq = or_row_major(given.q, c.q), lk = or_row_major(given.k, c.k),
                 lv = or_row_major(given.v, c.v), lout = or_row_major(given.out, c.q);
    CAPTURE(to_string(lq), to_string(lk), to_string(lv), to_string(lout), c.causal, c.counted);
    const Expected want = wanted(c);
    const Tensor<std::int64_t> length(Shape{}, {c.counted});
    AttentionOptions options{c.causal, static_cast<float>(c.scale)};
    if (c.counted >= 0) options.length = length.view();
    HostIn<float> hq(c.q, lq), hk(c.k, lk), hv(c.v, lv);
    HostOut<float> loop(lout);
    attention_cpu(hq.view(), hk.view(), hv.view(), options, loop.view());
    CHECK(agrees(loop, want));
    DeviceIn<float> q(c.q, lq, given.lead_q), k(c.k, lk, given.lead_k), v(c.v, lv, given.lead_v);
    DeviceIn<std::int64_t> device_length(length);
    if (c.counted >= 0) options.length = device_length.view();
    for (const AttentionPath path : kPaths) {
        CAPTURE(name(path));
        DeviceOut<float> got(lout, given.lead_out);
        if (!takes(path, q.view(), k.view(), v.view(), got.view())) continue;
        if ((path == AttentionPath::tiles || path == AttentionPath::tile) && !tiles) continue;
        attend(path, q.view(), k.view(), v.view(), options, got.view());
        CHECK(agrees(got, want));
    }
    CHECK(q.unchanged());
    CHECK(k.unchanged());
    CHECK(v.unchanged());
}

}  // namespace sixdays::day06_transformer_ops
