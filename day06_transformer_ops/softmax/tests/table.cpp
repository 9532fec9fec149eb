// What must hold for every operation of the set softmax, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/softmax/cross_entropy.hpp"
#include "day06_transformer_ops/softmax/softmax.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

template <class T>
Operation softmax_of(const Shape& shape, int dim = -1) {
    Operation op{"softmax", {reads<T>("in", shape), writes<T>("out", shape)}};
    op.cpu = [=](const Call& c) { softmax_cpu<T>(c.in<T>(0), dim, c.out<T>(1)); };
    op.cuda = [=](const Call& c) {
        softmax_cuda<T>(c.in<T>(0), dim, c.out<T>(1), c.how<SoftmaxPath>());
    };
    op.paths = paths_of<SoftmaxPath>();
    op.workspace_bytes = 1 << 16;
    op.in_place = {{"in", "out"}};
    return op;
}

template <class T>
Operation log_softmax_of(const Shape& shape) {
    Operation op = softmax_of<T>(shape);
    op.name = "log_softmax";
    op.cpu = [](const Call& c) { log_softmax_cpu<T>(c.in<T>(0), -1, c.out<T>(1)); };
    op.cuda = [](const Call& c) {
        log_softmax_cuda<T>(c.in<T>(0), -1, c.out<T>(1), c.how<SoftmaxPath>());
    };
    op.not_taken = {"warp a row", "online", "split", "tile"};
    return op;
}

template <class T>
Operation causal_softmax_of(const Shape& shape) {
    Operation op = log_softmax_of<T>(shape);
    op.name = "causal_softmax";
    op.cpu = [](const Call& c) { causal_softmax_cpu<T>(c.in<T>(0), c.out<T>(1)); };
    op.cuda = [](const Call& c) {
        causal_softmax_cuda<T>(c.in<T>(0), c.out<T>(1), c.how<SoftmaxPath>());
    };
    return op;
}

template <class T>
Operation masked_softmax_of(const Shape& shape, const Shape& mask) {
    Operation op = log_softmax_of<T>(shape);
    op.name = "masked_softmax";
    op.operands.push_back(reads<std::uint8_t>("mask", mask).broadcasts().with([](std::int64_t k) {
        return k % 3 != 1 ? 1.0 : 0.0;
    }));
    op.cpu = [](const Call& c) {
        masked_softmax_cpu<T>(c.in<T>(0), c.in<std::uint8_t>(2), -1, c.out<T>(1));
    };
    op.cuda = [](const Call& c) {
        masked_softmax_cuda<T>(c.in<T>(0), c.in<std::uint8_t>(2), -1, c.out<T>(1),
                               c.how<SoftmaxPath>());
    };
    op.not_taken.emplace_back("shared");
    return op;
}

template <class T>
Operation cross_entropy_of(const Shape& rows, std::int64_t V) {
    Shape logits = rows;
    logits[logits.rank++] = V;
    Operation op{"cross_entropy",
                 {reads<T>("logits", logits), reads<std::int64_t>("targets", rows).with(below(V)),
                  writes<float>("out", rows)}};
    op.cpu = [](const Call& c) {
        cross_entropy_cpu<T>(c.in<T>(0), c.in<std::int64_t>(1), c.out<float>(2));
    };
    op.cuda = [](const Call& c) {
        cross_entropy_cuda<T>(c.in<T>(0), c.in<std::int64_t>(1), c.out<float>(2),
                              c.how<CrossEntropyPath>());
    };
    op.operands[0].free_dims({rows.rank});
    op.paths = paths_of<CrossEntropyPath>();
    return op;
}

template <class T>
void append(std::vector<Operation>& all) {
    for (const Shape& shape : {Shape{3, 5}, {2, 64}, {1, 8}, {4, 1}, {2, 1, 16}, {0, 4}, {3, 0}}) {
        all.push_back(softmax_of<T>(shape));
        all.push_back(log_softmax_of<T>(shape));
        all.push_back(masked_softmax_of<T>(shape, {shape[shape.rank - 1]}));
    }
    all.push_back(softmax_of<T>({6, 3}, 0));
    all.push_back(masked_softmax_of<T>({2, 8}, {2, 1}));
    for (const Shape& shape : {Shape{2, 3, 5}, {3, 8}, {1, 16}, {1, 1}, {0, 4}}) {
        all.push_back(causal_softmax_of<T>(shape));
    }
    all.push_back(cross_entropy_of<T>({3}, 5));
    all.push_back(cross_entropy_of<T>({2, 1}, 8));
    all.push_back(cross_entropy_of<T>({3}, 1));
    all.push_back(cross_entropy_of<T>({0}, 5));
}

std::vector<Operation> operations() {
    std::vector<Operation> all;
    append<float>(all);
    append<bf16>(all);
    return all;
}

}  // namespace

TEST_CASE(
    "the set softmax: an invalid operand, an overlap or an unknown path is rejected before any "
    "write",
    "[day06][softmax][small]") {
    check_rejections(operations());
}

TEST_CASE("the set softmax: layouts, unused strides and NaNs make no path differ",
          "[day06][softmax][small][kernels]") {
    check_results(operations());
}
