// The standard tests of the embedding, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/embedding/embedding.op.hpp"
#include "day06_transformer_ops/embedding/int8.op.hpp"
#include "day06_transformer_ops/embedding/sinusoidal.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

template <class T>
void append_embeddings(std::vector<Operation>& all) {
    const std::int64_t e = 16 / static_cast<std::int64_t>(sizeof(T));
    for (const Shape& ids : {Shape{2, 3}, {3, 1}, {0}}) {
        all.push_back(embed_operation<T>(ids, 2 * e, Shape{ids[ids.rank - 1]}));
    }
    all.push_back(embed_operation<T>({1}, 5, Shape{1}));
    all.push_back(embed_operation<T>({2, 2}, 2 * e, {}));
    all.push_back(embed_operation<T>({}, 5, Shape{}));
}

std::vector<Operation> operations() {
    std::vector<Operation> all;
    append_embeddings<float>(all);
    append_embeddings<bf16>(all);
    for (const Pairing pairing : {Pairing::neighbours, Pairing::halves}) {
        for (const Shape& shape : {Shape{2, 3, 8}, {1, 2}, {0, 8}}) {
            all.push_back(rotary_operation(shape, pairing, {shape[shape.rank - 2]}));
        }
    }
    all.push_back(convert_operation<float, bf16>({3, 5}));
    all.push_back(convert_operation<bf16, float>({1, 16}));
    all.push_back(convert_operation<float, f16>({3, 5}));
    all.push_back(convert_operation<f16, float>({0, 4}));
    for (const Shape& shape : {Shape{3, 5}, {4, 1}}) {
        for (const ScalePer per : {ScalePer::row, ScalePer::column}) {
            all.push_back(quantize_operation(shape, per));
            all.push_back(dequantize_operation(shape, per));
        }
        all.push_back(quantize_operation(shape, ScalePer::row, true));
        all.push_back(sinusoidal_operation(shape));
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

TEST_CASE("the set embedding: layouts, unused strides and NaNs do not make any path differ",
          "[day06][embedding][small][kernels]") {
    check_results(operations());
}

TEST_CASE("the set embedding accepts every order of dimensions", "[day06][embedding][small]") {
    CHECK(takes_every_order(embed_operation<float>({2, 3}, 4, Shape{3})));
    for (const Pairing pairing : {Pairing::neighbours, Pairing::halves}) {
        CHECK(takes_every_order(rotary_operation({2, 3, 4}, pairing, {2, 3})));
        CHECK(takes_or_rejects_placements(rotary_operation({2, 2, 3, 6}, pairing, {2, 1, 3})));
    }
    CHECK(takes_every_order(convert_operation<float, bf16>({2, 3, 4})));
    CHECK(takes_every_order(convert_operation<float, f16>({2, 3, 4})));
}

TEST_CASE("the set embedding accepts sizes around its blocks, warps and tiles",
          "[day06][embedding][small]") {
    std::vector<Operation> all;
    for (const std::int64_t C : {1, 3, 4, 8, 33, 128, 255, 256, 257, 516, 1023, 1024, 1025, 2056}) {
        all.push_back(embed_operation<float>({3, 2}, C, Shape{2}));
        all.push_back(embed_operation<bf16>({2, 3, 2}, C, Shape{2, 1, 2}));
    }
    for (const std::int64_t rows : {7, 8, 9, 64, 300}) {
        all.push_back(embed_operation<float>({rows}, 4, Shape{rows}));
        all.push_back(rotary_operation({rows, 6}, Pairing::neighbours, {rows}));
        all.push_back(rotary_operation({3, rows, 64}, Pairing::halves, {rows}));
    }
    for (const Shape& shape : {Shape{129, 3}, {3, 129}, {128, 1}, {0, 4}, {4, 0}}) {
        for (const ScalePer per : {ScalePer::row, ScalePer::column}) {
            all.push_back(quantize_operation(shape, per));
            all.push_back(dequantize_operation(shape, per));
        }
    }
    for (const auto& [P, C, base] : {std::tuple{1, 1, 10000.0},
                                     {51, 5, 10000.0},
                                     {64, 4, 100.0},
                                     {257, 1, 2.0},
                                     {3, 256, 500000.0},
                                     {0, 8, 1.0},
                                     {5, 0, 1.0}}) {
        all.push_back(sinusoidal_operation({P, C}, base));
    }
    all.push_back(convert_operation<bf16, float>({1000}));
    all.push_back(convert_operation<float, f16>({1000}));
    check_values(all);
}

TEST_CASE("embed accepts many tokens", "[day06][embedding][full]") {
    check_values({embed_operation<float>({70, 1000}, 128, Shape{1000})});
}
