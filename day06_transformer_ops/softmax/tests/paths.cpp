// Which path softmax and its siblings take, condition by condition; what a forced path refuses, and
// how much workspace each asks for.
#include "common/testing/shared_workspace.hpp"
#include "day06_transformer_ops/softmax/softmax_plan.hpp"
#include "day06_transformer_ops/softmax/tests/bound.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

constexpr std::int64_t kMany = std::int64_t{1} << 32;

TEST_CASE("softmax takes registers exactly where rows of in and of out are quads",
          "[day06][softmax][small]") {
    const auto check = []<class T>(const Standing<T>& one, const Tensor<T>&, const DeviceIn<T>& d,
                                   DeviceOut<T>& got) {
        const bool along = d.view().stride(1) == 1;
        const SoftmaxPath other = along ? SoftmaxPath::warp_a_row : SoftmaxPath::thread_a_row,
                          sibling = along ? SoftmaxPath::shared : SoftmaxPath::thread_a_row;
        CHECK(choose_softmax<T>(d.view(), 1, got.view()) ==
              (one.quads ? SoftmaxPath::registers : other));
        CHECK(choose_row_softmax<T>(d.view(), -1, got.view()) ==
              (one.quads ? SoftmaxPath::registers : sibling));
        const std::string said =
            refusal([&] { check_softmax<T>(d.view(), 1, got.view(), SoftmaxPath::registers); });
        CHECK(said.empty() == one.quads);
        CHECK(refusal([&] {
                  check_softmax<T>(d.view(), 1, got.view(), SoftmaxPath::shared);
              }).empty() == along);
    };
    for_each_standing_alone<float>(check);
    for_each_standing_alone<bf16>(check);
}

TEST_CASE("softmax' path changes at each length, number of rows and dim where it should",
          "[day06][softmax][small]") {
    const auto path = [](const Layout& in, int dim, bool workspace = false) {
        return choose_softmax<float>({nullptr, in}, dim, {nullptr, in}, workspace);
    };
    const auto rows = [&](std::int64_t count, std::int64_t n, bool workspace = false) {
        return path(row_major({count, n}), 1, workspace);
    };
    CHECK(rows(4, 7) == SoftmaxPath::warp_a_row);
    CHECK(rows(4, 1023) == SoftmaxPath::warp_a_row);
    CHECK(path(Layout({4, 1024}, {1025, 1}), 1) == SoftmaxPath::warp_a_row);
    CHECK(rows(4, 1025) == SoftmaxPath::shared);
    CHECK(rows(4, 16384) == SoftmaxPath::registers);
    CHECK(rows(4, 16388) == SoftmaxPath::shared);
    CHECK(path(Layout({1, kMany - 1}, {kMany, 1}), 1) == SoftmaxPath::shared);
    CHECK(path(Layout({1, kMany}, {kMany, 1}), 1) == SoftmaxPath::thread_a_row);
    CHECK(path(row_major({1025, 4}), 0) == SoftmaxPath::thread_a_row);
    CHECK(path(column_major({8, 4}), 0) == SoftmaxPath::registers);
    CHECK(path(row_major({4, 1}), 0) == SoftmaxPath::registers);  // length-1 dims have any stride
    CHECK(path(row_major({2, 4, 8}), 1) == SoftmaxPath::thread_a_row);
    CHECK(path(permute(row_major({2, 4, 8}), {0, 2, 1}), -2) == SoftmaxPath::registers);
    CHECK(choose_softmax<float>({nullptr, row_major({4, 1025})}, 1,
                                {nullptr, column_major({4, 1025})}) == SoftmaxPath::shared);
    CHECK(choose_softmax<bf16>({nullptr, row_major({4, 12})}, 1, {nullptr, row_major({4, 12})}) ==
          SoftmaxPath::warp_a_row);
    // Few and long rows are shared, if there is a workspace.
    CHECK(rows(8, 8192, true) == SoftmaxPath::split);
    CHECK(rows(8, 8192, false) == SoftmaxPath::registers);
    CHECK(rows(9, 8192, true) == SoftmaxPath::registers);
    CHECK(rows(8, 8191, true) == SoftmaxPath::shared);
    CHECK(path(row_major({2, 4, 8192}), 2, true) == SoftmaxPath::split);
    CHECK(path(row_major({3, 3, 8192}), 2, true) == SoftmaxPath::registers);
    CHECK(path(row_major({8192, 8}), 0, true) == SoftmaxPath::split);
    CHECK(path(row_major({8, 8192}), 0, true) == SoftmaxPath::thread_a_row);
}

