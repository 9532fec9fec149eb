// Tests of the backward passes of activations and the embedding: CPU reference and
// kernels against central differences and PyTorch's autograd, over every element.
#include "day06_transformer_ops/training/backward/embedding_backward.hpp"
#include "day06_transformer_ops/training/backward/tests/near.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

#include "day06_transformer_ops/training/backward/tests/golden_operations.inc"

// --- embedding -----------------------------------------------------------------------------------

constexpr EmbedBackwardPath kEmbedPaths[] = {EmbedBackwardPath::column_per_thread,
                                             EmbedBackwardPath::atomics,
                                             EmbedBackwardPath::word_a_block};

Tensor<double> absolute(const Tensor<float>& x) {
    Tensor<double> sizes = in_double(x);
    for (std::int64_t i = 0; i < sizes.size(); ++i) sizes.data()[i] = std::fabs(sizes.data()[i]);
    return sizes;
}

TEST_CASE("embed's backward pass sums repeated tokens, in every layout, by all paths",
          "[day06][training][small]") {
    // 2 x 5 tokens of 4 words: one never, the others repeatedly.
    const Tensor<std::int64_t> ids({2, 5}, {1, 1, 3, 1, 0, 3, 1, 1, 0, 1}),
        places({5}, {0, 1, 2, 3, 4});
    const Tensor<float> grad = random({2, 5, 3}, 25);
    const Tensor<float> tokens = there_before({4, 3}), positions = there_before({6, 3});
    Tensor<double> want = in_double(tokens), at = in_double(positions);
    for (std::int64_t b = 0; b < 2; ++b) {
        for (std::int64_t t = 0; t < 5; ++t) {
            for (std::int64_t c = 0; c < 3; ++c) {
                want(ids(b, t), c) += static_cast<double>(grad(b, t, c));
                at(t, c) += static_cast<double>(grad(b, t, c));
            }
        }
    }
    // A word that occurs r times has r additions, and each sum is rounded.
    Tensor<double> of_words = absolute(tokens), of_places = absolute(positions);
    for (std::int64_t r = 0; r < 10; ++r) {
        for (std::int64_t c = 0; c < 3; ++c) {
            const double size = std::fabs(double{grad(r / 5, r % 5, c)});
            of_words(ids(r / 5, r % 5), c) += size, of_places(r % 5, c) += size;
        }
    }
    const Bound in_tokens = rounded(of_words, 6), in_positions = rounded(of_places, 2);
    for (std::size_t i = 0; i < 3; ++i) {
        const Layout g = some_layouts(grad.shape())[i], table = some_layouts({4, 3})[i];
        HostIn<float> hg(grad, g);
        auto loop = HostOut<float>::holding(tokens, table),
             loop_at = HostOut<float>::holding(positions);
        embed_backward_cpu(hg.view(), ids.view(), places.view(), {loop.view(), loop_at.view()});
        CHECK(loop.close_to(want, in_tokens));
        CHECK(loop_at.close_to(at, in_positions));
        for (const auto path : kEmbedPaths) {
            CAPTURE(name(path), to_string(g));
            DeviceIn<float> dg(grad, g);
            DeviceIn<std::int64_t> di(ids), dp(places);
            auto got = DeviceOut<float>::holding(tokens, table);
            auto got_at = DeviceOut<float>::holding(positions);
            embed_backward_cuda(dg.view(), di.view(), dp.view(), {got.view(), got_at.view()},
                                {.path = path});
            CHECK(got.close_to(want, in_tokens));
            CHECK(got_at.close_to(at, in_positions));
            if (path != EmbedBackwardPath::atomics) CHECK(got.matches(loop));
            auto alone = DeviceOut<float>::holding(tokens, table);  // without positions
            embed_backward_cuda(dg.view(), di.view(), {}, {alone.view()}, {.path = path});
            CHECK(alone.close_to(want, in_tokens));
            CHECK(dg.unchanged());
        }
    }
}

TEST_CASE("the embedding's backward pass: one token of one element, and none",
          "[day06][training][small]") {
    for (const std::int64_t tokens : {1, 0}) {
        const Tensor<std::int64_t> ids({tokens});
        Tensor<float> grad({tokens, 1});
        if (tokens == 1) grad(0, 0) = 3;
        const Tensor<float> before({2, 1}, {10, 20});
        const Tensor<float> want({2, 1}, {tokens == 1 ? 13.0f : 10.0f, 20});
        auto loop = HostOut<float>::holding(before);
        embed_backward_cpu(grad.view(), ids.view(), {}, {loop.view()});
        CHECK(loop.matches(want));
        DeviceIn<float> dg(grad);
        DeviceIn<std::int64_t> di(ids);
        for (const auto path : {EmbedBackwardPath::column_per_thread, EmbedBackwardPath::atomics}) {
            CAPTURE(tokens, name(path));
            auto got = DeviceOut<float>::holding(before);
            embed_backward_cuda(dg.view(), di.view(), {}, {got.view()}, {.path = path});
            CHECK(got.matches(want));
        }
    }
}

TEST_CASE("the embedding's gradients match PyTorch's", "[day06][training][small]") {
    const Tensor<std::int64_t> ids({6}, {2, 0, 2, 2, 1, 0});
    const Tensor<float> grad = floats({6, 2}, embedding_grad);
    const Tensor<double> want = doubles({4, 2}, embedding_dtokens);
    auto loop = HostOut<float>::holding(Tensor<float>({4, 2}, {9, 9, 9, 9, 9, 9, 9, 9}));
    Tensor<float> nines = loop.values();
    embed_backward_cpu(grad.view(), ids.view(), {}, {loop.view()});
    CHECK(loop.close_to(sum_of(nines, want), 1e-6 * 16));
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
    const Tensor<std::int64_t> ids({3}, {0, -1, 2});
    const Tensor<float> grad = random({3, 2}, 26), before = there_before({2, 2});
    auto loop = HostOut<float>::holding(before);
    CHECK(
        contains(rejection([&] { embed_backward_cpu(grad.view(), ids.view(), {}, {loop.view()}); }),
                 "ids has -1 at (1), but the table has 2 rows"));
    CHECK(loop.matches(before));
    Tensor<double> want = in_double(before);
    for (std::int64_t c = 0; c < 2; ++c) want(0, c) += static_cast<double>(grad(0, c));
    DeviceIn<float> dg(grad);
    DeviceIn<std::int64_t> di(ids);
    for (const auto path : kEmbedPaths) {
        auto got = DeviceOut<float>::holding(before);
        embed_backward_cuda(dg.view(), di.view(), {}, {got.view()}, {.path = path});
        CHECK(got.close_to(want, 1e-6));
    }
}

}  // namespace
