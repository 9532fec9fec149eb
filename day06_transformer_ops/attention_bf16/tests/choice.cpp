// What attention of 16-bit numbers rejects, and which path it chooses. The calls that each path
// accepts are in attention_bf16.op.hpp.
#include "common/testing/operation/operation.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16.op.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16_problem.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

using B = AttentionBf16Path;

// (2, rows, D) at some address: nothing is read.
View<const bf16> at(std::uintptr_t place, std::int64_t rows, std::int64_t D) {
    return {reinterpret_cast<bf16*>(place << 44), Shape{2, rows, D}};
}

TEST_CASE("attention_bf16: invalid calls are rejected, and the best path is chosen",
          "[day06][attention_bf16][small]") {
    CHECK(rejects_as_it_is(attention_bf16_operation<bf16>({{2}, 4, 6, 16, true, -1}),
                           "scale is -1.000000, but must not be negative; 0 stands for 1 / "
                           "sqrt(D)"));
    CHECK(rejects_as_it_is(attention_bf16_operation<bf16>({{2}, 4, 6, 16, true, NAN}),
                           "scale is nan, but must be a finite number"));
    Operation sums = attention_bf16_operation<bf16>({{2}, 4, 6, 16});
    sums.operands[4].shape = {4, 2};
    CHECK(rejects_as_it_is(sums,
                           "log_sums has shape (4, 2), but there is one for each query: (2, 4)"));

    const auto q = at(1, 4, 16), k = at(2, 6, 16), v = at(3, 6, 16);
    const View<bf16> out(reinterpret_cast<bf16*>(std::uintptr_t{4} << 44), q.shape());
    const auto choice = [](View<const bf16> x, View<const bf16> y, View<const bf16> z,
                           View<bf16> to, bool on_hopper = false) {
        return choose_attention_bf16<bf16>(x, y, z, to, false, on_hopper);
    };
    const auto words = [](View<const bf16> x, View<const bf16> y, View<const bf16> z,
                          View<bf16> there, B path) {
        return rejection(
            [&] { (void)plan_attention_bf16<bf16>(x, y, z, {}, there, {}, {.path = path}); });
    };
    CHECK(choice(q, k, v, out) == B::guessed_maximum);
    CHECK(choice(q, k, v, out, true) == B::guessed_maximum);
    View<const bf16> off = k;
    ++off.data;
    CHECK(choice(q, off, v, out) == B::four_passes);
    CHECK(
        contains(words(q, off, v, out, B::tensor_cores),
                 "attention_bf16: the path 'tensor cores' needs q, k, v and out whose rows are "
                 "whole vectors of eight numbers along memory and begin at multiples of 16 bytes"));
    const auto wide = at(1, 2, 136);
    CHECK(words(wide, at(2, 2, 136), at(3, 2, 136), {out.data, wide.shape()}, B::tensor_cores) ==
          "attention_bf16: a head of 136 numbers; 128 is the most that the path 'tensor "
          "cores' takes. 'four passes' takes any");
    const View<const bf16> no_keys(k.data + 1, Shape{2, 0, 16});  // at any address
    CHECK(choice(q, no_keys, no_keys, out) == B::guessed_maximum);
    // 2^31 rows, all the same one; nothing is read, nor written at out's address.
    for (const std::int64_t rows : {std::int64_t{INT32_MAX}, std::int64_t{INT32_MAX} + 1}) {
        const bool fits = rows == INT32_MAX;
        const auto many = broadcast_to(slice(q, 1, 0, 1), {2, rows, 16});
        const View<bf16> to(out.data, many.shape());
        const B expected = fits ? B::guessed_maximum : B::four_passes;
        CHECK(choice(many, k, v, to) == expected);
        CHECK(choice(q, many, many, out) == expected);
        for (const B path : {B::tensor_cores, B::guessed_maximum}) {
            const std::string most = "; 2147483647 of each is the most that the path '" +
                                     std::string(name(path)) +
                                     "' takes. 'four passes' takes any number";
            CHECK(words(many, k, v, to, path) ==
                  (fits ? "" : "attention_bf16: 2147483648 tokens and 6 keys" + most));
            CHECK(words(q, many, many, out, path) ==
                  (fits ? "" : "attention_bf16: 4 tokens and 2147483648 keys" + most));
        }
        CHECK(words(many, k, v, to, B::four_passes).empty());
    }
}

