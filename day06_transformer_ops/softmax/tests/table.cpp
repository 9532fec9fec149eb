// The standard tests of softmax and its variants, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/softmax/cross_entropy.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// Each variant that supports such a shape, along its last dimension.
template <class T>
void append(std::vector<Operation>& all, const std::vector<Shape>& shapes) {
    for (const Shape& shape : shapes) {
        for (const SoftmaxKind kind : kSoftmaxes) {
            const std::int64_t last = shape[shape.rank - 1];
            if (kind == SoftmaxKind::causal_softmax && shape[shape.rank - 2] > last) continue;
            const Shape mask = shape[0] % 2 == 0 ? shape : Shape{last};
            all.push_back(softmax_operation<T>(kind, shape, -1, mask));
        }
    }
}

template <class T>
void append_small(std::vector<Operation>& all) {
    append<T>(all, {{3, 5}, {2, 16}, {4, 1}, {2, 1, 16}, {0, 4}, {3, 0}});
    all.push_back(softmax_operation<T>(SoftmaxKind::softmax, {6, 3}, 0));
    all.push_back(softmax_operation<T>(SoftmaxKind::masked_softmax, {2, 8}, 1, {2, 1}));
    all.push_back(cross_entropy_operation<T>({3}, 5));
    all.push_back(cross_entropy_operation<T>({2, 1}, 8));
    all.push_back(cross_entropy_operation<T>({3}, 1));
    all.push_back(cross_entropy_operation<T>({0}, 5));
}

std::vector<Operation> small() {
    std::vector<Operation> all;
    append_small<float>(all);
    append_small<bf16>(all);
    return all;
}

std::vector<Operation> operations(const std::vector<Shape>& floats,
                                  const std::vector<Shape>& bf16s) {
    std::vector<Operation> all;
    append<float>(all, floats);
    append<bf16>(all, bf16s);
    return all;
}

}  // namespace

TEST_CASE(
    "the set softmax: an invalid operand, an overlap or an unknown path is rejected before any "
    "write",
    "[day06][softmax][small]") {
    check_rejections(small());
}

TEST_CASE("the set softmax: every path gives its result wherever operands are, or rejects them",
          "[day06][softmax][small][kernels]") {
    check_results(small());
}

TEST_CASE("softmax works along any dimension of any layout", "[day06][softmax][small][kernels]") {
    for (int dim = 0; dim < 3; ++dim) {
        CHECK(takes_every_order(softmax_operation<float>(SoftmaxKind::softmax, {2, 3, 4}, dim)));
        CHECK(takes_or_rejects_placements(
            softmax_operation<float>(SoftmaxKind::masked_softmax, {2, 3, 4}, dim, {3, 1})));
    }
    const Shape eight = {2, 1, 2, 1, 2, 2, 1, 3};
    for (const SoftmaxKind kind :
         {SoftmaxKind::softmax, SoftmaxKind::log_softmax, SoftmaxKind::masked_softmax}) {
        CHECK(takes_or_rejects_placements(softmax_operation<float>(kind, eight, 4, eight)));
    }
    for (const Shape& shape : {Shape{2, 3, 4}, {2, 2, 2, 3, 4}}) {  // also rows in four dimensions
        CHECK(takes_or_rejects_placements(
            softmax_operation<float>(SoftmaxKind::causal_softmax, shape, -1)));
    }
    CHECK(takes_every_order(cross_entropy_operation<float>({2, 3}, 4)));
}

TEST_CASE("softmax accepts lengths around its vectors, warps and blocks",
          "[day06][softmax][small][kernels]") {
    check_values(operations({{131, 3},
                             {131, 4},
                             {30, 5, 6},
                             {3, 40, 40},
                             {2, 3, 300},
                             {5, 31},
                             {5, 64},
                             {5, 516},
                             {5, 1028}},
                            {{3, 40, 40}, {5, 33}, {5, 128}, {5, 520}}));
    std::vector<Operation> all = {cross_entropy_operation<float>({131}, 5)};
    for (const std::int64_t n : {1, 3, 4, 5, 8, 31, 32, 33, 60, 64, 127, 128, 256, 260, 508, 512}) {
        all.push_back(softmax_operation<float>(SoftmaxKind::softmax, {5, n}, 1));
        all.push_back(softmax_operation<bf16>(SoftmaxKind::softmax, {5, n}, 1));
    }
    for (const Shape& shape : {Shape{1, 1024}, {2, 2052}, {9, 256}, {9, 7}}) {  // 8 rows per tile
        all.push_back(softmax_operation<float>(SoftmaxKind::softmax, shape, 1));
    }
    all.push_back(softmax_operation<bf16>(SoftmaxKind::softmax, {1, 4104}, 1));
    for (const std::int64_t n : {1, 2, 3, 4, 5, 9, 37, 256, 1023, 4096, 5000, 8192, 8200}) {
        all.push_back(cross_entropy_operation<float>({5}, n));
        all.push_back(cross_entropy_operation<bf16>({5}, n));
    }
    check_values(all);
    for (const Operation& op : operations({{5, 7}, {5, 64}, {5, 300}}, {})) {
        CHECK(takes_less_memory(op));
    }
}

TEST_CASE("softmax accepts long rows", "[day06][softmax][full]") {
    check_values(operations({{2, 16384}, {1, 16388}, {3, 100003}}, {{1, 32773}}));
    // Longer than registers and shared memory together, so part of the row is read twice.
    CHECK(takes_less_memory(softmax_operation<float>(SoftmaxKind::softmax, {3, 100003}, 1)));
}

TEST_CASE("softmax accepts more rows than a grid has blocks in y", "[day06][softmax][huge]") {
    check_values(operations({{65537, 4}}, {}));
}
