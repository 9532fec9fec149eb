// argmax and argmin: the CPU reference against known answers, every path against the reference,
// exactly.
#include "day04_argmax/argmax.hpp"

#include <limits>

#include "common/gpu/trace.hpp"
#include "common/tensor/index.hpp"
#include "day04_argmax/tests/golden.hpp"
#include "day04_argmax/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day04_argmax;
using namespace sixdays::testing;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kLowest = std::numeric_limits<float>::lowest();

// The line as the last dimension and as the first, alone and among others.
void check_line(const std::vector<float>& line, std::int64_t answer, bool largest = true) {
    const auto n = static_cast<std::int64_t>(line.size());
    CAPTURE(n, answer);
    CHECK((largest ? second_argmax(line) : second_argmin(line)) == answer);
    for (const auto& [rows, columns] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 1}, {1, 3}, {2, 40}}) {
        Tensor<float> x({rows, n, columns});
        for (std::int64_t k = 0; k < x.size(); ++k) {
            const std::int64_t r = k / (n * columns), i = k / columns % n, c = k % columns;
            // The others are rotated by their number.
            x.data()[k] = line[static_cast<std::size_t>((i + r + c) % n)];
        }
        check_all(x, row_major(x.shape()), 1, row_major({rows, columns}), 0, largest);
        HostOut<std::int64_t> out({rows, columns});
        (largest ? argmax_cpu : argmin_cpu)(x.view(), 1, out.view());
        CHECK(out.view()(0, 0) == answer);
    }
}

// --- known answers -------------------------------------------------------------------------------

TEST_CASE("ties, NaN, infinities and zeros are resolved as in NumPy", "[day04][argmax][small]") {
    for (const GoldenLine& golden : golden_lines) check_line(golden.line, golden.argmax);
}

TEST_CASE("argmin resolves ties, NaN, infinities and zeros as in NumPy", "[day04][argmin][small]") {
    for (const GoldenLine& golden : golden_lines) check_line(golden.line, golden.argmin, false);
}

TEST_CASE("argmax and argmin of views equal NumPy's", "[day04][argmax][argmin][small]") {
    const Tensor<float> base = golden_numbers();
    for (const GoldenReduction& golden : golden_reductions) {
        const Layout layout(golden.shape, golden.strides);
        for (const bool largest : {true, false}) {
            Operation op = argmax_operation(golden.shape, golden.dim, largest);
            op.operands[0].placed(layout).with([=](std::int64_t k) {
                const Index at = unravel(k, layout.shape);
                return double(base.data()[golden.first + offset(layout, at)]);
            });
            know(op, largest ? golden.argmax : golden.argmin);
            CHECK(computes_its_result(op));
        }
    }
}

TEST_CASE("argmax of 0 to 23 as (2, 3, 4) equals the result by hand", "[day04][argmax][small]") {
    Tensor<float> x({2, 3, 4});
    for (std::int64_t k = 0; k < 24; ++k) x.data()[k] = static_cast<float>(k);
    HostOut<std::int64_t> out({2, 4});
    argmax_cpu(x.view(), 1, out.view());
    CHECK(out.matches(Tensor<std::int64_t>({2, 4}, std::vector<std::int64_t>(8, 2))));
    check_all(x, 1);
    const Tensor<float> tie({4}, {8, 48, 39, 48});
    HostOut<std::int64_t> one{Shape{}};
    argmax_cpu(tie.view(), -1, one.view());
    CHECK(one.view()() == 1);
}

TEST_CASE("the lines of (2, 3, 4, 5, 6) over dim 2 begin at the offsets worked by hand",
          "[day04][lines][small]") {
    const float* nowhere = nullptr;
    const View<const float> in(nowhere, Shape{2, 3, 4, 5, 6});
    CHECK(in.layout.strides == Strides{360, 120, 30, 6, 1});
    const Lines lines = lines_of("test", in, {2});
    CHECK(lines.count() == 180);
    CHECK(lines.length() == 4);
    CHECK(lines.stride() == 30);
    const auto begins = [&](std::int64_t thread) {
        return offset(lines.first.layout, unravel(thread, lines.first.layout.shape));
    };
    CHECK(unravel(42, lines.first.layout.shape) == Index{0, 1, 2, 0});
    CHECK(begins(0) == 0);
    CHECK(begins(42) == 132);
    CHECK(begins(89) == 269);
    CHECK(begins(90) == 360);
    CHECK(begins(179) == 629);
    for (std::int64_t k = 0; k < 180; ++k) {  // round trip: no output is lost or repeated
        const Index at = unravel(k, lines.first.layout.shape);
        CHECK(ravel(at, lines.first.layout.shape) == k);
    }
}

