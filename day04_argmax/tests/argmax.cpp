// argmax: the loop against known answers, every path against the loop, exactly.
#include "day04_argmax/argmax.hpp"

#include <algorithm>
#include <limits>

#include "common/gpu/fill.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/index.hpp"
#include "day04_argmax/reduce.hpp"
#include "day04_argmax/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day04_argmax;
using namespace sixdays::testing;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kLowest = std::numeric_limits<float>::lowest();

// Said in another way: the first NaN; if there is none, the first of the largest.
std::int64_t second_argmax(const std::vector<float>& line) {
    auto found = std::find_if(line.begin(), line.end(), [](float x) { return std::isnan(x); });
    if (found == line.end()) found = std::max_element(line.begin(), line.end());
    return found - line.begin();
}
std::int64_t second_argmin(std::vector<float> line) {
    for (float& x : line) x = -x;
    return second_argmax(line);
}

Tensor<std::int64_t> second_formula(const View<const float>& in, int dim, bool largest = true) {
    Tensor<std::int64_t> answer(without(in.layout.shape, dim));
    for (const Index& at : packings::indices_of(answer.shape())) {
        const auto line = line_at(in, dim, at);
        answer.view()(at) = largest ? second_argmax(line) : second_argmin(line);
    }
    return answer;
}

// Every path that takes these views gives what the loop gives, and the loop what the second formula
// gives. Returns how many paths there were.
int check_all(const Tensor<float>& values, const Layout& layout, int dim, const Layout& out,
              std::int64_t lead = 0, bool largest = true) {
    CAPTURE(to_string(layout), dim, to_string(out), lead);
    HostOut<std::int64_t> want(out);
    const HostIn<float> host(values, layout, Lead{lead});
    (largest ? argmax_cpu : argmin_cpu)(host.view(), dim, want.view());
    CHECK(want.matches(second_formula(values.view(), dim, largest)));
    CHECK(host.unchanged());
    const DeviceIn<float> in(values, layout, Lead{lead});
    const Lines lines = lines_of("test", in.view(), {dim});
    int paths = 0;
    for (const LinePath path : kPaths) {
        if (!takes(path, lines) || lines.count() == 0) continue;
        CAPTURE(name(path));
        ++paths;
        DeviceOut<std::int64_t> got(out), again(out);
        Memory memory(lines);
        if (largest) {
            argmax_cuda(path, in.view(), dim, got.view(), memory.workspace());
            if (path == LinePath::split) {
                argmax_cuda(path, in.view(), dim, again.view(), memory.workspace());
            }
        } else {
            argmin_cuda(path, in.view(), dim, got.view(), memory.workspace());
            if (path == LinePath::split) {
                argmin_cuda(path, in.view(), dim, again.view(), memory.workspace());
            }
        }
        CHECK(got.matches(want));
        if (path == LinePath::split) {
            CHECK(again.matches(want));
            CHECK(memory.counters_are_0());
        }
    }
    CHECK(in.unchanged());
    return paths;
}

int check_all(const Tensor<float>& values, int dim, std::int64_t lead = 0) {
    return check_all(values, row_major(values.shape()), dim,
                     row_major(without(values.shape(), dim)), lead);
}

// One line as the last dim, as the first, alone and among others.
void check_line(const std::vector<float>& line, std::int64_t answer, bool largest = true) {
    const auto n = static_cast<std::int64_t>(line.size());
    CAPTURE(n, answer);
    CHECK((largest ? second_argmax(line) : second_argmin(line)) == answer);
    for (const auto& [rows, columns] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 1}, {1, 3}, {2, 40}}) {
        Tensor<float> x({rows, n, columns});
        for (std::int64_t k = 0; k < x.size(); ++k) {
            const std::int64_t r = k / (n * columns), i = k / columns % n, c = k % columns;
            // The others are rotated by their number.
            x.data()[k] = line[static_cast<std::size_t>((i + r + c) % n)];
        }
        check_all(x, row_major(x.shape()), 1, row_major({rows, columns}), 0, largest);
        HostOut<std::int64_t> out({rows, columns});
        (largest ? argmax_cpu : argmin_cpu)(x.view(), 1, out.view());
        CHECK(out.view()(0, 0) == answer);
    }
}

struct GoldenLine {
    std::vector<float> line;
    std::int64_t argmax, argmin;
};
struct GoldenReduction {
    Shape shape;
    Strides strides;
    std::int64_t first;
    int dim;
    std::vector<std::int64_t> argmax, argmin;
    std::vector<float> max, min, sum, mean;
};
#include "day04_argmax/tests/golden.inc"

