// Cross-entropy of particular rows: known answers, targets out of range, rows of many dimensions.
#include "common/testing/catch.hpp"
#include "day06_transformer_ops/softmax/cross_entropy.op.hpp"
#include "day06_transformer_ops/softmax/tests/golden.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

TEST_CASE("cross_entropy is the negated log_softmax at the target",
          "[day06][cross_entropy][small]") {
    for (const GoldenRow& row : golden_softmax) {
        CAPTURE(row.x);
        const auto n = static_cast<std::int64_t>(row.x.size());
        // The same row repeated, each time with another target.
        Operation op = cross_entropy_operation<float>({n}, n);
        op.operands[0].values = [=](std::int64_t k) {
            return row.x[static_cast<std::size_t>(k % n)];
        };
        op.operands[1].values = [=](std::int64_t i) { return double(n - 1 - i); };
        std::vector<double> losses(row.log_softmax.rbegin(), row.log_softmax.rend());
        for (double& loss : losses) loss = -loss;
        know(op, losses);
        CHECK(computes_its_result(op));
    }
}

TEST_CASE("a long row that begins with a whole tile of -infinity, and rows without an answer",
          "[day06][cross_entropy][small]") {
    constexpr std::int64_t n = 8200;  // three of the longest tile
    Operation op = cross_entropy_operation<float>({5}, n);
    op.operands[0].values = [=](std::int64_t k) {
        if (k < 4096 || k / n == 2) return -double(INFINITY);
        if (k == n + 8199) return double(INFINITY);
        return k == 3 * n + 4099 ? double(NAN) : eighths(k) - (k < n ? 300 : 3);
    };
    op.operands[1].values = list({8199, 3, 5, 7, 4096});
    CHECK(computes_its_result(op));
}

TEST_CASE("cross_entropy's path 'tile' takes at most three dimensions of rows, after merging",
          "[day06][cross_entropy][small]") {
    alignas(16) static float memory[2][4096];
    static std::int64_t numbers[1024];
    const auto rejected = [&](const Layout& logits, const Layout& targets, const Layout& out) {
        return rejection([&] {
            (void)plan_cross_entropy<float>({memory[0] + 2048, logits}, {numbers + 512, targets},
                                            {memory[1] + 2048, out},
                                            {.path = CrossEntropyPath::tile});
        });
    };
    const Layout rows = row_major({2, 3, 4});
    const Layout four = row_major({2, 2, 3, 2}), five({2, 2, 3, 2, 8}, {96, 48, 16, 8, 1});
    CHECK(rejected(five, four, four) == "");
    const std::string words =
        "cross_entropy: the path 'tile' needs at most three dimensions of rows, once simplified, "
        "and logits with no negative stride, for CUDA Tile C++ takes strides for sizes; logits "
        "have ";
    const Layout other({2, 2, 3, 2}, {1, 20, 3, 40});
    CHECK(contains(rejected(five, other, four), words));
    CHECK(contains(rejected(five, four, other), words));
    CHECK(contains(rejected(Layout({2, 2, 3, 2, 8}, {300, 130, 40, 9, 1}), other, four), words));
    CHECK(rejected(Layout({2, 3, 4, 8}, {96, 32, 8, -1}), rows, rows) ==
          words +
              "shape (2, 3, 4, 8), strides (96, 32, 8, -1), targets shape (2, 3, 4), strides "
              "(12, 4, 1), out shape (2, 3, 4), strides (12, 4, 1)");
}

TEST_CASE("a target out of range: the CPU reference reports it, the CUDA version gives NaN",
          "[day06][cross_entropy][small]") {
    Operation op = cross_entropy_operation<float>({2, 3}, 4);
    op.operands[1].values = list({0, 4, 3, -1, 1, 2});
    op.exact = [exact = op.exact](Inputs inputs, int path) {
        inputs[1]->data()[1] = inputs[1]->data()[3] = 0;
        std::vector<Expected> all = exact(inputs, path);
        for (const int k : {1, 3}) all[0].value.data()[k] = NAN, all[0].error.data()[k] = 0;
        return all;
    };
    const auto cpu = std::exchange(op.cpu, {});
    CHECK(computes_its_result(op));
    op.cpu = cpu;
    op.cuda = {};
    CHECK(rejects_as_it_is(op, "the target at (0, 1) is 4, but there are 4 logits"));
}

TEST_CASE("cross_entropy's path 'block per row' counts logits in 32 bits",
          "[day06][cross_entropy][small]") {
    static struct {
        std::int64_t target;
        float loss, logits[2];  // logits last: the row does not reach the others
    } all;
    const auto path = [](std::int64_t V) {
        return plan_cross_entropy<float>({all.logits, {1, V}}, {&all.target, {1}}, {&all.loss, {1}})
            .path;
    };
    CHECK(path((std::int64_t{1} << 31) - 1) == CrossEntropyPath::block_per_row);
    CHECK(path(std::int64_t{1} << 31) == CrossEntropyPath::thread_per_row);
}

TEST_CASE("cross_entropy rejects operands that do not match", "[day06][cross_entropy][small]") {
    const Tensor<float> x({4, 8});
    const Tensor<std::int64_t> targets({4}), five({5});
    Tensor<float> y({4});
    const auto rejected = [&](View<const float> logits, View<const std::int64_t> t, View<float> out,
                              const char* words, std::optional<CrossEntropyPath> path = {}) {
        CHECK(contains(
            rejection([&] { (void)plan_cross_entropy<float>(logits, t, out, {.path = path}); }),
            words));
    };
    const View<float> eight(y.data(), {8});
    rejected(x.view(), targets.view(), eight,
             "logits have shape (4, 8), so targets and out must have (4), not (4) and (8)");
    rejected(x.view(), five.view(), y.view(), "targets and out must have (4), not (5) and (4)");
    rejected(slice(x.view(), 1, 0, 0), targets.view(), y.view(),
             "need a last dim with at least one logit");
    rejected({x.data(), Shape{}}, targets.view(), y.view(), "cross_entropy: logits have shape ()");
    rejected(
        {x.data(), Layout({4, 8}, {1, 4})}, targets.view(), y.view(),
        "cross_entropy: the path 'block per row' needs rows of logits along memory; logits have "
        "shape (4, 8), strides (1, 4), targets shape (4), strides (1), out shape (4), strides (1)",
        CrossEntropyPath::block_per_row);
}

}  // namespace
