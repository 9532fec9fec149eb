/// @file
/// Descriptors of the matrix products, for tests (common/testing/operation/operation.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/tensor/arguments.hpp"
#include "common/tensor/index.hpp"
#include "common/testing/inputs.hpp"
#include "common/testing/operation/rows.hpp"
#include "day05_matmul/matmul_bf16.hpp"
#include "day05_matmul/steps/matmul_bf16/operands.hpp"
#include "day05_matmul/tests/helpers.hpp"

namespace sixdays::day05_matmul {

using testing::Call;

/// Placement of an operand: the layout of its matrices, the offset of its first element from a
/// multiple of 16 bytes in elements, and the extra elements between the matrices of a stack.
struct Placement {
    MatrixOrder order = MatrixOrder::row_major;
    std::int64_t lead = 0, gap = 0;
};

/// One call of a product.
struct Product {
    std::int64_t M = 0, N = 0, K = 0;
    Epilogue then = {};            // its bias is an operand
    std::int64_t bias_stride = 1;  // 0: no bias
    Placement a = {}, b = {}, out = {};
    Shape stack_a = {}, stack_b = {};
    // Random floats, whose rounding errors the bound allows; else integers, whose sums are exact in
    // any order.
    bool floats = false;

    [[nodiscard]] Shape shape_of_a() const { return with(stack_a, M, K); }
    [[nodiscard]] Shape shape_of_b() const { return with(stack_b, K, N); }
    [[nodiscard]] Shape shape_of_out() const {
        return with(broadcast_shapes(stack_a, stack_b), M, N);
    }
    /// As in BLAS, alpha = 0 sums nothing.
    [[nodiscard]] std::int64_t depth() const { return then.alpha == 0 ? 0 : K; }
};

/// The error bound of adding K products in any order, and of four steps of the epilogue, relative
/// to the sum of all magnitudes.
///
/// float: u = 2^-24 is half a unit in the last place. A product is rounded once and takes part in
/// at most K - 1 additions, so it carries K factors (1 + d), |d| <= u: gamma(K + 4) with
/// gamma(n) = n u / (1 - n u).
///
/// 16 bits: a product has at most 22 significant bits, so it is exact in a float, and only adding
/// rounds. A tensor core adds 8 products and the sum so far at once: it shifts the nine to the
/// exponent of the largest and truncates what is below 24 bits, 2^-23 of the largest each, whatever
/// their order (Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores",
/// PeerJ Computer Science 7, 2021). So nine times 2^-23 for each of K / 8 steps.
template <class T>
double product_error(std::int64_t K) {
    if (!std::is_same_v<T, float>) return (9 * double((K + 7) / 8) + 4) * 0x1p-23;
    const double nu = (double(K) + 4) * 0x1p-24;
    return nu / (1 - nu);
}

/// Operands: a, b, out, bias.
template <class T, class Out>
testing::Expected expect_product(const Product& p, const testing::Inputs& inputs) {
    testing::Expected want(p.shape_of_out());
    const Shape& shape = want.value.shape();
    const int m = shape.rank - 2, n = shape.rank - 1;
    Shape shape_a = shape, shape_b = shape;
    shape_a[n] = shape_b[m] = p.K;
    const View<const double> a = broadcast_to(View<const double>(inputs[0]->view()), shape_a),
                             b = broadcast_to(View<const double>(inputs[1]->view()), shape_b);
    const bool biased = p.bias_stride != 0 && inputs[3];
    // A row of outputs at a time, so that b, which is row-major, is read along its rows.
    std::vector<double> sums(static_cast<std::size_t>(p.N)), magnitudes(sums.size());
    for (std::int64_t row = 0; row < want.value.size(); row += p.N) {
        const Index at_a = unravel(row, shape);
        Index at_b = at_a;
        at_b[m] = 0;
        const double* const row_of_a = a.data + offset(a.layout, at_a);
        const double* row_of_b = b.data + offset(b.layout, at_b);
        std::fill(sums.begin(), sums.end(), 0);
        std::fill(magnitudes.begin(), magnitudes.end(), 0);
        for (std::int64_t k = 0; k < p.depth(); ++k, row_of_b += b.stride(m)) {
            const double x = row_of_a[k * a.stride(n)];
            for (std::size_t j = 0; j < sums.size(); ++j) {
                const double product = x * row_of_b[j];
                sums[j] += product, magnitudes[j] += std::fabs(product);
            }
        }
        for (std::size_t j = 0; j < sums.size(); ++j) {
            const std::int64_t column = static_cast<std::int64_t>(j), i = row + column;
            double sum = sums[j], magnitude = magnitudes[j];
            const double bias = biased ? (*inputs[3])(column) : 0;
            if (p.depth() > 0) sum *= double(p.then.alpha), magnitude *= std::fabs(p.then.alpha);
            const double old = p.then.beta == 0 ? 0 : double(p.then.beta) * inputs[2]->data()[i];
            double& y = want.value.data()[i];
            double& error = want.error.data()[i];
            y = sum + old + bias;
            y = p.then.relu && y < 0 ? 0 : y;  // a NaN stays
            if (p.floats)
                error = product_error<T>(p.K) * (magnitude + std::fabs(old) + std::fabs(bias));
            if (p.then.swish) {
                // The slope of swish is between -0.1 and 1.1; exp, the addition and the division
                // cost 16 units.
                y = y / (1 + std::exp(-y));
                error = 1.1 * error + 16 * 0x1p-24 * std::fabs(y);
            }
            if constexpr (!std::is_same_v<Out, float>) {  // rounded once more
                const double unit = std::is_same_v<Out, bf16> ? 0x1p-8 : 0x1p-11;
                if (error == 0)
                    y = double(float(Out(float(y))));
                else
                    error += unit * (std::fabs(y) + error) + 0x1p-25;
            }
            if (std::isnan(y)) error = 0;
        }
    }
    return want;
}

/// Operands, values and the exact result, common to all element types.
template <class T, class Out = float>
testing::Operation product_operation(const char* name, const Product& p) {
    using namespace testing;
    constexpr std::int64_t kVector = 16 / std::int64_t{sizeof(T)};
    const auto values = [&p](std::uint64_t seed) -> Values {
        if (p.floats) {
            return [seed](std::int64_t k) { return 2 * testing::detail::uniform(seed, k) - 1; };
        }
        return [seed](std::int64_t k) {
            return double(testing::detail::random_bits(seed, k) % 19) - 9;
        };
    };
    const auto place = [](Operand x, const Placement& at, std::int64_t vector) {
        Layout layout = layout_of(x.shape, at.order, vector);
        if (x.shape.rank > 2) {
            layout.strides[0] += at.gap;
            if (x.use == Use::reads) x.broadcasts();
        }
        return x.placed(layout, at.lead);
    };
    const bool reads_out = p.then.beta != 0;
    Operation op{
        name,
        {place(reads<T>("a", p.shape_of_a()).with(values(1)), p.a, kVector),
         place(reads<T>("b", p.shape_of_b()).with(values(2)), p.b, kVector),
         place(
             updates<Out>("out", p.shape_of_out()).with(reads_out ? values(3) : all_equal_to(NAN)),
             p.out, 16 / std::int64_t{sizeof(Out)})}};
    if (p.bias_stride != 0) {
        op.operands.push_back(reads<float>("bias", {p.N})
                                  .may_be_null()
                                  .with(values(4))
                                  .placed(Layout({p.N}, {p.bias_stride})));
    }
    op.exact = [p](const Inputs& inputs, int) {
        return std::vector{expect_product<T, Out>(p, inputs)};
    };
    return op;
}

/// The epilogue of a call.
inline Epilogue epilogue_of(const Product& p, const Call& c) {
    Epilogue then = p.then;
    if (p.bias_stride != 0) then.bias = c.in<float>(3);
    return then;
}

// --- what the paths require, derived from the addresses of all rows ------------------------------

/// Are the rows of every matrix contiguous, each from a multiple of 16 bytes? `bytes`: per element.
inline bool has_rows_of_vectors(const Call::Argument& x, std::int64_t bytes) {
    return testing::has_aligned_rows(x, x.layout.rank() - 1, bytes);
}
inline Call::Argument turned(const Call::Argument& x) {
    return {x.data, transpose(x.layout)};
}

/// Are all strides of a matrix, or of the bias, nonnegative?
inline bool has_tiles(const Call& c) {
    return gpu::has_tile() &&
           std::all_of(c.arguments.begin(), c.arguments.end(), [](const Call::Argument& x) {
               return goes_forwards(x, std::max(0, x.layout.rank() - 2));
           });
}

/// Does a tile of 64 x 64 or 32 x 128 fit, after transposing so that rows of out are contiguous?
inline bool has_whole_tiles(const Product& p, const Call::Argument& out) {
    const int m = out.layout.rank() - 2, n = m + 1;
    const bool turned =
        p.N > 1 && out.layout.stride(n) != 1 && p.M > 1 && out.layout.stride(m) == 1;
    const std::int64_t M = turned ? p.N : p.M, N = turned ? p.M : p.N;
    return p.depth() >= 16 && ((M >= 64 && N >= 64) || (M >= 32 && N >= 128));
}

/// Can K be cut into 2 to `most` equal parts of at least 64?
inline bool has_parts(std::int64_t K, std::int64_t most) {
    for (std::int64_t parts = 2; parts <= most; ++parts) {
        if (K % parts == 0 && K / parts >= 64) return true;
    }
    return false;
}

// --- float ---------------------------------------------------------------------------------------

/// Operands: a, b, out and, unless bias_stride is 0, bias.
inline testing::Operation matmul_operation(const Product& p) {
    testing::Operation op = product_operation<float>("matmul", p);
    op.cpu = [=](const Call& c) {
        matmul_cpu(c.in<float>(0), c.in<float>(1), epilogue_of(p, c), c.out<float>(2));
    };
    op.cuda = [=](const Call& c) {
        matmul_cuda(c.in<float>(0), c.in<float>(1), epilogue_of(p, c), c.out<float>(2), c.how<P>());
    };
    op.needed_bytes = [](const Call& c) {
        return matmul_workspace_bytes(c.in<float>(0), c.in<float>(1), c.out<float>(2),
                                      c.asked<P>());
    };

    const bool empty = size(p.shape_of_out()) == 0;
    const std::int64_t K = p.depth();
    const auto always = [](const Call&) { return true; };
    const auto vectors = [](int i) {
        return [i](const Call& c) {
            return has_rows_of_vectors(c.arguments[static_cast<std::size_t>(i)], 4);
        };
    };
    const auto a = vectors(0), b = vectors(1), out = vectors(2);
    const auto of_all = [=](const Call& c) { return empty || (a(c) && b(c) && out(c)); };
    const auto of_b_and_out = [=](const Call& c) { return empty || (b(c) && out(c)); };
    const auto whole = [=](const Call& c) { return has_whole_tiles(p, c.arguments[2]); };
    const auto parts = [=](const Call& c) {
        if (whole(c)) return has_parts(K, 16);
        const std::int64_t tiles =
            (p.M + 15) / 16 * ((p.N + 127) / 128) * (size(p.shape_of_out()) / (p.M * p.N));
        return p.M <= p.N && p.M < 64 && b(c) && has_parts(K, 2 * gpu::multiprocessors() / tiles);
    };
    const auto set = [&](P path, const char* kernel, std::function<bool(const Call&)> accepts) {
        op.takes(path, kernel, std::move(accepts));
    };
    set(P::one_element, "matmul_kernel", always);  // for fewer than 524,281 columns
    set(P::lanes_along_n, "matmul_lanes_along_n_kernel", always);
    set(P::shared_tile, "matmul_shared_tile_kernel", always);
    set(P::transposed_tile, "matmul_transposed_tile_kernel", always);
    set(P::column_per_thread, "matmul_column_per_thread_kernel", always);
    set(P::square_per_thread, "matmul_square_per_thread_kernel", always);
    set(P::vectorized, "matmul_vectorized_kernel", of_all);
    set(P::warp_tiles, "matmul_warp_tiles_kernel", of_all);
    set(P::ring, "matmul_ring_kernel", of_b_and_out);
    set(P::fragments, "matmul_fragments_kernel", of_b_and_out);
    set(P::serpentine, "matmul_serpentine_kernel", of_b_and_out);
    set(P::spread_copies, "matmul_spread_copies_kernel", of_b_and_out);
    set(P::whole_tiles, "matmul_whole_tiles_kernel",
        [=](const Call& c) { return empty || whole(c); });
    set(P::skinny, "", [=](const Call&) { return empty || std::min(p.M, p.N) < 64; });
    set(P::split_k, "matmul_add_parts_kernel", [=](const Call& c) { return empty || parts(c); });
    set(P::shallow, "matmul_shallow_kernel", always);
    set(P::tile, "matmul_tile", [=](const Call& c) { return empty || has_tiles(c); });
    op.best = [=](const Call& c) {
        if (K <= 32 && std::min(p.M, p.N) > 16) return static_cast<int>(P::shallow);
        // With the workspace that matmul_workspace_bytes() returns, if that is not 0.
        const bool pays =
            K > 32 && matmul_workspace_bytes(c.in<float>(0), c.in<float>(1), c.out<float>(2)) > 0;
        return static_cast<int>(pays ? P::split_k : whole(c) ? P::whole_tiles : P::skinny);
    };
    return op;
}

// --- 16 bits -------------------------------------------------------------------------------------

/// Are the rows, or else the columns, of every matrix contiguous, each from a multiple of 16 bytes?
inline bool has_vectors(const Call::Argument& x) {
    return has_rows_of_vectors(x, 2) || has_rows_of_vectors(turned(x), 2);
}
/// Does every row of 16-bit elements begin at a multiple of 128 bytes?
inline bool begins_at_lines(const Call::Argument& x) {
    bool all = true;
    testing::for_each_row(x.layout.shape, x.layout.rank() - 1, [&](const Index& at) {
        all = all && reinterpret_cast<std::uintptr_t>(x.data + 2 * offset(x.layout, at)) % 128 == 0;
    });
    return all;
}
/// And do they begin in rising order without overlap, as TMA needs them?
inline bool has_apart_vectors(const Call::Argument& x) {
    if (x.layout.size() == 0) return true;
    const Layout rows = (has_rows_of_vectors(x, 2) ? x : turned(x)).layout;
    const int m = rows.rank() - 2;
    return has_vectors(x) && (rows.extent(m) == 1 || rows.stride(m) >= rows.extent(m + 1));
}
/// Operands: a, b, out and, unless bias_stride is 0, bias.
/// @tparam Out  float or T
template <class T, class Out = float>
testing::Operation matmul_bf16_operation(const Product& p) {
    using Path = MatmulBf16Path;
    testing::Operation op = product_operation<T, Out>("matmul_bf16", p);
    op.cpu = [=](const Call& c) {
        matmul_bf16_cpu<T>(c.in<T>(0), c.in<T>(1), epilogue_of(p, c), c.out<Out>(2));
    };
    op.cuda = [=](const Call& c) {
        matmul_bf16_cuda<T>(c.in<T>(0), c.in<T>(1), epilogue_of(p, c), c.out<Out>(2),
                            c.how<Path>());
    };

    const bool empty = size(p.shape_of_out()) == 0;
    const auto always = [](const Call&) { return true; };
    const auto vectors = [](const Call& c) {
        return has_vectors(c.arguments[0]) && has_vectors(c.arguments[1]);
    };
    const auto apart = [](const Call& c) {
        return has_apart_vectors(c.arguments[0]) && has_apart_vectors(c.arguments[1]);
    };
    const auto set = [&](Path path, const char* kernel, std::function<bool(const Call&)> accepts) {
        op.takes(path, kernel, [=](const Call& c) { return empty || accepts(c); });
    };
    set(Path::one_element, "matmul_bf16_kernel", always);  // for fewer than 524,281 rows
    constexpr bool kFloats = std::is_same_v<Out, float>;
    const auto if_floats = [](const auto& accepts) {
        return [=](const Call& c) { return kFloats && accepts(c); };
    };
    set(Path::one_warp, "matmul_bf16_one_warp_kernel", if_floats(always));
    set(Path::shared_tiles, "matmul_bf16_shared_tiles_kernel", always);
    set(Path::ring, "matmul_bf16_ring_kernel", if_floats(vectors));
    set(Path::fragments_ahead, "matmul_bf16_fragments_ahead_kernel", vectors);
    const auto on_hopper = [=](const Call& c) { return testing::runs_hopper() && apart(c); };
    set(Path::warpgroups, "matmul_bf16_warpgroups_kernel", if_floats(on_hopper));
    set(Path::persistent, "matmul_bf16_persistent_kernel", if_floats(on_hopper));
    const auto by_engine = [=](const Call& c) {
        const Call::Argument& out = c.arguments[2];
        const std::int64_t bytes = sizeof(Out);
        const int m = out.layout.rank() - 2;
        return p.then.alpha == 1 && !p.then.swish && p.N * bytes % 16 == 0 &&
               out.layout.stride(m + 1) == 1 && has_rows_of_vectors(out, bytes) &&
               (p.M == 1 || out.layout.stride(m) >= p.N);
    };
    set(Path::ping_pong, "matmul_bf16_ping_pong_kernel",
        [=](const Call& c) { return on_hopper(c) && by_engine(c); });
    set(Path::tile, "matmul_tile", if_floats(has_tiles));
    op.best = [=](const Call& c) {
        if (gpu::on_hopper() && apart(c)) {
            const auto in_lines = [](const Call::Argument& x) {
                return begins_at_lines(has_rows_of_vectors(x, 2) ? x : turned(x));
            };
            const bool turns = !kFloats || (in_lines(c.arguments[0]) && in_lines(c.arguments[1]) &&
                                            takes_turns(p.M, p.N, p.K, gpu::multiprocessors()));
            if (turns && by_engine(c)) return static_cast<int>(Path::ping_pong);
            if (kFloats) return static_cast<int>(Path::persistent);
        }
        return static_cast<int>(vectors(c) ? Path::fragments_ahead : Path::shared_tiles);
    };
    return op;
}

/// Only one path of an operation, and no CPU reference: for tests specific to that path.
template <class Path>
testing::Operation by_path(testing::Operation op, Path path) {
    const auto fixed = [path](const auto& f) {
        return [f, path](Call c) {
            c.path = static_cast<int>(path);
            return f(c);
        };
    };
    op.paths = {op.path(path)};
    op.exact = [exact = op.exact, path](const testing::Inputs& inputs, int) {
        return exact(inputs, static_cast<int>(path));
    };
    op.cpu = {};
    op.cuda = fixed(op.cuda);
    if (op.needed_bytes) op.needed_bytes = fixed(op.needed_bytes);
    op.best = {};
    op.without_path = false;
    return op;
}

}  // namespace sixdays::day05_matmul