// --- known answers -------------------------------------------------------------------------------

TEST_CASE("ties, NaN, infinities and zeros are settled as NumPy settles them",
          "[day04][argmax][small]") {
    for (const GoldenLine& golden : golden_lines) check_line(golden.line, golden.argmax);
}

TEST_CASE("argmin settles them alike", "[day04][argmin][small]") {
    for (const GoldenLine& golden : golden_lines) check_line(golden.line, golden.argmin, false);
}

TEST_CASE("argmax and argmin of views equal NumPy's", "[day04][argmax][argmin][small]") {
    Tensor<float> base({120});
    for (std::int64_t k = 0; k < 120; ++k) base(k) = static_cast<float>((k * 37 + 11) % 29);
    const gpu::Buffer<float> device(base);
    for (const GoldenReduction& golden : golden_reductions) {
        const Layout layout(golden.shape, golden.strides);
        CAPTURE(to_string(layout), golden.dim);
        const Shape shape = without(golden.shape, golden.dim);
        const Tensor<std::int64_t> largest(shape, golden.argmax), smallest(shape, golden.argmin);
        const View<const float> host(base.data() + golden.first, layout);
        const View<const float> in(device.data() + golden.first, layout);
        HostOut<std::int64_t> loop(shape), loop_min(shape);
        argmax_cpu(host, golden.dim, loop.view());
        argmin_cpu(host, golden.dim, loop_min.view());
        CHECK(loop.matches(largest));
        CHECK(loop_min.matches(smallest));
        for (const LinePath path : kPaths) {
            const Lines lines = lines_of("test", in, {golden.dim});
            if (!takes(path, lines)) continue;
            CAPTURE(name(path));
            Memory memory(lines);
            DeviceOut<std::int64_t> got(shape), got_min(shape);
            argmax_cuda(path, in, golden.dim, got.view(), memory.workspace());
            argmin_cuda(path, in, golden.dim, got_min.view(), memory.workspace());
            CHECK(got.matches(largest));
            CHECK(got_min.matches(smallest));
        }
    }
}

TEST_CASE("worked by hand: 0 to 23 as (2, 3, 4), and Tensara's sample", "[day04][argmax][small]") {
    Tensor<float> x({2, 3, 4});
    for (std::int64_t k = 0; k < 24; ++k) x.data()[k] = static_cast<float>(k);
    HostOut<std::int64_t> out({2, 4});
    argmax_cpu(x.view(), 1, out.view());
    CHECK(out.matches(Tensor<std::int64_t>({2, 4}, std::vector<std::int64_t>(8, 2))));
    CHECK(check_all(x, 1) == 5);  // not quads, short lines, split
    const Tensor<float> tie({4}, {8, 48, 39, 48});
    HostOut<std::int64_t> one{Shape{}};
    argmax_cpu(tie.view(), -1, one.view());
    CHECK(one.view()() == 1);
}

TEST_CASE("the lines of (2, 3, 4, 5, 6) over dim 2 begin where they should",
          "[day04][lines][small]") {
    const float* nowhere = nullptr;
    const View<const float> in(nowhere, Shape{2, 3, 4, 5, 6});
    CHECK(in.layout.strides == Strides{360, 120, 30, 6, 1});
    const Lines lines = lines_of("test", in, {2});
    CHECK(lines.count() == 180);
    CHECK(lines.length() == 4);
    CHECK(lines.stride() == 30);
    const auto begins = [&](std::int64_t thread) {
        return offset(lines.first.layout, unravel(thread, lines.first.layout.shape));
    };
    CHECK(unravel(42, lines.first.layout.shape) == Index{0, 1, 2, 0});
    CHECK(begins(0) == 0);
    CHECK(begins(42) == 132);
    CHECK(begins(89) == 269);
    CHECK(begins(90) == 360);
    CHECK(begins(179) == 629);
    for (std::int64_t k = 0; k < 180; ++k) {  // there and back: no output is lost, none twice
        const Index at = unravel(k, lines.first.layout.shape);
        CHECK(ravel(at, lines.first.layout.shape) == k);
    }
}

// --- every shape, dim and layout -----------------------------------------------------------------

