// Where softmax's path changes, how much workspace each path needs, and error
// messages. The calls that each path accepts are in softmax.op.hpp.
#include "day06_transformer_ops/softmax/softmax.hpp"
#include "day06_transformer_ops/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

constexpr std::int64_t kMany = std::int64_t{1} << 32;

TEST_CASE("softmax's path changes at the right length, number of rows and dimension",
          "[day06][softmax][small]") {
    alignas(16) static float memory[2][4 * 1025 + 3];
    const auto path = [](const Layout& in, int dim, bool workspace = false) {
        const View<float> x(memory[0], in);
        return plan_softmax<float>(SoftmaxKind::softmax, x, dim, x,
                                   {.workspace = {memory[1], workspace ? 1 : 0}})
            .path;
    };
    const auto rows = [&](std::int64_t count, std::int64_t n, bool workspace = false) {
        return path(row_major({count, n}), 1, workspace);
    };
    CHECK(rows(4, 7) == SoftmaxPath::warp_per_row);
    CHECK(rows(4, 1023) == SoftmaxPath::warp_per_row);
    CHECK(path(Layout({4, 1024}, {1025, 1}), 1) == SoftmaxPath::warp_per_row);
    CHECK(rows(4, 1025) == SoftmaxPath::shared);
    CHECK(rows(4, 16384) == SoftmaxPath::registers);
    CHECK(rows(4, 16388) == SoftmaxPath::shared);
    CHECK(path(Layout({1, kMany - 1}, {kMany, 1}), 1) == SoftmaxPath::shared);
    CHECK(path(Layout({1, kMany}, {kMany, 1}), 1) == SoftmaxPath::thread_per_row);
    CHECK(path(row_major({1025, 4}), 0) == SoftmaxPath::thread_per_row);
    CHECK(path(column_major({8, 4}), 0) == SoftmaxPath::registers);
    CHECK(path(row_major({4, 1}), 0) ==
          SoftmaxPath::registers);  // the stride of a dimension of 1 is ignored
    CHECK(path(row_major({2, 4, 8}), 1) == SoftmaxPath::thread_per_row);
    CHECK(path(permute(row_major({2, 4, 8}), {0, 2, 1}), -2) == SoftmaxPath::registers);
    CHECK(plan_softmax<float>(SoftmaxKind::softmax, {memory[0], row_major({4, 1025})}, 1,
                              {memory[1], column_major({4, 1025})})
              .path == SoftmaxPath::shared);
    const View<bf16> narrow(reinterpret_cast<bf16*>(memory[0]), {4, 12});
    CHECK(plan_softmax<bf16>(SoftmaxKind::softmax, narrow, 1, narrow).path ==
          SoftmaxPath::warp_per_row);
    // Few and long rows are split, if there is a workspace.
    CHECK(rows(8, 8192, true) == SoftmaxPath::split);
    CHECK(rows(8, 8192, false) == SoftmaxPath::registers);
    CHECK(rows(9, 8192, true) == SoftmaxPath::registers);
    CHECK(rows(8, 8191, true) == SoftmaxPath::shared);
    CHECK(path(row_major({2, 4, 8192}), 2, true) == SoftmaxPath::split);
    CHECK(path(row_major({3, 3, 8192}), 2, true) == SoftmaxPath::registers);
    CHECK(path(row_major({8192, 8}), 0, true) == SoftmaxPath::split);
    CHECK(path(row_major({8, 8192}), 0, true) == SoftmaxPath::thread_per_row);
}

TEST_CASE("softmax reports how much workspace each path needs", "[day06][softmax][small]") {
    const auto bytes = [](std::int64_t rows, std::int64_t n, std::optional<SoftmaxPath> path = {}) {
        return softmax_workspace_bytes<float>({nullptr, row_major({rows, n})}, -1, path);
    };
    const std::int64_t counters = gpu::Carver::kCounterBytes;
    for (int p = 0; p <= static_cast<int>(SoftmaxPath::tile); ++p) {
        const auto path = static_cast<SoftmaxPath>(p);
        CHECK((bytes(8, 8192, path) > 0) == (path == SoftmaxPath::split));
    }
    CHECK(bytes(3, 512, SoftmaxPath::split) == counters + 3 * 8);
    CHECK(bytes(3, 513, SoftmaxPath::split) == counters + 3 * 2 * 8);
    CHECK(bytes(8, 8192) == counters + 8 * 16 * 8);
    CHECK(bytes(9, 8192) == 0);
    CHECK(bytes(8, 8191) == 0);
    CHECK(bytes(8, 0) == 0);
    CHECK(rejection([] {
              (void)softmax_workspace_bytes<float>({nullptr, Shape{2, 3}}, 2);
          }).find("softmax: dim 2 asked for") == 0);
}

