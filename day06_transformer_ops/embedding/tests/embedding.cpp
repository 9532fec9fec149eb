// Tests of the embedding. Rows are copied and added once, so results must be equal.
#include "common/gpu/tile.hpp"
#include "common/testing/catch.hpp"
#include "day06_transformer_ops/embedding/embedding.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

using Ids = Tensor<std::int64_t>;
// 'tile' only if this nvcc compiles tile kernels; the emulator always does.
std::vector<EmbedPath> paths() {
    std::vector<EmbedPath> all = {EmbedPath::one_element, EmbedPath::vectorized};
    if (gpu::has_tile()) all.push_back(EmbedPath::tile);
    return all;
}

TEST_CASE("a token's row and a position's row are added: a result worked by hand",
          "[day06][embedding][small]") {
    Operation op = embed_operation<float>({2, 2}, 2, Shape{2});
    op.operands[0].with([](std::int64_t k) { return static_cast<double>(k + 1); });
    op.operands[1].with(list({2, 0, 0, 1}));
    op.operands[3].with([](std::int64_t k) { return static_cast<double>(10 * (k + 1)); });
    op.operands[4].with(list({1, 3}));
    know(op, {35.0, 46.0, 71.0, 82.0, 31.0, 42.0, 73.0, 84.0});
    CHECK(computes_its_result(op));
}

TEST_CASE("an id or place out of range: the CPU reference reports it, the CUDA version gives NaN",
          "[day06][embedding][small]") {
    for (const std::int64_t C : {4, 5}) {
        const Tensor<float> tokens = distinct<float>({3, C}),
                            positions = distinct<float>({4, C}, 7);
        const Ids good({2, 3}, {0, 1, 2, 2, 0, 1}), far({2, 3}, {0, 1, 3, 2, -1, 1});
        const Ids places({3}, {0, 3, 1}), far_places({3}, {0, 4, -1});
        HostOut<float> h({2, 3, C});
        const auto loop = [&](const Ids& ids, const Ids& at) {
            return rejection([&] {
                embed_cpu(tokens.view(), ids.view(), positions.view(), at.view(), h.view());
            });
        };
        CHECK(loop(far, places) == "embed: ids has 3 at (0, 2), but the table has 3 rows");
        CHECK(loop(good, far_places) == "embed: places has 4 at (1), but the table has 4 rows");
        CHECK(h.untouched());
        DeviceIn<float> dt(tokens), dp(positions);
        for (const EmbedPath path : paths()) {
            if (path == EmbedPath::vectorized && C % 4 != 0) continue;
            CAPTURE(name(path), C);
            const auto port = [&](const Ids& ids, const Ids& at, const auto& is_known) {
                DeviceIn<std::int64_t> di(ids), dl(at);
                DeviceOut<float> got({2, 3, C});
                embed_cuda(dt.view(), di.view(), dp.view(), dl.view(), got.view(), {.path = path});
                Tensor<double> want({2, 3, C});
                for (std::int64_t k = 0; k < want.size(); ++k) {
                    const std::int64_t n = k / C;
                    want.data()[k] = is_known(n)
                                         ? static_cast<double>(tokens(ids.data()[n], k % C)) +
                                               static_cast<double>(positions(at(n % 3), k % C))
                                         : static_cast<double>(NAN);
                }
                CHECK(got.close_to(want, 0, Nans::where_expected));
            };
            port(far, places, [](std::int64_t n) { return n != 2 && n != 4; });
            port(good, far_places, [](std::int64_t n) { return n % 3 == 0; });
        }
    }
}