TEST_CASE("all shapes up to 3 a dim, every dim, loop and ports", "[day04][argmax][small]") {
    std::uint64_t seed = 1;
    for (int rank = 1; rank <= 4; ++rank) {
        packings::for_each_dims(rank, 1, 3, [&](const Shape& shape) {
            for (int dim = 0; dim < rank; ++dim) {
                const Tensor<float> x = seeded_integers<float>(shape, ++seed, 0, 2);
                HostOut<std::int64_t> want(without(shape, dim));
                argmax_cpu(x.view(), dim, want.view());
                CHECK(want.matches(second_formula(x.view(), dim)));
                if (shape[0] == 2) check_all(x, dim);
            }
        });
    }
}

TEST_CASE("every order and direction of dims, of in and of out", "[day04][argmax][small]") {
    const Shape shape{2, 3, 5};
    const Tensor<float> x = seeded_integers<float>(shape, 5, 0, 3);
    for (int dim = 0; dim < 3; ++dim) {
        const Shape reduced = without(shape, dim);
        for (const std::int64_t pad : {0, 1}) {
            packings::for_each_packing(3, pad, [&](const packings::Packing& packing) {
                const Layout layout(shape, packings::strides_of(packing, shape));
                check_all(x, layout, dim, row_major(reduced), pad);
            });
            packings::for_each_packing(2, pad, [&](const packings::Packing& packing) {
                check_all(x, row_major(shape), dim,
                          Layout(reduced, packings::strides_of(packing, reduced)));
            });
        }
    }
}

TEST_CASE("rank 8, and dims of extent 1", "[day04][argmax][small]") {
    const Tensor<float> x = seeded_integers<float>({2, 1, 3, 2, 1, 2, 3, 2}, 3, 0, 4);
    for (int dim = 0; dim < 8; ++dim) check_all(x, dim);
    Dims order{7, 2, 0, 5, 1, 3, 6, 4};
    const Layout mixed = permute(row_major({2, 3, 3, 2, 2, 2, 1, 1}), order);
    const Tensor<float> y = seeded_integers<float>(mixed.shape, 4, 0, 4);
    for (int dim = 0; dim < 8; ++dim) check_all(y, mixed, dim, row_major(without(y.shape(), dim)));
}

TEST_CASE("lengths around every boundary, at any address", "[day04][argmax][small]") {
    for (const std::int64_t n :
         {1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 128, 129, 256, 257}) {
        for (std::int64_t lead = 0; lead < 4; ++lead) {
            check_all(seeded_integers<float>({3, n}, 7, 0, 3 * n), 1, lead);
        }
        check_all(seeded_integers<float>({1, n, 35}, 8, 0, 3 * n), 1, n % 4);
    }
    for (const std::int64_t rows : {1, 127, 128, 129, 300}) {
        check_all(seeded_integers<float>({rows, 5}, 9, 0, 7), 1, rows % 4);
        check_all(seeded_integers<float>({rows, 6}, 9, 0, 7), 1);
        check_all(seeded_integers<float>({5, rows}, 9, 0, 7), 0, rows % 4);
        check_all(seeded_integers<float>({2, 20, rows}, 9, 0, 40), 1, rows % 4);
    }
}

TEST_CASE("long lines, each way of sharing one", "[day04][argmax][small]") {
    // 32, 128 and 256 threads of step 05, one part and several of step 08, all rounds of 07.
    for (const std::int64_t n : {1023, 1024, 2048, 2049, 2060, 4099, 8192, 8193, 8501}) {
        check_all(seeded_integers<float>({2, n}, 10, 0, 1000), 1, n % 4);
    }
    check_all(seeded_integers<float>({700, 33}, 11, 0, 300), 0);
    check_all(seeded_integers<float>({300, 132}, 12, 0, 100), 0);
    check_all(seeded_integers<float>({75, 260}, 12, 0, 100), 0, 1);
}

TEST_CASE("an equal element further on, in every lane and warp, changes nothing",
          "[day04][argmax][ties][small]") {
    // The largest element stands at a and again at b.
    for (const std::int64_t n : {64, 300}) {
        for (std::int64_t a = 0; a < n; a += n == 64 ? 5 : 37) {
            for (std::int64_t b = a + 1; b < n; b += n == 64 ? 7 : 31) {
                Tensor<float> x({2, n, 33});
                for (std::int64_t k = 0; k < x.size(); ++k) {
                    const std::int64_t i = k / 33 % n;
                    x.data()[k] = i == a || i == b ? 9 : static_cast<float>(i % 7);
                }
                const View<const float> rows_of = select(x.view(), 2, 0);
                Tensor<float> rows({2, n});
                for (std::int64_t r = 0; r < 2; ++r) {
                    for (std::int64_t i = 0; i < n; ++i) rows(r, i) = rows_of(r, i);
                }
                check_all(rows, 1, a % 4);
                if (b == a + 1 || b > n - 8) check_all(x, 1);
            }
        }
    }
}

