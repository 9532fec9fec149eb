// Tests of the embedding's backward pass against PyTorch's autograd and sums by hand; the order of
// additions; and ids out of range.
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/training/backward/embedding_backward.op.hpp"
#include "day06_transformer_ops/training/backward/tests/outside.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

#include "day06_transformer_ops/training/backward/tests/golden_operations.inc"

TEST_CASE("embed's backward pass adds up repeated tokens and places", "[day06][training][small]") {
    Operation op = embed_backward_operation({2, 2}, 1);
    op.operands[0].with(list({1, 2, 4, 8}));
    op.operands[1].with(list({5, 0, 5, 5}));
    op.operands[2].with(all_equal_to(100)), op.operands[4].with(all_equal_to(200));
    op.exact = [](const Inputs&, int) {
        std::vector<Expected> all = {Expected({7, 1}), Expected({5, 1})};
        const double tokens[] = {102, 100, 100, 100, 100, 113, 100},
                     positions[] = {205, 200, 210, 200, 200};  // below(5): 0 and 2
        std::copy_n(tokens, 7, all[0].value.data()), std::copy_n(positions, 5, all[1].value.data());
        return all;
    };
    CHECK(computes_its_result(op));
}

TEST_CASE("the embedding's gradients match PyTorch's", "[day06][training][small]") {
    Operation op = embed_backward_operation({6}, 2, false);
    op.operands[0].with(list(embedding_grad));
    op.operands[1].with(list({2, 0, 2, 2, 1, 0}));
    op.operands[2].with(all_equal_to(0));
    know_golden(op, {embedding_dtokens});  // of four tokens; the others' gradients are 0
    CHECK(computes_its_result(op));
}

TEST_CASE("'word a block' adds in token order, so its bits are the CPU reference's",
          "[day06][training][small]") {
    const auto check = [](const Shape& tokens, std::int64_t C) {
        Tensor<std::int64_t> ids(tokens);
        for (std::int64_t r = 0; r < ids.size(); ++r) ids.data()[r] = r % 3 == 0 ? 5 : r * r % 41;
        Shape of_grad = tokens;
        of_grad[of_grad.rank++] = C;
        const Tensor<float> grad = random(of_grad, 27), before = there_before({41, C});
        auto loop = HostOut<float>::holding(before);
        embed_backward_cpu(grad.view(), ids.view(), {}, {loop.view()});
        DeviceIn<float> dg(grad);
        DeviceIn<std::int64_t> di(ids);
        auto got = DeviceOut<float>::holding(before);
        embed_backward_cuda(dg.view(), di.view(), {}, {got.view()});
        CHECK(last_kernel() == "embed_word_a_block_kernel");
        CHECK(got.matches(loop));
    };
    check({601}, 3);  // 512 at a time
    check({2, 2, 5}, 515);
}

TEST_CASE("an id out of range: the CPU reference rejects it, the kernels ignore it",
          "[day06][training][small]") {
    for (const double none : {-1, 7}) {
        Operation op = embed_backward_operation({3}, 2, false);
        op.operands[1].with(list({0, none, 2}));
        const std::string text = computes_its_result(op).text;
        CHECK(contains(text, sentence("(CPU): embed_backward: ids has ", static_cast<int>(none),
                                      " at (1), but the table has 7 rows")));
        op.cpu = {};
        CHECK(computes_its_result(op));
    }
}

}  // namespace
