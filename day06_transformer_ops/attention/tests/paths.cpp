// Which path attention takes, what it refuses, and how much workspace it asks for.
#include "day06_transformer_ops/attention/tests/reference.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

TEST_CASE("a card with little shared memory gets the kernel that does with it",
          "[day06][attention][small]") {
    const auto path = [](std::int64_t D, std::size_t shared) {
        const Case c = case_of({}, 64, 64, D);
        return choose_attention(c.q.view(), c.k.view(), c.v.view(), shared);
    };
    // For 64 queries, 64 keys, 64 values and 64 x 64 shares: rows of 68 and 72 numbers, or 132 and
    // 80.
    const std::size_t narrow = 4 * (3 * 64 * 68 + 64 * 72), wide = 4 * (3 * 64 * 132 + 64 * 80);
    CHECK(path(64, narrow) == AttentionPath::tiles);
    CHECK(path(64, narrow - 1) == AttentionPath::fused);
    CHECK(path(65, wide) == AttentionPath::tiles);
    CHECK(path(128, wide - 1) == AttentionPath::fused);
}

TEST_CASE("attention's path changes at each number of queries and width where it should",
          "[day06][attention][small]") {
    const auto path = [](std::int64_t T, std::int64_t D, std::int64_t S = 9) {
        return choose_attention({nullptr, Shape{2, T, D}}, {nullptr, Shape{2, S, D}},
                                {nullptr, Shape{2, S, D}});
    };
    CHECK(path(1, 8) == AttentionPath::split_blocks);
    CHECK(path(4, 8) == AttentionPath::split_blocks);
    CHECK(path(5, 8) == AttentionPath::fused);
    CHECK(path(63, 8) == AttentionPath::fused);
    CHECK(path(64, 8) == AttentionPath::tiles);
    CHECK(path(4, 7) == AttentionPath::split_keys);  // no whole quads
    CHECK(path(4, 128) == AttentionPath::split_blocks);
    CHECK(path(64, 128) == AttentionPath::tiles);
    for (const std::int64_t T : {1, 5, 64}) CHECK(path(T, 129) == AttentionPath::wide_heads);
    const auto kernel = [&](std::int64_t T, std::int64_t S, std::int64_t D) {
        const Case x = case_of({2}, T, S, D);
        DeviceIn<float> q(x.q), k(x.k), v(x.v);
        DeviceOut<float> got(x.q.shape());
        attention_cuda(q.view(), k.view(), v.view(), {}, got.view());
        CHECK(agrees(got, wanted(x)));
        return last_kernel();
    };
    CHECK(kernel(5, 5, 8) == "attention_fused_kernel");
    CHECK(kernel(64, 64, 8) == "attention_tiles_kernel");
    CHECK(kernel(4, 9, 8) == "attention_split_blocks_kernel");
    CHECK(kernel(4, 9, 7) == "attention_split_keys_kernel");
    CHECK(kernel(2, 3, 129) == "attention_wide_heads_kernel");
}

TEST_CASE("a path that cannot take these heads is refused, and nothing is written",
          "[day06][attention][small]") {
    const Case c = case_of({2}, 5, 5, 8), wide = case_of({}, 2, 3, 129);
    DeviceIn<float> q(c.q), k(c.k), v(c.v), wq(wide.q), wk(wide.k), wv(wide.v);
    DeviceOut<float> untouched(c.q.shape()), wide_out(wide.q.shape());
    CHECK(refusal([&] {
              attention_cuda(q.view(), k.view(), v.view(), {}, untouched.view(),
                             {.path = AttentionPath::four_passes});
          }) ==
          "attention: a workspace of 0 bytes at a null pointer was given, but 16584 are needed");
    CHECK(contains(
        refusal([&] {
            attention_cuda(slice(q.view(), 2, 0, 6), slice(k.view(), 2, 0, 6),
                           slice(v.view(), 2, 0, 6), {}, slice(untouched.view(), 2, 0, 6),
                           {.path = AttentionPath::split_blocks});
        }),
        "attention: the path 'split blocks' needs keys and values of whole quads along memory"));
    for (const AttentionPath path :
         {AttentionPath::fused, AttentionPath::split_keys, AttentionPath::tiles,
          AttentionPath::split_blocks, AttentionPath::tile}) {
        CHECK(refusal([&] {
                  attention_cuda(wq.view(), wk.view(), wv.view(), {}, wide_out.view(),
                                 {.path = path});
              }) ==
              std::string("attention: a head of 129 numbers; 128 is the most that the path '") +
                  name(path) + "' takes. 'wide heads' takes any");
    }
    CHECK(untouched.untouched());
    CHECK(wide_out.untouched());
}

