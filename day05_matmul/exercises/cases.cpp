// The cases that `common/learn check day05` runs for the one-file exercises.
#include <algorithm>

#include "common/testing/practice.hpp"

using namespace sixdays;
using namespace sixdays::testing;

void one_output(const float* a, const float* b, int M, int N, int K, float* c);
void edge_of_a_tile(const float* a, int M, int K, float* out);
void second_barrier(const float* in, int K, float* out);
void shared_tile(const float* a, const float* b, int M, int N, int K, float* c);
void four_by_four(const float* a, const float* b, int M, int N, int K, float* c);
void wide_loads(const float* a, int a_k, const float* b, int b_k, int M, int N, int K, float* c);
void fragment_index(const float* a, const float* b, float* c);
void missing_phase(const float* in, int tiles, float* out);

namespace {

// Small multiples of 1/2: sums of their products are exact in any order.
Tensor<float> halves(const Shape& shape, std::int64_t factor) {
    Tensor<float> x(shape);
    for (std::int64_t k = 0; k < x.size(); ++k) {
        x.data()[k] = static_cast<float>((k + 1) * factor % 23 - 11) / 2;
    }
    return x;
}

// The sum over k of a[at_a(k)] * b[at_b(k)].
template <class A, class B>
double product(const Tensor<float>& a, const Tensor<float>& b, int K, const A& at_a,
               const B& at_b) {
    double sum = 0;
    for (int k = 0; k < K; ++k) {
        sum += static_cast<double>(a.data()[at_a(k)]) * static_cast<double>(b.data()[at_b(k)]);
    }
    return sum;
}

TEST_CASE("one_output: products", "[day05][one_output][small]") {
    for (const auto& [M, N, K] : {std::array{2, 3, 5}, {5, 40, 7}, {1, 1, 1}, {33, 3, 20}}) {
        CAPTURE(M, N, K);
        const Tensor<float> a = halves({M, K}, 7), b = halves({K, N}, 5);
        DeviceIn<float> da(a), db(b);
        const std::int64_t columns = N, depth = K;
        const auto in_a = [=](const Index& c, std::int64_t k) { return c[0] * depth + k; };
        const auto in_b = [=](const Index& c, std::int64_t k) { return k * columns + c[1]; };
        const auto launch = [M = M, N = N, K = K](const auto& in, float* c) {
            one_output(in[0], in[1], M, N, K, c);
        };
        const auto of = [&, columns, depth](std::int64_t at, bool transposed) {
            const std::int64_t m = at / columns, n = at % columns;
            return product(
                a, b, static_cast<int>(depth), [=](int k) { return m * depth + k; },
                [=](int k) { return transposed ? n * depth + k : k * columns + n; });
        };
        std::vector<Guess> guesses;
        if (N > 1 && K > 1) {
            guesses = {
                {"b was read as if it were (N, K): the next k is one row further down, so the "
                 "stride of k is N.",
                 [&](std::int64_t at) { return of(at, true); }}};
        }
        guesses.push_back({"Is the sum kept in an int, which has no fraction? Make it a float.",
                           [&, columns, depth](std::int64_t at) {
                               int sum = 0;
                               for (std::int64_t k = 0; k < depth; ++k) {
                                   sum = static_cast<int>(static_cast<float>(sum) +
                                                          a(at / columns, k) * b(k, at % columns));
                               }
                               return sum;
                           }});
        practise<float>(
            {M, N},
            [&, M = M, N = N, K = K](float* c) {
                one_output(da.view().data, db.view().data, M, N, K, c);
            },
            [&](std::int64_t at) { return of(at, false); }, guesses, 0, {},
            [&] {
                return summed_wrongly(
                    {"c", "mn", {M, N}, depth, {{"a", a.size(), in_a}, {"b", b.size(), in_b}}},
                    launch);
            });
    }
}

TEST_CASE("edge_of_a_tile: sums of rows", "[day05][edge_of_a_tile][small]") {
    for (const auto& [M, K] : {std::pair{16, 32}, {16, 20}, {3, 5}, {40, 33}}) {
        CAPTURE(M, K);
        const Tensor<float> a = halves({M, K}, 7);
        DeviceIn<float> in(a);
        const std::int64_t tiles = (K + 15) / 16, columns = K;
        const auto of = [&, tiles, columns](std::int64_t at, bool beyond) {
            double sum = 0;
            for (std::int64_t k = at % tiles * 16; k < at % tiles * 16 + 16; ++k) {
                const std::int64_t place = at / tiles * columns + k;
                if (k < columns || (beyond && place < a.size())) {
                    sum += static_cast<double>(a.data()[place]);
                }
            }
            return sum;
        };
        std::vector<Guess> guesses;
        if (K % 16 != 0) {
            guesses = {
                {"Past the end of a row are the next row's elements, and they were added too: "
                 "check the column separately.",
                 [&](std::int64_t at) { return of(at, true); }},
                {"Where there is no element, the tile got 1. Store 0, which does not change the "
                 "sum.",
                 [&](std::int64_t at) {
                     const std::int64_t there = columns - at % tiles * 16;
                     return of(at, false) +
                            static_cast<double>(std::max<std::int64_t>(16 - there, 0));
                 }}};
        }
        practise<float>(
            {M, tiles},
            [&, M = M, K = K](float* out) { edge_of_a_tile(in.view().data, M, K, out); },
            [&](std::int64_t at) { return of(at, false); }, guesses, 0, {},
            [M = M, K = K, tiles] {
                const auto in_tile = [](const Index& out, const Index& e) {
                    return e[0] == out[0] && e[1] / 16 == out[1];
                };
                return read_wrongly(
                    {"out", "mt", {M, tiles}, {{"a", {M, K}, in_tile}}},
                    [=](const auto& given, float* out) { edge_of_a_tile(given[0], M, K, out); });
            });
    }
}

TEST_CASE("second_barrier: sums", "[day05][second_barrier][small]") {
    for (const int K : {64, 128, 320}) {
        CAPTURE(K);
        const Tensor<float> x = halves({K}, 7);
        DeviceIn<float> in(x);
        double sum = 0;
        for (int k = 0; k < K; ++k) sum += static_cast<double>(x.data()[k]);
        practise<float>(
            {64}, [&](float* out) { second_barrier(in.view().data, K, out); },
            [=](std::int64_t t) { return static_cast<double>(t + 1) * sum; }, {}, 0,
            {{"which thread", "barrier"},
             "In every iteration, all 64 threads must finish their sums before the tile is "
             "overwritten. Every thread must reach the __syncthreads() in every iteration, so it "
             "must not be inside an `if` that some threads or some iterations skip."},
            [K] {
                return read_wrongly(
                    {"out", "t", {64}, {{"in", {K}, all_elements}}},
                    [K](const auto& given, float* out) { second_barrier(given[0], K, out); });
            });
    }
}

TEST_CASE("shared_tile: products", "[day05][shared_tile][small]") {
    for (const auto& [M, N, K] : {std::array{16, 16, 16}, {16, 16, 40}, {5, 40, 7}, {33, 3, 20}}) {
        CAPTURE(M, N, K);
        const Tensor<float> a = halves({M, K}, 7), b = halves({N, K}, 5);
        DeviceIn<float> da(a), db(b);
        const std::int64_t columns = N, depth = K, rows = M;
        const auto of = [&, columns, depth](std::int64_t at) {
            const std::int64_t m = at / columns, n = at % columns;
            return product(
                a, b, static_cast<int>(depth), [=](int k) { return m * depth + k; },
                [=](int k) { return n * depth + k; });
        };
        // tile_b[y][x] = b[n * K + k]: thread (x, y) loads k = first + x of row n = x.
        const auto diagonal = [&, columns, depth, rows](std::int64_t at) {
            const std::int64_t m = at / columns, n = at % columns;
            double sum = 0;
            for (std::int64_t k = 0; k < depth; ++k) {
                const std::int64_t row = n / 16 * 16 + k % 16;
                if (row >= columns || m >= rows) continue;
                sum += static_cast<double>(a.data()[m * depth + k]) *
                       static_cast<double>(b.data()[row * depth + k]);
            }
            return sum;
        };
        // The products of k from `first` to `end`; past K, those of k - 16.
        const auto part = [&, columns, depth](std::int64_t at, std::int64_t first,
                                              std::int64_t end) {
            double sum = 0;
            for (std::int64_t k = first; k < end; ++k) {
                const std::int64_t kept = k < depth ? k : k - 16;
                if (kept < 0) continue;
                sum += static_cast<double>(a.data()[at / columns * depth + kept]) *
                       static_cast<double>(b.data()[at % columns * depth + kept]);
            }
            return sum;
        };
        const std::int64_t rounds = (depth + 15) / 16;
        practise<float>(
            {M, N},
            [&, M = M, N = N, K = K](float* c) {
                shared_tile(da.view().data, db.view().data, M, N, K, c);
            },
            of,
            {{"Check which rows of b the threads load: all threads with the same x load the same "
              "number. Thread (x, y) loads row y of the tile, not row n.",
              diagonal},
             {"Where there is no element, the tile still holds values of the round before: store "
              "0.",
              [&](std::int64_t at) { return part(at, 0, rounds * 16); }},
             {"The last products are missing, those of the partial tile along k: the loop must "
              "run while first < K.",
              [&](std::int64_t at) { return part(at, 0, depth / 16 * 16); }},
             {"Every round loaded the first tile again: k is first + x, not x.",
              [&](std::int64_t at) {
                  return static_cast<double>(rounds) *
                         part(at, 0, std::min<std::int64_t>(16, depth));
              }}},
            0,
            {{"which no thread of this block has written"},
             "In every round each thread must store one element of each tile, even a thread "
             "without an output. No thread may return early, and where there is no element it "
             "stores 0."},
            [&, M = M, N = N, K = K] {
                const auto in_a = [=](const Index& c2, std::int64_t k) {
                    return c2[0] * depth + k;
                };
                const auto in_b = [=](const Index& c2, std::int64_t k) {
                    return c2[1] * depth + k;
                };
                return summed_wrongly(
                    {"c", "mn", {M, N}, depth, {{"a", a.size(), in_a}, {"b", b.size(), in_b}}},
                    [=](const auto& in, float* c) { shared_tile(in[0], in[1], M, N, K, c); });
            });
    }
}

TEST_CASE("shared_tile: each block loads every number once", "[day05][shared_tile][small]") {
    DeviceIn<float> a(halves({64, 64}, 7)), b(halves({64, 64}, 5));
    DeviceOut<float> c({64, 64});
    const auto touched =
        touched_by([&] { shared_tile(a.view().data, b.view().data, 64, 64, 64, c.view().data); });
    // 16 blocks, 4 tiles each of both operands, 1 KiB a tile, and the output
    const std::int64_t enough = 16 * 4 * 2 * 32 + 64 * 64 / 8;
    INFO("Memory moved "
         << touched.sectors << " sectors where " << enough
         << " suffice. Does each block load every number once, to shared memory, with lanes "
            "along k?");
    REQUIRE(touched.sectors <= enough);
}

TEST_CASE("four_by_four: products", "[day05][four_by_four][small]") {
    for (const auto& [M, N, K] : {std::array{64, 64, 64}, {128, 64, 128}}) {
        CAPTURE(M, N, K);
        const Tensor<float> a = halves({M, K}, 7), b = halves({K, N}, 5);
        DeviceIn<float> da(a), db(b);
        const std::int64_t columns = N, depth = K;
        const auto of = [&, columns, depth](std::int64_t m, std::int64_t n) {
            return product(
                a, b, static_cast<int>(depth), [=](int k) { return m * depth + k; },
                [=](int k) { return k * columns + n; });
        };
        // What a thread reads instead of y + 16 i: step * y + i.
        const auto other = [](std::int64_t row, std::int64_t step) {
            return row / 64 * 64 + row % 16 * step + row % 64 / 16;
        };
        practise<float>(
            {M, N},
            [&, M = M, N = N, K = K](float* c) {
                four_by_four(da.view().data, db.view().data, M, N, K, c);
            },
            [&](std::int64_t at) { return of(at / columns, at % columns); },
            {{"You used rows 4 y + i and columns 4 x + j, but the stores expect y + 16 i and x + "
              "16 j.",
              [&](std::int64_t at) { return of(other(at / columns, 4), other(at % columns, 4)); }},
             {"You used rows y + i and columns x + j, but the stores expect y + 16 i and x + 16 "
              "j.",
              [&](std::int64_t at) { return of(other(at / columns, 1), other(at % columns, 1)); }},
             {"Only the product of the last k is left: `=` overwrites the sum, `+=` adds to it.",
              [&](std::int64_t at) {
                  return static_cast<double>(a.data()[at / columns * depth + depth - 1]) *
                         static_cast<double>(b.data()[(depth - 1) * columns + at % columns]);
              }},
             {"Rows and columns are swapped: sum[i][j] belongs to row i of a and column j of b.",
              [&](std::int64_t at) {
                  const std::int64_t m = at / columns, n = at % columns;
                  const auto turned = [](std::int64_t from, std::int64_t by) {
                      return from / 64 * 64 + by % 64 / 16 * 16 + from % 16;
                  };
                  return of(turned(m, n), turned(n, m));
              }},
             {"Only sum[0][0] was accumulated: one of the 16 outputs per thread is right, and "
              "the others are 0.",
              [&](std::int64_t at) {
                  const std::int64_t m = at / columns, n = at % columns;
                  return m % 64 < 16 && n % 64 < 16 ? of(m, n) : 0.0;
              }}},
            0, {},
            [&, M = M, N = N, K = K] {
                const auto in_a = [=](const Index& c2, std::int64_t k) {
                    return c2[0] * depth + k;
                };
                const auto in_b = [=](const Index& c2, std::int64_t k) {
                    return k * columns + c2[1];
                };
                return summed_wrongly(
                    {"c", "mn", {M, N}, depth, {{"a", a.size(), in_a}, {"b", b.size(), in_b}}},
                    [=](const auto& in, float* c) { four_by_four(in[0], in[1], M, N, K, c); });
            });
    }
}

TEST_CASE("four_by_four: operands come from the tiles", "[day05][four_by_four][small]") {
    DeviceIn<float> a(halves({64, 64}, 7)), b(halves({64, 64}, 5));
    DeviceOut<float> c({64, 64});
    const auto touched =
        touched_by([&] { four_by_four(a.view().data, b.view().data, 64, 64, 64, c.view().data); });
    const std::int64_t enough = 3 * 64 * 64 / 8;  // a, b and c, 8 elements a sector
    INFO("Memory moved " << touched.sectors << " sectors where " << enough
                         << " suffice: read the numbers from the tiles, tile_a and tile_b, not "
                            "from a and b.");
    REQUIRE(touched.sectors <= enough);
}

// In a (K, M) and b (K, N) the strides of k are a_k and b_k. Both begin `lead` elements past a
// multiple of 16 bytes.
void check_wide_loads(int M, int N, int K, int a_k, int b_k, const Advice& if_stopped,
                      int lead = 0) {
    CAPTURE(M, N, K, a_k, b_k, lead);
    const Tensor<float> a = halves({K, M}, 7), b = halves({K, N}, 5);
    DeviceIn<float> da(a, {{K, M}, {a_k, 1}}, Lead{lead}), db(b, {{K, N}, {b_k, 1}}, Lead{lead});
    // The products of k from 0 to `depth`; past K, those of k - 16.
    const auto part = [&](std::int64_t at, int depth) {
        const auto kept = [K](std::int64_t k) { return k < K ? k : k - 16; };
        return product(
            a, b, depth, [&](int k) { return kept(k) * M + at / N; },
            [&](int k) { return kept(k) * N + at % N; });
    };
    std::vector<Guess> guesses = {
        {"The last elements of each row are missing: where fewer than four are left, load them one "
         "by one.",
         [&](std::int64_t at) {
             return at / N < M / 4 * 4 && at % N < N / 4 * 4 ? part(at, K) : 0.0;
         }}};
    if (K > 16) {
        guesses.push_back(
            {"Where there is no element, the tile still holds values of the round before: store 0.",
             [&](std::int64_t at) { return part(at, (K + 15) / 16 * 16); }});
    }
    const auto in_a = [=](const Index& c, std::int64_t k) { return k * a_k + c[0]; };
    const auto in_b = [=](const Index& c, std::int64_t k) { return k * b_k + c[1]; };
    const std::int64_t of_a = (K - 1) * a_k + M, of_b = (K - 1) * b_k + N;
    const auto launch = [=](const auto& in, float* c) {
        wide_loads(in[0], a_k, in[1], b_k, M, N, K, c);
    };
    practise<float>(
        {M, N},
        [&](float* c) {
            launch(std::array{da.view().data, db.view().data}, c);
        },
        [&](std::int64_t at) { return part(at, K); }, guesses, 0, if_stopped,
        [&] {
            return summed_wrongly({"c", "mn", {M, N}, K, {{"a", of_a, in_a}, {"b", of_b, in_b}}},
                                  launch);
        });
}

TEST_CASE("wide_loads: whole tiles", "[day05][wide_loads][small]") {
    const Advice advice = {
        {"reads 16 bytes", "writes 16 bytes", "multiple of 16", "out of bounds"},
        "A row of the tile has 16 float4s, and float4 number q begins in column 4 q. An index of a "
        "float* counts floats, and one of a float4* counts float4s."};
    check_wide_loads(64, 64, 16, 64, 64, advice);
    check_wide_loads(128, 64, 48, 132, 64, advice);
}

TEST_CASE("wide_loads: partial tiles", "[day05][wide_loads][small]") {
    const Advice advice = {{"reads 16 bytes"},
                           "A float4 is loaded past the end of a row, or past the last row: all "
                           "four elements must exist, k < rows and n + 3 < columns."};
    check_wide_loads(66, 71, 20, 68, 72, advice);
    check_wide_loads(3, 5, 7, 4, 8, advice);
    check_wide_loads(130, 1, 33, 132, 4, advice);
}

TEST_CASE("wide_loads: rows that begin anywhere", "[day05][wide_loads][small]") {
    const Advice advice = {{"multiple of 16"},
                           "All rows begin at multiples of 16 bytes only if the first one does and "
                           "the stride is a multiple of 4 elements. Elsewhere a float4 must be "
                           "loaded element by element."};
    check_wide_loads(65, 33, 18, 77, 35, advice);
    check_wide_loads(5, 7, 9, 5, 7, advice);
    check_wide_loads(64, 64, 16, 64, 64, advice, 1);
}

TEST_CASE("wide_loads: one float4 per thread", "[day05][wide_loads][small]") {
    for (const int M : {64, 66}) {
        CAPTURE(M);
        const int K = 16, stride = 68, blocks = (M + 63) / 64;
        DeviceIn<float> a(halves({K, M}, 7), {{K, M}, {stride, 1}});
        DeviceIn<float> b(halves({K, M}, 5), {{K, M}, {stride, 1}});
        DeviceOut<float> c({M, M});
        const auto touched = touched_by([&] {
            wide_loads(a.view().data, stride, b.view().data, stride, M, M, K, c.view().data);
        });
        // Both tiles are loaded and stored; then for each k a thread loads 8 numbers from them.
        const int loads = 2 * blocks * K * (M / 4 + M % 4), stores = 2 * blocks * blocks * 256;
        const int enough = loads + stores + blocks * blocks * 256 * K * 8 + M * M;
        {
            INFO("The lanes made "
                 << touched.accesses << " accesses where " << enough
                 << " suffice. A float4 is one access, its elements one by one are four: load and "
                    "store a float4 wherever all four elements exist.");
            REQUIRE(touched.accesses <= enough);
        }
        INFO("Shared memory took "
             << touched.passes << " wavefronts where " << touched.fewest_passes
             << " suffice. Neighbouring lanes store to the same banks, in different rows of the "
                "tile: let them load and store neighbouring float4s of one row.");
        REQUIRE(touched.passes == touched.fewest_passes);
    }
}

TEST_CASE("fragment_index: products", "[day05][fragment_index][small]") {
    const Tensor<float> a = halves({16, 16}, 7), b = halves({16, 8}, 5);
    DeviceIn<float> da(a), db(b);
    // The product if register i of lane 4 r + c holds row(r, i), columns k(c, i) and k(c, i) + 1.
    using Part = std::function<int(int, int)>;
    const auto of = [&](const Part& row, const Part& k) {
        return [&, row, k](std::int64_t at) {
            const auto m = static_cast<int>(at / 8), n = static_cast<int>(at % 8);
            return product(
                a, b, 16,
                [&](int j) {
                    const int i = m / 8 + 2 * (j / 8);
                    return row(m % 8, i) * 16 + k(j % 8 / 2, i) + j % 2;
                },
                [=](int j) { return j * 8 + n; });
        };
    };
    const Part row = [](int r, int i) { return r + 8 * (i % 2); };
    const Part k = [](int c, int i) { return 2 * c + 8 * (i / 2); };
    const std::vector<Guess> guesses = {
        {"Registers 1 and 2 are swapped: 1 is eight rows below, and 2 is eight columns further "
         "right.",
         of([](int r, int i) { return r + 8 * (i / 2); },
            [](int c, int i) { return 2 * c + 8 * (i % 2); })},
        {"A register holds two columns, so the first columns of the lanes are 0, 2, 4 and 6: use "
         "2 c, not c.",
         of(row, [](int c, int i) { return c + 8 * (i / 2); })},
        {"The rows are right, the columns are not: registers 2 and 3 are 8 columns further right.",
         of(row, [](int c, int) { return 2 * c; })},
        {"The columns are right, the rows are not: registers 1 and 3 are 8 rows below.",
         of([](int r, int) { return r; }, k)},
        {"Every register has a different column here. There are only two column offsets: "
         "registers 2 and 3 are 8 columns further right.",
         of(row, [](int c, int i) { return (2 * c + 8 * i) % 16; })},
        {"The rows are right, the columns of registers 2 and 3 are not: they are 8 columns "
         "further right, not 4.",
         of(row, [](int c, int i) { return 2 * c + 4 * (i / 2); })},
        {"The columns are right, the rows of registers 1 and 3 are not: they are 8 rows below, not "
         "1.",
         of([](int r, int i) { return r + i % 2; }, k)}};
    practise<float>(
        {16, 8}, [&](float* c) { fragment_index(da.view().data, db.view().data, c); }, of(row, k),
        guesses, 0, {},
        [] {
            const auto column = [](const Index& out, const Index& e) { return e[1] == out[1]; };
            return read_wrongly(
                {"out", "mn", {16, 8}, {{"a", {16, 16}, same_row}, {"b", {16, 8}, column}}},
                [](const auto& in, float* out) { fragment_index(in[0], in[1], out); });
        });
}

TEST_CASE("missing_phase: sums", "[day05][missing_phase][small]") {
    for (const int tiles : {0, 1, 2, 3, 4, 5, 9}) {
        CAPTURE(tiles);
        const Tensor<float> x = halves({32 * tiles}, 7);
        DeviceIn<float> in(x);
        double sum = 0;
        for (std::int64_t k = 0; k < x.size(); ++k) sum += static_cast<double>(x.data()[k]);
        practise<float>(
            {32}, [&](float* out) { missing_phase(in.view().data, tiles, out); },
            [=](std::int64_t lane) { return static_cast<double>(lane + 1) * sum; }, {}, 0,
            {{"past its end"}, "There are two stages, 0 and 1: which values does `stage` take?"});
    }
}

}  // namespace