TEST_CASE("each softmax launches the kernel of its path, asked for or not",
          "[day06][softmax][small]") {
    const Tensor<float> x = noise<float>({4, 8});
    DeviceIn<float> d(x), d1(x, Lead{1});
    DeviceOut<float> got({4, 8});
    const Tensor<std::uint8_t> mask({4, 1}, {1, 0, 1, 1});
    DeviceIn<std::uint8_t> dm(mask);
    const auto launched = [&](const char* kernel, const auto& call) {
        call();
        CAPTURE(kernel);
        CHECK(last_kernel() == kernel);
    };
    const auto in = d.view(), odd = d1.view();
    const auto out = got.view();
    const gpu::Launch<SoftmaxPath> twin{.path = SoftmaxPath::thread_a_row},
        shared{.path = SoftmaxPath::shared}, held{.path = SoftmaxPath::registers};
    launched("softmax_registers_kernel", [&] { softmax_cuda(in, 1, out); });
    launched("softmax_warp_kernel", [&] { softmax_cuda(odd, 1, out); });
    launched("softmax_kernel", [&] { softmax_cuda(in, 0, out); });
    launched("softmax_kernel", [&] { softmax_cuda(in, 1, out, twin); });
    launched("softmax_warp_kernel",
             [&] { softmax_cuda(in, 1, out, {.path = SoftmaxPath::warp_a_row}); });
    launched("softmax_online_kernel",
             [&] { softmax_cuda(in, 1, out, {.path = SoftmaxPath::online}); });
    launched("softmax_shared_kernel", [&] { softmax_cuda(in, 1, out, shared); });
    if (gpu::has_tile()) {
        const gpu::Launch<SoftmaxPath> tile{.path = SoftmaxPath::tile};
        launched("softmax_tile", [&] { softmax_cuda(in, 1, out, tile); });
        softmax_cuda(in, 1, out);
        launched("softmax_tile", [&] { softmax_cuda(in, 0, out, tile); });
        softmax_cuda(in, 1, out);
        launched("softmax_tile", [&] { softmax_cuda(odd, 1, out, tile); });
    }
    const Tensor<float> long_row = noise<float>({1, 8192});
    DeviceIn<float> dl(long_row);
    DeviceOut<float> shares({1, 8192});
    const std::int64_t bytes = softmax_workspace_bytes<float>(dl.view(), 1);
    SharedWorkspace memory(bytes);
    launched("softmax_split_kernel",
             [&] { softmax_cuda(dl.view(), 1, shares.view(), {.workspace = memory.next(bytes)}); });
    launched("softmax_registers_kernel", [&] { softmax_cuda(dl.view(), 1, shares.view()); });
    launched("log_softmax_kernel", [&] { log_softmax_cuda(in, 0, out); });
    launched("softmax_shared_kernel", [&] { log_softmax_cuda(odd, 1, out); });
    launched("softmax_registers_kernel", [&] { log_softmax_cuda(in, 1, out); });
    launched("log_softmax_kernel", [&] { log_softmax_cuda(in, 1, out, twin); });
    launched("softmax_shared_kernel", [&] { causal_softmax_cuda(odd, out); });
    launched("softmax_registers_kernel", [&] { causal_softmax_cuda(in, out); });
    launched("causal_softmax_kernel", [&] { causal_softmax_cuda(in, out, twin); });
    launched("softmax_shared_kernel", [&] { causal_softmax_cuda(in, out, shared); });
    launched("masked_softmax_registers_kernel",
             [&] { masked_softmax_cuda(in, dm.view(), 1, out); });
    launched("masked_softmax_kernel", [&] { masked_softmax_cuda(odd, dm.view(), 1, out); });
    launched("masked_softmax_kernel", [&] { masked_softmax_cuda(in, dm.view(), 1, out, twin); });
    launched("masked_softmax_registers_kernel",
             [&] { masked_softmax_cuda(in, dm.view(), 1, out, held); });
}

