// The cases that `common/learn check` runs for one_block. Stub and solution run them too.
#include "common/testing/testing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/gpu/graph.hpp"
#include "common/testing/practice.hpp"
#include "day06_transformer_ops/block/block.op.hpp"
#include "day06_transformer_ops/exercises/one_block/one_block.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

struct Case {
    Tensor<float> x, qkv, projection, up, down;
    std::int64_t H;
};

enum class Norm { before, after_sum, after_part, missing };
enum class Views {
    right,
    not_transposed,
    reshaped,
    reshaped_out,
    interleaved,
    per_head,
    planes,
    one_head
};

// One planted bug, or none.
struct Wrong {
    Norm norm1 = Norm::before, norm2 = Norm::before;
    bool adds1 = true, adds2 = true;                  // the residuals
    bool has2 = true;                                 // the second half
    bool adds_normed1 = false, adds_normed2 = false;  // norm(x) + ..., norm(y) + ...
    bool adds_x = false, reads_x = false;             // in the second half
    bool causal = true, activates = true, projects = true;
    bool one_sequence = false;                      // the tokens of all sequences in a row
    double scale = 0;                               // 0: the right one
    std::array<std::int64_t, 3> order = {0, 1, 2};  // the thirds taken for q, k and v
    Views views = Views::right;
};

using Matrix = std::vector<Numbers>;  // a row per token
// One half of a block: from the rows that it reads to those that it adds.
using Part = std::function<Matrix(const Matrix&)>;

Matrix normed_rows(const Matrix& rows, Rounding& round) {
    Matrix all;
    for (const Numbers& row : rows) all.push_back(normed(row, {}, {}, round));
    return all;
}
Matrix sum(Matrix a, const Matrix& b, Rounding& round) {
    for (std::size_t i = 0; i < a.size(); ++i) add_to(a[i], b[i], round);
    return a;
}
Matrix products(const Matrix& rows, const Tensor<double>& matrix, Rounding& round) {
    Matrix all;
    for (const Numbers& row : rows)
        all.push_back(day06_transformer_ops::product(row, matrix, {}, round));
    return all;
}

// `read` is normalized, and what comes of it is added to `stream`.
Matrix half(const Matrix& stream, const Matrix& read, const Part& part, Norm norm, bool adds,
            bool adds_normed, Rounding& round) {
    const Matrix in = norm == Norm::before ? normed_rows(read, round) : read;
    Matrix made = part(in);
    if (norm == Norm::after_part) made = normed_rows(made, round);
    if (adds) made = sum(adds_normed ? in : stream, made, round);
    return norm == Norm::after_sum ? normed_rows(made, round) : made;
}

// Attention with views that may be wrong: element (h, t, d) of third i of sequence b is number
// at(...) of the buffer, all rows of `qkv` one after the other.
struct HeadsOf {
    std::int64_t B, T, C, H;
    Views views;
    [[nodiscard]] std::int64_t in(std::int64_t i, std::int64_t b, std::int64_t h, std::int64_t t,
                                  std::int64_t d) const {
        const std::int64_t D = C / H, row = (b * T + t) * 3 * C;
        switch (views) {
            case Views::reshaped:  // (B, H, T, 3 D)
                return b * T * 3 * C + (h * T + t) * 3 * D + i * D + d;
            case Views::interleaved:
                return row + i * C + d * H + h;
            case Views::per_head:
                return row + h * 3 * D + i * D + d;
            case Views::planes:
                return i * B * T * C + (b * T + t) * C + h * D + d;
            default:
                return row + i * C + h * D + d;
        }
    }
    [[nodiscard]] std::int64_t out(std::int64_t b, std::int64_t h, std::int64_t t,
                                   std::int64_t d) const {
        const std::int64_t D = C / H;
        if (views == Views::reshaped || views == Views::reshaped_out) {
            return b * T * C + (h * T + t) * D + d;
        }
        return (b * T + t) * C + (views == Views::interleaved ? d * H + h : h * D + d);
    }
};

