// Particular calls of attention: golden values, caches, near misses, NaNs, and log-sum-exps.
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/attention/attention.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

struct GoldenAttention {
    std::int64_t T, S, D;
    bool causal;
    std::int64_t counted;
    std::vector<double> out;
};
#include "day06_transformer_ops/attention/tests/golden_attention.inc"

void check(const Attending& a) {
    CHECK(computes_its_result(attention_operation(a)));
}

TEST_CASE("attention matches NumPy, causal or not, for any number of valid keys",
          "[day06][attention][small]") {
    for (const GoldenAttention& g : golden_attention) {
        CAPTURE(g.T, g.S, g.D, g.causal, g.counted);
        const Attending a{{}, g.T, g.S, g.D, g.causal, 0, g.counted};
        Operation op = attention_operation(a);
        op.exact = [exact = op.exact, &g](const Inputs& inputs, int path) {
            std::vector<Expected> all = exact(inputs, path);
            for (std::int64_t k = 0; k < g.T * g.D; ++k) {
                double& y = all[0].value.data()[k];
                // The descriptor's exact result matches NumPy's.
                CHECK(std::fabs(y - g.out[static_cast<std::size_t>(k)]) <= 1e-11);
                y = g.out[static_cast<std::size_t>(k)];
            }
            return all;
        };
        CHECK(computes_its_result(op));
    }
}

TEST_CASE("attention accepts token and key counts around its tile sizes",
          "[day06][attention][small]") {
    for (const std::int64_t T : {1, 7, 8, 9, 17}) check({{2}, T, T, 16});
    for (const std::int64_t S : {31, 32, 33, 64, 65, 257, 300}) check({{}, 2, S, 8});
    for (const std::int64_t T : {63, 64, 65, 129}) check({{}, T, T, 4});
    for (const std::int64_t D : {1, 31, 32, 33, 64, 127, 128}) check({{2}, 3, 5, D});
    check({{2}, 3, 5, 129});  // only the twin and the last step support it
    check({{2}, 6, 40, 257});
    check({{2, 3}, 10, 40, 12});
    check({{2}, 12, 40, 8, false, 0.7f});
    check({{2}, 12, 40, 8, false, 0.7f, 5});
    check({{2}, 12, 40, 8, true, 0.7f, 5});  // 7 tokens see nothing
}

TEST_CASE("attention of many heads, in blocks of 128 queries", "[day06][attention][small]") {
    // 3,096 queries: enough for 4 SMs
    Operation op = attention_operation({{24}, 129, 129, 64});
    op.paths.clear();
    op.best = {};
    op.cpu = {};
    CHECK(computes_its_result(op));  // with the best path
    CHECK(last_kernel() == "attention_tiles_kernel");
}

TEST_CASE("a single key's stride need not fit a vector", "[day06][attention][small]") {
    const Layout one({1, 8}, {9, 1});
    const auto check_at = [&](const Attending& a, const std::vector<std::size_t>& operands) {
        Operation op = attention_operation(a);
        for (const std::size_t i : operands) op.operands[i].placed(one);
        CHECK(computes_its_result(op));
    };
    for (const std::vector<std::size_t>& operands :
         std::vector<std::vector<std::size_t>>{{1, 2}, {1}, {2}}) {
        check_at({{}, 65, 1, 8, false}, operands);
    }
    check_at({{}, 1, 65, 8}, {0});
}

TEST_CASE("attention over hundreds of tokens", "[day06][attention][full]") {
    check({{2}, 260, 260, 64});
    check({{2}, 1, 1023, 64});
}

TEST_CASE("attention over a thousand tokens", "[day06][attention][huge]") {
    check({{3}, 1000, 1000, 64});
    check({{800}, 129, 129, 64});  // enough queries for 132 SMs
    check({{400}, 129, 129, 128});
}

TEST_CASE("queries, keys and values are views of one buffer, and the output joins the heads",
          "[day06][attention][small]") {
    const std::int64_t B = 2, T = 5, H = 3, D = 4, C = H * D;
    Tensor<float> qkv({B, T, 3 * C}), joined({B, T, C});
    for (std::int64_t i = 0; i < qkv.size(); ++i) qkv.data()[i] = static_cast<float>(i);
    const Heads heads = heads_of(View<const float>(qkv.view()), H);
    for (const auto& [x, third] :
         {std::pair{heads.q, std::int64_t{0}}, {heads.k, 1}, {heads.v, 2}}) {
        CHECK(x.shape() == Shape{B, H, T, D});
        CHECK(x(1, 2, 3, 1) == qkv(1, 3, third * C + 2 * D + 1));
    }
    CHECK(heads.k.strides() == Strides{3 * T * C, D, 3 * C, 1});
    Operation op = attention_operation({{B, H}, T, T, D});
    const Layout layouts[] = {heads.q.layout, heads.k.layout, heads.v.layout,
                              split_heads(joined.view(), H).layout};
    for (std::size_t i = 0; i < 4; ++i) op.operands[i].placed(layouts[i]);
    CHECK(computes_its_result(op));
}