TEST_CASE("the first NaN wins wherever it stands", "[day04][argmax][nan][small]") {
    for (const std::int64_t n : {9, 70, 530}) {
        for (std::int64_t at = 0; at < n; at += n < 100 ? 3 : 41) {
            for (const std::int64_t second : {at + 1, at + 4, n - 1}) {
                Tensor<float> x({2, n});
                for (std::int64_t k = 0; k < x.size(); ++k) {
                    const std::int64_t i = k % n;
                    x.data()[k] = i == at || i == second ? kNaN : i == n / 2 ? kInf : 1;
                }
                HostOut<std::int64_t> want(Shape{2});
                argmax_cpu(x.view(), 1, want.view());
                CHECK(want.view()(1) == at);
                check_all(x, 1, at % 4);
            }
        }
    }
    for (const std::int64_t n : {40, 200}) {  // the same for step 07
        Tensor<float> x({n, 40});
        for (std::int64_t k = 0; k < x.size(); ++k) {
            const std::int64_t i = k / 40, c = k % 40;
            x.data()[k] = i == c || i == n - 1 - c ? kNaN : static_cast<float>(i);
        }
        check_all(x, 0);
    }
}

TEST_CASE("nothing beats minus infinity: index 0; and the lowest float does",
          "[day04][argmax][infinity][small]") {
    for (const std::int64_t n : {1, 5, 64, 300, 2500}) {
        std::vector<float> line(static_cast<std::size_t>(n), -kInf);
        check_line(line, 0);
        line.back() = kLowest;
        check_line(line, n - 1);
        check_line(std::vector<float>(static_cast<std::size_t>(n), kInf), 0);
    }
}

TEST_CASE("rising and falling lines, where every or no element is better",
          "[day04][argmax][small]") {
    for (const std::int64_t n : {33, 257, 1031}) {
        std::vector<float> line;
        for (std::int64_t i = 0; i < n; ++i) line.push_back(static_cast<float>(i));
        check_line(line, n - 1);
        std::reverse(line.begin(), line.end());
        check_line(line, 0);
    }
}

TEST_CASE("lines of one, and broadcast lines", "[day04][argmax][small]") {
    check_all(distinct<float>({5, 1, 7}), 1);
    const Tensor<float> x = seeded_integers<float>({40}, 3, 0, 100);
    const gpu::Buffer<float> device(x);
    // Every row the same: stride 0 across the lines, then along them.
    for (const auto& [layout, dim, answer] :
         {std::tuple{Layout({6, 40}, {0, 1}), 1, second_argmax({x.data(), x.data() + 40})},
          std::tuple{Layout({40, 6}, {1, 0}), 1, std::int64_t{0}}}) {
        const View<const float> in(device.data(), layout);
        const Shape shape = without(layout.shape, dim);
        for (const LinePath path : kPaths) {
            const Lines lines = lines_of("test", in, {dim});
            if (!takes(path, lines)) continue;
            CAPTURE(name(path), to_string(layout));
            Memory memory(lines);
            DeviceOut<std::int64_t> got(shape);
            argmax_cuda(path, in, dim, got.view(), memory.workspace());
            CHECK(got.matches(Tensor<std::int64_t>(
                shape, std::vector<std::int64_t>(static_cast<std::size_t>(size(shape)), answer))));
        }
    }
}

// --- the contract --------------------------------------------------------------------------------

TEST_CASE("the dim is removed, or kept with extent 1; it may count from the back",
          "[day04][argmax][small]") {
    const Tensor<float> x = seeded_integers<float>({2, 3, 4}, 2, 0, 5);
    const DeviceIn<float> in(x);
    for (int dim = 0; dim < 3; ++dim) {
        Shape kept = x.shape();
        kept[dim] = 1;
        const Tensor<std::int64_t> removed = second_formula(x.view(), dim);
        const Tensor<std::int64_t> answer(kept, {removed.data(), removed.data() + removed.size()});
        HostOut<std::int64_t> loop(kept);
        DeviceOut<std::int64_t> port(kept), back(kept);
        argmax_cpu(x.view(), dim, loop.view());
        argmax_cuda(in.view(), dim, port.view());
        argmax_cuda(in.view(), dim - 3, back.view());
        CHECK(loop.matches(answer));
        CHECK(port.matches(answer));
        CHECK(back.matches(answer));
    }
    // Kept, and of any strides: row 1 of a matrix that has room for more.
    HostOut<std::int64_t> wide(Layout({2, 1, 4}, {16, 99, 3}));
    DeviceOut<std::int64_t> got(Layout({2, 1, 4}, {16, 99, 3}));
    argmax_cpu(x.view(), 1, wide.view());
    argmax_cuda(in.view(), 1, got.view());
    CHECK(got.matches(wide));
}