// --- every shape, dimension and layout -----------------------------------------------------------

TEST_CASE("argmax is correct for all shapes with extents up to 3, along every dimension",
          "[day04][argmax][small]") {
    std::uint64_t seed = 1;
    for (int rank = 1; rank <= 4; ++rank) {
        packings::for_each_dims(rank, 1, 3, [&](const Shape& shape) {
            for (int dim = 0; dim < rank; ++dim) {
                const Tensor<float> x = seeded_integers<float>(shape, ++seed, 0, 2);
                HostOut<std::int64_t> want(without(shape, dim));
                argmax_cpu(x.view(), dim, want.view());
                CHECK(want.matches(second_formula(x.view(), dim)));
                if (shape[0] == 2) check_all(x, dim);
            }
        });
    }
}

TEST_CASE("in and out may have any order and direction of dimensions", "[day04][argmax][small]") {
    const Shape shape{2, 3, 5};
    const Tensor<float> x = seeded_integers<float>(shape, 5, 0, 3);
    for (int dim = 0; dim < 3; ++dim) {
        const Shape reduced = without(shape, dim);
        for (const std::int64_t pad : {0, 1}) {
            packings::for_each_packing(3, pad, [&](const packings::Packing& packing) {
                const Layout layout(shape, packings::strides_of(packing, shape));
                check_all(x, layout, dim, row_major(reduced), pad);
            });
            packings::for_each_packing(2, pad, [&](const packings::Packing& packing) {
                check_all(x, row_major(shape), dim,
                          Layout(reduced, packings::strides_of(packing, reduced)));
            });
        }
    }
}

TEST_CASE("argmax supports rank 8 and dimensions of extent 1", "[day04][argmax][small]") {
    const Tensor<float> x = seeded_integers<float>({2, 1, 3, 2, 1, 2, 3, 2}, 3, 0, 4);
    for (int dim = 0; dim < 8; ++dim) check_all(x, dim);
    Dims order{7, 2, 0, 5, 1, 3, 6, 4};
    const Layout mixed = permute(row_major({2, 3, 3, 2, 2, 2, 1, 1}), order);
    const Tensor<float> y = seeded_integers<float>(mixed.shape, 4, 0, 4);
    for (int dim = 0; dim < 8; ++dim) check_all(y, mixed, dim, row_major(without(y.shape(), dim)));
}

TEST_CASE("argmax handles boundary lengths at any address", "[day04][argmax][kernels][small]") {
    for (const std::int64_t n :
         {1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 80, 81, 144, 145, 256, 257}) {
        for (std::int64_t lead = 0; lead < 4; ++lead) {
            check_all(seeded_integers<float>({3, n}, 7, 0, 3 * n), 1, lead);
        }
        check_all(seeded_integers<float>({1, n, 35}, 8, 0, 3 * n), 1, n % 4);
    }
    for (const std::int64_t rows : {1, 127, 128, 129, 300}) {
        check_all(seeded_integers<float>({rows, 5}, 9, 0, 7), 1, rows % 4);
        check_all(seeded_integers<float>({rows, 6}, 9, 0, 7), 1);
        check_all(seeded_integers<float>({5, rows}, 9, 0, 7), 0, rows % 4);
        check_all(seeded_integers<float>({2, 20, rows}, 9, 0, 40), 1, rows % 4);
    }
}

TEST_CASE("argmax handles every way of splitting a long line", "[day04][argmax][kernels][small]") {
    // 32, 128 and 256 threads of step 05, one part and several of step 08, all rounds of 07.
    for (const std::int64_t n : {513, 1023, 1024, 2048, 2049, 2060, 4099, 8192, 8193, 8501}) {
        check_all(seeded_integers<float>({2, n}, 10, 0, 1000), 1, n % 4);
    }
    check_all(seeded_integers<float>({700, 33}, 11, 0, 300), 0);
    check_all(seeded_integers<float>({300, 132}, 12, 0, 100), 0);
    check_all(seeded_integers<float>({75, 260}, 12, 0, 100), 0, 1);
    // Only every fourth row begins at a multiple of 16 bytes.
    check_all(seeded_integers<float>({40, 132}, 13, 0, 50), Layout({40, 132}, {133, 1}), 0,
              row_major(Shape{132}));
}