TEST_CASE("attention in tiles: each condition is false alone", "[day06][attention][small]") {
    const auto path = AttentionPath::tile;
    alignas(16) static float memory[4][4096];
    const Layout fit({2, 3, 4, 8}, {512, 128, 16, 1});
    const auto taken = [&](const Layout& q, const Layout& k, const Layout& v, const Layout& out) {
        return takes(path, {memory[0] + 2048, q}, {memory[1] + 2048, k}, {memory[2] + 2048, v},
                     {memory[3] + 2048, out});
    };
    CHECK(taken(fit, fit, fit, fit));
    for (int d = 0; d < 4; ++d) {  // a negative stride, of one dim of one of the four
        Layout back = fit;
        back.strides[d] = -back.strides[d];
        CHECK_FALSE(taken(back, fit, fit, fit));
        CHECK_FALSE(taken(fit, back, fit, fit));
        CHECK_FALSE(taken(fit, fit, back, fit));
        CHECK_FALSE(taken(fit, fit, fit, back));
    }
    // Three dims of stack, of which two are one; and three that stay three.
    const Layout merges({2, 2, 3, 4, 8}, {768, 384, 128, 16, 1}),
        stays({2, 2, 3, 4, 8}, {800, 392, 128, 16, 1});
    CHECK(taken(merges, merges, merges, merges));
    CHECK_FALSE(taken(stays, merges, merges, merges));
    CHECK_FALSE(taken(merges, merges, merges, stays));
    CHECK(contains(refusal([&] {
                       check_attention({memory[0], stays}, {memory[1], merges}, {memory[2], merges},
                                       {}, {memory[3], merges}, path);
                   }),
                   "attention: the path 'tile' needs stacks that are two dims at most, once "
                   "simplified, and no negative stride, for CUDA Tile C++ takes strides for sizes; "
                   "q has "));
    if (!gpu::has_tile()) return;
    const Case c = case_of({2}, 5, 5, 8);
    DeviceIn<float> q(c.q), k(c.k), v(c.v);
    DeviceOut<float> got(c.q.shape());
    attend(path, q.view(), k.view(), v.view(), {}, got.view());
    CHECK(last_kernel() == "attention_tile");
}

TEST_CASE("attention says how much workspace each path can use", "[day06][attention][small]") {
    const auto bytes = [](std::int64_t queries, std::int64_t S, std::optional<AttentionPath> path,
                          std::int64_t T = 1, std::int64_t D = 8) {
        return attention_workspace_bytes({nullptr, Shape{queries, T, D}},
                                         {nullptr, Shape{queries, S, D}},
                                         {nullptr, Shape{queries, S, D}}, path);
    };
    const std::int64_t counters = gpu::Carver::kCounterBytes;
    const auto split = AttentionPath::split_blocks;
    CHECK(bytes(10, 5, AttentionPath::four_passes) == counters + 4 * 10 * 5);
    CHECK(bytes(10, 0, AttentionPath::four_passes) == 0);
    for (const auto path : {AttentionPath::fused, AttentionPath::split_keys, AttentionPath::tiles,
                            AttentionPath::wide_heads, AttentionPath::tile}) {
        CHECK(bytes(10, 500, path) == 0);
    }
    CHECK(bytes(2, 64, split) == 0);  // 64 keys of a part, at least
    CHECK(bytes(2, 65, split) == counters + 4 * 2 * 2 * 10);
    CHECK(bytes(2, 128, split) == counters + 4 * 2 * 2 * 10);
    CHECK(bytes(2, 129, split) == counters + 4 * 2 * 3 * 10);
    CHECK(bytes(2, 64 * 300, split) == counters + 4 * 2 * 256 * 10);  // 512 blocks, at most
    CHECK(bytes(256, 6400, split) == counters + 4 * 256 * 2 * 10);
    CHECK(bytes(257, 6400, split) == 0);  // so no workspace has too few counters
    CHECK(bytes(2, 200, {}) == bytes(2, 200, split));
    CHECK(bytes(2, 200, {}, 5) == 0);
    CHECK(bytes(2, 200, {}, 1, 7) == 0);
    CHECK(contains(refusal([] {
                       (void)attention_workspace_bytes(
                           {nullptr, Shape{2, 3}}, {nullptr, Shape{5, 4}}, {nullptr, Shape{5, 4}});
                   }),
                   "attention: q has shape (2, 3), but k (5, 4)"));
}