TEST_CASE("heads of a group share keys and values by a stride of 0", "[day06][attention][small]") {
    const std::int64_t B = 2, G = 2, per = 3, T = 4, S = 6, D = 8;
    const Tensor<float> q({B, G * per, T, D}), k({B, G, S, D});
    const Attending a{{B, G, per}, T, S, D, true, 0, -1, Shape{B, G, 1}};
    CHECK(grouped(q.view(), G).shape() == a.q());
    CHECK(grouped(q.view(), G).strides() == row_major(a.q()).strides);
    CHECK(for_groups(k.view()).shape() == a.k());
    check(a);
    CHECK(
        contains(rejection([&] { (void)grouped(q.view(), 4); }),
                 "grouped: a shape (2, 6, 4, 8) has no dim 1 of heads that 4 groups could share"));
}

TEST_CASE("a lone token gets its own value; token 0 of many sees only itself",
          "[day06][attention][small]") {
    for (const std::int64_t T : {1, 6}) {
        Operation op = attention_operation({{3}, T, T, 8});
        op.exact = [exact = op.exact](const Inputs& inputs, int path) {
            std::vector<Expected> all = exact(inputs, path);
            for (std::int64_t h = 0; h < 3; ++h) {
                for (std::int64_t d = 0; d < 8; ++d) {
                    all[0].value(h, 0, d) = (*inputs[2])(h, 0, d);
                    all[0].error(h, 0, d) = 0;
                }
            }
            return all;
        };
        CHECK(computes_its_result(op));
    }
}

TEST_CASE("decoding token by token with a KV cache gives the same as all tokens at once",
          "[day06][attention][small]") {
    const std::int64_t H = 2, T = 7, capacity = 10, D = 8;
    const Operation all = attention_operation({{H}, T, T, D});
    Inputs inputs;
    for (const std::size_t i : {0, 1, 2}) {
        Tensor<double>& x = inputs.emplace_back(Tensor<double>({H, T, D})).value();
        for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] = all.operands[i].values(k);
    }
    const Expected want = all.exact(inputs, 0)[0];
    for (std::int64_t t = 0; t < T; ++t) {
        Operation one = attention_operation({{H}, 1, capacity, D, true, 0, t + 1});
        one.operands[0].with([&, t](std::int64_t i) { return (*inputs[0])(i / D, t, i % D); });
        for (const std::size_t i : {1, 2}) {
            one.operands[i].with([&inputs, i, t](std::int64_t k) {  // NaN: not filled yet
                const std::int64_t s = k / D % capacity;
                return s <= t ? (*inputs[i])(k / D / capacity, s, k % D) : double(NAN);
            });
        }
        one.exact = [&, t](const Inputs&, int) {
            Expected now({H, 1, D});
            for (std::int64_t i = 0; i < H * D; ++i) {
                now.value.data()[i] = want.value(i / D, t, i % D);
                now.error.data()[i] = want.error(i / D, t, i % D);
            }
            return std::vector{now};
        };
        CHECK(computes_its_result(one));
    }
}

TEST_CASE("a NaN that a token sees reaches it whatever its weight; a masked one does not",
          "[day06][attention][small]") {
    Operation op = attention_operation({{}, 40, 40, 4});
    const Values q = few(5, 13), k = few(7, 11), v = few(3, 17);
    op.operands[0].with([=](std::int64_t i) { return i / 4 == 3 ? 0 : q(i); });
    op.operands[1].with([=](std::int64_t i) {
        if (i == 35 * 4 + 2) return double(NAN);  // reaches tokens 35 and later, all elements
        if (i / 4 == 5) return -1e4 * q(30 * 4 + i % 4);  // a weight of 0 for token 30
        return i / 4 == 3 ? 0 : k(i);
    });
    op.operands[2].with([=](std::int64_t i) {
        return i == 20 * 4 + 1 || i == 5 * 4 ? double(NAN)
                                             : v(i);  // reaches tokens 20, or 5, and later
    });
    CHECK(computes_its_result(op));
    Operation longer = attention_operation({{}, 128, 128, 4});  // a whole tile on the diagonal
    longer.operands[2].with([=](std::int64_t i) { return i == 401 ? double(NAN) : v(i); });
    CHECK(computes_its_result(longer));
}

