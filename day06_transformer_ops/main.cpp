// Day 06 as a program: "the cat sat" in a model that fits on paper. A line with "ok" was checked.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "common/lesson/lesson.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/copy.hpp"
#include "day04_argmax/argmax.hpp"
#include "day05_matmul/matmul.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/attention/attention.hpp"
#include "day06_transformer_ops/bench/bench.hpp"
#include "day06_transformer_ops/block/block.hpp"
#include "day06_transformer_ops/embedding/embedding.hpp"
#include "day06_transformer_ops/norm/norm.hpp"
#include "day06_transformer_ops/run/small_model.hpp"
#include "day06_transformer_ops/softmax/softmax.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using day03_views::copy_cpu;
using day05_matmul::matmul_cpu;

namespace {

SmallModel model;

void words_become_vectors(lesson::Report& report) {
    report.heading("1. A text is a list of ids, and each id names a row of a table");
    std::printf("   Vocabulary: 0 the, 1 cat, 2 sat, 3 mat. \"the cat sat\" is 0 1 2.\n\n");
    layout("ids", model.ids.view());
    layout("tokens", model.tokens.view());
    layout("positions", model.positions.view());
    embed_cpu(model.tokens.view(), model.ids.view(), model.positions.view(), model.places.view(),
              model.x.view());
    model.embedded = model.x;
    layout("x", model.x.view());
    every_token(model.x);
    report.check(near(sat(model.x), {4, 2, 2, 4}),
                 "sat, row 2 of both: 3 1 2 3 + 1 1 0 1 =" + shown(sat(model.x)));
    const Tensor<std::int64_t> unknown({1, 3}, {0, 1, 4});
    const gpu::Buffer<float> tokens(model.tokens), positions(model.positions);
    const gpu::Buffer<std::int64_t> ids(unknown), places(model.places);
    gpu::Buffer<float> out(12);
    embed_cuda(tokens.view({4, 4}), ids.view({1, 3}), positions.view({3, 4}), places.view({3}),
               out.view({1, 3, 4}));
    const std::vector<float> y = out.download();
    report.check(std::isnan(y[8]) && std::isnan(y[11]) && y[7] == 1,
                 "id 4 is out of range: embed_cuda fills its row with NaN, and no other row");
    std::string why;
    try {
        embed_cpu(model.tokens.view(), unknown.view(), model.positions.view(), model.places.view(),
                  model.normed.view());
    } catch (const std::invalid_argument& rejected) {
        why = rejected.what();
    }
    report.check(!why.empty(), "the CPU reference can check, and reports:\n          " + why);
}

void rows_of_one_size(lesson::Report& report) {
    report.heading("2. Layer norm: every row gets mean 0 and variance 1");
    layer_norm_cpu(model.x.view(), {}, model.normed.view());
    every_token(model.normed);
    report.check(near(sat(model.normed), {1, -1, -1, 1}),
                 "4 2 2 4: mean 3, variance 1; so" + shown(sat(model.normed)));
    const Tensor<float> far({4}, {10240, 10241, 10240, 10241});
    Tensor<float> y({4});
    layer_norm_cpu(far.view(), {}, y.view());
    report.check(near(y.view(), {-1, 1, -1, 1}), "10240 10241 10240 10241:" + shown(y.view()));
    float sum = 0, squares = 0;
    for (const float v : {10240.0f, 10241.0f, 10240.0f, 10241.0f}) sum += v, squares += v * v;
    const float one_pass = squares / 4 - (sum / 4) * (sum / 4);
    report.check(one_pass != 0.25f, "its variance is 0.25; E[x^2] - E[x]^2 gives " +
                                        std::to_string(one_pass) +
                                        ": near 10^8, floats are 8 apart");
    rms_norm_cpu(sat(model.x), {}, y.view());
    report.check(near(y.view(), {1.2649, 0.6325, 0.6325, 1.2649}),
                 "RMS norm, 4 2 2 4 over the root of (16 + 4 + 4 + 16) / 4:" + shown(y.view()));
}

void one_buffer_three_views(lesson::Report& report) {
    report.heading("3. Queries, keys and values: one product, and views of it");
    layout("weight", model.to_qkv.view());
    matmul_cpu(model.normed.view(), model.to_qkv.view(), model.qkv.view());
    layout("qkv", model.qkv.view());
    const Heads of = heads_of(model.qkv.view(), 2);
    layout("q", of.q, of.q.data - model.qkv.data());
    layout("k", of.k, of.k.data - model.qkv.data());
    layout("v", of.v, of.v.data - model.qkv.data());
    report.check(&of.k(0, 1, 2, 0) == model.qkv.data() + 4 + 2 * 1 + 12 * 2,
                 "k of head 1, token 2, element 0 has offset 4 + 1 * 2 + 2 * 12 + 0 = 30");
    report.check(near(sat(model.qkv), {1, -1, -1, 1, .4901, -.4901, -.4901, .4901, 1, -1, -1, 1}),
                 "sat's q and v are its normed row, its k is 0.4901 times that");
}

void who_asks_whom(lesson::Report& report) {
    report.heading("4. Attention: each token attends to itself and the tokens before it");
    const Heads of = heads_of(model.qkv.view(), 2);
    Tensor<float> scores({1, 2, 3, 3}), weights({1, 2, 3, 3});
    layout("transpose(k)", transpose(of.k));
    layout("scores", scores.view());
    layout("mixed, heads", split_heads(model.mixed.view(), 2));
    matmul_cpu(of.q, transpose(of.k), {1 / kRoot2}, scores.view());
    causal_softmax_cpu(scores.view(), weights.view());
    matmul_cpu(weights.view(), of.v, split_heads(model.mixed.view(), 2));
    std::printf("   head  token  scores                       attention weights (causal)\n");
    for (int line = 0; line < 6; ++line) {
        const int h = line / 3, t = line % 3;
        const auto of_token = [=](const auto& x) { return shown({&x(0, h, t, 0), Shape{3}}); };
        std::printf("   %d     %s   %s    %s\n", h, std::vector{"the", "cat", "sat"}[t],
                    of_token(scores).c_str(), of_token(weights).c_str());
    }
    report.check(near({&scores(0, 0, 2, 0), Shape{3}}, {kLog2, 0, kLog2}),
                 "query of sat, key of the: (1 * 0.4901 + -1 * -0.4901) / root of 2 = log 2");
    report.check(near({&weights(0, 0, 2, 0), Shape{3}}, {.4, .2, .4}),
                 "sat: exp of its scores is 2, 1, 2; their sum is 5. Later tokens get weight 0");
    report.check(near(sat(model.mixed), {1, -.6, -5. / 7, 1. / 7}),
                 "0.4 (1, -1) + 0.2 (1, 1) + 0.4 (1, -1), and head 1:" + shown(sat(model.mixed)));
    Tensor<float> large({3}, {1000, 1000, 999});
    softmax_cpu(large.view(), 0, large.view());
    report.check(near(large.view(), {.42232, .42232, .15536}),
                 "1000 1000 999, whose exp overflows a float:" + shown(large.view()));
    const gpu::Buffer<float> device(model.qkv);
    const Heads there = heads_of(device.view({1, 3, 12}), 2);
    gpu::Buffer<std::byte> memory(
        attention_workspace_bytes(there.q, there.k, there.v, AttentionPath::four_passes));
    memory.fill_bytes(0);
    for (const auto path : {AttentionPath::four_passes, AttentionPath::fused,
                            AttentionPath::split_keys, AttentionPath::tiles}) {
        gpu::Buffer<float> out(12);
        attention_cuda(there.q, there.k, there.v, {}, split_heads(out.view({1, 3, 4}), 2), {},
                       {.path = path, .workspace = memory});
        report.check(near(Tensor<float>({1, 3, 4}, out.download()), model.mixed),
                     std::string("the CUDA version in one call, ") + name(path) + ": the same");
    }
}

void back_to_the_stream(lesson::Report& report) {
    report.heading(
        "5. The projection joins the heads, and the result is added to the residual stream");
    layout("mixed", model.mixed.view());
    layout("projection", model.attention_output.view());
    matmul_cpu(model.mixed.view(), model.attention_output.view(), {1, 1}, model.x.view());
    every_token(model.x);
    report.check(near(sat(model.x), {5, 1.4, 9. / 7, 29. / 7}),
                 "4 2 2 4 + 1 -0.6 -0.7143 0.1429 =" + shown(sat(model.x)));
}

void not_a_straight_line(lesson::Report& report) {
    report.heading("6. The MLP: each token on its own");
    const Tensor<float> z({6}, {-3, -1, 0, 1, 2, 3});
    Tensor<float> all({4, 6});
    std::printf("   x        %s\n", shown(z.view()).c_str());
    for (int k = 0; k < 4; ++k) {
        activate_cpu(static_cast<Activation>(k), z.view(), row(all.view(), k));
        std::printf("   %-9s%s\n", name(static_cast<Activation>(k)),
                    shown(row(all.view(), k)).c_str());
    }
    report.check(
        std::fabs(all(1, 3) - 0.841345f) < 1e-6f && std::fabs(all(2, 3) - 0.841192f) < 1e-6f,
        "the two GELUs differ: at 1, 0.841345 and 0.841192");
    const Tensor<float> before = model.x;
    layer_norm_cpu(model.x.view(), {}, model.normed.view());
    matmul_cpu(model.normed.view(), model.up.view(), model.hidden.view());
    activate_cpu(Activation::gelu_tanh, model.hidden.view(), model.hidden.view());
    const View<const float> down = transpose(model.up.view());
    matmul_cpu(model.hidden.view(), down, {1, 1}, model.x.view());
    layout("up", model.up.view());
    layout("hidden", model.hidden.view());
    layout("down", down);
    std::printf("   sat, normed %s\n", shown(sat(model.normed)).c_str());
    bool added = true;
    for (int c = 0; c < 4; ++c) {
        added &= std::fabs(model.x(0, 2, c) - before(0, 2, c) - model.normed(0, 2, c)) < 1e-4f;
    }
    report.check(added, "gelu(z) - gelu(-z) is z for any z, so sat is now" + shown(sat(model.x)));
}

void what_comes_next(lesson::Report& report) {
    report.heading("7. The head is the token embedding table, transposed: which row matches best?");
    Tensor<float> logits({1, 3, 4});
    Tensor<std::int64_t> next({1, 3});
    layout("head", transpose(model.tokens.view()));
    layout("logits", logits.view());
    layer_norm_cpu(model.x.view(), {}, model.normed.view());
    matmul_cpu(model.normed.view(), transpose(model.tokens.view()), logits.view());
    std::printf("   sat, normed %s\n   its logits  %s\n", shown(sat(model.normed)).c_str(),
                shown(sat(logits)).c_str());
    day04_argmax::argmax_cpu(logits.view(), -1, next.view());
    report.check(next(0, 2) == 3, "the largest logit is that of token 3: the cat sat mat");
    Tensor<float> x = model.embedded;
    block_cpu(model.block(), x.view());
    report.check(near(x, model.x), "sections 2 to 6 in one call, block_cpu: the same");
    const OnDevice there(model);
    gpu::Buffer<float> stream(model.embedded);
    gpu::Buffer<std::byte> memory(block_workspace_bytes(there.block(), stream.view({1, 3, 4})));
    memory.fill_bytes(0);
    block_cuda(there.block(), stream.view({1, 3, 4}), memory);
    report.check(near(Tensor<float>({1, 3, 4}, stream.download()), model.x),
                 "block_cuda: the same");
}

void one_token_more(lesson::Report& report) {
    report.heading("8. A KV cache: keys and values of the tokens so far");
    const Heads of = heads_of(model.qkv.view(), 2);
    Tensor<float> keys({1, 2, 8, 2}), values({1, 2, 8, 2}), out({1, 3, 4});
    Tensor<std::int64_t> length(Shape{});
    layout("keys", keys.view());
    for (std::int64_t t = 0; t < 3; ++t) {
        copy_cpu(slice(of.k, 2, t, t + 1), slice(keys.view(), 2, t, t + 1));
        copy_cpu(slice(of.v, 2, t, t + 1), slice(values.view(), 2, t, t + 1));
        length() = t + 1;
        attention_cpu(slice(of.q, 2, t, t + 1), keys.view(), values.view(),
                      {true, 0, length.view()}, slice(split_heads(out.view(), 2), 2, t, t + 1));
    }
    report.check(near(out, model.mixed),
                 "one query at a time, with 1, 2, 3 tokens in a cache with room for 8: the same");
    const Tensor<float> few({1, 2, 8, 2}), many({1, 6, 3, 2});
    std::printf("   H = 6 query heads share G = 2 key heads:\n");
    layout("q", grouped(many.view(), 2));
    const View<const float> shared = broadcast_to(for_groups(few.view()), {1, 2, 3, 8, 2});
    layout("keys", shared);
    report.check(shared.stride(2) == 0,
                 "a stride of 0: three heads read the same keys, which are stored once");
}

void ladders(lesson::Report& report) {
    report.heading("9. From one thread per row to a register-resident row");
    for (const auto path : {SoftmaxPath::thread_per_row, SoftmaxPath::warp_per_row,
                            SoftmaxPath::online, SoftmaxPath::registers, SoftmaxPath::shared}) {
        const Op<float> op = {
            "softmax", name(path),
            [](View<const float> in, View<float> out) { softmax_cpu(in, -1, out); },
            [=](View<const float> in, View<float> out) { softmax_cuda(in, -1, out, {path}); }};
        port(report, op, {40, 260}, {16384, 1024});
    }
}

}  // namespace

int main(int argc, char** argv) {
    return lesson::run(
        argc, argv,
        {"Day 06, the operations of a transformer",
         "what the sentence \"the cat sat\" goes through inside a language model, step by step",
         {words_become_vectors, rows_of_one_size, one_buffer_three_views, who_asks_whom,
          back_to_the_stream, not_a_straight_line, what_comes_next, one_token_more, ladders},
         trace_all,
         bench_all,
         "make the large row of section 4 three times -INFINITY. What should its weights be?"});
}
