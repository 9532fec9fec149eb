// What attention of 16-bit numbers refuses, and which path it takes.
#include "day06_transformer_ops/attention_bf16/attention_bf16_problem.hpp"
#include "day06_transformer_ops/attention_bf16/tests/case.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

TEST_CASE("attention_bf16: what is refused, and which path is taken",
          "[day06][attention_bf16][small]") {
    const Case<bf16> c = case_of<bf16>(2, 4, 6, 16);
    DeviceIn<bf16> q(c.q), k(c.k), v(c.v);
    HostOut<bf16> loop(c.q.shape());
    DeviceOut<bf16> out(c.q.shape());
    DeviceOut<float> sums({2, 4});
    const auto refused = [&](const AttentionOptions& options, View<float> log_sums,
                             const std::string& words) {
        CHECK(both_refuse(
            [&] {
                attention_bf16_cpu<bf16>(c.q.view(), c.k.view(), c.v.view(), options, loop.view(),
                                         log_sums);
            },
            [&] {
                attention_bf16_cuda<bf16>(q.view(), k.view(), v.view(), options, out.view(),
                                          log_sums);
            },
            words));
    };
    refused({.scale = -1}, {}, "scale is -1.000000, but must not be negative");
    refused({.scale = NAN}, {}, "attention_bf16: scale is nan");
    refused({}, reshape(sums.view(), {4, 2}),
            "log_sums has shape (4, 2), but there is one for each query: (2, 4)");
    refused({}, broadcast_to(slice(sums.view(), 0, 0, 1), {2, 4}), "writers of it would race");
    for (const auto& [name, x] : {std::pair("q", q.view()),
                                  {"k", k.view()},
                                  {"v", v.view()},
                                  {"out", View<const bf16>(out.view())}}) {
        const View<float> among_x(reinterpret_cast<float*>(const_cast<bf16*>(x.data)), Shape{2, 4});
        CHECK(contains(
            refusal([&] {
                check_attention_bf16<bf16>(q.view(), k.view(), v.view(), {}, out.view(), among_x);
            }),
            std::string("attention_bf16: ") + name + " overlaps log_sums, which is written"));
    }
    CHECK(contains(refusal([&] {
                       check_attention_bf16<bf16>(q.view(), slice(k.view(), 2, 0, 8), v.view(), {},
                                                  out.view());
                   }),
                   "attention_bf16: q has shape (2, 4, 16), but k (2, 6, 8)"));

    // Whole quads: each of the four tensors alone is not.
    const auto choice = [&](View<const bf16> x, View<const bf16> y, View<const bf16> z,
                            View<bf16> to, bool on_hopper = false) {
        return choose_attention_bf16<bf16>(x, y, z, to, false, on_hopper);
    };
    CHECK(choice(q.view(), k.view(), v.view(), out.view()) == B::guessed_maximum);
    CHECK(choice(q.view(), k.view(), v.view(), out.view(), true) == B::guessed_maximum);
    for (const Standing<bf16>& at : standings<bf16>()) {
        CAPTURE(at.what);
        const Layout good = row_major({2, 16});
        DeviceIn<bf16> a(Tensor<bf16>({2, 16}), at.layout, at.lead), fit(Tensor<bf16>({2, 16}));
        DeviceOut<bf16> to(at.layout, at.lead), fit_out(good);
        const auto x = a.view(), y = fit.view();
        const B expected = at.quads ? B::guessed_maximum : B::four_passes;
        CHECK(choice(x, y, y, fit_out.view()) == expected);
        CHECK(choice(y, x, y, fit_out.view()) == expected);
        CHECK(choice(y, y, x, fit_out.view()) == expected);
        CHECK(choice(y, y, y, to.view()) == expected);
        const std::string words = refusal(
            [&] { check_attention_bf16<bf16>(y, x, y, {}, fit_out.view(), {}, B::tensor_cores); });
        CHECK(words.empty() == at.quads);
        if (!at.quads) CHECK(contains(words, "whole quads of eight numbers along memory"));
    }
    const Tensor<bf16> wide({2, 136});
    DeviceIn<bf16> w(wide);
    DeviceOut<bf16> wide_out({2, 136});
    CHECK(choice(w.view(), w.view(), w.view(), wide_out.view()) == B::four_passes);
    CHECK(refusal([&] {
              check_attention_bf16<bf16>(w.view(), w.view(), w.view(), {}, wide_out.view(), {},
                                         B::tensor_cores);
          }) ==
          "attention_bf16: a head of 136 numbers; 128 is the most that the path 'tensor "
          "cores' takes. 'four passes' takes any");
    // What the steps must take: heads of up to 128 numbers, no keys wherever they lie, no output.
    for (const std::int64_t D : {8, 64, 128}) {
        const auto x = slice(w.view(), 1, 0, D);
        for (const B path : kAll) {
            if (path == B::tile || (path == B::warpgroups && D == 8)) continue;
            CAPTURE(name(path), D);
            const auto taken = [&](View<bf16> to) {
                return refusal([&] { check_attention_bf16<bf16>(x, x, x, {}, to, {}, path); });
            };
            CHECK(taken(slice(wide_out.view(), 1, 0, D)) == "");
            CHECK((attention_bf16_workspace_bytes<bf16>(x, x, path) > 0) ==
                  (path == B::four_passes));
        }
        CHECK(choice(x, x, x, slice(wide_out.view(), 1, 0, D)) == B::guessed_maximum);
    }
    const View<const bf16> no_keys(w.view().data + 1, Shape{0, 128}),
        some = slice(w.view(), 1, 0, 128);
    CHECK(choice(some, no_keys, no_keys, slice(wide_out.view(), 1, 0, 128)) == B::guessed_maximum);
    const View<const bf16> no_queries(w.view().data, Shape{0, 136});
    const View<bf16> no_out(wide_out.view().data, Shape{0, 136});
    CHECK_NOTHROW(check_attention_bf16<bf16>(no_queries, w.view(), w.view(), {}, no_out, {},
                                             B::tensor_cores));
    // 2^31 rows, the same one again and again; where out would lie, nothing is read or written.
    for (const std::int64_t rows : {std::int64_t{INT32_MAX}, std::int64_t{INT32_MAX} + 1}) {
        const bool fits = rows == INT32_MAX;
        const auto many = broadcast_to(slice(q.view(), 1, 0, 1), {2, rows, 16});
        const View<bf16> to(reinterpret_cast<bf16*>(std::uintptr_t{1} << 60), many.shape());
        const B expected = fits ? B::guessed_maximum : B::four_passes;
        CHECK(choice(many, k.view(), v.view(), to) == expected);
        CHECK(choice(q.view(), many, many, out.view()) == expected);
        const auto words = [&](View<const bf16> x, View<const bf16> y, View<const bf16> z,
                               View<bf16> there, B path) {
            return refusal([&] { check_attention_bf16<bf16>(x, y, z, {}, there, {}, path); });
        };
        for (const B path : {B::tensor_cores, B::guessed_maximum}) {
            const std::string most = "; 2147483647 of each is the most that the path '" +
                                     std::string(name(path)) +
                                     "' takes. 'four passes' takes any number";
            CHECK(words(many, k.view(), v.view(), to, path) ==
                  (fits ? "" : "attention_bf16: 2147483648 tokens and 6 keys" + most));
            CHECK(words(q.view(), many, many, out.view(), path) ==
                  (fits ? "" : "attention_bf16: 4 tokens and 2147483648 keys" + most));
        }
        CHECK(words(many, k.view(), v.view(), to, B::four_passes).empty());
    }
    attention_bf16_cuda<bf16>(q.view(), k.view(), v.view(), {}, out.view());
    CHECK(last_kernel() == "attention_guessed_maximum_kernel");  // on Hopper, too: heads of 16
    CHECK(refusal([&] {
              attention_bf16_cuda<bf16>(q.view(), k.view(), v.view(), {}, out.view(), {},
                                        {.path = B::four_passes});
          }) == "attention_bf16: a workspace of 0 bytes at a null pointer was given, but " +
                    std::to_string(
                        attention_bf16_workspace_bytes<bf16>(q.view(), k.view(), B::four_passes)) +
                    " are needed");
}
TEST_CASE("attention_bf16: what Hopper's path takes", "[day06][attention_bf16][small]") {
    const auto is = [](const std::optional<Planes>& x, const Planes& want) {
        return x && x->planes == want.planes && x->plane_pitch == want.plane_pitch &&
               x->columns == want.columns && x->pitch == want.pitch;
    };
    // (B, H) heads of 64 numbers and 10 rows
    CHECK(is(planes_of(row_major({}), 10, 64, 64), {1, 64, 64, 64}));
    CHECK(is(planes_of(Layout({3, 4}, {4 * 640, 640}), 10, 64, 64), {12, 640, 64, 64}));
    CHECK(is(planes_of(Layout({3, 4}, {7680, 64}), 10, 768, 64), {3, 7680, 256, 768}));
    CHECK(is(planes_of(Layout({3, 4}, {7680, 64}), 1, 3, 64), {244, 64, 64, 64}));
    CHECK(is(planes_of(Layout({3, 4}, {0, 640}), 10, 64, 64), {4, 640, 64, 64}));
    CHECK(is(planes_of(Layout({1, 4}, {-5, 640}), 10, 64, 64), {4, 640, 64, 64}));
    CHECK(is(planes_of(Layout({1, 4}, {700, 640}), 10, 64, 64), {4, 640, 64, 64}));
    CHECK(!planes_of(Layout({3, 4}, {700, 640}), 10, 64, 64));       // no equal steps
    CHECK(!planes_of(Layout({3, 4}, {7680, 64}), 10, 248, 64));      // rows overlap
    CHECK(!planes_of(Layout({3, 4}, {-4 * 640, 640}), 10, 64, 64));  // backwards
    CHECK(!planes_of(Layout({4}, {640}), 10, -64, 64));
    CHECK(!planes_of(Layout({2}, {std::int64_t{1} << 38}), 10, 64, 64));
    CHECK(!planes_of(Layout({}, {}), 10, std::int64_t{1} << 38, 64));
    CHECK(!planes_of(Layout({2}, {std::int64_t{1} << 33}), 2, std::int64_t{1} << 34, 64));
    CHECK(!planes_of(Layout({2, 2}, {64, std::int64_t{1} << 37}), 1, 64, 64));  // 2^31 planes

    const Case<bf16> c = case_of<bf16>(2, 4, 6, 64);
    DeviceIn<bf16> q(c.q), k(c.k), v(c.v);
    DeviceOut<bf16> out(c.q.shape());
    const Tensor<std::int64_t> length(Shape{}, {5});
    DeviceIn<std::int64_t> there(length);
    const auto words = [&](View<const bf16> x, View<const bf16> y, View<const bf16> z,
                           const AttentionOptions& options = {}) {
        return refusal(
            [&] { check_attention_bf16<bf16>(x, y, z, options, out.view(), {}, B::warpgroups); });
    };
    const auto choice = [&](View<const bf16> x, View<const bf16> y, View<const bf16> z,
                            bool has_length = false) {
        return choose_attention_bf16<bf16>(x, y, z, out.view(), has_length, true);
    };
    // Chosen for many keys only: of 64 numbers 1,536, or 512 if blocks of 192 queries are at most
    // one for each multiprocessor; of 128 numbers 256. Nothing is read.
    const auto chosen = [&](std::int64_t heads, std::int64_t tokens, std::int64_t keys,
                            std::int64_t D, int multiprocessors = 4) {
        const View<const bf16> x(q.view().data, Shape{heads, tokens, D}),
            y(k.view().data, Shape{heads, keys, D});
        const View<bf16> to(out.view().data, Shape{heads, tokens, D});
        return choose_attention_bf16<bf16>(x, y, y, to, false, true, multiprocessors);
    };
    CHECK(chosen(2, 4, 1536, 64, 1) == B::warpgroups);
    CHECK(chosen(2, 4, 1535, 64, 1) == B::guessed_maximum);
    CHECK(chosen(2, 384, 512, 64) == B::warpgroups);
    CHECK(chosen(2, 384, 511, 64) == B::guessed_maximum);
    CHECK(chosen(2, 385, 512, 64) == B::guessed_maximum);  // six blocks
    CHECK(chosen(2, 385, 512, 64, 6) == B::warpgroups);
    CHECK(chosen(3, 384, 512, 64) == B::guessed_maximum);
    CHECK(chosen(3, 384, 256, 128) == B::warpgroups);
    CHECK(chosen(3, 384, 255, 128) == B::guessed_maximum);
    CHECK(chosen(0, 384, 512, 64) == B::guessed_maximum);  // nothing to divide by
    CHECK(chosen(2, 0, 512, 64) == B::guessed_maximum);
    const View<const bf16> many(k.view().data, Shape{2, 4096, 64});
    CHECK(choice(q.view(), many, many) == B::warpgroups);
    CHECK(choice(q.view(), many, many, true) == B::guessed_maximum);
    CHECK(choice(flip(q.view(), 0), many, many) == B::guessed_maximum);
    CHECK(choice(q.view(), flip(many, 0), many) == B::guessed_maximum);
    CHECK(choice(q.view(), many, flip(many, 0)) == B::guessed_maximum);
    CHECK(choose_attention_bf16<bf16>(q.view(), many, many, out.view(), false, false) ==
          B::guessed_maximum);
    if (gpu::why_unavailable().empty() && gpu::on_hopper()) {  // a length is not overlooked
        DeviceIn<bf16> keys(Tensor<bf16>({2, 4096, 64}));
        attention_bf16_cuda<bf16>(q.view(), keys.view(), keys.view(), {true, 0, there.view()},
                                  out.view());
        CHECK(last_kernel() == "attention_guessed_maximum_kernel");
        attention_bf16_cuda<bf16>(q.view(), keys.view(), keys.view(), {}, out.view());
        CHECK(last_kernel() == "attention_warpgroups_kernel");
    }
    if (!kHopper) {
        CHECK(contains(words(q.view(), k.view(), v.view()), "needs a GPU of compute capability"));
        return;
    }
    CHECK(words(q.view(), k.view(), v.view()).empty());
    CHECK(words(q.view(), k.view(), v.view(), {true, 0, there.view()}) ==
          "attention_bf16: the path 'warpgroups' needs all keys to count, and no length in memory");
    CHECK(contains(words(q.view(), flip(k.view(), 0), v.view()),
                   "needs heads of q, k and v that lie side by side in rows, or in matrices"));
    const Case<bf16> narrow = case_of<bf16>(2, 4, 6, 56);
    DeviceIn<bf16> x(narrow.q), y(narrow.k);
    DeviceOut<bf16> to(narrow.q.shape());
    CHECK(refusal([&] {
              check_attention_bf16<bf16>(x.view(), y.view(), y.view(), {}, to.view(), {},
                                         B::warpgroups);
          }) ==
          "attention_bf16: the path 'warpgroups' needs heads of 64 or 128 numbers, not of 56");
}