TEST_CASE("a path that does not support a call of softmax names its requirement",
          "[day06][softmax][small]") {
    alignas(16) static float memory[2][64];
    static std::uint8_t mask[64];
    const Layout plain = row_major({4, 8}), flipped({4, 8}, {8, -1});
    const auto in = [](const Layout& layout, int lead = 0) {
        return View<const float>(memory[0] + 16 + lead, layout);
    };
    const View<float> out(memory[1], plain);
    const View<const std::uint8_t> seen(mask, plain);
    const auto rejected = [&](View<const float> x, int dim, SoftmaxPath path) {
        return rejection(
            [&] { (void)plan_softmax<float>(SoftmaxKind::softmax, x, dim, out, {.path = path}); });
    };
    CHECK(rejected(in(plain, 1), 1, SoftmaxPath::registers) ==
          "softmax: the path 'registers' needs rows of whole vectors along memory that begin at "
          "multiples of 16 bytes, of 16,384 elements at most; in has shape (4, 8), strides (8, 1), "
          "out shape (4, 8), strides (8, 1), and rows run along dimension 1");
    CHECK(rejected(in(plain), 0, SoftmaxPath::shared) ==
          "softmax: the path 'shared' needs rows of in along memory; in has shape (4, 8), strides "
          "(8, 1), out shape (4, 8), strides (8, 1), and rows run along dimension 0");
    CHECK(rejected(in(flipped), 1, SoftmaxPath::tile) ==
          "softmax: the path 'tile' needs rows at one step from each other, and no negative "
          "stride, for CUDA Tile C++ takes strides for sizes; in has shape (4, 8), strides "
          "(8, -1), out shape (4, 8), strides (8, 1), and rows run along dimension 1");
    CHECK(rejection([&] { log_softmax_cuda(in(plain), 1, out, {.path = SoftmaxPath::online}); }) ==
          "log_softmax: it has no path 'online'");
    CHECK(rejection([&] {
              masked_softmax_cuda(in(plain), seen, 1, out, {.path = SoftmaxPath::shared});
          }) == "masked_softmax: it has no path 'shared'");
    CHECK(
        contains(rejection([&] { softmax_cuda(in(plain), 1, out, {.path = SoftmaxPath::split}); }),
                 "softmax: a workspace of 0 bytes at a null pointer was given, but 16416"));
}

TEST_CASE(
    "softmax and its variants reject an invalid dimension, a mask of another shape, and T > S",
    "[day06][softmax][small]") {
    const Tensor<float> x({4, 8}), tall({8, 4});
    const Tensor<std::uint8_t> mask({4, 8}), short_mask({3, 8});
    Tensor<float> y({4, 8});
    DeviceIn<float> d(x), dtall(tall);
    DeviceIn<std::uint8_t> dm(mask), dshort(short_mask);
    DeviceOut<float> g({4, 8}), gtall({8, 4});
    for (const int dim : {2, -3}) {
        const std::string words = "softmax: dim " + std::to_string(dim) + " asked for";
        CHECK(both_reject([&] { softmax_cpu(x.view(), dim, y.view()); },
                          [&] { softmax_cuda(d.view(), dim, g.view()); }, words));
        CHECK(both_reject([&] { log_softmax_cpu(x.view(), dim, y.view()); },
                          [&] { log_softmax_cuda(d.view(), dim, g.view()); }, "log_" + words));
        CHECK(both_reject([&] { masked_softmax_cpu(x.view(), mask.view(), dim, y.view()); },
                          [&] { masked_softmax_cuda(d.view(), dm.view(), dim, g.view()); },
                          "masked_" + words));
    }
    CHECK(both_reject([&] { masked_softmax_cpu(x.view(), short_mask.view(), 1, y.view()); },
                      [&] { masked_softmax_cuda(d.view(), dshort.view(), 1, g.view()); },
                      "masked_softmax: mask: broadcast of shape (3, 8) to (4, 8)"));
    CHECK(both_reject(
        [&] {
            causal_softmax_cpu<float>(tall.view(), View<float>(y.data(), {8, 4}));
        },
        [&] { causal_softmax_cuda<float>(dtall.view(), gtall.view()); },
        "causal_softmax: in has shape (8, 4), but scores have shape (..., T, S) with T <= S"));
    CHECK(both_reject([&] { causal_softmax_cpu<float>(row(x.view(), 0), row(y.view(), 0)); },
                      [&] { causal_softmax_cuda<float>(row(d.view(), 0), row(g.view(), 0)); },
                      "causal_softmax: in has shape (8)"));
    CHECK(g.untouched());
    CHECK(gtall.untouched());
}

}  // namespace