TEST_CASE("embed uses 128-bit loads if both tables and out allow it", "[day06][embedding][small]") {
    for (const std::optional<Shape>& places : {std::optional(Shape{2}), std::optional<Shape>()}) {
        const Operation plain = embed_operation<float>({2}, 8, places);
        for (std::size_t i = 0; i < plain.operands.size(); ++i) {
            const Shape& shape = plain.operands[i].shape;
            if (shape.rank < 2) continue;
            const std::int64_t C = shape[1];
            for (const Layout& layout : {Layout(shape, {C + 4, 1}), Layout(shape, {-C, 1}),
                                         Layout(shape, {C + 2, 1}), Layout(shape, {2 * C, 2})}) {
                Operation op = plain;
                op.operands[i].placed(layout);
                op.operands[1].placed(Layout({2}, {-3}));  // ids and places may have any layout
                CHECK(computes_its_result(op));
            }
        }
    }
    alignas(16) static float memory[64];
    const std::int64_t ids[] = {0, 1};
    CHECK(rejection([&] {
              check_embed<float>({memory + 1, Shape{2, 8}}, {ids, Shape{2}}, {}, {},
                                 {memory + 32, Shape{2, 8}}, EmbedPath::vectorized);
          }) ==
          "embed: the path 'vectorized' needs rows of whole vectors that begin at multiples of 16 "
          "bytes; "
          "tokens have shape (2, 8), strides (8, 1), positions shape (), strides (), out shape (2, "
          "8), strides (8, 1)");
}

TEST_CASE("embed's path 'tile' takes rows of at most three dimensions, after merging",
          "[day06][embedding][small]") {
    const auto check = [](const Shape& ids, const Layout& of_ids, const Layout& of_places,
                          const Strides& out) {
        Operation op = embed_operation<float>(ids, 8, ids);
        op.operands[1].placed(of_ids);
        op.operands[2].placed(Layout(op.operands[2].shape, out));
        op.operands[4].placed(of_places);
        CHECK(computes_its_result(op));
    };
    const Layout three = row_major({2, 3, 4}), four = row_major({2, 2, 3, 4});
    // Ids and places may have any strides.
    check({2, 3, 4}, Layout({2, 3, 4}, {-12, -4, -1}), three, {96, 32, 8, 1});
    check({2, 3, 4}, three, Layout({2, 3, 4}, {-12, -4, -1}), {96, 32, 8, 1});
    check({2, 3, 4}, Layout({2, 3, 4}, {1, 2, 6}), three, {500, 90, 20, 1});  // nothing merges
    check({2, 2, 3, 4}, four, four, {480, 240, 80, 20, 1});                   // two of four merge
    const Layout apart({2, 2, 3, 4}, {1, 20, 3, 40});
    check({2, 2, 3, 4}, apart, four, {480, 240, 80, 20, 1});
    check({2, 2, 3, 4}, four, apart, {480, 240, 80, 20, 1});
    check({2, 3, 4}, three, three, {96, 32, -8, 1});
    check({2, 3, 4}, three, three, {96, 32, 8, -1});
    alignas(16) static float memory[64];
    const std::int64_t ids[] = {0, 1};
    CHECK(rejection([&] {
              check_embed<float>({memory, Shape{2, 8}}, {ids, Shape{2}}, {}, {},
                                 {memory + 39, Layout({2, 8}, {8, -1})}, EmbedPath::tile);
          }) ==
          "embed: the path 'tile' needs, after simplifying, three dimensions of ids, places and "
          "rows at "
          "most, and tables and out with no negative stride, for CUDA Tile C++ takes strides for "
          "sizes; tokens have shape (2, 8), strides (8, 1), positions shape (), strides (), ids "
          "shape (2), strides (1), places shape (2), strides (1), out shape (2, 8), strides (8, "
          "-1)");
}

TEST_CASE("a table without positions has no row for any place", "[day06][embedding][small]") {
    const Tensor<float> tokens = distinct<float>({3, 4});
    const Ids ids({2}, {2, 0}), places({2}, {0, 0});
    const View<const float> empty(nullptr, Shape{0, 4});
    HostOut<float> h({2, 4});
    CHECK(rejection([&] {
              embed_cpu(tokens.view(), ids.view(), empty, places.view(), h.view());
          }) == "embed: places has 0 at (0), but the table has 0 rows");
    CHECK(h.untouched());
    DeviceIn<float> d(tokens);
    DeviceIn<std::int64_t> di(ids), dl(places);
    for (const EmbedPath path : paths()) {
        DeviceOut<float> got({2, 4});
        embed_cuda(d.view(), di.view(), empty, dl.view(), got.view(), {.path = path});
        for (std::int64_t k = 0; k < 8; ++k) CHECK(std::isnan(got.values().data()[k]));
    }
}