TEST_CASE("argmax refuses what it cannot do, loop and port in the same words",
          "[day04][argmax][small]") {
    const Tensor<float> x({2, 3});
    const DeviceIn<float> in(x);
    HostOut<std::int64_t> h({2}, Lead{2});
    DeviceOut<std::int64_t> d({2}, Lead{2});
    using In = View<const float>;
    using Out = View<std::int64_t>;
    const auto port = [](In a, int dim, Out out) { argmax_cuda(a, dim, out); };
    const auto refused = [&](const auto& call, const char* words) {
        CHECK(both_refuse([&] { call(x.view(), h.view(), argmax_cpu); },
                          [&] { call(in.view(), d.view(), port); }, words));
    };
    refused([](In a, Out o, auto f) { f(a, 2, o); },
            "argmax: dim 2 asked for, but a tensor of rank 2 has dims 0 to 1, or -2 to -1");
    refused([](In a, Out o, auto f) { f(a, -3, o); }, "argmax: dim -3 asked for");
    refused(
        [](In a, Out o, auto f) {
            f({a.data, Layout()}, 0, o);
        },
        "argmax: dim 0 asked for, but a tensor of rank 0 has none");
    refused(
        [](In a, Out o, auto f) {
            f({a.data, Shape{2, 0}}, 1, o);
        },
        "argmax over dim 1 of shape (2, 0): there is no element to point at");
    refused(
        [](In a, Out o, auto f) {
            f({a.data, Shape{0, 0}}, 1, {o.data, Shape{0}});
        },
        "there is no element to point at");
    refused([](In a, Out o, auto f) { f(a, 0, o); },
            "argmax: in has shape (2, 3), reduced over dims (0), so out has shape (3) or (1, 3), "
            "not (2)");
    refused([](In a, Out o, auto f) { f(a, 1, {o.data, Shape{1, 2}}); }, "not (1, 2)");
    refused(
        [](In a, Out o, auto f) {
            f(a, 1, {o.data, Layout({2}, {0})});
        },
        "writers of it would race");
    refused(
        [](In a, Out o, auto f) {
            f(a, 1, {nullptr, o.layout});
        },
        "argmax: out is a null pointer");
    refused(
        [](In a, Out o, auto f) {
            f({nullptr, a.layout}, 1, o);
        },
        "argmax: in is a null pointer, but its shape (2, 3) has 6 elements");
    refused(
        [](In, Out o, auto f) {
            f({reinterpret_cast<const float*>(o.data), Shape{2, 1}}, 1, o);
        },
        "argmax: in and out overlap");
    CHECK(h.untouched());
    CHECK(d.untouched());
}

TEST_CASE("no output, no launch", "[day04][argmax][small]") {
    const DeviceIn<float> in(distinct<float>({4}));
    DeviceOut<std::int64_t> d(Shape{1});
    argmax_cuda(in.view(), 0, {d.view().data, Shape{}});
    const std::string before = gpu::last_kernel();
    gpu::fill(1, gpu::Buffer<float>(1).view(Shape{1}));
    const std::string fill = gpu::last_kernel();
    CHECK(fill != before);
    for (const auto& [shape, dim] :
         {std::pair{Shape{0, 5}, 1}, {Shape{5, 0}, 0}, {Shape{3, 0, 2}, 2}}) {
        const View<const float> none(nullptr, shape);
        const View<std::int64_t> out(nullptr, without(shape, dim));
        CHECK_NOTHROW(argmax_cpu(none, dim, out));
        CHECK_NOTHROW(argmax_cuda(none, dim, out));
        for (const LinePath path : kPaths) CHECK_NOTHROW(argmax_cuda(path, none, dim, out));
        CHECK(argmax_workspace_bytes(none, dim) == 0);
    }
    CHECK(gpu::last_kernel() == fill);
}

// --- which path ----------------------------------------------------------------------------------

