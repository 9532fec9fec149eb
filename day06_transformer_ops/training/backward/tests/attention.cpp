// Tests of attention's backward pass against results from outside the code: central differences and
// PyTorch's autograd; what its bound rejects; which path it chooses; and arguments that only it has.
#include <bit>

#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/training/backward/attention_backward.op.hpp"
#include "day06_transformer_ops/training/backward/tests/outside.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

#include "day06_transformer_ops/training/backward/tests/golden_operations.inc"

// The sum of grad times attention in double, with plain indices. q (B, H, T, D), k (B, G, S, D)
// with G = H or 1.
double loss_of(const Doubles& in, const AttentionOptions& options) {
    const Tensor<double>&q = in[0], &k = in[1], &v = in[2], &grad = in[3];
    const Shape s = q.shape();
    const std::int64_t T = s[2], D = s[3], S = k.shape()[2], G = k.shape()[1];
    const double scale = options.scale != 0 ? double{options.scale} : 1 / std::sqrt(double(D));
    double all = 0;
    for (std::int64_t r = 0; r < s[0] * s[1] * T; ++r) {
        const std::int64_t b = r / T / s[1], h = r / T % s[1], t = r % T, g = G == 1 ? 0 : h;
        const std::int64_t n = options.causal ? std::max<std::int64_t>(S - T + t + 1, 0) : S;
        double sum = 0;
        std::vector<double> e;
        for (std::int64_t i = 0; i < n; ++i) {
            double dot = 0;
            for (std::int64_t d = 0; d < D; ++d) dot += q(b, h, t, d) * k(b, g, i, d);
            e.push_back(std::exp(scale * dot));
            sum += e.back();
        }
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t d = 0; d < D; ++d) {
                all += grad(b, h, t, d) * e[std::size_t(i)] / sum * v(b, g, i, d);
            }
        }
    }
    return all;
}

TEST_CASE("attention's gradients match central differences", "[day06][training][small]") {
    const Shape shapes[][2] = {{{1, 1, 1, 1}, {1, 1, 1, 1}}, {{2, 3, 5, 4}, {2, 3, 5, 4}},
                               {{1, 2, 3, 2}, {1, 2, 7, 2}}, {{1, 2, 7, 2}, {1, 2, 3, 2}},
                               {{2, 2, 1, 3}, {2, 2, 4, 3}}, {{2, 3, 4, 2}, {2, 1, 4, 2}}};
    for (const auto& [q, k] : shapes) {
        for (const bool causal : {true, false}) {
            for (const float scale : {0.0f, 0.75f}) {
                CAPTURE(to_string(q), to_string(k), causal, scale);
                const AttentionOptions options = attention_options(causal, scale);
                const Operation op = attention_backward_operation(q, k, options);
                const auto loss = [&](const Doubles& in) { return loss_of(in, options); };
                CHECK(is_slope(op, "d_q", "q", loss));
                CHECK(is_slope(op, "d_k", "k", loss));
                CHECK(is_slope(op, "d_v", "v", loss));
                // From results of the forward pass that are rounded to float, nearly the same.
                const Operation saved = attention_backward_operation(q, k, options, true);
                const int path = static_cast<int>(AttentionBackwardPath::kept);
                const auto kept = Caller(saved).expected({}, path),
                           want = Caller(op).expected({}, 0);
                for (std::size_t i = 0; i < 3; ++i) {
                    CHECK(close(kept[i].value, want[i].value, bound_of(want[i].value)));
                }
            }
        }
    }
}

TEST_CASE("attention's bound rejects operands of 11 bits, as in TF32", "[day06][training][small]") {
    Operation op = attention_backward_operation({1, 2, 5, 4}, {1, 2, 5, 4});
    op.cuda = {};
    const std::vector<Expected> want = Caller(op).expected({}, 0);
    op.exact = [=](const Inputs&, int) { return want; };
    CHECK(computes_its_result(op));
    const Operation whole = op;
    op.operands[0].with([=](std::int64_t k) {  // affects every gradient
        const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value_of(whole, 0, k)));
        return double{std::bit_cast<float>(bits & ~std::uint32_t{0x1fff})};
    });
    const std::string text = computes_its_result(op).text;
    for (const char* output : {"d_q: ", "d_k: ", "d_v: "}) CHECK(contains(text, output));
}

TEST_CASE("attention's gradients match PyTorch's", "[day06][training][small]") {
    Operation op =
        attention_backward_operation({1, 2, 4, 3}, {1, 2, 4, 3}, attention_options(true, 0));
    op.operands[0].with(list(attention_q)), op.operands[1].with(list(attention_k));
    op.operands[2].with(list(attention_v)), op.operands[3].with(list(attention_grad));
    know_golden(op, {attention_dq, attention_dk, attention_dv});
    CHECK(computes_its_result(op));
}