TEST_CASE("a path that cannot take these views is refused, and nothing is written",
          "[day06][softmax][small]") {
    const Tensor<float> x = noise<float>({4, 8});
    DeviceIn<float> d(x), d1(x, Lead{1});
    DeviceOut<float> untouched({4, 8});
    const auto in = d.view(), odd = d1.view();
    const auto out = untouched.view();
    const auto refused = [](const auto& call, const char* words) {
        CAPTURE(words);
        CHECK(contains(refusal(call), words));
    };
    CHECK(refusal([&] { softmax_cuda(odd, 1, out, {.path = SoftmaxPath::registers}); }) ==
          "softmax: the path 'registers' needs rows of whole quads along memory that begin at "
          "multiples of 16 bytes, of 16,384 elements at most; in has shape (4, 8), strides (8, 1), "
          "out shape (4, 8), strides (8, 1), and rows lie along dim 1");
    CHECK(refusal([&] { softmax_cuda(in, 0, out, {.path = SoftmaxPath::shared}); }) ==
          "softmax: the path 'shared' needs rows of in along memory; in has shape (4, 8), strides "
          "(8, 1), and rows lie along dim 0");
    refused([&] { softmax_cuda(in, 1, out, {.path = SoftmaxPath::split}); },
            "softmax: a workspace of 0 bytes at a null pointer was given, but 16416 are needed");
    refused([&] { log_softmax_cuda(odd, 1, out, {.path = SoftmaxPath::registers}); },
            "log_softmax: the path 'registers' needs");
    refused([&] { log_softmax_cuda(in, 0, out, {.path = SoftmaxPath::shared}); },
            "log_softmax: the path 'shared' needs");
    refused([&] { causal_softmax_cuda(odd, out, {.path = SoftmaxPath::registers}); },
            "causal_softmax: the path 'registers' needs");
    const Tensor<std::uint8_t> mask({4, 8});
    DeviceIn<std::uint8_t> dm(mask);
    refused([&] { masked_softmax_cuda(odd, dm.view(), 1, out, {.path = SoftmaxPath::registers}); },
            "masked_softmax: the path 'registers' needs");
    refused([&] { masked_softmax_cuda(in, dm.view(), 1, out, {.path = SoftmaxPath::shared}); },
            "masked_softmax: it has no path 'shared'");
    for (const SoftmaxPath path :
         {SoftmaxPath::warp_a_row, SoftmaxPath::online, SoftmaxPath::split, SoftmaxPath::tile}) {
        const std::string words = std::string("only softmax has the path '") + name(path) + "'";
        refused([&] { log_softmax_cuda(in, 1, out, {.path = path}); },
                ("log_softmax: " + words).c_str());
        refused([&] { causal_softmax_cuda(in, out, {.path = path}); },
                ("causal_softmax: " + words).c_str());
        refused([&] { masked_softmax_cuda(in, dm.view(), 1, out, {.path = path}); },
                ("masked_softmax: " + words).c_str());
    }
    CHECK(untouched.untouched());
    // A row of one element lies along memory, whatever its stride.
    DeviceOut<float> ones({4, 1});
    softmax_cuda(View<const float>(in.data, Layout({4, 1}, {8, 2})), 1, ones.view(),
                 {.path = SoftmaxPath::shared});
    CHECK(ones.matches(Tensor<float>({4, 1}, {1, 1, 1, 1})));
    // No rows, no condition.
    const View<float> none(nullptr, Layout({0, 3}, {1, 7}));
    for (const SoftmaxPath path : kPaths) softmax_cuda(none, 1, none, {.path = path});
}