TEST_CASE("the layout decides which path is taken", "[day04][argmax][path][small]") {
    using P = LinePath;
    const auto chosen = [](const Layout& layout, int dim, bool workspace = false) {
        return choose_argmax({nullptr, layout}, dim, workspace);
    };
    CHECK(chosen(row_major({4096, 50257}), 1) == P::quads);
    CHECK(chosen(row_major({4096, 50257}), 1, true) == P::quads);
    CHECK(chosen(row_major({1, 50257}), 1) == P::quads);
    CHECK(chosen(row_major({1, 50257}), 1, true) == P::split);
    CHECK(chosen(row_major({263, 8192}), 1, true) == P::split);
    CHECK(chosen(row_major({264, 8192}), 1, true) == P::quads);
    CHECK(chosen(row_major({263, 8191}), 1, true) == P::quads);
    CHECK(chosen(row_major({1 << 20, 17}), 1) == P::short_lines);
    CHECK(chosen(row_major({100, 32}), 1) == P::short_lines);
    CHECK(chosen(row_major({100, 33}), 1) == P::quads);
    CHECK(chosen(Layout({100, 17}, {18, 1}), 1) == P::quads);  // a gap behind each
    CHECK(chosen(Layout({100, 15}, {18, 1}), 1) == P::walk);
    CHECK(chosen(row_major({64, 4096, 4096}), 0) == P::strided);
    CHECK(chosen(row_major({64, 4096, 4096}), 1) == P::strided);
    CHECK(chosen(row_major({64, 4096, 4096}), 2) == P::quads);
    CHECK(chosen(column_major({100, 100}), 1) == P::strided);
    CHECK(chosen(column_major({100, 100}), 0) == P::quads);
    CHECK(chosen(row_major({15, 100}), 0) == P::walk);
    CHECK(chosen(row_major({16, 100}), 0) == P::strided);
    CHECK(chosen(row_major({100, 31}), 0) == P::warp);
    CHECK(chosen(row_major({100, 32}), 0) == P::strided);
    CHECK(chosen(flip(row_major({100, 100}), 1).layout, 1) == P::warp);
    CHECK(chosen(row_major({100, 1}), 1) == P::walk);
    CHECK(chosen(Layout({2, kLongestLine}, {0, 1}), 1) == P::quads);
    CHECK(chosen(Layout({2, kLongestLine + 1}, {0, 1}), 1) == P::one_thread);
    CHECK(chosen(Layout({kLongestLine + 1, 64}, {64, 1}), 0) == P::one_thread);
}

TEST_CASE("each path launches its kernel, and refuses what it cannot take",
          "[day04][argmax][path][small]") {
    const DeviceIn<float> in(distinct<float>({32, 32}));
    for (std::size_t p = 0; p < std::size(kPaths); ++p) {
        const int dim = kPaths[p] == LinePath::strided ? 0 : 1;
        Memory memory(lines_of("test", in.view(), {dim}));
        DeviceOut<std::int64_t> out(Shape{32});
        argmax_cuda(kPaths[p], in.view(), dim, out.view(), memory.workspace());
        CHECK(std::string(gpu::last_kernel()) == kKernels[p]);
    }
    DeviceOut<std::int64_t> out(Shape{32});
    const auto refused = [&](LinePath path, const View<const float>& x, int dim) {
        return refusal([&] { argmax_cuda(path, x, dim, out.view()); });
    };
    const View<const float> odd = slice(in.view(), 1, 0, 32, 2);
    CHECK(
        refused(LinePath::quads, transpose(in.view()), 1) ==
        "argmax: the path 'quads' needs lines along memory, of at most 2^32 - 65536 elements; the "
        "lines have shape (32), strides (32), and begin at shape (32), strides (1)");
    CHECK(contains(refused(LinePath::short_lines, odd, 1), "'short lines' needs lines of at most"));
    CHECK(contains(refused(LinePath::strided, in.view(), 1), "lines that begin side by side"));
    CHECK(contains(refused(LinePath::split, odd, 1), "lines along memory, at most 1024 of them"));
    CHECK(contains(refused(LinePath::split, in.view(), 1),
                   "the path 'split': a workspace of 0 bytes at a null pointer was given, but"));
    const Lines endless = {{}, Layout({kLongestLine + 1}, {1})};
    for (const LinePath path : {LinePath::walk, LinePath::shared_tree, LinePath::warp}) {
        CHECK(contains(refusal([&] { check_path("argmax", path, endless); }),
                       "at most 2^32 - 65536 elements; the lines have"));
    }
    CHECK(out.untouched());
}

