// The standard tests of the backward passes, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/training/backward/activation_backward.op.hpp"
#include "day06_transformer_ops/training/backward/attention_backward.op.hpp"
#include "day06_transformer_ops/training/backward/cross_entropy_backward.op.hpp"
#include "day06_transformer_ops/training/backward/embedding_backward.op.hpp"
#include "day06_transformer_ops/training/backward/linear_backward.op.hpp"
#include "day06_transformer_ops/training/backward/norm_backward.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// From nothing, and from the saved results of the forward pass.
void append_attention(std::vector<Operation>& all, const Shape& q, const Shape& k,
                      const AttentionOptions& options) {
    for (const bool saved : {false, true}) {
        all.push_back(attention_backward_operation(q, k, options, saved));
    }
}

// Operands (B, H, T, D) whose memory is (B, T, H, D), as for heads in one buffer.
void place_heads_after_tokens(Operation& op) {
    for (Operand& x : op.operands) {
        Layout layout = row_major(x.shape);
        const std::int64_t D = x.shape.rank == 4 ? x.shape[3] : 1;  // log_sums have none
        layout.stride(1) = D, layout.stride(2) = x.shape[1] * D;
        x.placed(layout);
    }
}

void append_cross_entropy(std::vector<Operation>& all, const Shape& rows, std::int64_t V) {
    for (const bool losses : {false, true}) {
        all.push_back(cross_entropy_backward_operation(rows, V, losses));
        all.push_back(cross_entropy_backward_operation<bf16>(rows, V, losses));
    }
}

void append_norms(std::vector<Operation>& all, const Shape& shape) {
    all.push_back(layer_norm_backward_operation(shape));
    all.push_back(rms_norm_backward_operation(shape));
}

void append_activations(std::vector<Operation>& all, const Shape& shape) {
    for (const Activation what : kActivations) {
        all.push_back(activate_backward_operation(what, shape));
        all.push_back(activate_backward_operation<bf16>(what, shape));
        all.push_back(activate_gated_backward_operation(what, shape));
    }
}

std::vector<Operation> operations() {
    std::vector<Operation> all = {
        linear_backward_operation({3}, 4, 5),      linear_backward_operation({1}, 1, 1),
        linear_backward_operation({64}, 2, 1),     linear_backward_operation({2, 3}, 4, 5),
        bias_backward_operation({3, 5}),           bias_backward_operation({1, 1}),
        bias_backward_operation<bf16>({3, 5}),     embed_backward_operation({2, 3}, 8),
        embed_backward_operation({1}, 5),          embed_backward_operation({3, 1}, 1),
        embed_backward_operation({2, 5}, 3, false)};
    append_attention(all, {1, 3, 8}, {1, 4, 8}, attention_options(true));
    all.push_back(attention_backward_operation({2, 1, 3}, {1, 1, 3}, attention_options(false)));
    append_cross_entropy(all, {3}, 5);
    append_cross_entropy(all, {2, 1}, 8);
    append_cross_entropy(all, {3}, 1);
    append_cross_entropy(all, {0}, 4);
    for (const Shape& shape : {Shape{3, 5}, {2, 64}, {1, 8}, {4, 1}, {0, 4}}) {
        append_norms(all, shape);
        append_activations(all, shape);
    }
    return all;
}

}  // namespace

TEST_CASE(
    "the backward passes: an invalid operand, an overlap or an unknown path is rejected before any "
    "write",
    "[day06][training][small]") {
    check_rejections(operations());
}

TEST_CASE("the backward passes: layouts, unused strides and NaNs do not make any path differ",
          "[day06][training][small][kernels]") {
    check_results(operations());
}

TEST_CASE("cross-entropy's backward pass: a row with more vectors than a block has threads",
          "[day06][training][small]") {
    std::vector<Operation> all;
    for (const std::int64_t V : {33, 259, 2048, 2049, 2601}) {  // blocks of 64 threads, and of 512
        append_cross_entropy(all, {2}, V);
    }
    check_values(all);
}

TEST_CASE("cross-entropy's backward pass: one gradient for all rows, and padded rows",
          "[day06][training][small]") {
    std::vector<Operation> all;
    append_cross_entropy(all, {3}, 7);
    for (Operation& op : all) {
        op.operands[2].shape = {};
        for (const std::size_t i : {0, 3}) op.operands[i].placed(Layout({3, 7}, {10, 1}));
    }
    check_values(all);
}

TEST_CASE("the norms' backward passes: lengths around vectors, warps and blocks, and many rows",
          "[day06][training][small]") {
    std::vector<Operation> all;
    for (const std::int64_t C : {1, 2, 3, 8, 33, 130, 132, 300, 516}) {
        append_norms(all, {1, C});
        append_norms(all, {5, C});
    }
    for (const Shape& shape :
         {Shape{150, 3}, {2057, 4}, {2057, 8}, {3, 768}, {3, 1024}, {1, 1028}}) {
        append_norms(all, shape);
    }
    check_values(all);
}

