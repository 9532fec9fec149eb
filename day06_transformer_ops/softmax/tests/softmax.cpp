// Softmax and log_softmax of particular rows: golden values, near misses, extreme scores.
#include "common/testing/catch.hpp"
#include "day06_transformer_ops/softmax/softmax.op.hpp"
#include "day06_transformer_ops/softmax/softmax_plan.hpp"
#include "day06_transformer_ops/softmax/tests/golden.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// Softmax of these rows along the last dimension.
Operation softmax_of(SoftmaxKind kind, const Shape& shape, const Values& x) {
    Operation op = softmax_operation<float>(kind, shape, -1, shape);
    op.operands[0].values = x;
    return op;
}

// The value of index k in `special`, else multiples of 1/8.
Values but(const std::vector<std::pair<std::int64_t, double>>& special, double scale = 1) {
    return [=](std::int64_t k) {
        for (const auto& [at, x] : special) {
            if (at == k) return x;
        }
        return eighths(k) * scale;
    };
}

TEST_CASE("softmax(1, 2, 3, 4) is 0.0320586 0.0871443 0.236883 0.643914",
          "[day06][softmax][small]") {
    // NumPy, in float64: e = numpy.exp(x - 4); e / e.sum()
    Operation op = softmax_of(SoftmaxKind::softmax, {1, 4}, list({1, 2, 3, 4}));
    know(op, {0.03205860328008499, 0.08714431874203257, 0.23688281808991013, 0.6439142598879724});
    CHECK(computes_its_result(op));
}

TEST_CASE("softmax and log_softmax match NumPy for rows of all kinds, NaN and infinities too",
          "[day06][softmax][small]") {
    for (const GoldenRow& row : golden_softmax) {
        CAPTURE(row.x);
        const Shape shape = {1, static_cast<std::int64_t>(row.x.size())};
        Operation softmax = softmax_of(SoftmaxKind::softmax, shape, list(row.x));
        Operation logs = softmax_of(SoftmaxKind::log_softmax, shape, list(row.x));
        know(softmax, row.softmax);
        know(logs, row.log_softmax);
        CHECK(computes_its_result(softmax));
        CHECK(computes_its_result(logs));
    }
}

TEST_CASE("rows of all lengths that occur in a transformer match NumPy",
          "[day06][softmax][small]") {
    for (const GoldenLongRow& row : golden_long_rows) {
        Operation op = softmax_of(SoftmaxKind::softmax, {1, row.length}, eighths);
        std::vector<double> probabilities;
        for (std::int64_t i = 0; i < row.length; ++i) {
            probabilities.push_back(std::exp(eighths(i) - row.largest - row.log_sum));
        }
        know(op, probabilities);
        CHECK(computes_its_result(op));
    }
}

TEST_CASE("causal softmax matches NumPy: a token sees itself and earlier ones only",
          "[day06][softmax][small]") {
    for (const GoldenCausal& c : golden_causal) {
        Operation op = softmax_of(SoftmaxKind::causal_softmax, {c.T, c.S}, eighths);
        know(op, c.out);
        CHECK(computes_its_result(op));
    }
}

