// What must hold for every operation of Day 03, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day03_views/broadcast.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/transpose.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;

namespace {

template <class T>
Operation copy_of(const Shape& shape) {
    Operation op{"copy", {reads<T>("in", shape), writes<T>("out", shape)}};
    op.cpu = [](const Call& c) { copy_cpu<T>(c.in<T>(0), c.out<T>(1)); };
    op.cuda = [](const Call& c) { copy_cuda<T>(c.in<T>(0), c.out<T>(1), c.how<CopyPath>()); };
    op.paths = paths_of<CopyPath>();
    op.in_place = {{"in", "out"}};
    // They ask for two layouts; where nothing is to be done any path does it.
    if (size(shape) > 0) op.not_taken = {"nothing to do", "rows", "repeat", "transposed"};
    return op;
}

template <class T>
Operation transpose_of(const Shape& in) {
    Shape out = in;
    std::swap(out[out.rank - 1], out[out.rank - 2]);
    Operation op{"transpose", {reads<T>("in", in), writes<T>("out", out)}};
    op.cpu = [](const Call& c) { transpose_cpu<T>(c.in<T>(0), c.out<T>(1)); };
    op.cuda = [](const Call& c) {
        transpose_cuda<T>(c.in<T>(0), c.out<T>(1), c.how<TransposePath>());
    };
    op.paths = paths_of<TransposePath>();
    return op;
}

Operation add_broadcast_of(const Shape& shape, const Shape& b) {
    Operation op{"add_broadcast",
                 {reads<float>("a", shape).broadcasts(), reads<float>("b", b).broadcasts(),
                  writes<float>("out", shape).broadcasts()}};
    op.cpu = [](const Call& c) {
        add_broadcast_cpu(c.in<float>(0), c.in<float>(1), c.out<float>(2));
    };
    op.cuda = [](const Call& c) {
        add_broadcast_cuda(c.in<float>(0), c.in<float>(1), c.out<float>(2),
                           c.how<AddBroadcastPath>());
    };
    op.paths = paths_of<AddBroadcastPath>();
    op.in_place = {{"a", "out"}, {"b", "out"}};
    return op;
}

Operation where_of(const Shape& shape, const Shape& mask) {
    Operation op{"where",
                 {reads<std::uint8_t>("mask", mask).broadcasts().with([](std::int64_t k) {
                      return k % 3 == 1 ? 1.0 : 0.0;
                  }),
                  reads<float>("a", shape).broadcasts(), reads<float>("b", shape).broadcasts(),
                  writes<float>("out", shape).broadcasts()}};
    const auto mask_of = [](const Call& c) { return c.in<std::uint8_t>(0); };
    op.cpu = [=](const Call& c) {
        where_cpu(mask_of(c), c.in<float>(1), c.in<float>(2), c.out<float>(3));
    };
    op.cuda = [=](const Call& c) {
        where_cuda(mask_of(c), c.in<float>(1), c.in<float>(2), c.out<float>(3), c.how<WherePath>());
    };
    op.paths = paths_of<WherePath>();
    op.in_place = {{"a", "out"}, {"b", "out"}};
    return op;
}

Operation pad_of(const Shape& in, const Shape& out, const Dims& before) {
    Operation op{
        "pad",
        {reads<float>("in", in).free_dims({0, 1}), writes<float>("out", out).free_dims({0, 1})}};
    op.cpu = [=](const Call& c) { pad_cpu(c.in<float>(0), before, 7, c.out<float>(1)); };
    op.cuda = [=](const Call& c) { pad_cuda(c.in<float>(0), before, 7, c.out<float>(1)); };
    return op;
}

Operation concat_of(const Shape& first, const Shape& second, const Shape& out) {
    Operation op{"concat",
                 {reads<float>("piece 0", first), reads<float>("piece 1", second),
                  writes<float>("out", out)}};
    op.cpu = [](const Call& c) {
        concat_cpu({c.in<float>(0), c.in<float>(1)}, 1, c.out<float>(2));
    };
    op.cuda = [](const Call& c) {
        concat_cuda({c.in<float>(0), c.in<float>(1)}, 1, c.out<float>(2));
    };
    return op;
}

std::vector<Operation> operations() {
    std::vector<Operation> all = {pad_of({2, 3}, {4, 5}, {1, 1}), pad_of({1, 1}, {1, 1}, {0, 0}),
                                  concat_of({2, 3}, {2, 4}, {2, 7}),
                                  concat_of({1, 1}, {1, 1}, {1, 2})};
    for (const Shape& shape : {Shape{3, 5}, {2, 16}, {1, 8}, {2, 1, 8}, {1, 1}, {0, 4}}) {
        all.push_back(copy_of<float>(shape));
        all.push_back(copy_of<bf16>(shape));
        all.push_back(add_broadcast_of(shape, {shape[shape.rank - 1]}));
        all.push_back(where_of(shape, {shape[shape.rank - 1]}));
        all.push_back(transpose_of<float>(shape));
        all.push_back(transpose_of<bf16>(shape));
    }
    for (const Shape& shape : {Shape{36, 40}, {2, 40, 48}, {1, 33, 1}, {4, 40}}) {
        all.push_back(transpose_of<float>(shape));
        all.push_back(transpose_of<bf16>(shape));
    }
    return all;
}

}  // namespace

TEST_CASE("Day 03: an invalid operand, an overlap or an unknown path is rejected before any write",
          "[day03][small]") {
    check_rejections(operations());
}

TEST_CASE("Day 03: layouts, unused strides and NaNs make no path differ",
          "[day03][small][kernels]") {
    check_results(operations());
}