TEST_CASE("the norms' backward passes: rows in two dimensions, in any order",
          "[day06][training][small]") {
    std::vector<Operation> all;
    append_norms(all, {2, 3, 8});
    for (const Operation& op : all) {
        CHECK(takes_or_rejects_placements(op));
        CHECK(takes_every_order(op));
    }
}

TEST_CASE("the norms' backward passes without gradients of parameters",
          "[day06][training][small]") {
    std::vector<Operation> all;
    append_norms(all, {5, 3});
    append_norms(all, {5, 4});  // whole vectors
    for (Operation& op : all) op.operands.resize(5);
    check_values(all);
    for (const Operation& op : all) CHECK(takes_less_memory(op));
}

TEST_CASE("the activations' backward passes: sizes around blocks, and different pitches",
          "[day06][training][small]") {
    std::vector<Operation> all;
    for (const Shape& shape : {Shape{9, 33}, {3, 36}, {257}, {5, 516}}) {
        append_activations(all, shape);
    }
    for (const Activation what : kActivations) {
        Operation& op = all.emplace_back(activate_backward_operation(what, {5, 36}));
        op.operands[0].placed(Layout({5, 36}, {48, 1}));
        op.operands[2].placed(Layout({5, 36}, {40, 1}));
    }
    check_values(all);
}

TEST_CASE("a linear layer's backward pass: row counts around the parts of its sums",
          "[day06][training][small]") {
    std::vector<Operation> all = {
        linear_backward_operation({5}, 3, 4), linear_backward_operation({4}, 4, 4),
        linear_backward_operation({3}, 17, 9), linear_backward_operation({33}, 2, 5)};
    for (const std::int64_t M : {63, 64, 65, 128, 192}) {
        all.push_back(linear_backward_operation({M}, 2, 3));
        all.push_back(bias_backward_operation({M, 5}));
        all.push_back(bias_backward_operation<bf16>({M, 5}));
    }
    check_values(all);
}

TEST_CASE("the embedding's backward pass: more tokens and columns than a block has threads",
          "[day06][training][small]") {
    check_values({embed_backward_operation({601}, 3), embed_backward_operation({2, 2, 5}, 515),
                  embed_backward_operation({1}, 1, false), embed_backward_operation({0}, 1, false),
                  embed_backward_operation({0}, 3)});
}

TEST_CASE("attention's backward pass: few tokens, other lengths of keys, shared heads",
          "[day06][training][small]") {
    const Shape shapes[][2] = {{{1, 1, 1, 1}, {1, 1, 1, 1}}, {{2, 3, 5, 4}, {2, 3, 5, 4}},
                               {{1, 2, 3, 2}, {1, 2, 7, 2}}, {{1, 2, 7, 2}, {1, 2, 3, 2}},
                               {{2, 2, 1, 3}, {2, 2, 4, 3}}, {{2, 3, 4, 2}, {2, 1, 4, 2}}};
    std::vector<Operation> all;
    for (const auto& [q, k] : shapes) {
        append_attention(all, q, k, attention_options(true, 0.75f));
        append_attention(all, q, k, attention_options(false));
    }
    check_values(all);
}

TEST_CASE("attention's tiled backward pass: ragged edges, S > T, shared heads, wide heads",
          "[day06][training][small]") {
    const Shape shapes[][2] = {{{1, 1, 65, 4}, {1, 1, 65, 4}},   {{1, 2, 70, 8}, {1, 1, 131, 8}},
                               {{1, 2, 130, 3}, {1, 2, 70, 3}},  {{1, 1, 66, 32}, {1, 1, 66, 32}},
                               {{1, 1, 66, 36}, {1, 1, 66, 36}}, {{1, 1, 66, 72}, {1, 1, 66, 72}}};
    std::vector<Operation> all;
    for (const auto& [q, k] : shapes) {
        append_attention(all, q, k, attention_options(true));
        if (q[3] <= 4) append_attention(all, q, k, attention_options(false));
    }
    for (Operation& op : all) place_heads_after_tokens(op);
    check_values(all);
}

// Tiles still address rows past a single token or key, and even a copy of 0 bytes must start at a
// multiple of 16 bytes.
TEST_CASE("attention's backward pass of one token or one key, with an odd stride in each operand",
          "[day06][training][small]") {
    std::vector<Operation> all;
    append_attention(all, {1, 2, 1, 8}, {1, 2, 3, 8}, attention_options(false));
    append_attention(all, {1, 2, 3, 8}, {1, 2, 1, 8}, attention_options(false));
    check_values(all);
    for (const Operation& op : all) CHECK(ignores_unused_strides(op));
}