TEST_CASE("many blocks share a query's keys, and each call leaves their counters at 0",
          "[day06][attention][small]") {
    const Case c = case_of({2}, 1, 200, 8);
    DeviceIn<float> q(c.q), k(c.k), v(c.v);
    const std::int64_t bytes = attention_workspace_bytes(q.view(), k.view(), v.view());
    CHECK(bytes ==
          gpu::Carver::kCounterBytes + 4 * 2 * 4 * 10);  // of 2 queries 4 parts, 8 + 2 floats each
    gpu::Buffer<std::byte> memory(bytes);
    memory.fill_bytes(0);
    for (int call = 0; call < 3; ++call) {
        DeviceOut<float> got(c.q.shape());
        attention_cuda(q.view(), k.view(), v.view(), {}, got.view(), {.workspace = memory});
        CHECK(last_kernel() == "attention_split_blocks_kernel");
        CHECK(agrees(got, wanted(c)));
        const std::vector<std::byte> left = memory.download();
        for (std::int64_t i = 0; i < gpu::Carver::kCounterBytes; ++i) {
            CHECK(left[static_cast<std::size_t>(i)] == std::byte{0});
        }
    }
}

TEST_CASE("a length that cannot be: the loop says so, the ports answer NaN",
          "[day06][attention][small]") {
    const Case c = case_of({2}, 2, 5, 8);
    for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{6}, INT64_MIN, INT64_MAX}) {
        const Tensor<std::int64_t> length(Shape{}, {bad});
        HostOut<float> h(c.q.shape());
        CHECK(refusal([&] {
                  attention_cpu(c.q.view(), c.k.view(), c.v.view(), {true, 0, length.view()},
                                h.view());
              }) == "attention: length is " + std::to_string(bad) + ", but there are 5 keys");
        CHECK(h.untouched());
        DeviceIn<float> q(c.q), k(c.k), v(c.v);
        DeviceIn<std::int64_t> dl(length);
        Tensor<double> nothing(c.q.shape());
        for (std::int64_t i = 0; i < nothing.size(); ++i)
            nothing.data()[i] = static_cast<double>(NAN);
        for (const AttentionPath path : kPaths) {
            DeviceOut<float> got(c.q.shape(), {}, Poison{0x11});
            attend(path, q.view(), k.view(), v.view(), {true, 0, dl.view()}, got.view());
            CHECK(got.close_to(nothing, 0, Nans::where_expected));
        }
    }
}

TEST_CASE("copies that one launch never awaited are nothing to the next",
          "[day06][attention][small]") {
    // Tiles of 128 numbers have 256 threads, all of which ask for keys before they see that none
    // counts. Four passes have 128, and heads of 127 numbers are copied one number at a time.
    const auto by = [](AttentionPath path, std::int64_t D, std::int64_t counted) {
        CAPTURE(name(path), D, counted);
        Case c = case_of({}, 3, 70, D);
        c.causal = false, c.counted = counted;
        DeviceIn<float> q(c.q), k(c.k), v(c.v);
        DeviceIn<std::int64_t> length(Tensor<std::int64_t>(Shape{}, {counted}));
        DeviceOut<float> got(c.q.shape());
        attend(path, q.view(), k.view(), v.view(), {false, 0, length.view()}, got.view());
        CHECK(agrees(got, wanted(c)));
    };
    for (const std::int64_t D : {127, 128, 64, 61}) {
        by(AttentionPath::tiles, 128, 0);
        by(AttentionPath::four_passes, 128, 70);
        by(AttentionPath::tiles, D, 70);
    }
}