TEST_CASE("embed rejects arguments that do not match", "[day06][embedding][small]") {
    const Tensor<float> tokens = distinct<float>({5, 8}), narrow = distinct<float>({5, 7});
    Tensor<float> out({2, 8});
    const Ids ids({2}, {4, 1}), three({3}, {0, 1, 2});
    const auto rejected = [&](View<const float> table, View<const std::int64_t> at,
                              View<const float> positions, View<const std::int64_t> places,
                              const char* words) {
        CHECK(both_reject([&] { embed_cpu(table, at, positions, places, out.view()); },
                          [&] { embed_cuda(table, at, positions, places, out.view()); }, words));
    };
    const View<const float> t = tokens.view();
    const View<const std::int64_t> i = ids.view();
    rejected(row(t, 0), i, {}, {}, "embed: tokens has shape (8) of rank 1");
    rejected(narrow.view(), i, {}, {},
             "embed: tokens have shape (5, 7) and ids (2), so out must have (2, 7), not (2, 8)");
    rejected(t, i, narrow.view(), i,
             "tokens have shape (5, 8), but positions (5, 7); their rows are added");
    rejected(t, i, t, three.view(), "embed: places: broadcast of shape (3) to (2)");
    rejected(t, i, {nullptr, Shape{1, 8}}, i, "embed: positions is a null pointer");
    rejected(t, i, row(t, 0), i, "positions has shape (8) of rank 1");
    rejected(t, i, {t.data, Shape{}}, i, "positions has shape () of rank 0");  // no table
    rejected(t, {ids.data(), Shape{1, 1, 1, 1, 1, 1, 1, 2}}, {}, {},
             "and out would need one dim more than 8");
}

// --- rotary --------------------------------------------------------------------------------------

TEST_CASE("the rotary table has the cosines and sines of each place's angles",
          "[day06][embedding][small]") {
    for (const std::int64_t D : {2, 6, 64}) {
        const Tensor<float> table = rotary_table(1001, D, 500);
        for (const std::int64_t place : {0, 1, 5, 1000}) {
            for (std::int64_t i = 0; i < D / 2; ++i) {
                const double angle = static_cast<double>(place) /
                                     std::pow(500, 2 * static_cast<double>(i) / double(D));
                CHECK(std::fabs(double(table(place, i)) - std::cos(angle)) <= 1.01 * kU);
                CHECK(std::fabs(double(table(place, i + D / 2)) - std::sin(angle)) <= 1.01 * kU);
            }
        }
    }
}

TEST_CASE("rotary rotates neighbours or halves: results worked by hand",
          "[day06][embedding][small]") {
    for (const bool near : {true, false}) {
        Operation op = rotary_operation({1, 4}, near ? Pairing::neighbours : Pairing::halves, {1});
        op.operands[0].with(list({1, 2, 3, 4}));
        op.operands[1].with([](std::int64_t k) { return k % 4 == 1 ? 2.0 : k % 4 == 2 ? 1.0 : 0; });
        // A quarter turn of the first pair (cos 0, sin 1); the second is doubled.
        if (near) know(op, {-2.0, 1.0, 6.0, 8.0});
        if (!near) know(op, {-3.0, 4.0, 1.0, 8.0});
        CHECK(computes_its_result(op));
    }
}