// A row of full-precision numbers, and near misses of its softmax. Each must be rejected.
TEST_CASE("near misses of softmax are rejected by the error bound", "[day06][softmax][small]") {
    const Tensor<float> x = seeded<float>({1, 512}, 5, -3, 3);
    Operation op = softmax_of(SoftmaxKind::softmax, {1, 512},
                              [&](std::int64_t k) { return static_cast<double>(x.data()[k]); });
    const std::vector<double> row = row_at(x, 1, {0, 0});
    const RowSums sums = sums_of(row);
    op.cuda = {};
    op.exact = [exact = op.exact](const Inputs& inputs, int) {
        return exact(inputs, static_cast<int>(SoftmaxPath::shared));  // the widest bound
    };
    const auto accepted = [&](const auto& probability) {
        op.cpu = [&](const Call& c) {
            for (std::int64_t i = 0; i < 512; ++i) {
                c.out<float>(1)(0, i) =
                    static_cast<float>(probability(row[static_cast<std::size_t>(i)] - sums.m));
            }
        };
        return bool(computes_its_result(op));
    };
    CHECK(accepted([&](double d) { return std::exp(d) / sums.sum; }));
    CHECK_FALSE(accepted([&](double d) {  // differences in bf16
        return std::exp(static_cast<double>(float(bf16(static_cast<float>(d))))) / sums.sum;
    }));
    CHECK_FALSE(accepted([&](double d) {  // as TF32: 10 bits after the point
        const int scale = std::ilogb(d == 0 ? 1.0 : d);
        return std::exp(std::ldexp(std::nearbyint(std::ldexp(d, 10 - scale)), scale - 10)) /
               sums.sum;
    }));
    CHECK_FALSE(accepted([&](double d) {  // the sum omits the last element
        return std::exp(d) / (sums.sum - std::exp(row.back() - sums.m));
    }));
    CHECK_FALSE(accepted([&](double d) {  // log2(e) with four digits
        return std::exp2(d * 1.4427) / sums.sum;
    }));
}

TEST_CASE("2^40 rows without elements are no work", "[day06][softmax][small]") {
    const View<float> none(nullptr, Shape{1 << 20, 0, 1 << 20});
    const View<float> wide(nullptr, Shape{1 << 20, 1 << 20, 0});
    softmax_cpu<float>(none, 1, none);
    log_softmax_cpu<float>(none, 1, none);
    masked_softmax_cpu<float>(none, {nullptr, none.shape()}, 1, none);
    CHECK(rejection([&] { causal_softmax_cpu<float>(wide, wide); }).find("T <= S") !=
          std::string::npos);  // so it cannot have many empty rows
}

TEST_CASE("the largest score may be anywhere in a row, and far from the others",
          "[day06][softmax][small]") {
    const Values thousands =
        but({{300, 30000}, {2 * 300 + 150, 30000}, {3 * 300 + 299, 30000}}, 1600);
    const std::int64_t n = 8200;  // three of the longest tile
    const Values far = but({{3, 30}, {n + 4100, 30}, {2 * n + 8199, 30}});
    for (const SoftmaxKind kind : kSoftmaxes) {
        if (kind == SoftmaxKind::causal_softmax) continue;
        CHECK(computes_its_result(softmax_of(kind, {4, 300}, thousands)));
        CHECK(computes_its_result(softmax_of(kind, {3, n}, far)));
    }
    const std::int64_t parts = 150 * kSplitPart;  // 128 threads combine 150 parts
    CHECK(computes_its_result(softmax_of(SoftmaxKind::softmax, {2, parts},
                                         but({{3, 30}, {2 * parts - kSplitPart, 30}}))));
}

TEST_CASE("a long row may begin with pieces that are all -infinity", "[day06][softmax][small]") {
    const std::int64_t n = 8200;
    const auto x = [=](std::int64_t k) {
        const std::int64_t i = k % n, r = k / n;
        // The third row has nothing else: NaN.
        const bool none = r == 0   ? i < 4096
                          : r == 1 ? i < 8192
                          : r == 2 ? true
                                   : i >= 4096 && i < 8192;
        return none ? -double(INFINITY) : eighths(k);
    };
    CHECK(computes_its_result(softmax_of(SoftmaxKind::softmax, {4, n}, x)));
    CHECK(computes_its_result(softmax_of(SoftmaxKind::log_softmax, {4, n}, x)));
}

TEST_CASE("a NaN affects its own row and no other", "[day06][softmax][small]") {
    const Values x = but({{2 * 64 + 63, NAN}, {4 * 64, -double(NAN)}});
    for (const SoftmaxKind kind : kSoftmaxes)
        CHECK(computes_its_result(softmax_of(kind, {6, 64}, x)));
}