TEST_CASE("a workspace has room for every part, and no more", "[day04][argmax][workspace][small]") {
    const auto bytes = [](const Shape& shape) {
        return argmax_workspace_bytes({nullptr, row_major(shape)}, 1);
    };
    CHECK(bytes({4096, 50257}) == 0);
    CHECK(bytes({1, 8191}) == 0);
    CHECK(bytes({1, 50257}) == 256 + 4);  // 25 parts of 8 bytes, then a counter
    CHECK(bytes({8, 50257}) == 8 * 25 * 8 + 8 * 4 + (1792 - 8 * 25 * 8));
    CHECK(bytes({200, 10000}) == 200 * 5 * 8 + 192 + 200 * 4);
    CHECK(parts_of(lines_of("test", {nullptr, row_major({1, 1 << 28})}, {1})) == 1024);
    CHECK(parts_of(lines_of("test", {nullptr, row_major({263, 1 << 20})}, {1})) == 3);

    const Tensor<float> x = seeded_integers<float>({2, 9000}, 1, 0, 50);
    const DeviceIn<float> in(x);
    gpu::Buffer<std::byte> memory(argmax_workspace_bytes(in.view(), 1));
    memory.fill_bytes(0);
    for (int run = 0; run < 3; ++run) {
        DeviceOut<std::int64_t> out(Shape{2});
        argmax_cuda(in.view(), 1, out.view(), memory);
        CHECK(out.matches(second_formula(x.view(), 1)));
        CHECK(std::string(gpu::last_kernel()) == "split_kernel");
    }
    gpu::Buffer<std::byte> less(memory.size() - 1);
    DeviceOut<std::int64_t> untouched(Shape{2});
    CHECK(contains(refusal([&] { argmax_cuda(in.view(), 1, untouched.view(), less); }),
                   std::to_string(less.size()) + " bytes was given, but " +
                       std::to_string(memory.size()) + " are needed"));
    CHECK(untouched.untouched());
}

// --- what the warps touch ------------------------------------------------------------------------

TEST_CASE("which sectors the steps touch", "[day04][argmax][trace][small]") {
    const DeviceIn<float> in(distinct<float>({64, 256}));
    const auto touched = [&](LinePath path, int dim) {
        Memory memory(lines_of("test", in.view(), {dim}));
        DeviceOut<std::int64_t> out(Shape{dim == 0 ? 256 : 64});
        return gpu::touched(
            [&] { argmax_cuda(path, in.view(), dim, out.view(), memory.workspace()); });
    };
    const auto twin = touched(LinePath::one_thread, 1);
    CHECK(twin.has_value() == gpu::is_emulated());
    if (!twin) return;
    // Reads: 64 * 256 floats. A lane a line: each load of a warp touches 32 sectors, one a lane.
    const std::int64_t writes1 = 64 * 8 / 32, writes0 = 256 * 8 / 32;
    CHECK(twin->sectors == 64 * 256 + writes1);
    CHECK(touched(LinePath::one_thread, 0)->sectors == 64 * 256 / 8 + writes0);
    for (const LinePath path : {LinePath::shared_tree, LinePath::warp}) {
        CHECK(touched(path, 1)->sectors == 64 * 256 / 8 + 64);  // each line writes for itself
    }
    CHECK(touched(LinePath::strided, 0)->sectors == 64 * 256 / 8 + writes0);
    // Quads: 8 lanes a line, so a warp has 4 of them: 8 loads, then the quad that won, one element
    // after the other, and the 4 indices in one sector.
    const auto quads = touched(LinePath::quads, 1);
    CHECK(quads->sectors == 64 * 256 / 8 + 64 * 4 + 64 / 4);
    CHECK(quads->requests == 64 / 4 * (256 / 32 + 4 + 1));
}

TEST_CASE("short lines are read from different banks", "[day04][argmax][trace][small]") {
    for (const std::int64_t n : {16, 17, 24, 32}) {
        const DeviceIn<float> in(distinct<float>({128, n}));
        DeviceOut<std::int64_t> out(Shape{128});
        const auto touched =
            gpu::touched([&] { argmax_cuda(LinePath::short_lines, in.view(), 1, out.view()); });
        CHECK(touched.has_value() == gpu::is_emulated());
        if (!touched) return;
        CAPTURE(n);
        CHECK(touched->sectors == 128 * n / 8 + 128 / 4);
        CHECK(touched->passes == touched->fewest_passes);
    }
}

// --- far away ------------------------------------------------------------------------------------