TEST_CASE("scores of 10,000 do not overflow", "[day06][attention][small]") {
    check({{}, 3, 50, 4, true, 4000});
}

TEST_CASE("the largest scores may be in later or in earlier tiles", "[day06][attention][small]") {
    for (const bool rising : {true, false}) {
        for (const float scale : {0.125f, 40.0f}) {  // 40: without the first maximum, exp overflows
            Operation op = attention_operation({{}, 3, 100, 4, true, scale});
            op.operands[1].with(
                [=](std::int64_t i) { return double(rising ? i / 4 : 100 - i / 4) * 0.25; });
            CHECK(computes_its_result(op));
        }
    }
}

TEST_CASE("without keys every path gives 0, and k and v may be null", "[day06][attention][small]") {
    for (const std::int64_t D : {8, 7, 130}) {
        check({{2}, 3, 0, D});
        const Tensor<float> q({2, 3, D});
        const View<const float> none(nullptr, Shape{2, 0, D});
        HostOut<float> loop({2, 3, D});
        attention_cpu(q.view(), none, none, {}, loop.view());
        CHECK(loop.matches(q));
        const DeviceIn<float> d(q);
        DeviceOut<float> chosen({2, 3, D});
        attention_cuda(d.view(), none, none, {}, chosen.view());
        CHECK(chosen.matches(q));
    }
}

TEST_CASE("the path 'tiles' returns log-sum-exps, and the same output",
          "[day06][attention][small]") {
    const std::int64_t sizes[][3] = {{1, 1, 8}, {5, 9, 3}, {9, 5, 64}, {65, 130, 4}, {3, 66, 72}};
    for (const auto& [T, S, D] : sizes) {
        for (const bool causal : {true, false}) {
            Operation op = attention_operation({{2}, T, S, D, causal}, true);
            op.operands[4].placed(Layout({2, T}, {1, 2}));
            CHECK(computes_its_result(op));
        }
    }
    CHECK(computes_its_result(attention_operation({{2}, 3, 5, 8, true, 0, 0}, true)));  // -infinity
}

TEST_CASE("near misses of attention are rejected by the error bound", "[day06][attention][small]") {
    const std::int64_t T = 4, S = 60, D = 8;
    const Attending a{{}, T, S, D};
    Operation op = attention_operation(a);
    op.cuda = {};
    Inputs inputs;
    for (const std::size_t i : {0, 1, 2}) {
        const Shape shape{i == 0 ? T : S, D};
        op.operands[i].with(taken_from(seeded<float>(shape, i + 1, -1, 1)));
        Tensor<double>& x = inputs.emplace_back(Tensor<double>(shape)).value();
        for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] = op.operands[i].values(k);
    }
    const auto accepted = [&](const Attending& other, const Inputs& of) {
        const Expected almost = expect_attention<float>(other, of)[0];
        op.cpu = [&](const Call& c) {
            for (std::int64_t i = 0; i < T * D; ++i) {
                c.out<float>(3)(i / D, i % D) = static_cast<float>(almost.value.data()[i]);
            }
        };
        return bool(computes_its_result(op));
    };
    CHECK(accepted(a, inputs));
    Attending other = a;
    other.causal = false;  // the first three queries see one to three keys too many
    CHECK_FALSE(accepted(other, inputs));
    other = a;
    other.scale = 1.0005f / std::sqrt(static_cast<float>(D));
    CHECK_FALSE(accepted(other, inputs));
    other = a;
    other.counted = S - 1;
    CHECK_FALSE(accepted(other, inputs));
    for (const int digits : {10, 7}) {  // TF32, bf16
        for (const std::size_t operand : {1, 2}) {
            Inputs rounded = inputs;
            for (std::int64_t i = 0; i < S * D; ++i) {
                double& x = rounded[operand]->data()[i];
                const int e = x == 0 ? 0 : std::ilogb(x);
                x = std::ldexp(std::nearbyint(std::ldexp(x, digits - e)), e - digits);
            }
            CHECK_FALSE(accepted(a, rounded));
        }
    }
}

}  // namespace