TEST_CASE("attention_bf16: layouts that Hopper's path supports", "[day06][attention_bf16][small]") {
    const auto is = [](const std::optional<Planes>& x, const Planes& want) {
        return x && x->planes == want.planes && x->plane_pitch == want.plane_pitch &&
               x->columns == want.columns && x->pitch == want.pitch;
    };
    // (B, H) heads of 10 rows of 64 elements
    CHECK(is(planes_of(row_major({}), 10, 64, 64), {1, 64, 64, 64}));
    CHECK(is(planes_of(Layout({3, 4}, {4 * 640, 640}), 10, 64, 64), {12, 640, 64, 64}));
    CHECK(is(planes_of(Layout({3, 4}, {7680, 64}), 10, 768, 64), {3, 7680, 256, 768}));
    CHECK(is(planes_of(Layout({3, 4}, {7680, 64}), 1, 3, 64), {244, 64, 64, 64}));
    CHECK(is(planes_of(Layout({3, 4}, {0, 640}), 10, 64, 64), {4, 640, 64, 64}));
    CHECK(is(planes_of(Layout({1, 4}, {-5, 640}), 10, 64, 64), {4, 640, 64, 64}));
    CHECK(is(planes_of(Layout({1, 4}, {700, 640}), 10, 64, 64), {4, 640, 64, 64}));
    CHECK(!planes_of(Layout({3, 4}, {700, 640}), 10, 64, 64));       // unevenly spaced
    CHECK(!planes_of(Layout({3, 4}, {7680, 64}), 10, 248, 64));      // rows overlap
    CHECK(!planes_of(Layout({3, 4}, {-4 * 640, 640}), 10, 64, 64));  // backwards
    CHECK(!planes_of(Layout({4}, {640}), 10, -64, 64));
    CHECK(!planes_of(Layout({2}, {std::int64_t{1} << 38}), 10, 64, 64));
    CHECK(!planes_of(Layout({}, {}), 10, std::int64_t{1} << 38, 64));
    CHECK(!planes_of(Layout({2}, {std::int64_t{1} << 33}), 2, std::int64_t{1} << 34, 64));
    CHECK(!planes_of(Layout({2, 2}, {64, std::int64_t{1} << 37}), 1, 64, 64));  // 2^31 planes

    const auto q = at(1, 4, 64), k = at(2, 6, 64), many = at(2, 4096, 64);
    const View<bf16> out(reinterpret_cast<bf16*>(std::uintptr_t{4} << 44), q.shape());
    const auto choice = [&](View<const bf16> x, View<const bf16> y, View<const bf16> z,
                            bool has_length = false) {
        return choose_attention_bf16<bf16>(x, y, z, out, has_length, true);
    };
    // Chosen only for many keys: with heads of 64 from 1,536 on, or from 512 on if every block
    // of 192 queries has its own SM; with heads of 128 from 256 on. Nothing is read.
    const auto chosen = [&](std::int64_t heads, std::int64_t tokens, std::int64_t keys,
                            std::int64_t D, int multiprocessors = 4) {
        const View<const bf16> x(q.data, Shape{heads, tokens, D}), y(k.data, Shape{heads, keys, D});
        const View<bf16> to(out.data, Shape{heads, tokens, D});
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
    CHECK(choice(q, many, many) == B::warpgroups);
    CHECK(choice(q, many, many, true) == B::guessed_maximum);
    CHECK(choice(flip(q, 0), many, many) == B::guessed_maximum);
    CHECK(choice(q, flip(many, 0), many) == B::guessed_maximum);
    CHECK(choice(q, many, flip(many, 0)) == B::guessed_maximum);
    CHECK(choose_attention_bf16<bf16>(q, many, many, out, false, false) == B::guessed_maximum);
    if (gpu::why_unavailable().empty() && gpu::on_hopper()) {  // a length rules it out
        for (const std::int64_t counted : {-1, 4096}) {
            CHECK(computes_its_result(
                attention_bf16_operation<bf16>({{2}, 4, 4096, 64, true, 0, counted})));
        }
    }
    std::int64_t length = 0;
    const auto words = [&](View<const bf16> x, View<const bf16> y,
                           const AttentionOptions& options = {}) {
        const View<bf16> to(out.data, x.shape());
        return rejection([&] {
            (void)plan_attention_bf16<bf16>(x, y, y, options, to, {}, {.path = B::warpgroups});
        });
    };
    if (!runs_hopper()) {
        CHECK(contains(words(q, k), "needs a GPU of compute capability"));
        return;
    }
    CHECK(words(q, k).empty());
    CHECK(words(q, k, {true, 0, {&length, Shape{}}}) ==
          "attention_bf16: the path 'warpgroups' needs all keys to count, and no length in memory");
    CHECK(contains(words(q, flip(k, 0)),
                   "needs heads of q, k and v that lie side by side in rows, or in matrices"));
    CHECK(words(at(1, 4, 56), at(2, 6, 56)) ==
          "attention_bf16: the path 'warpgroups' needs heads of 64 or 128 numbers, not of 56");
}

TEST_CASE("attention_bf16: the path 'tile' rejects each unmet requirement on its own",
          "[day06][attention_bf16][small]") {
    const Layout fit({2, 3, 2, 4, 64}, {4096, 1280, 512, 64, 1});
    // Addresses far apart, where nothing is read.
    const auto place = [](std::uintptr_t n) { return reinterpret_cast<bf16*>(n << 44); };
    const auto words = [&](const Layout& q, const Layout& k, const Layout& v, const Layout& out,
                           View<float> sums = {}) {
        return rejection([&] {
            (void)plan_attention_bf16<bf16>({place(1), q}, {place(2), k}, {place(3), v}, {},
                                            {place(4), out}, sums, {.path = B::tile});
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
    const std::string why = "the path 'tile' needs stacks of at most three dimensions, once ";
    Layout back = fit;
    back.strides[0] = -back.strides[0];
    each(back, why);
    // 3 strides to the last row and 128 a last tile may lack: 131 strides, and 7,232 elements.
    Layout far = fit;
    far.strides[3] = ((std::int64_t{1} << 31) - 7232) / 131 / 8 * 8;
    CHECK(words(far, far, far, far).empty());
    far.strides[3] += 8;
    each(far, why);
    // Four stack dimensions that merge to three, and four that do not, in log_sums too.
    const Layout four({2, 2, 2, 2, 4, 64}, {4096, 2048, 1024, 512, 64, 1}),
        stays({2, 2, 2, 2, 4, 64}, {4096, 2048, 1016, 504, 64, 1});
    CHECK(words(four, four, four, four).empty());
    CHECK(
        contains(words(stays, four, Layout(four.shape, {4096, 1536, 768, 256, 64, 1}), four), why));
}

}  // namespace