// The emulator's device ends at 8 GiB; past 2^31 elements only a GPU gets: [huge].
TEST_CASE("lines that begin past 2^31 bytes", "[day04][argmax][full]") {
    const std::int64_t far = (std::int64_t{1} << 28) + 1000, n = 70;
    if (!gpu::is_emulated()) need_device_memory(4 * (2 * far + n));
    gpu::Buffer<float> memory(2 * far + n);
    const Tensor<float> x = seeded_integers<float>({3, n}, 77, 0, 200);
    for (std::int64_t r = 0; r < 3; ++r) memory.upload(x.data() + r * n, n, r * far);
    const View<const float> in(memory.data(), Layout({3, n}, {far, 1}));
    for (const LinePath path : kPaths) {
        if (!takes(path, lines_of("test", in, {1}))) continue;
        CAPTURE(name(path));
        Memory workspace(lines_of("test", in, {1}));
        DeviceOut<std::int64_t> got(Shape{3});
        argmax_cuda(path, in, 1, got.view(), workspace.workspace());
        CHECK(got.matches(second_formula(x.view(), 1)));
    }
    for (const LinePath path : {LinePath::one_thread, LinePath::walk, LinePath::warp,
                                LinePath::shared_tree, LinePath::strided}) {
        CAPTURE(name(path));
        DeviceOut<std::int64_t> got(Shape{n});
        argmax_cuda(path, in, 0, got.view());
        CHECK(got.matches(second_formula(x.view(), 0)));
    }
}

TEST_CASE("larger shapes, every dim, every path", "[day04][argmax][full]") {
    for (int dim = 0; dim < 4; ++dim) {
        check_all(seeded_integers<float>({7, 11, 13, 17}, 21, 0, 20), dim, dim);
    }
    for (int dim = 0; dim < 3; ++dim) {
        check_all(seeded_integers<float>({16, 64, 128}, 22, 0, 500), dim);
    }
    check_all(seeded_integers<float>({3, 50257}, 23, 0, 100000), 1, 1);
    check_all(seeded_integers<float>({2000, 17}, 24, 0, 100), 1);
}

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// An otherwise constant tensor with one larger element a line.
void check_planted(const Shape& shape, int dim) {
    CAPTURE(to_string(shape), dim);
    const Layout layout = row_major(shape);
    gpu::Buffer<float> memory(layout.size());
    gpu::fill(1, memory.view(layout));
    const Lines lines = lines_of("test", memory.view(layout), {dim});
    const std::int64_t count = lines.count(), n = lines.length();
    std::vector<std::int64_t> asked;
    for (const std::int64_t k : {std::int64_t{0}, count / 3, count / 2, count - 2, count - 1}) {
        if (k >= 0 && (asked.empty() || k > asked.back())) asked.push_back(k);
    }
    const auto answer = [&](std::int64_t k) { return n - 1 - k % n; };
    for (const std::int64_t k : asked) {
        const float two = 2;
        const Index at = unravel(k, lines.first.layout.shape);
        memory.upload(&two, 1, offset(lines.first.layout, at) + answer(k) * lines.stride());
    }
    gpu::Buffer<std::int64_t> out(count);
    for (const LinePath path : kPaths) {
        // One thread for 2^31 elements is a minute, and nothing new.
        if (!takes(path, lines) || (count < 64 && path <= LinePath::walk && n > kGiB)) continue;
        CAPTURE(name(path));
        Memory workspace(lines);
        out.fill_bytes(0xff);
        argmax_cuda(path, std::as_const(memory).view(layout), dim,
                    out.view(lines.first.layout.shape), workspace.workspace());
        for (const std::int64_t k : asked) CHECK(out.download(k, 1)[0] == answer(k));
    }
}

TEST_CASE("the test of huge tensors holds for small ones", "[day04][argmax][small]") {
    check_planted({5, 1000}, 1);
    check_planted({300, 50}, 0);
    check_planted({200, 17}, 1);
}

TEST_CASE("more than 2^31 elements: one line, many lines, many outputs", "[day04][argmax][huge]") {
    need_device_memory(40 * kGiB);
    check_planted({1, 2 * kGiB + 12345}, 1);
    check_planted({1000, 2200000}, 1);
    check_planted({2200000, 1000}, 0);
    check_planted({2 * kGiB + 777, 1}, 1);
    check_planted({2 * kGiB / 3, 5}, 1);
    check_planted({2, kGiB + 1000}, 0);
}

}  // namespace