Matrix attended(const Matrix& qkv, const Case& c, const Wrong& wrong, Rounding& round) {
    const bool flat = wrong.one_sequence;
    const std::int64_t rows = static_cast<std::int64_t>(qkv.size());
    const std::int64_t B = flat ? 1 : c.x.shape()[0], C = c.x.shape()[2];
    const std::int64_t T = flat ? rows : c.x.shape()[1];
    const std::int64_t H = wrong.views == Views::one_head ? 1 : c.H, D = C / H;
    const HeadsOf heads{B, T, C, H, wrong.views};
    // Without the transpose, a head counts as a token, and a token as a head.
    const bool exchanged = wrong.views == Views::not_transposed;
    const std::int64_t tokens = exchanged ? H : T;
    const double scale = wrong.scale > 0 ? wrong.scale : round(1 / std::sqrt(double(D)));
    Numbers all;
    for (const Numbers& row : qkv) all.insert(all.end(), row.begin(), row.end());
    const auto at = [&](std::size_t third, std::int64_t b, std::int64_t h, std::int64_t t,
                        std::int64_t d) {
        if (exchanged) std::swap(h, t);
        return all[static_cast<std::size_t>(heads.in(wrong.order[third], b, h, t, d))];
    };
    Matrix mixed(qkv.size(), Numbers(static_cast<std::size_t>(C)));
    for (std::int64_t k = 0; k < B * H * T; ++k) {
        const std::int64_t b = k / (H * T), h = k % (H * T) / tokens, t = k % tokens;
        Numbers weight;
        double total = 0;
        for (std::int64_t s = 0; s < (wrong.causal ? t + 1 : tokens); ++s) {
            double dot = 0;
            for (std::int64_t d = 0; d < D; ++d) {
                dot = round(dot + round(at(0, b, h, t, d) * at(1, b, h, s, d)));
            }
            weight.push_back(round(std::exp(round(scale * dot)), 4));
            total = round(total + weight.back());
        }
        for (std::int64_t d = 0; d < D; ++d) {
            double x = 0;
            for (std::size_t s = 0; s < weight.size(); ++s) {
                x = round(x + round(round(weight[s] / total) *
                                    at(2, b, h, static_cast<std::int64_t>(s), d)));
            }
            const std::int64_t to = exchanged ? heads.out(b, t, h, d) : heads.out(b, h, t, d);
            mixed[static_cast<std::size_t>(to / C)][static_cast<std::size_t>(to % C)] = x;
        }
    }
    return mixed;
}

Tensor<double> wide(const Tensor<float>& x) {
    Tensor<double> y(x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) y.data()[i] = x.data()[i];
    return y;
}

// out, row-major
Numbers made(const Case& c, const Wrong& wrong, Rounding& round) {
    const Tensor<double> to_qkv = wide(c.qkv), projection = wide(c.projection), up = wide(c.up),
                         down = wide(c.down);
    const std::int64_t C = c.x.shape()[2];
    Matrix x;
    for (std::int64_t r = 0; r < c.x.size() / C; ++r) {
        x.emplace_back(c.x.data() + r * C, c.x.data() + (r + 1) * C);
    }
    const Part first = [&](const Matrix& in) {
        const Matrix mixed = attended(products(in, to_qkv, round), c, wrong, round);
        return wrong.projects ? products(mixed, projection, round) : mixed;
    };
    const Part second = [&](const Matrix& in) {
        Matrix hidden = products(in, up, round);
        for (Numbers& row : hidden) {
            for (double& v : row) v = wrong.activates ? activated(v, round) : v;
        }
        return products(hidden, down, round);
    };
    const Matrix y = half(x, x, first, wrong.norm1, wrong.adds1, wrong.adds_normed1, round);
    const Matrix out = !wrong.has2 ? y
                                   : half(wrong.adds_x ? x : y, wrong.reads_x ? x : y, second,
                                          wrong.norm2, wrong.adds2, wrong.adds_normed2, round);
    Numbers all;
    for (const Numbers& row : out) all.insert(all.end(), row.begin(), row.end());
    return all;
}

