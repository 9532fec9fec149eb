// What softmax and its siblings refuse, in which words, and that nothing is written then.
#include "day06_transformer_ops/softmax.hpp"
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

}  // namespace