TEST_CASE("softmax in tiles: each condition is false alone", "[day06][softmax][small]") {
    alignas(16) static float memory[2][1024];
    const auto refused = [&](const Layout& in, const Layout& out, int dim = 2) {
        return refusal([&] {
            check_softmax<float>({memory[0] + 512, in}, dim, {memory[1] + 512, out},
                                 SoftmaxPath::tile);
        });
    };
    const Layout plain = row_major({2, 3, 8});
    CHECK(refused(plain, plain) == "");
    CHECK(refused(plain, Layout({2, 3, 8}, {36, 12, 1})) == "");
    CHECK(refused(plain, Layout({2, 3, 8}, {90, 30, 2})) == "");
    CHECK(refused(Layout({2, 3, 8}, {0, 0, 1}), plain) == "");
    CHECK(refused(plain, plain, 0) == "");
    CHECK(refused(Layout({1, 3, 8}, {-9, 8, 1}), row_major({1, 3, 8})) == "");
    CHECK(refused(row_major({1, 1, 8}), Layout({1, 1, 8}, {-9, -9, 1})) == "");
    const std::string words =
        "softmax: the path 'tile' needs rows at one step from each other, and no negative stride, "
        "for CUDA Tile C++ takes strides for sizes; in has shape (2, 3, 8), strides ";
    CHECK(refused(plain, plain, 1) ==
          words + "(24, 8, 1), out shape (2, 3, 8), strides (24, 8, 1), and rows lie along dim 1");
    const Layout two_steps({2, 3, 8}, {60, 10, 1}), back({2, 3, 8}, {-24, -8, 1}),
        flipped({2, 3, 8}, {24, 8, -1});
    for (const Layout& odd : {two_steps, back, flipped}) {
        CHECK(contains(refused(odd, plain), words + to_string(odd.strides)));
        CHECK(contains(refused(plain, odd), words + "(24, 8, 1), out shape (2, 3, 8), strides " +
                                                to_string(odd.strides)));
    }
    // The siblings have no such path, and no rows are no condition.
    CHECK(refused(Layout({0, 3, 8}, {-9, 10, -1}), row_major({0, 3, 8})) == "");
    CHECK(refused(Layout({2, 3, 0}, {-9, 10, -1}), row_major({2, 3, 0})) == "");
}

TEST_CASE("softmax says how much workspace each path needs", "[day06][softmax][small]") {
    const auto bytes = [](std::int64_t rows, std::int64_t n, std::optional<SoftmaxPath> path = {}) {
        return softmax_workspace_bytes<float>({nullptr, row_major({rows, n})}, -1, path);
    };
    const std::int64_t counters = gpu::Carver::kCounterBytes;
    for (const SoftmaxPath path : kPaths) {
        CHECK((bytes(8, 8192, path) > 0) == (path == SoftmaxPath::split));
    }
    CHECK(bytes(3, 512, SoftmaxPath::split) == counters + 3 * 8);
    CHECK(bytes(3, 513, SoftmaxPath::split) == counters + 3 * 2 * 8);
    CHECK(bytes(8, 8192) == counters + 8 * 16 * 8);
    CHECK(bytes(9, 8192) == 0);
    CHECK(bytes(8, 8191) == 0);
    CHECK(bytes(8, 0) == 0);
    CHECK(refusal([] {
              (void)softmax_workspace_bytes<float>({nullptr, Shape{2, 3}}, 2);
          }).find("softmax: dim 2 asked for") == 0);
}

