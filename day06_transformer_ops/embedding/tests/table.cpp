// What must hold for every operation of the set embedding, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/embedding/embedding.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

template <class T>
Operation embed_of(const Shape& ids, std::int64_t C) {
    Shape out = ids;
    out[out.rank++] = C;
    const Shape places = {ids[ids.rank - 1]};
    Operation op{
        "embed",
        {reads<T>("tokens", {7, C}).free_dims({0}), reads<std::int64_t>("ids", ids).with(below(7)),
         reads<T>("positions", {5, C}).free_dims({0}),
         reads<std::int64_t>("places", places).broadcasts().with(below(5)), writes<T>("out", out)}};
    op.cpu = [](const Call& c) {
        embed_cpu<T>(c.in<T>(0), c.in<std::int64_t>(1), c.in<T>(2), c.in<std::int64_t>(3),
                     c.out<T>(4));
    };
    op.cuda = [](const Call& c) {
        embed_cuda<T>(c.in<T>(0), c.in<std::int64_t>(1), c.in<T>(2), c.in<std::int64_t>(3),
                      c.out<T>(4), c.how<EmbedPath>());
    };
    op.paths = paths_of<EmbedPath>();
    return op;
}

Operation rotary_of(const Shape& shape, Pairing pairing) {
    Operation op{
        "rotary",
        {reads<float>("in", shape),
         reads<float>("table", {5, shape[shape.rank - 1]}).free_dims({0}),
         reads<std::int64_t>("places", {shape[shape.rank - 2]}).broadcasts().with(below(5)),
         writes<float>("out", shape)}};
    op.cpu = [=](const Call& c) {
        rotary_cpu(c.in<float>(0), c.in<float>(1), c.in<std::int64_t>(2), pairing, c.out<float>(3));
    };
    op.cuda = [=](const Call& c) {
        rotary_cuda(c.in<float>(0), c.in<float>(1), c.in<std::int64_t>(2), pairing,
                    c.out<float>(3));
    };
    op.in_place = {{"in", "out"}};
    return op;
}

template <class From, class To>
Operation convert_of(const Shape& shape) {
    Operation op{"convert", {reads<From>("in", shape), writes<To>("out", shape)}};
    op.cpu = [](const Call& c) { convert_cpu(c.in<From>(0), c.out<To>(1)); };
    op.cuda = [](const Call& c) { convert_cuda(c.in<From>(0), c.out<To>(1)); };
    return op;
}

std::vector<Operation> operations() {
    std::vector<Operation> all;
    for (const Shape& ids : {Shape{2, 3}, {1}, {3, 1}, {0}}) {
        for (const std::int64_t C : {8, 5}) {
            all.push_back(embed_of<float>(ids, C));
            all.push_back(embed_of<bf16>(ids, C));
        }
    }
    for (const Pairing pairing : {Pairing::neighbours, Pairing::halves}) {
        for (const Shape& shape : {Shape{2, 3, 8}, {1, 2}, {0, 8}}) {
            all.push_back(rotary_of(shape, pairing));
        }
    }
    for (const Shape& shape : {Shape{3, 5}, {1, 16}, {0, 4}}) {
        all.push_back(convert_of<float, bf16>(shape));
        all.push_back(convert_of<bf16, float>(shape));
        all.push_back(convert_of<float, f16>(shape));
        all.push_back(convert_of<f16, float>(shape));
    }
    return all;
}

}  // namespace

TEST_CASE(
    "the set embedding: an invalid operand, an overlap or an unknown path is rejected before any "
    "write",
    "[day06][embedding][small]") {
    check_rejections(operations());
}

TEST_CASE("the set embedding: layouts, unused strides and NaNs make no path differ",
          "[day06][embedding][small][kernels]") {
    check_results(operations());
}
