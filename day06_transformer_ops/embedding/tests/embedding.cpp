// The proof of the set embedding. Rows are moved and added once, so equality is asked for.
#include "day06_transformer_ops/embedding/embedding.hpp"

#include "common/gpu/tile.hpp"
#include "day06_transformer_ops/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

using Ids = Tensor<std::int64_t>;
// Tiles only where this nvcc compiles them, as the emulator does.
std::vector<EmbedPath> paths() {
    std::vector<EmbedPath> all = {EmbedPath::one_element, EmbedPath::quads};
    if (gpu::has_tile()) all.push_back(EmbedPath::tile);
    return all;
}

// What embed should say, without a stride: row by row.
template <class T>
Tensor<T> rows_added(const Tensor<T>& tokens, const Ids& ids, const Tensor<T>& positions,
                     const Ids& places, bool adds) {
    Shape shape = ids.shape();
    shape[shape.rank++] = tokens.shape()[1];
    Tensor<T> out(shape);
    const std::int64_t C = tokens.shape()[1], period = std::max<std::int64_t>(places.size(), 1);
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const auto x = static_cast<float>(tokens(ids.data()[k / C], k % C));
        const float y =
            adds ? static_cast<float>(positions(places.data()[k / C % period], k % C)) : 0;
        out.data()[k] = adds ? T(x + y) : T(x);
    }
    return out;
}

// ids of shape (.., T), places (T).
template <class T>
void check_embedding(std::int64_t V, std::int64_t C, const Ids& ids, const Layout& table,
                     const Layout& out, Lead lead = {}) {
    CAPTURE(V, C, to_string(ids.shape()), to_string(table), to_string(out), lead.elements);
    const std::int64_t P = 40,
                       tokens = ids.shape().rank > 0 ? ids.shape()[ids.shape().rank - 1] : 1;
    const Tensor<T> wte = distinct<T>({V, C}), wpe = distinct<T>({P, C}, 7);
    Ids places(ids.shape().rank > 0 ? Shape{tokens} : Shape{});
    for (std::int64_t t = 0; t < places.size(); ++t) places.data()[t] = (t * 3 + 5) % P;
    DeviceIn<T> dt(wte, table, lead), dp(wpe);
    DeviceIn<std::int64_t> di(ids), dl(places);
    for (const bool adds : {true, false}) {
        const Tensor<T> want = rows_added(wte, ids, wpe, places, adds);
        HostIn<T> ht(wte, table);
        HostOut<T> loop(out);
        embed_cpu(ht.view(), ids.view(), adds ? wpe.view() : View<const T>(), places.view(),
                  loop.view());
        CHECK(loop.matches(want));
        const View<const T> positions = adds ? dp.view() : View<const T>();
        for (const EmbedPath path : paths()) {
            CAPTURE(name(path), adds);
            DeviceOut<T> got(out, lead);
            if (path == EmbedPath::quads &&
                choose_embed<T>(dt.view(), positions, got.view()) != path) {
                continue;
            }
            if (path == EmbedPath::tile && out.rank() < 4) {  // which ranks it takes: below
                const bool taken = refusal([&] {
                                       check_embed<T>(dt.view(), di.view(), positions, dl.view(),
                                                      got.view(), path);
                                   }).empty();
                const bool forwards = gpu::goes_forwards(table) && gpu::goes_forwards(out);
                CHECK(taken == (forwards || want.size() == 0));
                if (!taken) continue;
            }
            embed_cuda(dt.view(), di.view(), positions, dl.view(), got.view(), {.path = path});
            CHECK(got.matches(want));
            if (path == EmbedPath::tile && want.size() > 0) CHECK(last_kernel() == "embed_tile");
        }
    }
    CHECK(dt.unchanged());
    CHECK(di.unchanged());
}

Ids some_ids(const Shape& shape, std::int64_t V) {
    return seeded_integers<std::int64_t>(shape, 5, 0, V - 1);
}