TEST_CASE("loop and port of attention refuse the same, in the same words",
          "[day06][attention][small]") {
    const Tensor<float> q = few({2, 3, 4}, 5, 13), k = few({2, 5, 4}, 7, 11),
                        odd = few({3, 5, 4}, 7, 11), narrow = few({2, 5, 3}, 7, 11);
    DeviceIn<float> dq(q), dk(k), dodd(odd), dnarrow(narrow);
    HostOut<float> h({2, 3, 4});
    DeviceOut<float> g({2, 3, 4});
    const auto refused = [&](View<const float> hq, View<const float> gq, View<const float> hk,
                             View<const float> gk, View<const float> hv, View<const float> gv,
                             const char* words, const AttentionOptions& options = {}) {
        CHECK(both_refuse([&] { attention_cpu(hq, hk, hv, options, h.view()); },
                          [&] { attention_cuda(gq, gk, gv, options, g.view()); }, words));
    };
    const auto hq = q.view(), hk = k.view();
    const auto gq = dq.view(), gk = dk.view();
    refused(slice(hq, 1, 0, 2), slice(gq, 1, 0, 2), hk, gk, hk, gk,
            "q has shape (2, 2, 4), but out has shape (2, 3, 4)");
    refused({q.data(), Shape{4}}, {gq.data, Shape{4}}, hk, gk, hk, gk,
            "q has shape (4), but needs tokens and a head");
    refused(hq, gq, odd.view(), dodd.view(), hk, gk,
            "attention: k: broadcast of shape (3, 5, 4) to (2, 5, 4)");
    refused(hq, gq, hk, gk, odd.view(), dodd.view(),
            "attention: v: broadcast of shape (3, 5, 4) to (2, 5, 4)");
    refused(hq, gq, narrow.view(), dnarrow.view(), hk, gk,
            "q has shape (2, 3, 4), but k (2, 5, 3); the last dims, of one head, must be equal");
    refused(hq, gq, hk, gk, slice(hk, 1, 0, 4), slice(gk, 1, 0, 4),
            "k has shape (2, 5, 4), but v (2, 4, 4); there must be a value for each key");
    refused(hq, gq, {nullptr, Shape{2, 5, 4}}, {nullptr, Shape{2, 5, 4}}, hk, gk,
            "k is a null pointer");
    refused({nullptr, Shape{2, 3, 4}}, {nullptr, Shape{2, 3, 4}}, hk, gk, hk, gk,
            "q is a null pointer");
    refused(h.view(), g.view(), hk, gk, hk, gk, "attention: q overlaps out");
    refused(hq, gq, h.view(), g.view(), h.view(), g.view(), "attention: k overlaps out");
    refused(hq, gq, slice(hk, 1, 0, 3), slice(gk, 1, 0, 3), h.view(), g.view(),
            "attention: v overlaps out");
    refused(hq, gq, hk, gk, hk, gk, "attention: scale is nan", {true, NAN});
    const std::int64_t two[2] = {1, 2};
    refused(hq, gq, hk, gk, hk, gk, "length has shape (2) of rank 1", {true, 0, {two, Shape{2}}});
    CHECK(both_refuse(
        [&] {
            attention_cpu(hq, hk, hk, {}, broadcast_to(slice(h.view(), 0, 0, 1), {2, 3, 4}));
        },
        [&] {
            attention_cuda(gq, gk, gk, {}, broadcast_to(slice(g.view(), 0, 0, 1), {2, 3, 4}));
        },
        "writers of it would race"));
    CHECK(h.untouched());
    CHECK(g.untouched());
    CHECK(contains(refusal([&] { (void)heads_of(q.view(), 1); }),
                   "heads_of: a shape (2, 3, 4) is not (B, T, 3 C)"));
    const Tensor<float> qkv({1, 2, 12});
    CHECK(contains(refusal([&] { (void)heads_of(qkv.view(), 3); }),
                   "heads: 3 heads do not divide the last dim of shape (1, 2, 4), (B, T, C)"));
}

}  // namespace