TEST_CASE("loop and port of softmax refuse the same, in the same words",
          "[day06][softmax][small]") {
    const Tensor<float> x = noise<float>({4, 8}), tall = noise<float>({8, 4});
    DeviceIn<float> d(x), dtall(tall);
    HostOut<float> h({4, 8}), htall({8, 4});
    DeviceOut<float> g({4, 8}), gtall({8, 4});
    const Tensor<std::uint8_t> mask({4, 8}), short_mask({3, 8});
    DeviceIn<std::uint8_t> dm(mask), dshort(short_mask);
    // The three that take a dim refuse the same things under their own names.
    const auto all = [&](View<const float> hx, View<const float> gx, int dim, View<float> ho,
                         View<float> go, const std::string& words) {
        CAPTURE(words);
        CHECK(both_refuse([&] { softmax_cpu(hx, dim, ho); }, [&] { softmax_cuda(gx, dim, go); },
                          "softmax: " + words));
        CHECK(both_refuse([&] { log_softmax_cpu(hx, dim, ho); },
                          [&] { log_softmax_cuda(gx, dim, go); }, "log_softmax: " + words));
        CHECK(both_refuse([&] { masked_softmax_cpu(hx, mask.view(), dim, ho); },
                          [&] { masked_softmax_cuda(gx, dm.view(), dim, go); },
                          "masked_softmax: " + words));
    };
    all(x.view(), d.view(), 2, h.view(), g.view(), "dim 2 asked for");
    all(x.view(), d.view(), -3, h.view(), g.view(), "dim -3 asked for");
    all(tall.view(), dtall.view(), 1, h.view(), g.view(),
        "in has shape (8, 4), but out has shape (4, 8)");
    all(x.view(), d.view(), 0, broadcast_to(row(h.view(), 0), {4, 8}),
        broadcast_to(row(g.view(), 0), {4, 8}),
        "out has shape (4, 8), strides (0, 1), where two indices may share one place");
    all(rows(h.view(), 0, 2), rows(g.view(), 0, 2), 1, rows(h.view(), 1, 3), rows(g.view(), 1, 3),
        "in and out overlap without being the same tensor");
    all({nullptr, Shape{4, 8}}, {nullptr, Shape{4, 8}}, 1, h.view(), g.view(),
        "in is a null pointer");
    all(x.view(), d.view(), 1, {nullptr, Shape{4, 8}}, {nullptr, Shape{4, 8}},
        "out is a null pointer");

    const auto causal = [&](View<const float> hx, View<const float> gx, View<float> ho,
                            View<float> go, const char* words) {
        CHECK(both_refuse([&] { causal_softmax_cpu(hx, ho); }, [&] { causal_softmax_cuda(gx, go); },
                          words));
    };
    causal(tall.view(), dtall.view(), htall.view(), gtall.view(),
           "causal_softmax: in has shape (8, 4), but scores have shape (..., T, S) with T <= S");
    causal(row(x.view(), 0), row(d.view(), 0), row(h.view(), 0), row(g.view(), 0),
           "in has shape (8)");
    causal(x.view(), d.view(), rows(h.view(), 0, 3), rows(g.view(), 0, 3),
           "causal_softmax: in has shape (4, 8), but out has shape (3, 8)");
    causal({nullptr, Shape{4, 8}}, {nullptr, Shape{4, 8}}, h.view(), g.view(),
           "causal_softmax: in is a null pointer");
    causal(rows(h.view(), 0, 2), rows(g.view(), 0, 2), rows(h.view(), 1, 3), rows(g.view(), 1, 3),
           "causal_softmax: in and out overlap");

    const auto masked = [&](View<const std::uint8_t> hm, View<const std::uint8_t> gm,
                            const char* words) {
        CHECK(both_refuse([&] { masked_softmax_cpu(x.view(), hm, 1, h.view()); },
                          [&] { masked_softmax_cuda(d.view(), gm, 1, g.view()); }, words));
    };
    masked(short_mask.view(), dshort.view(),
           "masked_softmax: mask: broadcast of shape (3, 8) to (4, 8)");
    masked({nullptr, Shape{4, 8}}, {nullptr, Shape{4, 8}},
           "masked_softmax: mask is a null pointer");
    const auto bytes = [](auto out) {
        return View<const std::uint8_t>(reinterpret_cast<const std::uint8_t*>(out.data), {4, 8});
    };
    masked(bytes(h.view()), bytes(g.view()), "mask overlaps out");
    for (const auto* out : {&h, &htall}) CHECK(out->untouched());
    for (const auto* out : {&g, &gtall}) CHECK(out->untouched());
}

}  // namespace
