/// @file
/// The descriptor of transpose, for its tests (common/testing/operation/operation.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/gpu/tile.hpp"
#include "day03_views/tests/moves.hpp"
#include "day03_views/transpose.hpp"

namespace sixdays::day03_views {

/// A stack of matrices, as it is laid out in memory.
struct Stack {
    std::int64_t rows, columns;
    bool along_memory;    // the elements of a row
    bool forwards;        // from row to row
    bool no_gaps;         // the rows of a matrix are one run
    bool rows_at_16;      // every row begins at a multiple of 16 bytes
    bool matrices_at_16;  // every matrix does
};
inline Stack stack_of(const Call::Argument& x, int bytes) {
    const int m = x.layout.rank() - 2;
    const std::int64_t M = x.layout.extent(m), N = x.layout.extent(m + 1);
    Stack s{M,
            N,
            N == 1 || x.layout.stride(m + 1) == 1,
            M == 1 || x.layout.stride(m) >= 0,
            M == 1 || x.layout.stride(m) == N,
            true,
            true};
    for (std::int64_t k = 0; k < x.layout.size(); k += N) {
        const Index row = unravel(k, x.layout.shape);
        const auto address =
            reinterpret_cast<std::uintptr_t>(x.data) +
            static_cast<std::uintptr_t>(std::int64_t{bytes} * offset(x.layout, row));
        s.rows_at_16 = s.rows_at_16 && address % 16 == 0;
        s.matrices_at_16 = s.matrices_at_16 && (row[m] > 0 || address % 16 == 0);
    }
    return s;
}

/// The requirements of each path, from transpose.hpp, for matrices with elements.
struct Transposing {
    int bytes;
    Stack in, out;
    Transposing(int e, const Call::Argument& from, const Call::Argument& to)
        : bytes(e), in(stack_of(from, e)), out(stack_of(to, e)) {}

    [[nodiscard]] bool has_vectors() const { return in.rows_at_16 && out.rows_at_16; }
    [[nodiscard]] bool has_short_vectors() const {
        const Stack &rows = in.columns < in.rows ? in : out, &columns = &rows == &in ? out : in;
        return bytes <= 4 && rows.no_gaps && rows.matrices_at_16 && columns.rows_at_16;
    }
    [[nodiscard]] bool takes(TransposePath path) const {
        const bool is_short = std::min(in.rows, in.columns) <= 32;
        switch (path) {
            case TransposePath::one_element:
            case TransposePath::in_flight:
                return true;
            case TransposePath::write_coalesced:
            case TransposePath::shared_tile:
            case TransposePath::padded:
                return bytes == 4;
            case TransposePath::vectorized:
                return bytes == 4 && has_vectors();
            case TransposePath::small_elements:
                return bytes <= 2 && has_vectors();
            case TransposePath::whole_sectors:
                return bytes == 2 || bytes == 4;
            case TransposePath::short_rows:
                return is_short;
            case TransposePath::short_rows_vectorized:
                return is_short && has_short_vectors();
            case TransposePath::tile:
                return gpu::has_tile() && bytes <= 8 && in.forwards && out.forwards;
        }
        return false;
    }
    [[nodiscard]] TransposePath best() const {
        if ((in.rows <= 32) != (in.columns <= 32)) {
            return has_short_vectors() ? TransposePath::short_rows_vectorized
                                       : TransposePath::short_rows;
        }
        if (bytes <= 4 && has_vectors()) {
            return bytes == 4 ? TransposePath::vectorized : TransposePath::small_elements;
        }
        return bytes == 2 || bytes == 4 ? TransposePath::whole_sectors : TransposePath::in_flight;
    }
    [[nodiscard]] std::string kernel(TransposePath path) const {
        static constexpr const char* kKernels[] = {"",
                                                   "_write_coalesced",
                                                   "_shared_tile",
                                                   "_padded",
                                                   "_in_flight",
                                                   "_vectorized",
                                                   "_small_elements",
                                                   "_whole_sectors",
                                                   "_short_rows",
                                                   ""};
        if (path == TransposePath::tile) return "transpose_tile";
        if (path == TransposePath::short_rows_vectorized) {
            return in.columns < in.rows ? "transpose_rows_to_columns_kernel"
                                        : "transpose_columns_to_rows_kernel";
        }
        return std::string("transpose") + kKernels[static_cast<int>(path)] + "_kernel";
    }
};

/// Operands: in (..., M, N), out (..., N, M).
inline Operation transpose_operation(int bytes, const Place& in, const Place& out) {
    using namespace testing;
    Operation op{"transpose", {input("in", bytes, in), output("out", bytes, out)}};
    op.cpu = [=](const Call& c) {
        transpose_untyped_cpu(untyped_in(c, 0, bytes), untyped_out(c, 1, bytes));
    };
    op.cuda = [=](const Call& c) {
        transpose_untyped_cuda(untyped_in(c, 0, bytes), untyped_out(c, 1, bytes),
                               c.how<TransposePath>());
    };
    op.exact = [shape = out.layout.shape](const Inputs& inputs, int) {
        std::vector<Expected> all = {Expected(shape)};
        for (std::int64_t k = 0; k < size(shape); ++k) {
            Index from = unravel(k, shape);
            std::swap(from[shape.rank - 2], from[shape.rank - 1]);
            all[0].value.data()[k] = inputs[0]->view()(from);
        }
        return all;
    };
    op.paths = paths_of<TransposePath>();
    if (in.layout.size() == 0) return op;
    const auto of = [=](const Call& c) {
        return Transposing(bytes, c.arguments[0], c.arguments[1]);
    };
    for (std::size_t p = 0; p < op.paths.size(); ++p) {
        const auto path = static_cast<TransposePath>(p);
        op.paths[p].accepts = [=](const Call& c) {
            const Transposing t = of(c);
            return t.in.along_memory && t.out.along_memory && t.takes(path);
        };
        op.paths[p].kernel_of = [=](const Call& c) { return of(c).kernel(path); };
    }
    op.best = [=](const Call& c) { return static_cast<int>(of(c).best()); };
    return op;
}
inline Operation transpose_operation(int bytes, const Shape& in) {
    Shape out = in;
    std::swap(out[out.rank - 2], out[out.rank - 1]);
    return transpose_operation(bytes, row_major(in), row_major(out));
}

}  // namespace sixdays::day03_views
