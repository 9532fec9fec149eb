// Particular blocks: tightness of the bound, causality, and error messages.
#include <cmath>

#include "common/testing/catch.hpp"
#include "day06_transformer_ops/block/block.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// x rounded to 10 bits after the point, as in TF32.
double as_tf32(double x) {
    int exponent = 0;
    const double part = std::frexp(x, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(part, 11)), exponent - 11);
}

TEST_CASE("the bound is tight: rounding one operand of a block's products to TF32 exceeds it",
          "[day06][block][small]") {
    const Operation right = block_operation({2, 5, 12}, 20, 3);
    for (const char* name : {"qkv", "attention_output", "up", "down"}) {
        CAPTURE(name);
        Operation op = right;
        op.cuda = {};
        for (Operand& x : op.operands) {
            if (x.name == name) x.with([v = x.values](std::int64_t k) { return as_tf32(v(k)); });
        }
        op.exact = [&, exact = right.exact](Inputs inputs, int path) {
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                for (std::int64_t k = 0; k < inputs[i]->size(); ++k) {
                    inputs[i]->data()[k] = right.operands[i].values(k);
                }
            }
            return exact(inputs, path);
        };
        CHECK_FALSE(computes_its_result(op).ok);
    }
}

TEST_CASE("later tokens do not change earlier outputs", "[day06][block][small]") {
    Operation op = block_operation({1, 6, 8}, 32, 2);
    const Values x = op.operands[0].values;
    op.exact = [exact = op.exact, x](Inputs inputs, int path) {
        for (std::int64_t k = 5 * 8; k < 6 * 8; ++k) inputs[0]->data()[k] = x(k);
        std::vector<Expected> all = exact(inputs, path);
        for (std::int64_t k = 5 * 8; k < 6 * 8; ++k) all[0].error.data()[k] = 1e3;
        return all;
    };
    op.operands[0].with([x](std::int64_t k) { return k < 5 * 8 ? x(k) : 3.0; });
    CHECK(computes_its_result(op));
}

TEST_CASE("CPU reference and kernels of a block reject the same, before anything is written",
          "[day06][block][small]") {
    const Tensor<float> numbers = seeded<float>({8 * 24}, 7, -1, 1);
    Tensor<float> x({1, 3, 8});
    gpu::Buffer<std::byte> memory(1 << 16);
    const auto of = [&](const Shape& shape) { return View<const float>(numbers.data(), shape); };
    const auto rejected = [&](const auto& change, const char* words) {
        BlockParameters p{{},          of({8, 24}), of({24}),    of({8, 8}),
                          of({8}),     {},          of({8, 12}), of({12}),
                          of({12, 8}), of({8}),     2,           Activation::gelu_tanh};
        change(p);
        CHECK(both_reject([&] { block_cpu(p, x.view()); }, [&] { block_cuda(p, x.view(), memory); },
                          words));
        // Asking for the workspace size rejects the same arguments.
        CHECK(contains(rejection([&] { (void)block_workspace_bytes(p, x.view()); }), words));
    };
    using P = BlockParameters&;
    rejected([](P b) { b.heads = 3; },
             "block: 3 heads do not divide the 8 numbers of a token equally");
    rejected([](P b) { b.heads = 0; }, "block: 0 heads");
    rejected([](P b) { b.qkv = transpose(b.qkv); },
             "block: qkv has shape (24, 8), but must have (8, 24)");
    rejected([](P b) { b.qkv_bias = {}; }, "block: qkv_bias has shape (), but must have (24)");
    rejected([](P b) { b.up = b.up_bias; }, "block: up has shape (12), but must have (C, F)");
    rejected([](P b) { b.up = columns(b.up, 0, 11); },
             "block: up_bias has shape (12), but must have (11)");
    rejected([](P b) { b.norm1.weight = b.up_bias; },
             "block: norm1: weight has shape (12), but rows have 8");
    rejected([](P b) { b.norm2.eps = -1; }, "block: norm2: eps is -1.000000");
    rejected([](P b) { b.activation = static_cast<Activation>(9); },
             "block: activation 9 does not exist; it must be one of: relu, gelu_erf");
    CHECK(contains(rejection([&] { check_block({}, select(x.view(), 0, 0)); }),
                   "block: x has shape (3, 8) of rank 2, but rank 3 is needed"));
}

TEST_CASE("logits reject a negative eps, and report a workspace size only for valid arguments",
          "[day06][block][small]") {
    const Tensor<float> x({2, 3, 8}), tokens({5, 8});
    Tensor<float> out({2, 3, 5});
    gpu::Buffer<std::byte> memory(1 << 12);
    const auto rejected = [&](const NormParameters& norm, View<const float> table,
                              const char* words) {
        CHECK(both_reject([&] { logits_cpu(x.view(), norm, table, out.view()); },
                          [&] { logits_cuda(x.view(), norm, table, out.view(), memory); }, words));
    };
    rejected({{}, {}, -1}, tokens.view(), "logits: norm: eps is -1");
    rejected({}, transpose(tokens.view()),
             "logits: x has shape (2, 3, 8), tokens (8, 5), out (2, 3, 5); they must be (B, "
             "T, C), (V, C) and (B, T, V)");
    rejected({View<const float>(x.data(), Shape{7})}, tokens.view(),
             "logits: norm: weight has shape (7), but rows have 8 elements");
    rejected({}, row(tokens.view(), 0), "logits: tokens has shape (8) of rank 1");
    const View<const float> token = select(x.view(), 0, 0);
    CHECK(contains(rejection([&] { check_logits(token, {}, tokens.view(), out.view()); }),
                   "logits: x has shape (3, 8) of rank 2"));
    CHECK(contains(rejection([&] { (void)logits_workspace_bytes(select(x.view(), 0, 0)); }),
                   "logits: x has shape (3, 8) of rank 2"));
}

}  // namespace