TEST_CASE("ties resolve to the lowest index, across lanes and warps too",
          "[day04][argmax][ties][kernels][small]") {
    // The largest element is at a and again at b.
    for (const std::int64_t n : {64, 300}) {
        for (std::int64_t a = 0; a < n; a += n == 64 ? 5 : 37) {
            for (std::int64_t b = a + 1; b < n; b += n == 64 ? 7 : 31) {
                Tensor<float> x({2, n, 33});
                for (std::int64_t k = 0; k < x.size(); ++k) {
                    const std::int64_t i = k / 33 % n;
                    x.data()[k] = i == a || i == b ? 9 : static_cast<float>(i % 7);
                }
                const View<const float> rows_of = select(x.view(), 2, 0);
                Tensor<float> rows({2, n});
                for (std::int64_t r = 0; r < 2; ++r) {
                    for (std::int64_t i = 0; i < n; ++i) rows(r, i) = rows_of(r, i);
                }
                check_all(rows, 1, a % 4);
                if (b == a + 1 || b > n - 8) check_all(x, 1);
            }
        }
    }
}

TEST_CASE("the first NaN wins wherever it is", "[day04][argmax][nan][kernels][small]") {
    for (const std::int64_t n : {9, 70, 530}) {
        for (std::int64_t at = 0; at < n; at += n < 100 ? 3 : 41) {
            for (const std::int64_t second : {at + 1, at + 4, n - 1}) {
                Tensor<float> x({2, n});
                for (std::int64_t k = 0; k < x.size(); ++k) {
                    const std::int64_t i = k % n;
                    x.data()[k] = i == at || i == second ? kNaN : i == n / 2 ? kInf : 1;
                }
                HostOut<std::int64_t> want(Shape{2});
                argmax_cpu(x.view(), 1, want.view());
                CHECK(want.view()(1) == at);
                check_all(x, 1, at % 4);
            }
        }
    }
    for (const std::int64_t n : {40, 200}) {  // the same for step 07
        Tensor<float> x({n, 40});
        for (std::int64_t k = 0; k < x.size(); ++k) {
            const std::int64_t i = k / 40, c = k % 40;
            x.data()[k] = i == c || i == n - 1 - c ? kNaN : static_cast<float>(i);
        }
        check_all(x, 0);
    }
}

TEST_CASE("a line of minus infinities has index 0, and any higher float wins",
          "[day04][argmax][infinity][kernels][small]") {
    for (const std::int64_t n : {1, 5, 64, 300, 2500}) {
        std::vector<float> line(static_cast<std::size_t>(n), -kInf);
        check_line(line, 0);
        line.back() = kLowest;
        check_line(line, n - 1);
        check_line(std::vector<float>(static_cast<std::size_t>(n), kInf), 0);
    }
}

TEST_CASE("argmax is correct on rising and falling lines", "[day04][argmax][small]") {
    for (const std::int64_t n : {33, 257, 1031}) {
        std::vector<float> line;
        for (std::int64_t i = 0; i < n; ++i) line.push_back(static_cast<float>(i));
        check_line(line, n - 1);
        std::reverse(line.begin(), line.end());
        check_line(line, 0);
    }
}

TEST_CASE("blocks and threads may run in any order", "[day04][argmax][order][kernels][small]") {
    gpu::run_in_other_orders([] {
        // Step 08: four lines in two parts each, whose blocks interleave.
        check_all(seeded_integers<float>({4, 1030}, 14, 0, 1000), 1, 1);
        check_all(seeded_integers<float>({130, 6}, 15, 0, 4), 1, 3);
        check_all(seeded_integers<float>({20, 40}, 16, 0, 9), 0);
    });
}

TEST_CASE("argmax supports lines of one element and broadcast lines", "[day04][argmax][small]") {
    check_all(distinct<float>({5, 1, 7}), 1);
    // All rows the same: stride 0 across the lines, then along them.
    const auto x = [](std::int64_t k) { return double(k * 37 % 100); };
    Operation across = argmax_operation({6, 40}, 1), along = argmax_operation({40, 6}, 0);
    across.operands[0].placed(Layout({6, 40}, {0, 1})).with([=](auto k) { return x(k % 40); });
    along.operands[0].placed(Layout({40, 6}, {0, 1})).with([=](auto k) { return x(k % 6); });
    CHECK(computes_its_result(across));
    CHECK(computes_its_result(along));
}

}  // namespace