TEST_CASE("attention_bf16 in tiles: each condition is false alone",
          "[day06][attention_bf16][small]") {
    const Layout fit({2, 3, 2, 4, 64}, {4096, 1280, 512, 64, 1});
    // Addresses far apart; nothing is read there.
    const auto at = [](std::uintptr_t n) { return reinterpret_cast<bf16*>(n << 44); };
    const auto words = [&](const Layout& q, const Layout& k, const Layout& v, const Layout& out,
                           View<float> sums = {}) {
        return refusal([&] {
            check_attention_bf16<bf16>({at(1), q}, {at(2), k}, {at(3), v}, {}, {at(4), out}, sums,
                                       B::tile);
        });
    };
    const auto each = [&](const Layout& one, const std::string& want) {
        CAPTURE(to_string(one));
        CHECK(contains(words(one, fit, fit, fit), want));
        CHECK(contains(words(fit, one, fit, fit), want));
        CHECK(contains(words(fit, fit, one, fit), want));
        CHECK(contains(words(fit, fit, fit, one), want));
    };
    CHECK(words(fit, fit, fit, fit).empty());
    const std::string why = "the path 'tile' needs stacks that are three dims at most, once ";
    for (int d = 0; d < 4; ++d) {
        Layout back = fit;
        back.strides[d] = -back.strides[d];
        each(back, why);
    }
    // 3 steps to the last row and 128 that a last tile may lack: 131 steps, and 7,232 numbers.
    Layout far = fit;
    far.strides[3] = ((std::int64_t{1} << 31) - 7232) / 131 / 8 * 8;
    CHECK(words(far, far, far, far).empty());
    far.strides[3] += 8;
    each(far, why);
    each(Layout(fit.shape, {8192, 2560, 1024, 128, 2}), "whole quads of eight numbers");
    // Four dims of stack that are three, and four that stay four, the logs' too.
    const Layout four({2, 2, 2, 2, 4, 64}, {4096, 2048, 1024, 512, 64, 1}),
        stays({2, 2, 2, 2, 4, 64}, {4096, 2048, 1016, 504, 64, 1});
    CHECK(words(four, four, four, four).empty());
    CHECK(
        contains(words(stays, four, Layout(four.shape, {4096, 1536, 768, 256, 64, 1}), four), why));
    if (!gpu::has_tile()) return;
    const Case<f16> c = case_of<f16>(2, 5, 5, 8);
    DeviceIn<f16> q(c.q), k(c.k), v(c.v);
    DeviceOut<f16> got(c.q.shape());
    attention_bf16_cuda<f16>(q.view(), k.view(), v.view(), {}, got.view(), {}, {.path = B::tile});
    CHECK(last_kernel() == "attention_bf16_tile");
}

}  // namespace