TEST_CASE("a token's row and a position's row are added: worked by hand",
          "[day06][embedding][small]") {
    const Tensor<float> tokens({3, 2}, {1, 2, 3, 4, 5, 6}),
        positions({4, 2}, {10, 20, 30, 40, 50, 60, 70, 80});
    const Ids ids({2, 2}, {2, 0, 0, 1}), places({2}, {1, 3});
    const Tensor<float> want({2, 2, 2}, {35, 46, 71, 82, 31, 42, 73, 84});
    HostOut<float> loop({2, 2, 2});
    embed_cpu(tokens.view(), ids.view(), positions.view(), places.view(), loop.view());
    CHECK(loop.matches(want));
    DeviceIn<float> dt(tokens), dp(positions);
    DeviceIn<std::int64_t> di(ids), dl(places);
    DeviceOut<float> got({2, 2, 2});
    embed_cuda(dt.view(), di.view(), dp.view(), dl.view(), got.view());
    CHECK(got.matches(want));
}

TEST_CASE("embed takes ids of every shape, and tables and outputs of every layout",
          "[day06][embedding][small]") {
    for (const std::int64_t C : {1, 3, 4, 8, 33, 128, 516}) {
        check_embedding<float>(11, C, some_ids({3, 5}, 11), row_major({11, C}),
                               row_major({3, 5, C}));
        check_embedding<bf16>(11, C, some_ids({3, 5}, 11), row_major({11, C}),
                              row_major({3, 5, C}));
    }
    check_embedding<float>(7, 8, some_ids({}, 7), row_major({7, 8}), row_major({8}));
    check_embedding<float>(7, 8, some_ids({2, 0}, 7), row_major({7, 8}), row_major({2, 0, 8}));
    check_embedding<float>(7, 8, some_ids({2, 3, 2}, 7), row_major({7, 8}),
                           row_major({2, 3, 2, 8}));
    check_embedding<float>(7, 8, some_ids({2, 3}, 7), column_major({7, 8}), row_major({2, 3, 8}));
    check_embedding<float>(7, 8, some_ids({2, 3}, 7), row_major({7, 8}), row_major({2, 3, 8}),
                           Lead{1});
    check_embedding<float>(7, 8, some_ids({2, 3}, 7), Layout({7, 8}, {-12, 1}),
                           column_major({2, 3, 8}));
    for_each_layout({2, 3, 4}, [&](const Layout& layout) {
        check_embedding<float>(7, 4, some_ids({2, 3}, 7), row_major({7, 4}), layout);
    });
}

TEST_CASE("embed takes many tokens", "[day06][embedding][full]") {
    check_embedding<float>(1001, 128, some_ids({70, 1000}, 1001), row_major({1001, 128}),
                           row_major({70, 1000, 128}));
}