TEST_CASE("the product of a rotated query and key depends only on their distance",
          "[day06][embedding][small]") {
    const Tensor<float> q = few_values_of({1, 8}, 5, 13), k = few_values_of({1, 8}, 7, 11),
                        table = rotary_table(60, 8);
    const auto score = [&](std::int64_t at_q, std::int64_t at_k, Pairing pairing) {
        Tensor<float> a({1, 8}), b({1, 8});
        rotary_cpu(q.view(), table.view(), Ids({1}, {at_q}).view(), pairing, a.view());
        rotary_cpu(k.view(), table.view(), Ids({1}, {at_k}).view(), pairing, b.view());
        double sum = 0;
        for (std::int64_t d = 0; d < 8; ++d)
            sum += static_cast<double>(a(0, d)) * static_cast<double>(b(0, d));
        return sum;
    };
    for (const Pairing pairing : {Pairing::neighbours, Pairing::halves}) {
        CHECK(std::fabs(score(7, 3, pairing) - score(57, 53, pairing)) < 1e-5);
        CHECK(std::fabs(score(7, 3, pairing) - score(7, 4, pairing)) > 1e-2);
    }
    CHECK(std::fabs(score(7, 3, Pairing::halves) - score(7, 3, Pairing::neighbours)) > 1e-2);
}

TEST_CASE("rotary rejects invalid arguments; the CUDA version gives NaN for a place out of range",
          "[day06][embedding][small]") {
    const Tensor<float> x = few_values_of({3, 4}, 5, 13), table = rotary_table(9, 4);
    const Ids places({3}, {0, 9, 8}), four({4}, {0, 1, 2, 3});
    Tensor<float> out({3, 4});
    const auto rejected = [&](View<const float> in, const Tensor<float>& t, const Ids& at,
                              const char* words) {
        const auto rotary = [&](auto f) {
            f(in, t.view(), at.view(), Pairing::halves, out.view());
        };
        CHECK(both_reject([&] { rotary(rotary_cpu); },
                          [&] { rotary([](auto... a) { rotary_cuda(a...); }); }, words));
    };
    rejected(columns(x.view(), 0, 3), table, places,
             "rotary: in has shape (3, 3), but needs (..., T, D), with an even D of pairs");
    rejected(columns(x.view(), 0, 0), table, places, "rotary: in has shape (3, 0), but needs");
    rejected(row(x.view(), 0), table, places, "rotary: in has shape (4), but needs");
    rejected(
        x.view(), rotary_table(9, 6), places,
        "rotary: in has shape (3, 4), but table (9, 6); a row of it must be as long as a head");
    rejected(x.view(), Tensor<float>({4}), places, "rotary: table has shape (4) of rank 1");
    rejected(x.view(), table, four, "rotary: places: broadcast of shape (4) to (3)");
    CHECK(rejection([&] {
              rotary_cpu(x.view(), table.view(), places.view(), Pairing::halves, out.view());
          }) == "rotary: places has 9 at (1), but the table has 9 rows");
    CHECK(contains(rejection([] { (void)rotary_table(3, 5); }),
                   "rotary_table: D is 5 and base 10000.0"));
    CHECK(contains(rejection([] { (void)rotary_table(3, 4, 0); }), "must be even and above 0"));
    DeviceIn<float> d(x), dt(table);
    DeviceIn<std::int64_t> dl(places);
    DeviceOut<float> g({3, 4});
    rotary_cuda(d.view(), dt.view(), dl.view(), Pairing::halves, g.view());
    const Tensor<float> y = g.values();
    for (std::int64_t k = 0; k < 12; ++k) CHECK(std::isnan(y.data()[k]) == (k / 4 == 1));
}

// --- convert -------------------------------------------------------------------------------------

TEST_CASE("convert rounds ties to even, and numbers that are too large to infinity",
          "[day06][embedding][small]") {
    // 1 + 1/256 is halfway between two bf16. 65520 is too large for an f16.
    const Tensor<float> x({3}, {1.00390625f, 1.01171875f, 65520});
    DeviceIn<float> d(x);
    DeviceOut<bf16> b({3});
    DeviceOut<f16> f({3});
    convert_cuda(d.view(), b.view());
    convert_cuda(d.view(), f.view());
    CHECK(b.values()(0).bits == 0x3F80);
    CHECK(b.values()(1).bits == 0x3F82);
    CHECK(f.values()(2).bits == 0x7C00);
}

}  // namespace
