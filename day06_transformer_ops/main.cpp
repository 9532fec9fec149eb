// Day 06 as a run: every line that says "ok" was checked a moment before.
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "common/lesson/lesson.hpp"
#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/activation.hpp"
#include "day06_transformer_ops/attention.hpp"
#include "day06_transformer_ops/bench/bench.hpp"
#include "day06_transformer_ops/block.hpp"
#include "day06_transformer_ops/embedding.hpp"
#include "day06_transformer_ops/norm.hpp"
#include "day06_transformer_ops/softmax.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;

namespace {

constexpr std::int64_t K = 1024;

// "  0.500  0.250"
std::string shown(const View<const float>& row) {
    std::string text;
    for (std::int64_t i = 0; i < row.extent(0); ++i) {
        char number[32];
        std::snprintf(number, sizeof number, " %7.4f", static_cast<double>(row(i)));
        text += number;
    }
    return text;
}

bool near(const Tensor<float>& got, const Tensor<float>& want) {
    return distance(want, got) <= 1e-4;
}

// What the device holds, on the host.
Tensor<float> on_host(const gpu::Buffer<float>& x, const Shape& shape) {
    const std::vector<float> values = x.download();
    return Tensor<float>(shape, values);
}

void words_become_vectors(lesson::Report& report) {
    report.heading("1. A sentence is a list of ids, and each id names a row of a table");
    std::printf(
        "   Vocabulary: 0 the, 1 cat, 2 sat, 3 mat. A vector has C = 2 numbers. tokens (4, 2):\n"
        "   (1, 2) (3, 4) (5, 6) (7, 8); positions (3, 2): (0.1, 0.2) (0.3, 0.4) (0.5, 0.6).\n\n");
    const Tensor<float> tokens({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    const Tensor<float> positions({3, 2}, {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f});
    const Tensor<std::int64_t> ids({3}, {0, 1, 2}), places({3}, {0, 1, 2});
    Tensor<float> x({3, 2});
    embed_cpu(tokens.view(), ids.view(), positions.view(), places.view(), x.view());
    report.check(near(x, Tensor<float>({3, 2}, {1.1f, 2.2f, 3.3f, 4.4f, 5.5f, 6.6f})),
                 "the cat sat: " + shown(row(x.view(), 0)) + " /" + shown(row(x.view(), 1)) + " /" +
                     shown(row(x.view(), 2)));
    const gpu::Buffer<float> device_tokens(tokens), device_positions(positions);
    const Tensor<std::int64_t> unknown({3}, {0, 4, 2});
    const gpu::Buffer<std::int64_t> device_ids(unknown), device_places(places);
    gpu::Buffer<float> out(6);
    embed_cuda(device_tokens.view({4, 2}), device_ids.view({3}), device_positions.view({3, 2}),
               device_places.view({3}), out.view({3, 2}));
    const Tensor<float> y = on_host(out, {3, 2});
    report.check(
        std::isnan(y(1, 0)) && std::isnan(y(1, 1)) && y(2, 1) == x(2, 1),
        "an id that is not in the table, 4: the port fills its row with NaN, and no other");
    std::string why;
    try {
        embed_cpu(tokens.view(), unknown.view(), positions.view(), places.view(), x.view());
    } catch (const std::invalid_argument& refused) {
        why = refused.what();
    }
    report.check(!why.empty(), "the loop can look, and says:");
    std::printf("          %s\n", why.c_str());
}

void rows_of_one_size(lesson::Report& report) {
    report.heading("2. Layer norm: every vector gets mean 0 and variance 1");
    const Tensor<float> x({2, 4}, {1, 2, 3, 4, 10240, 10241, 10240, 10241});
    Tensor<float> y({2, 4});
    layer_norm_cpu(x.view(), {}, y.view());
    report.check(
        near(y, Tensor<float>({2, 4}, {-1.3416f, -0.4472f, 0.4472f, 1.3416f, -1, 1, -1, 1})),
        "1 2 3 4: mean 2.5, variance 1.25; so" + shown(row(y.view(), 0)));
    std::printf("          10240 10241 10240 10241:         %s\n", shown(row(y.view(), 1)).c_str());
    float sum = 0, squares = 0;
    for (const float v : {10240.0f, 10241.0f, 10240.0f, 10241.0f}) {
        sum += v;
        squares += v * v;
    }
    const float one_pass = squares / 4 - (sum / 4) * (sum / 4);
    char line[128];
    std::snprintf(line, sizeof line,
                  "E[x^2] - E[x]^2 of that row would be %g instead of 0.25: squares near 10^8\n"
                  "          are floats that lie 8 apart",
                  static_cast<double>(one_pass));
    report.check(one_pass != 0.25f, line);
    rms_norm_cpu(row(x.view(), 0), {}, row(y.view(), 0));
    report.check(std::fabs(y(0, 3) - 4 / std::sqrt(7.5f)) < 1e-4f,
                 "RMS norm does not subtract the mean; 1 2 3 4:" + shown(row(y.view(), 0)));
}

void not_a_straight_line(lesson::Report& report) {
    report.heading("3. Activations: each element by itself");
    const Tensor<float> x({6}, {-3, -1, 0, 1, 2, 3});
    Tensor<float> all({4, 6});
    std::printf("   x        %s\n", shown(x.view()).c_str());
    const Activation kinds[] = {Activation::relu, Activation::gelu_erf, Activation::gelu_tanh,
                                Activation::silu};
    for (int k = 0; k < 4; ++k) {
        activate_cpu(kinds[k], x.view(), row(all.view(), k));
        std::printf("   %-9s%s\n", name(kinds[k]), shown(row(all.view(), k)).c_str());
    }
    std::printf("\n");
    report.check(
        std::fabs(all(1, 3) - 0.841345f) < 1e-6f && std::fabs(all(2, 3) - 0.841192f) < 1e-6f,
        "two GELUs, and they are not the same: at 1, 0.841345 and 0.841192");
}

void shares_of_one(lesson::Report& report) {
    report.heading("4. Softmax: scores become shares that add up to 1");
    const Tensor<float> x({2, 3}, {0, std::log(2.0f), std::log(5.0f), 1000, 1000, 999});
    Tensor<float> y({2, 3});
    softmax_cpu(x.view(), -1, y.view());
    report.check(
        near(y, Tensor<float>({2, 3}, {0.125f, 0.25f, 0.625f, 0.42232f, 0.42232f, 0.15536f})),
        "0, log 2, log 5: exp is 1, 2, 5 of 8:" + shown(row(y.view(), 0)));
    std::printf("          1000 1000 999, whose exp no float holds: %s\n",
                shown(row(y.view(), 1)).c_str());
    const Tensor<float> scores({3, 3}, {1, 9, 9, 1, 1, 9, 1, 1, 1});
    Tensor<float> shares({3, 3});
    causal_softmax_cpu(scores.view(), shares.view());
    std::printf(
        "\n   Causal: token t looks at itself and back. The 9s lie ahead and are not read.\n");
    for (int t = 0; t < 3; ++t)
        std::printf("      token %d  %s\n", t, shown(row(shares.view(), t)).c_str());
    report.check(
        near(shares, Tensor<float>({3, 3}, {1, 0, 0, 0.5f, 0.5f, 0, 1 / 3.0f, 1 / 3.0f, 1 / 3.0f})),
        "the first token has nobody but itself");
}

void who_asks_whom(lesson::Report& report) {
    report.heading("5. Attention: each token asks those before it, and itself");
    // One head of one number, so that a score is a product: token 1 asks 1, the keys are 0 and log 3.
    const Tensor<float> q({2, 1}, {5, 1}), k({2, 1}, {0, std::log(3.0f)}), v({2, 1}, {4, 8});
    Tensor<float> out({2, 1});
    attention_cpu(q.view(), k.view(), v.view(), {}, out.view());
    report.check(
        near(out, Tensor<float>({2, 1}, {4, 7})),
        "token 1: exp of its scores is 1 and 3, its shares 1/4 and 3/4; 4/4 + 3/4 * 8 = 7");
    report.check(out(0, 0) == 4, "token 0 sees itself alone and gets its own value, 4");
    const Tensor<float> qkv = noise<float>({1, 6, 24});
    const Heads of = heads_of(qkv.view(), 2);
    std::printf(
        "\n   One product makes all three, qkv (B, T, 3 C) = (1, 6, 24). Two heads are views:\n");
    for (const auto& [what, x] : {std::pair{"q", of.q}, {"k", of.k}, {"v", of.v}}) {
        std::printf("      %s  %-35s begins at %2d\n", what, to_string(x.layout).c_str(),
                    static_cast<int>(x.data - qkv.data()));
    }
    report.check(of.k.data - qkv.data() == 8 && of.k(0, 1, 2, 3) == qkv(0, 2, 8 + 4 + 3),
                 "k(0, head 1, token 2, 3) is qkv(0, 2, 8 + 1 * 4 + 3): nothing was copied");
}

void one_token_through_one_block(lesson::Report& report) {
    report.heading("6. Six tokens through one block, C = 8 numbers each, 2 heads");
    const std::int64_t T = 6, C = 8, F = 32;
    const Shape shapes[] = {{C, 3 * C}, {3 * C}, {C, C}, {C}, {C, F}, {F}, {F, C}, {C}};
    const char* const names[] = {"qkv", "", "join", "", "up", "", "down", ""};
    std::vector<Tensor<float>> host;
    std::vector<gpu::Buffer<float>> device;
    for (int i = 0; i < 8; ++i) {
        host.push_back(lesson::filled<float>(shapes[i], [&](std::int64_t k) {
            return static_cast<float>((k * 37 + 11 * i) % 101) / 101 - 0.5f;
        }));
        device.emplace_back(host.back());
        if (*names[i] == 0) continue;
        std::printf("   %-5s %s\n", names[i], to_string(host.back().view().layout).c_str());
    }
    const auto parameters = [&](const auto& at) {
        return BlockParameters{{}, at(0), at(1), at(2), at(3), {}, at(4), at(5), at(6), at(7), 2};
    };
    const BlockParameters here = parameters(
        [&](int i) { return View<const float>(host[static_cast<std::size_t>(i)].view()); });
    const BlockParameters there = parameters([&](int i) {
        return View<const float>(device[static_cast<std::size_t>(i)].view(shapes[i]));
    });
    Tensor<float> x = noise<float>({1, T, C});
    gpu::Buffer<float> stream(x);
    block_cpu(here, x.view());
    gpu::Buffer<std::byte> memory(block_workspace_bytes(there, stream.view({1, T, C})));
    block_cuda(there, stream.view({1, T, C}), memory);
    std::printf("\n   The last token leaves it as%s\n",
                shown(row(select(x.view(), 0, 0), T - 1)).c_str());
    report.check(near(on_host(stream, {1, T, C}), x), "loop and port of the whole block agree");
}

void ladders(lesson::Report& report) {
    report.heading("7. From a thread a row to a row in registers");
    for (const auto path : {SoftmaxPath::thread_a_row, SoftmaxPath::warp_a_row, SoftmaxPath::online,
                            SoftmaxPath::registers}) {
        port(report,
             Op<float>{
                 "softmax", name(path),
                 [](View<const float> in, View<float> out) { softmax_cpu(in, -1, out); },
                 [=](View<const float> in, View<float> out) { softmax_cuda(path, in, -1, out); }},
             {40, 260}, {16 * K, K});
    }
    for (const auto path : {NormPath::thread_a_row, NormPath::warp_a_row, NormPath::registers}) {
        port(report,
             Op<float>{"layer norm", name(path),
                       [](View<const float> in, View<float> out) { layer_norm_cpu(in, {}, out); },
                       [=](View<const float> in, View<float> out) {
                           layer_norm_cuda(path, in, {}, out);
                       }},
             {40, 260}, {16 * K, 768});
    }
    for (const auto path : {ActivationPath::one_element, ActivationPath::quads}) {
        const auto gelu = Activation::gelu_tanh;
        port(report,
             Op<float>{"gelu_tanh", name(path),
                       [=](View<const float> in, View<float> out) { activate_cpu(gelu, in, out); },
                       [=](View<const float> in, View<float> out) {
                           activate_cuda(path, gelu, in, out);
                       }},
             {40, 260}, {8 * K, 3072});
    }
}

}  // namespace

int main(int argc, char** argv) {
    return lesson::run(
        argc, argv,
        {"Day 06, the operations of a transformer",
         "what a sentence goes through inside a language model, one operation after the other",
         {words_become_vectors, rows_of_one_size, not_a_straight_line, shares_of_one, who_asks_whom,
          one_token_through_one_block, ladders},
         trace_all,
         bench_all,
         "give section 4 a row of -infinity alone. What should its shares be?"});
}