std::vector<Guess> guesses_for(const Case& c) {
    std::vector<Guess> all;
    const auto guess = [&](const std::string& sentence, const Wrong& wrong) {
        Rounding none(0);
        all.push_back({sentence, [values = made(c, wrong, none)](std::int64_t k) {
                           return values[static_cast<std::size_t>(k)];
                       }});
    };
    const std::int64_t C = c.x.shape()[2], D = C / c.H;
    const std::string pre = " Each half normalizes a copy of the stream, before its first product.";
    const std::string after = "The norms come after the additions, which is post-norm." + pre;
    const std::string part = "What each half adds was normalized, not what it reads." + pre;
    guess(after, {.norm1 = Norm::after_sum, .norm2 = Norm::after_sum});
    guess(part, {.norm1 = Norm::after_part, .norm2 = Norm::after_part});
    guess("The first norm comes after the addition." + pre, {.norm1 = Norm::after_sum});
    guess("The second norm comes after the addition." + pre, {.norm2 = Norm::after_sum});
    guess("Attention's result was normalized, not what it reads." + pre,
          {.norm1 = Norm::after_part});
    guess("The MLP's result was normalized, not what it reads." + pre, {.norm2 = Norm::after_part});
    guess("Both norms are missing." + pre, {.norm1 = Norm::missing, .norm2 = Norm::missing});
    guess("The first norm is missing: attention's product must read norm(x).",
          {.norm1 = Norm::missing});
    guess("The second norm is missing: the product with up must read norm(y).",
          {.norm2 = Norm::missing});
    guess("Both residuals are missing: each half adds to the stream, x + ... and y + ...",
          {.adds1 = false, .adds2 = false});
    guess("The first residual is missing: y = x + attention's part.", {.adds1 = false});
    guess("The second residual is missing: out = y + the MLP's part.", {.adds2 = false});
    guess("out holds only y, the first sum: the MLP's part was not added.", {.has2 = false});
    guess("The normalized rows were added. The residual is the stream before the norm, x and y.",
          {.adds_normed1 = true, .adds_normed2 = true});
    guess("The first residual adds norm(x). Add x.", {.adds_normed1 = true});
    guess("The second residual adds norm(y). Add y, and let the norm write to normed, not to out.",
          {.adds_normed2 = true});
    guess(
        "The second residual adds x, so attention's part is lost from the stream: add y, the "
        "first sum.",
        {.adds_x = true});
    guess(
        "The second norm reads x, or is missing. It must read y, the first sum, so that the MLP "
        "processes what "
        "attention has moved.",
        {.reads_x = true});
    guess(
        "Attention's part is not in out. Is the first sum, y, missing, or does the second half "
        "start from x? It must read y and add to y.",
        {.adds_x = true, .reads_x = true});
    guess("Tokens attend to later tokens: attention must be causal.", {.causal = false});
    guess("Scores were divided by sqrt(C). A score is a sum of D products: divide by sqrt(D).",
          {.scale = 1 / std::sqrt(double(C))});
    guess("Scores were divided by D. Divide by sqrt(D).", {.scale = 1 / double(D)});
    guess("Scores were not divided by sqrt(D).", {.scale = 1});
    guess("Scores were multiplied by sqrt(D). Divide by it.", {.scale = std::sqrt(double(D))});
    guess("Attention ran with one head of C numbers. Split the channels into H heads of D.",
          {.views = Views::one_head});
    guess(
        "Attention ran with one head of C numbers, and scores were divided by sqrt(D). Split the "
        "channels into H heads of D.",
        {.scale = 1 / std::sqrt(double(D)), .views = Views::one_head});
    guess(
        "mixed was only reshaped to (B, H, T, D), which keeps the row-major order. Head h of "
        "token t belongs to row t, channels h * D to h * D + D - 1: reshape to (B, T, H, D), "
        "then transpose(v, 1, 2).",
        {.views = Views::reshaped_out});
    guess(
        "qkv and mixed were only reshaped to put the heads before the tokens, which keeps the "
        "row-major order. Reshape each third to (B, T, H, D), then transpose(v, 1, 2).",
        {.views = Views::reshaped});
    guess(
        "Each head takes every H-th number: reshape splits C into (D, H) here. A head's numbers "
        "are adjacent, so split C into (H, D).",
        {.views = Views::interleaved});
    guess(
        "These views take the query, key and value of a head as adjacent. A row of qkv holds "
        "the queries of all heads, then all keys, then all values: slice the thirds first, then "
        "split each into heads.",
        {.views = Views::per_head});
    guess(
        "qkv was read as if the queries of all tokens came first, then all keys and all values. "
        "A row of 3 C numbers holds query, key and value of one token, so the stride from token "
        "to token is 3 C: slice(qkv, 2, i * C, (i + 1) * C).",
        {.views = Views::planes});
    guess(
        "Heads and tokens are not exchanged, so each token attends among its own heads: after "
        "the reshape to (B, T, H, D), transpose(v, 1, 2).",
        {.views = Views::not_transposed});
    guess("Queries and keys are exchanged: the first third of a row is the query.",
          {.order = {1, 0, 2}});
    guess("Keys and values are exchanged: a row holds query, key and value, in this order.",
          {.order = {0, 2, 1}});
    guess(
        "Queries, keys and values are all the first third of a row. The key begins at C, the "
        "value at 2 C.",
        {.order = {0, 0, 0}});
    guess(
        "Sequences are mixed: a token attends to tokens of the sequences before its own. Keep "
        "the dimension B, so that each sequence and head is a matrix (T, D).",
        {.one_sequence = true});
    guess("The projection is missing: multiply mixed by it before you add.", {.projects = false});
    guess("gelu is missing between the products with up and down.", {.activates = false});
    return all;
}