TEST_CASE("the weights of a row add up to 1, and shifting the row does not change a bit",
          "[day06][softmax][small]") {
    const Tensor<float> x = noise<float>({3, 768});
    Tensor<float> shifted(x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) shifted.data()[i] = x.data()[i] + 1024;  // exact
    DeviceIn<float> d(x), ds(shifted);
    for (const SoftmaxPath p :
         {SoftmaxPath::thread_per_row, SoftmaxPath::warp_per_row, SoftmaxPath::online,
          SoftmaxPath::registers, SoftmaxPath::shared, SoftmaxPath::tile}) {
        if (p == SoftmaxPath::tile && !gpu::has_tile()) continue;
        CAPTURE(name(p));
        DeviceOut<float> got({3, 768}), again({3, 768});
        softmax_cuda<float>(d.view(), 1, got.view(), {.path = p});
        softmax_cuda<float>(ds.view(), 1, again.view(), {.path = p});
        CHECK(again.matches(got.values()));
        const Tensor<float> y = got.values();
        for (std::int64_t r = 0; r < 3; ++r) {
            double sum = 0;
            for (std::int64_t i = 0; i < 768; ++i) sum += static_cast<double>(y(r, i));
            CHECK(std::fabs(sum - 1) <= (softmax_chain(p, 768) + 2 * std::log(768) + 24) * kU);
        }
    }
}

// --- masked --------------------------------------------------------------------------------------

TEST_CASE("masked_softmax ignores masked elements, whatever they are, and normalizes the rest",
          "[day06][softmax][small]") {
    // Row (1, 1) is entirely masked.
    const auto lets = [](std::int64_t k) {
        return k / 5 != 4 && (k * 7 % 5 < 3 || k == 11) ? 200.0 : 0.0;
    };
    for (int dim = 0; dim < 3; ++dim) {
        Operation op =
            softmax_operation<float>(SoftmaxKind::masked_softmax, {2, 3, 5}, dim, {2, 3, 5});
        op.operands[2].values = lets;
        op.operands[0].values = [=](std::int64_t k) {
            const bool hidden = k % 2 == 0 && lets(k) == 0;
            return !hidden ? eighths(k) : k % 3 == 0 ? double(NAN) : double(INFINITY);
        };
        CHECK(computes_its_result(op));
    }
    for (const std::int64_t n : {4, 37, 260, 300, 600, 1028, 2052}) {
        Operation op = softmax_operation<bf16>(SoftmaxKind::masked_softmax, {6, n}, 1, {6, n});
        op.operands[2].values = [=](std::int64_t k) {  // the last row: only its last element
            if (k >= 5 * n) return k == 6 * n - 1 ? 200.0 : 0.0;
            return static_cast<double>(testing::detail::random_bits(3, k) % 2);
        };
        CHECK(computes_its_result(op));
    }
    for (const Shape& mask : {Shape{1, 3, 1, 1}, {5, 1}, {5, 8}, {}}) {
        CHECK(computes_its_result(
            softmax_operation<float>(SoftmaxKind::masked_softmax, {2, 3, 5, 8}, 3, mask)));
    }
}

TEST_CASE("an unmasked NaN makes its whole row NaN, and a masked one does not",
          "[day06][softmax][small]") {
    for (const std::int64_t n : {5, 8}) {  // the twin, and rows in registers
        Operation op = softmax_of(SoftmaxKind::masked_softmax, {4, n},
                                  but({{0, NAN}, {n, INFINITY}, {2 * n + 2, NAN}}));
        op.operands[2].values = [=](std::int64_t k) {
            return k == n || (k != 2 * n + 2 && k % 3 != 1) ? 1.0 : 0.0;
        };
        CHECK(computes_its_result(op));
    }
}

TEST_CASE("elements that a token does not see get 0, whatever their values",
          "[day06][softmax][small]") {
    for (const Shape& shape : {Shape{8, 8}, {2, 5, 6}, {6, 8}}) {
        const std::int64_t T = shape[shape.rank - 2], S = shape[shape.rank - 1];
        CHECK(
            computes_its_result(softmax_of(SoftmaxKind::causal_softmax, shape, [=](std::int64_t k) {
                const std::int64_t t = k / S % T, s = k % S;
                if (s == 1 && t == 2) return double(NAN);  // its own row sees it
                return s <= t + S - T ? eighths(k) : k % 2 == 0 ? double(NAN) : double(INFINITY);
            })));
    }
}

}  // namespace
