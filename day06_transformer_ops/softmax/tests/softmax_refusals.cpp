// What softmax and its siblings refuse, in which words, that nothing is written then, and which path is
// taken.
#include "day06_transformer_ops/softmax/softmax.hpp"
#include "day06_transformer_ops/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

TEST_CASE("loop and port of softmax refuse the same, in the same words",
          "[day06][softmax][small]") {
    const Tensor<float> x = noise<float>({4, 8}), tall = noise<float>({8, 4});
    DeviceIn<float> d(x), dtall(tall);
    HostOut<float> h({4, 8}), htall({8, 4});
    DeviceOut<float> g({4, 8}), gtall({8, 4});
    CHECK(both_refuse([&] { softmax_cpu(x.view(), 2, h.view()); },
                      [&] { softmax_cuda(d.view(), 2, g.view()); }, "softmax: dim 2 asked for"));
    CHECK(both_refuse([&] { softmax_cpu(tall.view(), 1, h.view()); },
                      [&] { softmax_cuda(dtall.view(), 1, g.view()); },
                      "in has shape (8, 4), but out has shape (4, 8)"));
    CHECK(both_refuse(
        [&] {
            log_softmax_cpu(x.view(), 0, broadcast_to(row(h.view(), 0), {4, 8}));
        },
        [&] {
            log_softmax_cuda(d.view(), 0, broadcast_to(row(g.view(), 0), {4, 8}));
        },
        "writers of it would race"));
    CHECK(both_refuse([&] { softmax_cpu(rows(h.view(), 0, 2), 1, rows(h.view(), 1, 3)); },
                      [&] { softmax_cuda(rows(g.view(), 0, 2), 1, rows(g.view(), 1, 3)); },
                      "overlap without being the same tensor"));
    CHECK(both_refuse(
        [&] {
            softmax_cpu({nullptr, Shape{4, 8}}, 1, h.view());
        },
        [&] {
            softmax_cuda({nullptr, Shape{4, 8}}, 1, g.view());
        },
        "in is a null pointer"));
    CHECK(both_refuse([&] { causal_softmax_cpu(tall.view(), htall.view()); },
                      [&] { causal_softmax_cuda(dtall.view(), gtall.view()); },
                      "causal_softmax: in has shape (8, 4), but scores have shape (..., T, S) with "
                      "T <= S"));
    CHECK(both_refuse([&] { causal_softmax_cpu(row(x.view(), 0), row(h.view(), 0)); },
                      [&] { causal_softmax_cuda(row(d.view(), 0), row(g.view(), 0)); },
                      "in has shape (8)"));
    const Tensor<std::uint8_t> mask({3, 8});
    DeviceIn<std::uint8_t> dm(mask);
    CHECK(both_refuse([&] { masked_softmax_cpu(x.view(), mask.view(), 1, h.view()); },
                      [&] { masked_softmax_cuda(d.view(), dm.view(), 1, g.view()); },
                      "masked_softmax: mask: broadcast of shape (3, 8) to (4, 8)"));
    const auto bytes = [](auto out) {
        return View<const std::uint8_t>(reinterpret_cast<const std::uint8_t*>(out.data), {4, 8});
    };
    CHECK(both_refuse([&] { masked_softmax_cpu(x.view(), bytes(h.view()), 1, h.view()); },
                      [&] { masked_softmax_cuda(d.view(), bytes(g.view()), 1, g.view()); },
                      "mask overlaps out"));
    const Tensor<std::int64_t> targets({4});
    DeviceIn<std::int64_t> dt(targets);
    HostOut<float> hl({8});
    DeviceOut<float> gl({8});
    CHECK(
        both_refuse([&] { cross_entropy_cpu(x.view(), targets.view(), hl.view()); },
                    [&] { cross_entropy_cuda(d.view(), dt.view(), gl.view()); },
                    "logits have shape (4, 8), so targets and out must have (4), not (4) and (8)"));
    CHECK(both_refuse(
        [&] { cross_entropy_cpu(slice(x.view(), 1, 0, 0), targets.view(), row(h.view(), 0)); },
        [&] { cross_entropy_cuda(slice(d.view(), 1, 0, 0), dt.view(), row(g.view(), 0)); },
        "need a last dim with at least one logit"));
    CHECK(both_refuse(
        [&] {
            cross_entropy_cpu(View<const float>(h.view()), targets.view(),
                              slice(row(h.view(), 0), 0, 0, 4));
        },
        [&] {
            cross_entropy_cuda(View<const float>(g.view()), dt.view(),
                               slice(row(g.view(), 0), 0, 0, 4));
        },
        "out overlaps an input"));
    CHECK(h.untouched());
    CHECK(g.untouched());
    CHECK(htall.untouched());
    CHECK(gtall.untouched());
}