// What the learner's launcher makes. Buffers hold 3.4e38, so that it shows who reads one too early.
Tensor<float> launched(const Case& c, DeviceOut<float>& out) {
    const std::int64_t B = c.x.shape()[0], T = c.x.shape()[1], C = c.x.shape()[2],
                       F = c.up.shape()[1];
    DeviceIn<float> x(c.x), qkv(c.qkv), projection(c.projection), up(c.up), down(c.down);
    const auto buffer = [&](std::int64_t columns) {
        return DeviceOut<float>({B, T, columns}, Lead{}, Poison{0x7F});
    };
    DeviceOut<float> normed = buffer(C), of_qkv = buffer(3 * C), mixed = buffer(C),
                     hidden = buffer(F), part = buffer(C);
    one_block_cuda({qkv.view(), projection.view(), up.view(), down.view(), c.H}, x.view(),
                   {normed.view(), of_qkv.view(), mixed.view(), hidden.view(), part.view()},
                   out.view());
    gpu::check_pending();
    return out.values();
}

Told cause_of(const Tensor<float>& got, const Case& c) {
    Rounding none(0);
    const Numbers right = made(c, {}, none);
    Tensor<double> want(c.x.shape()), here = wide(got);
    for (std::int64_t i = 0; i < want.size(); ++i) {
        want.data()[i] = right[static_cast<std::size_t>(i)];
    }
    if (looks_like(here, want)) return {};
    if (!std::all_of(got.data(), got.data() + got.size(),
                     [](float v) { return std::abs(v) < 1e30f; })) {
        return {false,
                "An operation reads a buffer that no operation before it has written. (The cases "
                "fill all buffers with 3.4e38.)"};
    }
    return {false, guessed(got, guesses_for(c))};
}

Case seeded_case(std::int64_t B, std::int64_t T, std::int64_t C, std::int64_t H, std::int64_t F) {
    return {seeded<float>({B, T, C}, 1, -2, 4), seeded<float>({C, 3 * C}, 2, -1, 1),
            seeded<float>({C, C}, 3, -1, 1),    seeded<float>({C, F}, 4, -1, 1),
            seeded<float>({F, C}, 5, -1, 1),    H};
}

// Which tokens does each output depend on?
std::string read_by_launcher() {
    const Case c = seeded_case(2, 3, 4, 2, 4);
    const Shape shape = c.x.shape();
    const auto seen = [](const Index& out, const Index& e) {
        return e[0] == out[0] && e[1] <= out[1];
    };
    return read_wrongly(
        {"out", "btc", shape, {{"x", shape, seen}}}, [&](const auto& in, float* to) {
            Case changed = c;
            const std::int64_t C = shape[2], F = 4;
            gpu::Buffer<float> qkv(c.qkv), projection(c.projection), up(c.up), down(c.down),
                room(Tensor<float>({24 * 7}));
            const auto part = [&](std::int64_t first, std::int64_t columns) {
                return View<float>(room.data() + 24 * first, Shape{shape[0], shape[1], columns});
            };
            one_block_cuda({{qkv.data(), Shape{C, 3 * C}},
                            {projection.data(), Shape{C, C}},
                            {up.data(), Shape{C, F}},
                            {down.data(), Shape{F, C}},
                            c.H},
                           {in[0], shape},
                           {part(0, C), part(1, 3 * C), part(4, C), part(5, F), part(6, C)},
                           {to, shape});
            gpu::synchronize();  // the matrices end here
        });
}

std::string cause(const Tensor<float>& got, const Case& c) {
    const std::string known = confirmed(cause_of(got, c), [] {
        const Case larger = seeded_case(2, 5, 12, 3, 20);
        DeviceOut<float> out(larger.x.shape());
        return cause_of(launched(larger, out), larger);
    });
    return known.empty() ? read_by_launcher() : known;
}