TEST_CASE("an id or a place that names no row: the loop says where, the port answers NaN there",
          "[day06][embedding][small]") {
    for (const std::int64_t C : {4, 5}) {
        const Tensor<float> tokens = distinct<float>({3, C}),
                            positions = distinct<float>({4, C}, 7);
        const Ids good({2, 3}, {0, 1, 2, 2, 0, 1}), far({2, 3}, {0, 1, 3, 2, -1, 1});
        const Ids places({3}, {0, 3, 1}), far_places({3}, {0, 4, -1});
        HostOut<float> h({2, 3, C});
        const auto loop = [&](const Ids& ids, const Ids& at) {
            return refusal([&] {
                embed_cpu(tokens.view(), ids.view(), positions.view(), at.view(), h.view());
            });
        };
        CHECK(loop(far, places) == "embed: ids has 3 at (0, 2), but the table has 3 rows");
        CHECK(loop(good, far_places) == "embed: places has 4 at (1), but the table has 4 rows");
        CHECK(h.untouched());
        DeviceIn<float> dt(tokens), dp(positions);
        for (const EmbedPath path : paths()) {
            if (path == EmbedPath::quads && C % 4 != 0) continue;
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

TEST_CASE("embed takes quads exactly where both tables and out allow it",
          "[day06][embedding][small]") {
    const Tensor<float> tokens = distinct<float>({5, 8});
    const Ids ids({2}, {4, 1});
    DeviceIn<float> d(tokens), d1(tokens, Lead{1});
    DeviceIn<std::int64_t> di(ids);
    DeviceOut<float> got({2, 8}), got1({2, 8}, Lead{1});
    embed_cuda(d.view(), di.view(), d.view(), di.view(), got.view());
    CHECK(last_kernel() == "embed_quads_kernel");
    embed_cuda(d1.view(), di.view(), d.view(), di.view(), got.view());
    CHECK(last_kernel() == "embed_kernel");
    embed_cuda(d.view(), di.view(), d1.view(), di.view(), got.view());
    CHECK(last_kernel() == "embed_kernel");
    embed_cuda(d.view(), di.view(), d.view(), di.view(), got1.view());
    CHECK(last_kernel() == "embed_kernel");
    DeviceOut<float> untouched({2, 8});
    CHECK(refusal([&] {
              embed_cuda(d1.view(), di.view(), {}, {}, untouched.view(),
                         {.path = EmbedPath::quads});
          }) ==
          "embed: the path 'quads' needs rows of whole quads that begin at multiples of 16 bytes; "
          "tokens have shape (5, 8), strides (8, 1), positions shape (), strides (), out shape (2, "
          "8), "
          "strides (8, 1)");
    CHECK(untouched.untouched());
}

// Tokens, positions or out stand as `one` says, the others as rows of quads; ids and places lie
// anywhere.
template <class T>
void check_standing(const Standing<T>& one, int operand, bool adds) {
    CAPTURE(one.what, operand, adds);
    const Shape shape = one.layout.shape;
    const auto layout = [&](int k) { return k == operand ? one.layout : row_major(shape); };
    const auto lead = [&](int k) { return k == operand ? one.lead : Lead{}; };
    const Tensor<T> tokens = distinct<T>(shape), positions = distinct<T>(shape, 7);
    const Ids ids({2}, {1, 0}), places({2}, {1, 1});
    const Tensor<T> want = rows_added(tokens, ids, positions, places, adds);
    DeviceIn<T> dt(tokens, layout(0), lead(0)), dp(positions, layout(1), lead(1));
    DeviceIn<std::int64_t> di(ids, Layout({2}, {-3})), dl(places, Layout({2}, {2}));
    const View<const T> table = adds ? dp.view() : View<const T>();
    const bool quads = one.quads || (operand == 1 && !adds);
    for (const EmbedPath path : paths()) {
        DeviceOut<T> got(layout(2), lead(2));
        CHECK(choose_embed<T>(dt.view(), table, got.view()) ==
              (quads ? EmbedPath::quads : EmbedPath::one_element));
        const auto run = [&] {
            embed_cuda<T>(dt.view(), di.view(), table, dl.view(), got.view(), {.path = path});
        };
        if (path == EmbedPath::quads && !quads) {
            CHECK(contains(refusal(run), "embed: the path 'quads' needs rows of whole quads"));
            CHECK(got.untouched());
            continue;
        }
        const bool backwards = !gpu::goes_forwards(one.layout) && (operand != 1 || adds);
        if (path == EmbedPath::tile && backwards) {
            CHECK(contains(refusal(run), "tables and out with no negative stride"));
            CHECK(got.untouched());
            continue;
        }
        run();
        CHECK(got.matches(want));
    }
}

TEST_CASE("tokens, positions or out alone may be no rows of quads", "[day06][embedding][small]") {
    for (const bool adds : {true, false}) {
        for (int operand = 0; operand < 3; ++operand) {
            for (const auto& one : standings<float>()) check_standing(one, operand, adds);
            for (const auto& one : standings<bf16>()) check_standing(one, operand, adds);
        }
    }
}

TEST_CASE("embed in tiles: each condition is false alone", "[day06][embedding][small]") {
    alignas(16) static float memory[3][4096];
    static std::int64_t numbers[2][512];
    const Layout table = row_major({5, 8}), rows = row_major({2, 3, 4, 8}),
                 ids = row_major({2, 3, 4});
    const auto refused = [&](const Layout& tokens, const Layout& positions, const Layout& out,
                             const Layout& of_ids, const Layout& of_places) {
        return refusal([&] {
            check_embed<float>({memory[0] + 2048, tokens}, {numbers[0] + 256, of_ids},
                               {memory[1] + 2048, positions}, {numbers[1] + 256, of_places},
                               {memory[2] + 2048, out}, EmbedPath::tile);
        });
    };
    CHECK(refused(table, table, rows, ids, ids) == "");
    CHECK(refused(Layout({5, 8}, {0, 3}), Layout({5, 8}, {16, 2}), rows, ids, row_major({4})) ==
          "");
    // Ids and places may lie in any order; a stride that is never used may be negative.
    const Layout mirrored({2, 3, 4}, {-12, -4, -1});
    CHECK(refused(table, table, rows, mirrored, ids) == "");
    CHECK(refused(table, table, rows, ids, mirrored) == "");
    CHECK(refused(Layout({1, 8}, {-9, 1}), table, rows, ids, ids) == "");
    // Three dims of rows that nothing merges, and four of which two merge.
    const Layout loose({2, 3, 4, 8}, {500, 90, 20, 1});
    CHECK(refused(table, table, loose, Layout({2, 3, 4}, {1, 2, 6}), ids) == "");
    const Layout five({2, 2, 3, 4, 8}, {480, 240, 80, 20, 1});
    CHECK(refused(table, table, five, row_major({2, 2, 3, 4}), row_major({2, 2, 3, 4})) == "");
    const std::string words =
        "embed: the path 'tile' needs, after simplifying, three dims of ids, ";
    const Layout four({2, 2, 3, 4}, {1, 20, 3, 40});
    CHECK(contains(refused(table, table, five, four, row_major({2, 2, 3, 4})), words));
    CHECK(contains(refused(table, table, five, row_major({2, 2, 3, 4}), four), words));
    CHECK(contains(refused(Layout({5, 8}, {-8, 1}), table, rows, ids, ids), words));
    CHECK(contains(refused(Layout({5, 8}, {8, -1}), table, rows, ids, ids), words));
    CHECK(contains(refused(table, Layout({5, 8}, {-8, 1}), rows, ids, ids), words));
    CHECK(contains(refused(table, Layout({5, 8}, {8, -1}), rows, ids, ids), words));
    CHECK(contains(refused(table, table, Layout({2, 3, 4, 8}, {96, 32, -8, 1}), ids, ids), words));
    CHECK(refused(table, table, Layout({2, 3, 4, 8}, {96, 32, 8, -1}), ids, ids) ==
          words +
              "places and rows at most, and tables and out with no negative stride, for CUDA "
              "Tile C++ takes strides for sizes; tokens have shape (5, 8), strides (8, 1), "
              "positions shape (5, 8), strides (8, 1), ids shape (2, 3, 4), strides (12, 4, 1), "
              "places shape (2, 3, 4), strides (12, 4, 1), out shape (2, 3, 4, 8), strides (96, "
              "32, 8, -1)");
    // Without positions their table says nothing; without elements nothing is asked.
    CHECK(refusal([&] {
              check_embed<float>({memory[0], table}, {numbers[0], ids}, {}, {}, {memory[2], rows},
                                 EmbedPath::tile);
          }) == "");
    CHECK(refused(Layout({5, 0}, {-8, 1}), Layout({5, 0}, {-8, 1}), row_major({2, 3, 4, 0}), ids,
                  ids) == "");
}

TEST_CASE("embed in tiles: the longest tile and rows of two, a place of its own for each id",
          "[day06][embedding][small]") {
    if (!gpu::has_tile()) {
        SUCCEED("this nvcc compiles no tiles");
        return;
    }
    for (const std::int64_t C : {255, 256, 257, 1023, 1024, 1025, 2056}) {
        const Ids ids = some_ids({2, 3, 2}, 5), places = some_ids({2, 1, 2}, 4);
        const Tensor<bf16> tokens = distinct<bf16>({5, C}), positions = distinct<bf16>({4, C}, 7);
        DeviceIn<bf16> dt(tokens), dp(positions);
        // Dims of ids that no two of the three merge.
        DeviceIn<std::int64_t> di(ids, Layout({2, 3, 2}, {-1, 5, 2})), dl(places);
        DeviceOut<bf16> got(row_major({2, 3, 2, C}));
        embed_cuda(dt.view(), di.view(), dp.view(), dl.view(), got.view(),
                   {.path = EmbedPath::tile});
        CHECK(last_kernel() == "embed_tile");
        Tensor<bf16> want({2, 3, 2, C});
        for (std::int64_t k = 0; k < want.size(); ++k) {
            const std::int64_t n = k / C, a = n / 6, c = n % 2;
            want.data()[k] = bf16(static_cast<float>(tokens(ids.data()[n], k % C)) +
                                  static_cast<float>(positions(places(a, 0, c), k % C)));
        }
        CHECK(got.matches(want));
    }
}

TEST_CASE("a table of no positions has no row for any place; {} adds nothing",
          "[day06][embedding][small]") {
    const Tensor<float> tokens = distinct<float>({3, 4});
    const Ids ids({2}, {2, 0}), places({2}, {0, 0});
    const View<const float> empty(nullptr, Shape{0, 4});
    HostOut<float> h({2, 4});
    CHECK(refusal([&] { embed_cpu(tokens.view(), ids.view(), empty, places.view(), h.view()); }) ==
          "embed: places has 0 at (0), but the table has 0 rows");
    CHECK(h.untouched());
    DeviceIn<float> d(tokens);
    DeviceIn<std::int64_t> di(ids), dl(places);
    for (const EmbedPath path : paths()) {
        DeviceOut<float> got({2, 4}), plain({2, 4});
        embed_cuda(d.view(), di.view(), empty, dl.view(), got.view(), {.path = path});
        for (std::int64_t k = 0; k < 8; ++k) CHECK(std::isnan(got.values().data()[k]));
        embed_cuda(d.view(), di.view(), {}, {}, plain.view(), {.path = path});
        CHECK(plain.matches(rows_added(tokens, ids, tokens, places, false)));
    }
    CHECK(both_refuse(
        [&] {
            embed_cpu(tokens.view(), ids.view(), {nullptr, Shape{1, 4}}, places.view(), h.view());
        },
        [&] {
            DeviceOut<float> got({2, 4});
            embed_cuda(d.view(), di.view(), {nullptr, Shape{1, 4}}, dl.view(), got.view());
        },
        "embed: positions is a null pointer"));
}

TEST_CASE("loop and port of embed refuse the same, in the same words",
          "[day06][embedding][small]") {
    const Tensor<float> tokens = distinct<float>({5, 8}), narrow = distinct<float>({5, 7});
    const Ids ids({2}, {4, 1}), three({3}, {0, 1, 2});
    DeviceIn<float> d(tokens), dn(narrow);
    DeviceIn<std::int64_t> di(ids), d3(three);
    HostOut<float> h({2, 8});
    DeviceOut<float> g({2, 8});
    const auto refused = [&](View<const float> ht, View<const float> gt, View<const float> hp,
                             View<const float> gp, View<const std::int64_t> hl,
                             View<const std::int64_t> gl, const char* words) {
        CHECK(both_refuse([&] { embed_cpu(ht, ids.view(), hp, hl, h.view()); },
                          [&] { embed_cuda(gt, di.view(), gp, gl, g.view()); }, words));
    };
    const auto hv = tokens.view();
    const auto gv = d.view();
    refused(row(hv, 0), row(gv, 0), {}, {}, {}, {}, "embed: tokens has shape (8) of rank 1");
    refused(narrow.view(), dn.view(), {}, {}, {}, {},
            "embed: tokens have shape (5, 7) and ids (2), so out must have (2, 7), not (2, 8)");
    refused(hv, gv, narrow.view(), dn.view(), ids.view(), di.view(),
            "tokens have shape (5, 8), but positions (5, 7); their rows are added");
    refused(hv, gv, row(hv, 0), row(gv, 0), ids.view(), di.view(),
            "positions has shape (8) of rank 1");
    refused(hv, gv, hv, gv, three.view(), d3.view(),
            "embed: places: broadcast of shape (3) to (2)");
    refused(hv, gv, hv, gv, {nullptr, Shape{2}}, {nullptr, Shape{2}}, "places is a null pointer");
    refused({nullptr, Shape{5, 8}}, {nullptr, Shape{5, 8}}, {}, {}, {}, {},
            "tokens is a null pointer");
    refused(h.view(), g.view(), {}, {}, {}, {}, "embed: tokens overlaps out");
    const auto numbers = [](View<float> out) {
        return View<const std::int64_t>(reinterpret_cast<const std::int64_t*>(out.data), Shape{2});
    };
    refused(hv, gv, hv, gv, numbers(h.view()), numbers(g.view()), "embed: places overlaps out");
    CHECK(both_refuse([&] { embed_cpu(hv, numbers(h.view()), {}, {}, h.view()); },
                      [&] { embed_cuda(gv, numbers(g.view()), {}, {}, g.view()); },
                      "embed: ids overlaps out"));
    CHECK(both_refuse(
        [&] {
            embed_cpu(hv, {nullptr, Shape{2}}, {}, {}, h.view());
        },
        [&] {
            embed_cuda(gv, {nullptr, Shape{2}}, {}, {}, g.view());
        },
        "embed: ids is a null pointer"));
    CHECK(both_refuse(
        [&] {
            embed_cpu(hv, ids.view(), {}, {}, {nullptr, Shape{2, 8}});
        },
        [&] {
            embed_cuda(gv, di.view(), {}, {}, {nullptr, Shape{2, 8}});
        },
        "embed: out is a null pointer"));
    // A number is no table.
    refused(hv, gv, {hv.data, Shape{}}, {gv.data, Shape{}}, ids.view(), di.view(),
            "positions has shape () of rank 0");
    refused(hv, gv, h.view(), g.view(), ids.view(), di.view(), "embed: positions overlaps out");
    CHECK(both_refuse(
        [&] {
            embed_cpu(hv, ids.view(), {}, {}, broadcast_to(row(h.view(), 0), {2, 8}));
        },
        [&] {
            embed_cuda(gv, di.view(), {}, {}, broadcast_to(row(g.view(), 0), {2, 8}));
        },
        "writers of it would race"));
    CHECK(both_refuse(
        [&] {
            embed_cpu(hv, {ids.data(), Shape{1, 1, 1, 1, 1, 1, 1, 2}}, {}, {}, h.view());
        },
        [&] {
            embed_cuda(gv, {di.view().data, Shape{1, 1, 1, 1, 1, 1, 1, 2}}, {}, {}, g.view());
        },
        "and out would need one dim more than 8"));
    CHECK(h.untouched());
    CHECK(g.untouched());
}

// --- rotary --------------------------------------------------------------------------------------

// The definition, as a rotation of the plane, in double; bounds are 4 half units of |a| + |b|.
Expected rotated(const Tensor<float>& x, const Ids& places, Pairing pairing, double base) {
    Expected want(x.shape());
    const std::int64_t D = x.shape()[x.shape().rank - 1], T = places.size();
    for (std::int64_t r = 0; r < x.size() / D; ++r) {
        const auto place = static_cast<double>(places.data()[r % T]);
        for (std::int64_t i = 0; i < D / 2; ++i) {
            const bool near = pairing == Pairing::neighbours;
            const std::int64_t p = r * D + (near ? 2 * i : i),
                               q = r * D + (near ? 2 * i + 1 : i + D / 2);
            const auto a = static_cast<double>(x.data()[p]), b = static_cast<double>(x.data()[q]);
            const double angle =
                place / std::pow(base, 2 * static_cast<double>(i) / static_cast<double>(D));
            want.value.data()[p] = a * std::cos(angle) - b * std::sin(angle);
            want.value.data()[q] = a * std::sin(angle) + b * std::cos(angle);
            want.error.data()[p] = want.error.data()[q] = 4 * (std::fabs(a) + std::fabs(b)) * kU;
        }
    }
    return want;
}

TEST_CASE("rotary turns neighbours or halves by their place's angle, in every layout",
          "[day06][embedding][small]") {
    const Ids places({3}, {0, 5, 1000});
    DeviceIn<std::int64_t> dl(places);
    for (const std::int64_t D : {2, 6, 64}) {
        const Shape shape{2, 2, 3, D};
        const Tensor<float> x = few_values_of(shape, 5, 13), table = rotary_table(1001, D, 500);
        DeviceIn<float> dt(table);
        for (const Pairing pairing : {Pairing::neighbours, Pairing::halves}) {
            const Expected want = rotated(x, places, pairing, 500);
            for (const Layout& layout : {row_major(shape), column_major(shape),
                                         permute(row_major({2, 3, 2, D}), {0, 2, 1, 3})}) {
                CAPTURE(D, to_string(layout), pairing == Pairing::halves);
                HostOut<float> loop(layout);
                rotary_cpu(HostIn<float>(x, layout).view(), table.view(), places.view(), pairing,
                           loop.view());
                CHECK(agrees(loop, want));
                DeviceIn<float> d(x, layout);
                DeviceOut<float> got(layout);
                rotary_cuda(d.view(), dt.view(), dl.view(), pairing, got.view());
                CHECK(got.matches(loop));
                CHECK(d.unchanged());
            }
            DeviceOut<float> here = DeviceOut<float>::holding(x);
            rotary_cuda(here.view(), dt.view(), dl.view(), pairing, here.view());
            CHECK(agrees(here, want));
        }
    }
}

TEST_CASE("a query and a key that are turned know only how far they are apart",
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

TEST_CASE("rotary refuses what it cannot turn; a port answers NaN for a place without a row",
          "[day06][embedding][small]") {
    const Tensor<float> x = few_values_of({3, 4}, 5, 13), table = rotary_table(9, 4),
                        wide = rotary_table(9, 6);
    const Ids places({3}, {0, 9, 8}), four({4}, {0, 1, 2, 3}), good({3}, {0, 1, 8});
    DeviceIn<float> d(x), dt(table), dw(wide);
    DeviceIn<std::int64_t> dl(places), d4(four), dg(good);
    HostOut<float> h({3, 4});
    DeviceOut<float> g({3, 4});
    const auto refused = [&](View<const float> hx, View<const float> gx, View<const float> ht,
                             View<const float> gt, View<const std::int64_t> hl,
                             View<const std::int64_t> gl, const char* words) {
        CHECK(both_refuse([&] { rotary_cpu(hx, ht, hl, Pairing::halves, h.view()); },
                          [&] { rotary_cuda(gx, gt, gl, Pairing::halves, g.view()); }, words));
    };
    refused(columns(x.view(), 0, 3), columns(d.view(), 0, 3), table.view(), dt.view(), good.view(),
            dg.view(),
            "rotary: in has shape (3, 3), but needs (..., T, D), with an even D of pairs");
    refused(x.view(), d.view(), wide.view(), dw.view(), good.view(), dg.view(),
            "rotary: in has shape (3, 4), but table (9, 6); a row of it must be as long as a head");
    refused(x.view(), d.view(), table.view(), dt.view(), four.view(), d4.view(),
            "rotary: places: broadcast of shape (4) to (3)");
    refused(rows(x.view(), 0, 2), rows(d.view(), 0, 2), table.view(), dt.view(), good.view(),
            dg.view(), "rotary: in has shape (2, 4), but out has shape (3, 4)");
    refused(x.view(), d.view(), h.view(), g.view(), good.view(), dg.view(),
            "rotary: table overlaps out");
    const auto numbers = [](View<float> out) {
        return View<const std::int64_t>(reinterpret_cast<const std::int64_t*>(out.data), Shape{3});
    };
    refused(x.view(), d.view(), table.view(), dt.view(), numbers(h.view()), numbers(g.view()),
            "rotary: places overlaps out");
    refused(x.view(), d.view(), {nullptr, Shape{9, 4}}, {nullptr, Shape{9, 4}}, good.view(),
            dg.view(), "rotary: table is a null pointer");
    refused(x.view(), d.view(), table.view(), dt.view(), {nullptr, Shape{3}}, {nullptr, Shape{3}},
            "rotary: places is a null pointer");
    refused(x.view(), d.view(), row(table.view(), 0), row(dt.view(), 0), good.view(), dg.view(),
            "rotary: table has shape (4) of rank 1");
    refused(columns(x.view(), 0, 0), columns(d.view(), 0, 0), table.view(), dt.view(), good.view(),
            dg.view(), "rotary: in has shape (3, 0), but needs");
    refused(row(x.view(), 0), row(d.view(), 0), table.view(), dt.view(), good.view(), dg.view(),
            "rotary: in has shape (4), but needs");
    CHECK(refusal([&] {
              rotary_cpu(x.view(), table.view(), places.view(), Pairing::halves, h.view());
          }) == "rotary: places has 9 at (1), but the table has 9 rows");
    CHECK(contains(refusal([] { (void)rotary_table(3, 5); }),
                   "rotary_table: D is 5 and base 10000.0"));
    CHECK(contains(refusal([] { (void)rotary_table(3, 4, 0); }), "must be even and above 0"));
    CHECK(h.untouched());
    CHECK(g.untouched());
    rotary_cuda(d.view(), dt.view(), dl.view(), Pairing::halves, g.view());
    const Tensor<float> y = g.values();
    for (std::int64_t k = 0; k < 12; ++k) CHECK(std::isnan(y.data()[k]) == (k / 4 == 1));
}

// --- convert -------------------------------------------------------------------------------------

template <class From, class To>
void check_conversion(const Layout& in, const Layout& out) {
    CAPTURE(to_string(in), to_string(out));
    const Tensor<float> x = seeded<float>(in.shape, 3, -70000, 70000);
    Tensor<From> from(in.shape);
    Tensor<To> want(in.shape);
    for (std::int64_t k = 0; k < x.size(); ++k) {
        from.data()[k] = From(x.data()[k]);
        want.data()[k] = To(static_cast<float>(from.data()[k]));
    }
    HostOut<To> loop(out);
    convert_cpu(HostIn<From>(from, in).view(), loop.view());
    CHECK(loop.matches(want));
    DeviceIn<From> d(from, in);
    DeviceOut<To> got(out);
    convert_cuda(d.view(), got.view());
    CHECK(got.matches(want));
    CHECK(d.unchanged());
}

TEST_CASE("convert rounds to bf16 and f16 and back, from any layout to any other",
          "[day06][embedding][small]") {
    for_each_layout({2, 3, 4}, [&](const Layout& layout) {
        check_conversion<float, bf16>(layout, row_major({2, 3, 4}));
        check_conversion<float, f16>(row_major({2, 3, 4}), layout);
    });
    check_conversion<bf16, float>(row_major({1000}), row_major({1000}));
    check_conversion<f16, float>(row_major({1000}), row_major({1000}));
    check_conversion<float, bf16>(row_major({0, 3}), row_major({0, 3}));
    // 1 + 1/256 lies halfway between two bf16: to the even one. 65520 is too large for an f16.
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

TEST_CASE("loop and port of convert refuse the same", "[day06][embedding][small]") {
    const Tensor<float> x = noise<float>({4, 8});
    DeviceIn<float> d(x);
    HostOut<bf16> h({4, 7});
    DeviceOut<bf16> g({4, 7});
    CHECK(both_refuse([&] { convert_cpu(x.view(), h.view()); },
                      [&] { convert_cuda(d.view(), g.view()); },
                      "convert: in has shape (4, 8), but out has shape (4, 7)"));
    DeviceOut<float> f({2, 2});
    HostOut<float> hf({2, 2});
    const auto halves = [](View<float> v) {
        return View<bf16>(reinterpret_cast<bf16*>(v.data), Shape{2, 2});
    };
    CHECK(both_refuse([&] { convert_cpu(View<const float>(hf.view()), halves(hf.view())); },
                      [&] { convert_cuda(View<const float>(f.view()), halves(f.view())); },
                      "convert: in overlaps out"));
    const auto refused = [&](View<const float> hx, View<const float> gx, View<bf16> ho,
                             View<bf16> go, const char* words) {
        CHECK(both_refuse([&] { convert_cpu(hx, ho); }, [&] { convert_cuda(gx, go); }, words));
    };
    const auto some = [](const View<const float>& v) { return columns(v, 0, 7); };
    refused({nullptr, Shape{4, 7}}, {nullptr, Shape{4, 7}}, h.view(), g.view(),
            "convert: in is a null pointer");
    refused(some(x.view()), some(d.view()), {nullptr, Shape{4, 7}}, {nullptr, Shape{4, 7}},
            "convert: out is a null pointer");
    refused(some(x.view()), some(d.view()), broadcast_to(row(h.view(), 0), {4, 7}),
            broadcast_to(row(g.view(), 0), {4, 7}), "writers of it would race");
    CHECK(h.untouched());
    CHECK(g.untouched());
}

}  // namespace
