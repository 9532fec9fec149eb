// Attention's backward pass from bf16: the standard tests over a table of calls, the float
// operation, and what its bounds reject.
#include <array>

#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/training/bf16/attention_backward_bf16.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// B, H, T, S, D
Operation call(const std::array<std::int64_t, 5>& s, const AttentionOptions& options = {}) {
    return attention_backward_bf16_operation({s[0], s[1], s[2], s[4]}, {s[0], s[1], s[3], s[4]},
                                             options);
}

// Not causal: on tensor cores, a NaN also reaches the elements that it is masked for.
std::vector<Operation> operations() {
    return {call({1, 2, 2, 3, 8}, {false}), call({1, 1, 3, 2, 6}, {false}),
            call({1, 2, 1, 1, 8}, {false}), call({1, 1, 2, 2, 136}, {false})};
}

TEST_CASE("attention_backward_bf16: an invalid operand or overlap is rejected before any write",
          "[day06][training][small]") {
    check_rejections(operations());
}

TEST_CASE("attention_backward_bf16: every path gives its result wherever operands are",
          "[day06][training][small][kernels]") {
    check_results(operations());
}

TEST_CASE("attention_backward_bf16: shapes around a tile", "[day06][training][small]") {
    check_values({call({1, 2, 3, 3, 8}), call({1, 1, 1, 1, 16}), call({2, 1, 17, 17, 24}),
                  call({1, 1, 65, 65, 8}), call({1, 1, 64, 70, 16}),
                  call({1, 1, 70, 5, 8}),  // most tokens see no key
                  call({1, 1, 20, 70, 8}, {false}), call({1, 1, 66, 66, 8}, {true, 0.3f}),
                  call({1, 1, 5, 6, 72}), call({1, 2, 70, 70, 8})});
}

// With one token or one key the stride of that dimension is not used. Tiles still address rows past
// it, and even a copy of 0 bytes must start at a multiple of 16 bytes.
TEST_CASE("attention_backward_bf16: one token or at most one key, of any stride",
          "[day06][training][small]") {
    for (const std::int64_t D : {8, 72}) {
        for (const bool causal : {true, false}) {
            for (const auto& [B, H, T, S] : std::vector<std::array<std::int64_t, 4>>{
                     {2, 1, 1, 1}, {1, 2, 1, 3}, {1, 1, 3, 1}, {1, 1, 3, 0}, {1, 1, 1, 0}}) {
                const Operation op = call({B, H, T, S, D}, {causal});
                CHECK(computes_its_result(op));
                CHECK(ignores_unused_strides(op));
            }
        }
    }
}

// q, k, v and their gradients are (B, H, T, D) whose memory is (B, T, 3, H, D): thirds of a
// product's columns.
void check_thirds(const std::array<std::int64_t, 5>& s) {
    Operation op = call(s);
    for (const std::size_t i : {0, 1, 2, 6, 7, 8}) {
        const Shape& shape = op.operands[i].shape;
        const std::int64_t row = 3 * s[1] * s[4];
        op.operands[i].placed(Layout(shape, {shape[2] * row, s[4], row, 1}));
    }
    CHECK(computes_its_result(op));
}
TEST_CASE("attention_backward_bf16: thirds of a product's columns", "[day06][training][small]") {
    check_thirds({2, 2, 5, 5, 8});
}
TEST_CASE("attention_backward_bf16: two and three tiles", "[day06][training][full]") {
    check_values({call({1, 1, 80, 130, 24}), call({1, 1, 17, 70, 128})});
    check_thirds({1, 2, 130, 130, 64});  // three tiles, two heads
}

TEST_CASE("attention_backward_bf16 matches float, up to the error of out and log_sums",
          "[day06][training][small]") {
    Operation op = call({1, 2, 9, 9, 8});
    // attention_bf16.hpp: out has two roundings, of A <= 1 and of |out| <= 1.
    op.exact = [](const Inputs& inputs, int) {
        return attention_bf16_gradients(inputs, {}, {2.01 * 0x1p-8, 1e-5});
    };
    op.cuda = {};
    op.cpu = [](const Call& c) {
        const Tensor<float> q = converted<float>(c.in<bf16>(0)),
                            k = converted<float>(c.in<bf16>(1)),
                            v = converted<float>(c.in<bf16>(2));
        Tensor<float> d_q(q.shape()), d_k(k.shape()), d_v(k.shape());
        attention_backward_cpu(q.view(), k.view(), v.view(), {}, c.in<float>(5),
                               {d_q.view(), d_k.view(), d_v.view()});
        const auto store = [&](int i, const Tensor<float>& from) {
            for (std::int64_t j = 0; j < from.size(); ++j) {
                c.out<bf16>(i)(unravel(j, from.shape())) = bf16(from.data()[j]);
            }
        };
        store(6, d_q), store(7, d_k), store(8, d_v);
    };
    CHECK(computes_its_result(op));
}

TEST_CASE("the bounds reject weights and slopes of fewer bits than bf16 has",
          "[day06][training][small]") {
    Operation op = call({1, 1, 8, 8, 8});
    op.cuda = {};
    op.exact = [exact = op.exact](const Inputs& inputs, int path) {
        std::vector<Expected> want = exact(inputs, path);
        const std::vector<Expected> worse = attention_bf16_gradients(inputs, {}, {.bits = 3});
        for (std::size_t i = 0; i < want.size(); ++i) want[i].value = worse[i].value;
        return want;
    };
    const std::string text = computes_its_result(op).text;
    for (const char* output : {"d_q: ", "d_k: ", "d_v: "}) CHECK(contains(text, output));
}

TEST_CASE("attention_backward_bf16 rejects a length, and a scale that is negative or not finite",
          "[day06][training][small]") {
    const std::int64_t two = 2;
    const auto check = [](const AttentionOptions& options, const std::string& words) {
        Operation op = call({1, 1, 2, 3, 8});
        call_with(op, options);
        CHECK(rejects_as_it_is(op, words));
    };
    check({true, 0, {&two, Shape{}}}, "a length was given, but only a cache has one");
    const std::string allowed = ", but must be finite and not negative; 0 stands for 1 / sqrt(D)";
    check({true, -1}, "scale is -1.000000" + allowed);
    check({true, NAN}, "scale is nan" + allowed);
    check({true, INFINITY}, "scale is inf" + allowed);
    CHECK(contains(rejection([] {
                       (void)attention_backward_bf16_workspace_bytes({nullptr, {8}});
                   }),
                   "q has shape (8)"));
}

}  // namespace