void check_block_of(const Case& c) {
    const std::int64_t B = c.x.shape()[0], T = c.x.shape()[1], C = c.x.shape()[2], H = c.H,
                       F = c.up.shape()[1];
    CAPTURE(B, T, C, H, F);
    const Expected want =
        with_bound(c.x.shape(), [&](Rounding& round) { return made(c, {}, round); });
    HostOut<float> loop(c.x.shape());
    one_block_cpu({c.qkv.view(), c.projection.view(), c.up.view(), c.down.view(), H}, c.x.view(),
                  loop.view());
    REQUIRE(agrees(loop, want));
    DeviceOut<float> out(c.x.shape());
    Tensor<float> got(c.x.shape());
    finish([&] { got = launched(c, out); },
           {{"reshape of"},
            "Nothing has to be copied. Split the channels where they are, reshape(v, {B, T, H, "
            "D}), and then exchange tokens and heads, transpose(v, 1, 2)."});
    const Comparison same = agrees(out, want);
    const bool written = same.text.find("Never written") == std::string::npos;
    require(same, written && !same ? cause(got, c) : "");
}

// Identity matrices of 4 x 4 side by side, the second one times `second`.
Tensor<float> units(std::int64_t copies, float second) {
    Tensor<float> all({4, 4 * copies});
    for (std::int64_t i = 0; i < 4; ++i) {
        for (std::int64_t k = 0; k < copies; ++k) all(i, 4 * k + i) = k == 1 ? second : 1;
    }
    return all;
}

TEST_CASE("one_block: the cat sat", "[day06][one_block][small]") {
    Tensor<float> down({8, 4});
    for (std::int64_t i = 0; i < 8; ++i) down(i, i % 4) = i < 4 ? 1.0f : -1.0f;
    check_block_of({Tensor<float>({1, 3, 4}, {3, 1, 3, 1, 5, 5, 1, 1, 4, 2, 2, 4}),
                    units(3, std::log(2.0f) / std::sqrt(2.0f)), units(1, 1), units(2, -1), down,
                    2});
}

TEST_CASE("one_block: several sequences, heads and tokens", "[day06][one_block][small]") {
    check_block_of(seeded_case(2, 5, 12, 3, 20));
    check_block_of(seeded_case(3, 7, 8, 4, 32));
}

TEST_CASE("one_block: one token, one head, one sequence, none", "[day06][one_block][small]") {
    check_block_of(seeded_case(2, 1, 8, 2, 12));
    check_block_of(seeded_case(2, 6, 8, 1, 12));
    check_block_of(seeded_case(1, 9, 12, 4, 16));
    check_block_of(seeded_case(0, 5, 12, 3, 20));
}

TEST_CASE("one_block: all on the given stream", "[day06][one_block][small]") {
    const Case c = seeded_case(1, 5, 4, 2, 4);
    DeviceIn<float> x(c.x), qkv(c.qkv), projection(c.projection), up(c.up), down(c.down);
    DeviceOut<float> normed({1, 5, 4}), of_qkv({1, 5, 12}), mixed({1, 5, 4}), hidden({1, 5, 4}),
        part({1, 5, 4}), out({1, 5, 4});
    INFO("Pass `stream` to every operation.");
    const auto captured = [&] {
        const gpu::Graph graph([&](gpu::Stream stream) {
            one_block_cuda({qkv.view(), projection.view(), up.view(), down.view(), c.H}, x.view(),
                           {normed.view(), of_qkv.view(), mixed.view(), hidden.view(), part.view()},
                           out.view(), stream);
        });
        gpu::check_pending();
    };
    REQUIRE_NOTHROW(captured());
}

TEST_CASE("one_block: rejects what the CPU reference rejects", "[day06][one_block][small]") {
    const Case c = seeded_case(2, 3, 8, 2, 12);
    Tensor<float> out(c.x.shape()), numbers({2 * 3 * 24});
    const auto of = [&](std::int64_t columns) {
        return View<float>(numbers.data(), Shape{2, 3, columns});
    };
    const auto rejected = [&](const auto& change, View<float> to, const char* words) {
        BlockWeights w{c.qkv.view(), c.projection.view(), c.up.view(), c.down.view(), c.H};
        change(w);
        return both_reject(
            [&] { one_block_cpu(w, c.x.view(), to); },
            [&] {
                one_block_cuda(w, c.x.view(), {of(8), of(24), of(8), of(12), of(8)}, to);
            },
            words);
    };
    using W = BlockWeights&;
    REQUIRE(rejected([](W w) { w.heads = 3; }, out.view(), "3 heads do not divide the 8 numbers"));
    REQUIRE(rejected([](W w) { w.qkv = w.up; }, out.view(),
                     "qkv has shape (8, 12), but must have (8, 24)"));
    REQUIRE(rejected([](W) {}, View<float>(out.data(), Shape{2, 8, 3}), "they must be equal"));
}

}  // namespace