TEST_CASE("softmax takes the path that its rows ask for", "[day06][softmax][small]") {
    alignas(16) static float memory[2][8];
    const auto path = [&](const Layout& in, int dim, int lead = 0) {
        return choose_softmax<float>({memory[0] + lead, in}, dim, {memory[1] + lead, in});
    };
    CHECK(path(row_major({4, 8}), 1) == SoftmaxPath::registers);
    CHECK(path(row_major({4, 8}), -1, 1) == SoftmaxPath::warp_a_row);
    CHECK(path(row_major({4, 7}), 1) == SoftmaxPath::warp_a_row);
    CHECK(path(row_major({4, 8}), 0) == SoftmaxPath::thread_a_row);
    CHECK(path(column_major({8, 4}), 0) == SoftmaxPath::registers);
    CHECK(path(row_major({4, 1024}), 1, 1) == SoftmaxPath::warp_a_row);
    CHECK(path(row_major({4, 1025}), 1) == SoftmaxPath::shared);
    CHECK(path(row_major({4, 16384}), 1) == SoftmaxPath::registers);
    CHECK(path(row_major({4, 16388}), 1) == SoftmaxPath::shared);
    const Layout padded = Layout(Shape{4, 1025}, Dims{1028, 1});
    CHECK(choose_softmax<float>({memory[0], padded}, 1, {memory[1], column_major({4, 1025})}) ==
          SoftmaxPath::shared);
    CHECK(path(row_major({1025, 4}), 0) == SoftmaxPath::thread_a_row);
    // log_softmax and causal_softmax have fewer.
    const auto others = [&](const Layout& in, int dim) {
        return choose_log_softmax<float>({memory[0], in}, dim, {memory[1], in});
    };
    CHECK(others(row_major({4, 8}), 1) == SoftmaxPath::registers);
    CHECK(others(row_major({4, 7}), -1) == SoftmaxPath::shared);
    CHECK(others(row_major({4, 8}), 0) == SoftmaxPath::thread_a_row);
    CHECK(others(column_major({4, 1}), 1) == SoftmaxPath::shared);
    const auto with_workspace = [&](std::int64_t rows, std::int64_t n) {
        const Layout in = row_major({rows, n});
        return choose_softmax<float>({memory[0], in}, 1, {memory[1], in}, true);
    };
    CHECK(with_workspace(8, 8192) == SoftmaxPath::split);
    CHECK(with_workspace(9, 8192) == SoftmaxPath::registers);
    CHECK(with_workspace(8, 8191) == SoftmaxPath::shared);
    CHECK(choose_softmax<bf16>({nullptr, row_major({4, 8})}, 1, {nullptr, row_major({4, 8})}) ==
          SoftmaxPath::registers);
    CHECK(choose_softmax<bf16>({nullptr, row_major({4, 12})}, 1, {nullptr, row_major({4, 12})}) ==
          SoftmaxPath::warp_a_row);

    const Tensor<float> x = noise<float>({4, 8});
    DeviceIn<float> d(x), d1(x, Lead{1});
    DeviceOut<float> got({4, 8});
    softmax_cuda(d.view(), 1, got.view());
    CHECK(last_kernel() == "softmax_registers_kernel");
    softmax_cuda(d1.view(), 1, got.view());
    CHECK(last_kernel() == "softmax_warp_kernel");
    log_softmax_cuda(d1.view(), 1, got.view());
    CHECK(last_kernel() == "softmax_shared_kernel");
    causal_softmax_cuda(d1.view(), got.view());
    CHECK(last_kernel() == "softmax_shared_kernel");
    log_softmax_cuda(d.view(), 0, got.view());
    CHECK(last_kernel() == "log_softmax_kernel");
    causal_softmax_cuda(SoftmaxPath::thread_a_row, d.view(), got.view());
    CHECK(last_kernel() == "causal_softmax_kernel");
    softmax_cuda(d.view(), 0, got.view());
    CHECK(last_kernel() == "softmax_kernel");
    softmax_cuda(SoftmaxPath::online, d.view(), 1, got.view());
    CHECK(last_kernel() == "softmax_online_kernel");
    const Tensor<std::uint8_t> mask({4, 1}, {1, 0, 1, 1});
    DeviceIn<std::uint8_t> dm(mask);
    masked_softmax_cuda(d.view(), dm.view(), 1, got.view());
    CHECK(last_kernel() == "masked_softmax_registers_kernel");
    masked_softmax_cuda(d1.view(), dm.view(), 1, got.view());
    CHECK(last_kernel() == "masked_softmax_kernel");
    const Tensor<std::int64_t> targets({4}, {1, 0, 3, 2});
    DeviceIn<std::int64_t> dt(targets);
    DeviceOut<float> four({4});
    cross_entropy_cuda(d.view(), dt.view(), four.view());
    CHECK(last_kernel() == "cross_entropy_block_kernel");
    DeviceIn<float> down(x, column_major({4, 8}));
    cross_entropy_cuda(down.view(), dt.view(), four.view());
    CHECK(last_kernel() == "cross_entropy_kernel");
    DeviceOut<float> untouched({4, 8});
    CHECK(refusal([&] { softmax_cuda(SoftmaxPath::shared, d.view(), 0, untouched.view()); }) ==
          "softmax: the path 'shared' needs rows of in along memory; in has shape (4, 8), strides "
          "(8, 1), and rows lie along dim 0");
    CHECK(refusal([&] { softmax_cuda(SoftmaxPath::split, d.view(), 1, untouched.view()); }) ==
          "softmax: a workspace of 0 bytes at a null pointer was given, but 32 are needed");
    CHECK(refusal([&] { causal_softmax_cuda(SoftmaxPath::split, d.view(), untouched.view()); }) ==
          "causal_softmax: the path 'split' is softmax' only");
    CHECK(refusal([&] { log_softmax_cuda(SoftmaxPath::online, d.view(), 1, untouched.view()); }) ==
          "log_softmax: the path 'online' is softmax' only");
    CHECK(contains(
        refusal([&] { log_softmax_cuda(SoftmaxPath::registers, d1.view(), 1, untouched.view()); }),
        "log_softmax: the path 'registers' needs"));
    CHECK(refusal([&] { softmax_cuda(SoftmaxPath::registers, d1.view(), 1, untouched.view()); }) ==
          "softmax: the path 'registers' needs rows of whole quads along memory that begin at "
          "multiples of 16 bytes, of 16,384 elements at most; in has shape (4, 8), strides (8, 1), "
          "out shape (4, 8), strides (8, 1), and rows lie along dim 1");
    CHECK(contains(
        refusal([&] { causal_softmax_cuda(SoftmaxPath::registers, d1.view(), untouched.view()); }),
        "causal_softmax: the path 'registers' needs"));
    CHECK(untouched.untouched());
}

}  // namespace