TEST_CASE("attention's backward pass: tiles unless queries are few, heads wide, or memory small",
          "[day06][training][small]") {
    using Path = AttentionBackwardPath;
    const auto of_head = [](std::int64_t D, std::int64_t T = 32) {
        return View<const float>(nullptr, Shape{1, 1, T, D});
    };
    CHECK(choose_attention_backward(of_head(64, 31)) == Path::row_per_thread);
    CHECK(choose_attention_backward(of_head(128)) == Path::tiles);
    CHECK(choose_attention_backward(of_head(128, 65), SIZE_MAX, true) == Path::kept);
    CHECK(choose_attention_backward(of_head(128, 64), SIZE_MAX, true) == Path::tiles);
    CHECK(choose_attention_backward(of_head(129), SIZE_MAX, true) == Path::row_per_thread);
    CHECK(choose_attention_backward(of_head(64, 31), SIZE_MAX, true) == Path::row_per_thread);
    CHECK(choose_attention_backward(of_head(129)) == Path::row_per_thread);
    CHECK(choose_attention_backward(of_head(64), 88'064) == Path::tiles);
    CHECK(choose_attention_backward(of_head(64), 88'063) == Path::row_per_thread);
    CHECK(choose_attention_backward(of_head(65), 88'064) == Path::row_per_thread);
    CHECK(choose_attention_backward(of_head(32), 55'296) == Path::tiles);
    CHECK(choose_attention_backward(of_head(32), 55'295) == Path::row_per_thread);
    CHECK(choose_attention_backward(of_head(33), 55'296) == Path::row_per_thread);
    const int tiles = static_cast<int>(Path::tiles), kept = static_cast<int>(Path::kept);
    const Operation op = attention_backward_operation({1, 1, 2, 129}, {1, 1, 2, 129});
    const Caller wide(op);
    CHECK(contains(wide(Where::cuda, {.path = tiles}).rejected,
                   "a head of 129 numbers; 128 is the most that the path 'tiles' takes"));
    CHECK(contains(wide(Where::cuda, {.path = kept}).rejected,
                   "the path 'kept' needs the output and the log of sums"));
}

// The error message, which the CPU reference and the CUDA version have in common.
std::string both_say(const Operation& op) {
    const std::string said = Caller(op)(Where::cpu, {}).rejected;
    CHECK(Caller(op)(Where::cuda, {}).rejected == said);
    return said;
}

TEST_CASE("attention's backward pass rejects other ranks, a length, and a scale of infinity",
          "[day06][training][small]") {
    const Shape q = {2, 3, 4}, k = {2, 6, 4};
    Operation op = attention_backward_operation(q, k);
    op.operands[1].shape = op.operands[2].shape = {6, 4};
    CHECK(rejects_as_it_is(op,
                           "k has shape (6, 4), but q (2, 3, 4); give it the same rank, with "
                           "extents of 1 where heads share keys"));
    op = attention_backward_operation(q, k);
    op.operands[2].shape = op.operands[6].shape = {1, 6, 4};  // it can be broadcast
    CHECK(contains(both_say(op), "v has shape (1, 6, 4)"));
    op = attention_backward_operation({3, 4}, k);
    CHECK(contains(both_say(op), "k: broadcast of shape (2, 6, 4) to (6, 4)"));
    CHECK(contains(both_say(attention_backward_operation(q, k, attention_options(true, INFINITY))),
                   "scale is inf"));
    Tensor<std::int64_t> counted(Shape{}, {6});
    AttentionOptions options;
    options.length = counted.view();
    CHECK(contains(both_say(attention_backward_operation(q, k, options)), "a length was given"));
    for (const Shape& shape : {Shape{}, Shape{4}}) {
        CHECK(contains(rejection([&] {
                           (void)attention_backward_workspace_bytes({nullptr, shape});
                       }),
                       "attention_backward: q has shape " + to_string(shape)));
    }
}

}  // namespace

TEST_CASE("attention's backward pass rejects one of out and log_sums without the other",
          "[day06][training][small]") {
    const Tensor<float> x({1, 1, 2, 4}), sums({1, 1, 2});
    Tensor<float> d_q({1, 1, 2, 4}), d_k({1, 1, 2, 4}), d_v({1, 1, 2, 4});
    const AttentionGradients d = {d_q.view(), d_k.view(), d_v.view()};
    const auto call = [&](const AttentionSaved& saved) {
        attention_backward_cpu(x.view(), x.view(), x.view(), {}, x.view(), d, saved);
    };
    CHECK_NOTHROW(call({x.view(), sums.view()}));
    CHECK_NOTHROW(call({}));
    CHECK(contains(rejection([&] { call({x.view(), {}}); }), "log_sums"));
    CHECK(contains(rejection([&] { call({{}, sums.view()}); }), "out"));
}
