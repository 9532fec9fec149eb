// max, min, sum, mean, product: the loops against known answers and double precision, every path
// within a bound that a careless sum does not keep.
#include "day04_argmax/reduce.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "common/gpu/trace.hpp"
#include "common/tensor/index.hpp"
#include "day04_argmax/tests/golden.hpp"
#include "day04_argmax/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day04_argmax;
using namespace sixdays::testing;

namespace {

constexpr double kU = 0x1p-24;  // the most that rounding to float changes, relatively
const std::vector<Reduction> kReductions = {Reduction::max, Reduction::min, Reduction::sum,
                                            Reduction::mean, Reduction::product};
const std::vector<Reduction> kTwo = {Reduction::max, Reduction::sum};  // one of each operation

// Second formula: the elements of every line gathered by their indices, joined in double. `scale`
// is what rounding errors are measured against: the sum of |x|, or the product.
struct Second {
    Tensor<double> value, scale;
    std::int64_t length;
};
Second exact(Reduction what, const View<const float>& in, const Dims& dims) {
    std::vector<bool> reduced(kMaxRank);
    for (int k = 0; k < dims.rank; ++k) reduced[static_cast<std::size_t>(dims[k])] = true;
    Shape shape;
    std::int64_t length = 1;
    for (int d = 0; d < in.rank(); ++d) {
        if (reduced[static_cast<std::size_t>(d)]) {
            length *= in.extent(d);
        } else {
            shape[shape.rank++] = in.extent(d);
        }
    }
    Second second{Tensor<double>(shape), Tensor<double>(shape), length};
    const double start = what == Reduction::max       ? -std::numeric_limits<double>::infinity()
                         : what == Reduction::min     ? std::numeric_limits<double>::infinity()
                         : what == Reduction::product ? 1
                                                      : 0;
    std::fill_n(second.value.data(), second.value.size(), start);
    for (const Index& at : packings::indices_of(in.layout.shape)) {
        Index o;
        for (int d = 0; d < in.rank(); ++d) {
            if (!reduced[static_cast<std::size_t>(d)]) o[o.rank++] = at[d];
        }
        const double x = in(at);
        double& value = second.value.view()(o);
        double& scale = second.scale.view()(o);
        switch (what) {
            case Reduction::max:
                value = std::isnan(value) || x <= value ? value : x;
                break;
            case Reduction::min:
                value = std::isnan(value) || x >= value ? value : x;
                break;
            case Reduction::sum:
            case Reduction::mean:
                value += x;
                scale += std::abs(x);
                break;
            case Reduction::product:
                value *= x;
                scale = std::abs(value);
                break;
        }
    }
    if (what == Reduction::mean) {
        for (std::int64_t k = 0; k < second.value.size(); ++k) {
            second.value.data()[k] /= static_cast<double>(length);
            second.scale.data()[k] /= static_cast<double>(length);
        }
    }
    return second;
}

// An element goes through so many roundings: `depth` joins, and a mean's division. Each is at most
// kU of what is there, which is at most the scale; 1 + n u for (1 + u)^n - 1, and a bit.
auto bound_of(const Second& second, double depth) {
    return [&second, depth](const Index& at) {
        const double scale = second.scale.view()(at);
        return std::isfinite(scale) ? 1.01 * (depth + 1) * kU * scale : 0;
    };
}

// Threads of step 05 that share a line.
double quad_threads(std::int64_t n) {
    if (n <= 144) return 4;
    if (n <= 256) return 8;
    if (n <= 2048) return 32;
    return n <= 8192 ? 128 : 256;
}

// Joins that a path puts behind one another, at most: those of a thread, and those of the tree.
double depth_of(LinePath path, std::int64_t n) {
    const auto each = [n](double threads) { return std::ceil(static_cast<double>(n) / threads); };
    switch (path) {
        case LinePath::one_thread:
        case LinePath::walk:
        case LinePath::short_lines:
        case LinePath::tile:  // in which order, CUDA does not say
            return static_cast<double>(n);
        case LinePath::shared_tree:  // no sums
            return 0;
        case LinePath::warp:
            return each(32) + 5;
        case LinePath::quads:  // a quad counts once, but its four have two joins of their own
            return each(4 * quad_threads(n)) + 4 + 9;
        case LinePath::strided:
            return each(8) + 8;
        case LinePath::split:
            return each(4 * 128) + 4 + 7 + 8 + 7;  // of a part; 1,024 parts are 8 a thread
    }
    return 0;
}

void check_all(const Tensor<float>& values, const Layout& layout, const Dims& dims,
               const Layout& out, std::int64_t lead = 0,
               const std::vector<Reduction>& reductions = kTwo) {
    CAPTURE(to_string(layout), to_string(dims), to_string(out), lead);
    const HostIn<float> host(values, layout, Lead{lead});
    const DeviceIn<float> in(values, layout, Lead{lead});
    for (const Reduction what : reductions) {
        CAPTURE(name(what));
        const Second second = exact(what, values.view(), dims);
        const bool no_rounding = what == Reduction::max || what == Reduction::min;
        const auto n = static_cast<double>(second.length);
        HostOut<float> want(out);
        reduce_cpu(what, host.view(), dims, want.view());
        CHECK(want.close_to(second.value, bound_of(second, no_rounding ? -1 : n),
                            Nans::where_expected));
        const Lines lines = lines_of("test", in.view(), dims);
        for (const LinePath path : kPaths) {
            if (!takes(path, lines) || lines.count() == 0 || argmax_only(path)) continue;
            CAPTURE(name(path));
            Memory memory(lines);
            DeviceOut<float> got(out), again(out);
            reduce_cuda(what, in.view(), dims, got.view(),
                        {.path = path, .workspace = memory.workspace()});
            // Every factor's rounding stays in a product, whatever the order.
            const double depth = no_rounding                  ? -1
                                 : what == Reduction::product ? n
                                                              : depth_of(path, second.length);
            CHECK(got.close_to(second.value, bound_of(second, depth), Nans::where_expected));
            if (path == LinePath::tile) CHECK(std::string(gpu::last_kernel()) == "reduce_tile");
            if (path != LinePath::split && path != LinePath::quads) continue;
            // The same bits in every run.
            reduce_cuda(what, in.view(), dims, again.view(),
                        {.path = path, .workspace = memory.workspace()});
            CHECK(equal(got.values(), again.values()));
            CHECK(memory.kept());
        }
    }
    CHECK(host.unchanged());
    CHECK(in.unchanged());
}

Shape without(const Shape& shape, const Dims& dims) {
    Shape rest;
    for (int d = 0; d < shape.rank; ++d) {
        bool reduced = false;
        for (int k = 0; k < dims.rank; ++k) reduced |= dims[k] == d;
        if (!reduced) rest[rest.rank++] = shape[d];
    }
    return rest;
}

void check_all(const Tensor<float>& values, const Dims& dims, std::int64_t lead = 0,
               const std::vector<Reduction>& reductions = kTwo) {
    check_all(values, row_major(values.shape()), dims, row_major(without(values.shape(), dims)),
              lead, reductions);
}

// Of either sign, none near 0, and products of hundreds of them stay in range.
Tensor<float> numbers(const Shape& shape, std::uint64_t seed) {
    Tensor<float> x = seeded<float>(shape, seed, 0.9, 1.1);
    const Tensor<float> sign = seeded_integers<float>(shape, seed + 1, 0, 1);
    for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] *= sign.data()[k] == 0 ? -1.0f : 1.0f;
    return x;
}

TEST_CASE("max, min, sum and mean of views equal NumPy's", "[day04][reduce][small]") {
    const Tensor<float> base = golden_numbers();
    const gpu::Buffer<float> device(base);
    for (const GoldenReduction& golden : golden_reductions) {
        const Layout layout(golden.shape, golden.strides);
        CAPTURE(to_string(layout), golden.dim);
        const Shape shape = without(golden.shape, {golden.dim});
        const auto check = [&](Reduction what, const std::vector<float>& answer) {
            CAPTURE(name(what));
            // Small whole numbers: sums are exact in any order, means rounded once.
            const Tensor<float> want(shape, answer);
            HostOut<float> loop(shape);
            reduce_cpu(what, {base.data() + golden.first, layout}, {golden.dim}, loop.view());
            CHECK(loop.matches(want));
            const View<const float> in(device.data() + golden.first, layout);
            const Lines lines = lines_of("test", in, {golden.dim});
            for (const LinePath path : kPaths) {
                if (!takes(path, lines) || argmax_only(path)) continue;
                Memory memory(lines);
                DeviceOut<float> got(shape);
                reduce_cuda(what, in, {golden.dim}, got.view(),
                            {.path = path, .workspace = memory.workspace()});
                CHECK(got.matches(want));
            }
        };
        check(Reduction::max, golden.max);
        check(Reduction::min, golden.min);
        check(Reduction::sum, golden.sum);
        check(Reduction::mean, golden.mean);
    }
}

TEST_CASE("max and min are the element that argmax and argmin name", "[day04][reduce][small]") {
    for (const GoldenLine& golden : golden_lines) {
        const auto n = static_cast<std::int64_t>(golden.line.size());
        CAPTURE(n);
        const Tensor<float> line({1, n}, golden.line);
        check_all(line, {1}, 0, kReductions);
        for (const auto& [what, index] :
             {std::pair{Reduction::max, golden.argmax}, std::pair{Reduction::min, golden.argmin}}) {
            HostOut<float> loop(Shape{1}, {}, Poison{0x55});
            reduce_cpu(what, line.view(), {1}, loop.view());
            const Tensor<float> want({1}, {golden.line.begin()[index]});
            CHECK(close(loop.values(), want, 0, Nans::where_expected));
        }
    }
}

TEST_CASE("every dim, and several at once, of every small shape", "[day04][reduce][small]") {
    const Shape shape{2, 3, 4, 2};
    const Tensor<float> x = numbers(shape, 3);
    for (int set = 0; set < 16; ++set) {
        Dims dims, back;
        for (int d = 0; d < 4; ++d) {
            if (set >> d & 1) dims[dims.rank++] = d;
        }
        for (int k = dims.rank - 1; k >= 0; --k) back[back.rank++] = dims[k] - 4;
        check_all(x, dims, 0, kReductions);
        // In another order, from the back, and kept.
        Shape kept = shape;
        for (int k = 0; k < dims.rank; ++k) kept[static_cast<int>(dims[k])] = 1;
        DeviceOut<float> removed(without(shape, dims)), same(kept);
        const DeviceIn<float> in(x);
        reduce_cuda(Reduction::sum, in.view(), dims, removed.view());
        reduce_cuda(Reduction::sum, in.view(), back, same.view());
        const Tensor<float> values = removed.values();
        CHECK(same.matches(Tensor<float>(kept, {values.data(), values.data() + values.size()})));
    }
}

TEST_CASE("every order and direction of dims", "[day04][reduce][small]") {
    const Shape shape{2, 3, 5};
    const Tensor<float> x = numbers(shape, 4);
    for (const Dims& dims : {Dims{0}, Dims{2}, Dims{0, 2}, Dims{1, 2}}) {
        packings::for_each_packing(3, 1, [&](const packings::Packing& packing) {
            check_all(x, Layout(shape, packings::strides_of(packing, shape)), dims,
                      row_major(without(shape, dims)));
        });
        const Shape rest = without(shape, dims);
        packings::for_each_packing(rest.rank, 1, [&](const packings::Packing& packing) {
            check_all(x, row_major(shape), dims, Layout(rest, packings::strides_of(packing, rest)));
        });
    }
}

TEST_CASE("lengths around every boundary, at any address, within their bounds",
          "[day04][reduce][small]") {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 31, 32, 33, 64, 65, 79, 80, 144, 145, 257, 1025}) {
        for (std::int64_t lead = 0; lead < 4; ++lead) check_all(numbers({3, n}, 5), {1}, lead);
        check_all(numbers({n, 35}, 6), {0}, n % 4);
    }
    check_all(numbers({33, 132}, 6), {0}, 0, kReductions);
    check_all(numbers({2, 9001}, 8), {1}, 1, kReductions);
    check_all(numbers({131, 6}, 8), {1}, 1, kReductions);
}

TEST_CASE("the bound is tight: a sum that rounds to 16 bits, or one after the other, exceeds it",
          "[day04][reduce][small]") {
    const std::int64_t n = 1 << 16;
    // One value again and again: then all roundings of a long sum err to one side.
    const Tensor<float> x({1, n}, std::vector<float>(n, 0.1f));
    const Second second = exact(Reduction::sum, x.view(), {1});
    float rounded = 0, in_turn = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        rounded += static_cast<float>(static_cast<bf16>(x.data()[i]));
        in_turn += x.data()[i];
    }
    const auto bound = bound_of(second, depth_of(LinePath::quads, n));
    CHECK_FALSE(close(Tensor<float>({1}, {rounded}), second.value, bound));
    CHECK_FALSE(close(Tensor<float>({1}, {in_turn}), second.value, bound));
    const DeviceIn<float> in(x);
    DeviceOut<float> got(Shape{1});
    reduce_cuda(Reduction::sum, in.view(), {1}, got.view());
    CHECK(got.close_to(second.value, bound));
}

TEST_CASE("a line cut into parts of which the last has nothing left", "[day04][reduce][small]") {
    // One element past a multiple of 16 bytes there are 66,049 quads, 257 for each of 258 parts:
    // the first 257 have them all, and the last quad is whole only in memory.
    const std::int64_t n = 258 * 1024;
    const Tensor<float> x = seeded_integers<float>({1, n}, 11, 1, 60);  // exact in any order
    const DeviceIn<float> in(x, Lead{1});
    const Lines lines = lines_of("test", in.view(), {1});
    REQUIRE(parts_of(lines) == 258);
    Memory memory(lines);
    DeviceOut<float> got(Shape{1});
    reduce_cuda(Reduction::sum, in.view(), {1}, got.view(),
                {.path = ReducePath::split, .workspace = memory.workspace()});
    CHECK(got.matches(Tensor<float>({1}, {std::accumulate(x.data(), x.data() + n, 0.0f)})));
}

TEST_CASE("a sum has the same bits, in whatever order its blocks come", "[day04][reduce][small]") {
    const DeviceIn<float> in(numbers({3, 9000}, 12));
    const Lines lines = lines_of("test", in.view(), {1});
    for (const ReducePath path : kPaths) {
        if (!takes(path, lines) || argmax_only(path)) continue;
        CAPTURE(name(path));
        Memory memory(lines);
        const auto sum = [&] {
            DeviceOut<float> out(Shape{3});
            reduce_cuda(Reduction::sum, in.view(), {1}, out.view(),
                        {.path = path, .workspace = memory.workspace()});
            return out.values();
        };
        const Tensor<float> in_turn = sum();
        gpu::run_in_other_orders([&] { CHECK(equal(sum(), in_turn)); });
    }
}

TEST_CASE("a product whose parts leave the range depends on their order, any other does not",
          "[day04][reduce][small]") {
    const auto products = [](float large) {
        const DeviceIn<float> in(Tensor<float>({1, 4}, {large, large, 1 / large, 1 / large}));
        const Lines lines = lines_of("test", in.view(), {1});
        std::vector<float> found;
        for (const LinePath path : kPaths) {
            if (!takes(path, lines) || argmax_only(path)) continue;
            Memory memory(lines);
            DeviceOut<float> got(Shape{1});
            reduce_cuda(Reduction::product, in.view(), {1}, got.view(),
                        {.path = path, .workspace = memory.workspace()});
            found.push_back(got.values()(0));
        }
        return found;
    };
    const Tensor<float> x({4}, {1e30f, 1e30f, 1e-30f, 1e-30f});
    HostOut<float> loop(Shape{});
    reduce_cpu(Reduction::product, x.view(), {0}, loop.view());
    CHECK(std::isinf(loop.values()()));
    bool some_infinite = false, some_nan = false;
    for (const float p : products(1e30f)) {
        CAPTURE(p);
        some_infinite |= std::isinf(p);
        some_nan |= std::isnan(p);
        CHECK((std::isinf(p) || std::isnan(p) || std::abs(p - 1) <= 4 * kU));
    }
    CHECK(some_infinite);
    CHECK(some_nan);
    const std::vector<float> in_range = products(1e15f);
    CHECK(in_range.size() > 4);
    for (const float p : in_range) CHECK(std::abs(double{p} - 1) <= 8 * kU);
}

TEST_CASE("of nothing: a sum is 0, a product 1, the others are refused", "[day04][reduce][small]") {
    const View<const float> none(nullptr, Shape{3, 0});
    for (const auto& [what, answer] :
         {std::pair{Reduction::sum, 0.0f}, std::pair{Reduction::product, 1.0f}}) {
        const Tensor<float> want({3}, {answer, answer, answer});
        HostOut<float> loop(Shape{3});
        DeviceOut<float> port(Shape{3});
        reduce_cpu(what, none, {1}, loop.view());
        reduce_cuda(what, none, {1}, port.view());
        CHECK(loop.matches(want));
        CHECK(port.matches(want));
        const Lines lines = lines_of("test", none, {1});
        int paths = 0;
        for (const LinePath path : kPaths) {
            if (!takes(path, lines) || argmax_only(path)) continue;
            CAPTURE(name(what), name(path));
            Memory memory(lines);
            DeviceOut<float> got(Shape{3});
            reduce_cuda(what, none, {1}, got.view(),
                        {.path = path, .workspace = memory.workspace()});
            CHECK(got.matches(want));
            if (path == LinePath::tile) CHECK(std::string(gpu::last_kernel()) == "reduce_tile");
            ++paths;
        }
        CHECK(paths == (gpu::has_tile() ? 7 : 6));  // all but 'strided'
    }
    for (const Reduction what : {Reduction::max, Reduction::min, Reduction::mean}) {
        HostOut<float> h(Shape{3});
        DeviceOut<float> d(Shape{3});
        const std::string words =
            std::string(name(what)) + " over dims (1) of shape (3, 0): there is no element";
        CHECK(both_refuse([&] { reduce_cpu(what, none, {1}, h.view()); },
                          [&] { reduce_cuda(what, none, {1}, d.view()); }, words));
        for (const LinePath path : kPaths) {
            CAPTURE(name(what), name(path));
            if (argmax_only(path)) continue;
            CHECK(contains(refusal([&] { reduce_cuda(what, none, {1}, d.view(), {.path = path}); }),
                           words));
        }
        CHECK(d.untouched());
    }
    // No line at all: nothing happens.
    for (const Reduction what : kReductions) {
        const View<const float> empty(nullptr, Shape{0, 3});
        CHECK_NOTHROW(reduce_cpu(what, empty, {1}, {nullptr, Shape{0}}));
        CHECK_NOTHROW(reduce_cuda(what, empty, {1}, {nullptr, Shape{0}}));
        for (const LinePath path : kPaths) {
            if (argmax_only(path)) continue;
            CHECK_NOTHROW(reduce_cuda(what, empty, {1}, {nullptr, Shape{0}}, {.path = path}));
        }
    }
    CHECK(reduce_workspace_bytes({nullptr, Shape{0, 3}}, {1}) == 0);
}

TEST_CASE("reductions refuse what they cannot do, loop and port in the same words",
          "[day04][reduce][argmin][small]") {
    const Tensor<float> x({2, 3});
    const DeviceIn<float> in(x);
    HostOut<float> h({2});
    DeviceOut<float> d({2});
    HostOut<std::int64_t> hi({2});
    DeviceOut<std::int64_t> di({2});
    const auto refused = [&](const Dims& dims, const Shape& shape, const char* words) {
        CHECK(both_refuse(
            [&] {
                reduce_cpu(Reduction::sum, x.view(), dims, {h.view().data, shape});
            },
            [&] {
                reduce_cuda(Reduction::sum, in.view(), dims, {d.view().data, shape});
            },
            words));
    };
    refused({2}, {2}, "sum: dim 2 asked for, but a tensor of rank 2 has dims 0 to 1");
    refused({std::int64_t{1} << 32}, {3}, "sum: dim 4294967296 asked for");  // not cut to 0
    refused({-(std::int64_t{1} << 32) - 1}, {2}, "sum: dim -4294967297 asked for");
    refused({1, -1}, {2}, "sum: dim 1 is named twice in (1, -1)");
    refused({1}, {3},
            "sum: in has shape (2, 3), reduced over dims (1), so out has shape (2) or (2, "
            "1), not (3)");
    refused({0, 1}, {2}, "so out has shape () or (1, 1), not (2)");
    CHECK(both_refuse([&] { argmin_cpu(x.view(), 3, hi.view()); },
                      [&] { argmin_cuda(in.view(), 3, di.view()); }, "argmin: dim 3 asked for"));
    CHECK(both_refuse(
        [&] {
            argmin_cpu({nullptr, Shape{2, 0}}, 1, hi.view());
        },
        [&] {
            argmin_cuda({nullptr, Shape{2, 0}}, 1, di.view());
        },
        "argmin over dims (1) of shape (2, 0): there is no element"));
    CHECK(both_refuse([&] { argmin_cpu(x.view(), 0, hi.view()); },
                      [&] { argmin_cuda(in.view(), 0, di.view()); },
                      "argmin: in has shape (2, 3)"));
    CHECK(both_refuse(
        [&] {
            reduce_cpu(Reduction::max, x.view(), {1}, {const_cast<float*>(x.data()), Shape{2}});
        },
        [&] {
            reduce_cuda(Reduction::max, in.view(), {1},
                        {const_cast<float*>(in.view().data), Shape{2}});
        },
        "max: in and out overlap"));
    CHECK(contains(refusal([&] {
                       reduce_cuda(Reduction::mean, in.view(), {0}, {d.view().data, Shape{3}},
                                   {.path = ReducePath::quads});
                   }),
                   "mean: the path 'quads' needs lines along memory"));
    CHECK(contains(
        refusal([&] { argmin_cuda(in.view(), 1, di.view(), {.path = ReducePath::strided}); }),
        "argmin: the path 'strided' needs lines that begin side by side"));
    const auto tree = [&] {
        argmin_cuda(in.view(), 1, di.view(), {.path = ReducePath::shared_tree});
    };
    CHECK(refusal(tree) == "argmin: the path 'shared tree' is there for argmax only");
    CHECK(refusal([&] {
              reduce_cuda(Reduction::sum, in.view(), {1}, d.view(),
                          {.path = ReducePath::shared_tree});
          }) == "sum: the path 'shared tree' is there for argmax only");
    CHECK(h.untouched());
    CHECK(d.untouched());
    CHECK(hi.untouched());
    CHECK(di.untouched());
}

TEST_CASE("the layout decides, also of several dims", "[day04][reduce][path][small]") {
    using P = ReducePath;
    const auto chosen = [](const Layout& layout, const Dims& dims, bool workspace = false) {
        return choose_reduce({nullptr, layout}, dims, workspace);
    };
    CHECK(chosen(row_major({64, 32, 32}), {1, 2}) == P::quads);       // one line of 1,024
    CHECK(chosen(row_major({64, 32, 32}), {0, 1}) == P::strided);     // 32 lines side by side
    CHECK(chosen(row_major({64, 32, 32}), {0, 2}) == P::one_thread);  // two walks
    CHECK(chosen(row_major({64, 128, 128}), {0, 1, 2}) == P::quads);
    CHECK(chosen(row_major({64, 128, 128}), {0, 1, 2}, true) == P::split);
    CHECK(chosen(row_major({64, 4, 4}), {1, 2}) == P::short_lines);
    CHECK(chosen(row_major({64, 32}), {}) == P::walk);
    CHECK(reduce_workspace_bytes({nullptr, row_major({64, 128, 128})}, {0, 1, 2}) ==
          gpu::Carver::kCounterBytes + 1024 * 8);

    const DeviceIn<float> in(numbers({64, 128, 4}, 1));
    gpu::Buffer<std::byte> memory(reduce_workspace_bytes(in.view(), {0, 1, 2}));
    memory.fill_bytes(0);
    DeviceOut<float> out(Shape{}), with(Shape{});
    reduce_cuda(Reduction::max, in.view(), {0, 1, 2}, out.view());
    CHECK(std::string(gpu::last_kernel()) == "quads_kernel");
    reduce_cuda(Reduction::max, in.view(), {0, 1, 2}, with.view(), {.workspace = memory});
    CHECK(std::string(gpu::last_kernel()) == "split_kernel");
    CHECK(with.matches(out.values()));
    gpu::Buffer<std::byte> least(reduce_workspace_bytes(in.view(), {0, 1, 2}));
    least.fill_bytes(0);
    DeviceOut<std::int64_t> index(Shape{});
    argmin_cuda({in.view().data, Shape{64 * 128 * 4}}, 0, index.view(), {.workspace = least});
    CHECK(std::string(gpu::last_kernel()) == "split_kernel");
}

TEST_CASE("larger sums", "[day04][reduce][full]") {
    check_all(numbers({4, 50257}, 31), {1}, 1);
    check_all(numbers({64, 128, 130}, 32), {1});
    check_all(numbers({64, 128, 20}, 33), {0, 2});
}

TEST_CASE("argmin and every reduction reject in their own name, with a workspace, too",
          "[day04][argmin][reduce][small]") {
    DeviceIn<float> in(distinct<float>({2, 5000}));
    const auto bytes = [&](int dim, std::optional<ReducePath> path) {
        return refusal([&] { (void)argmin_workspace_bytes(in.view(), dim, path); });
    };
    CHECK(contains(bytes(2, {}), "argmin: dim 2 asked for"));
    CHECK(contains(bytes(1, ReducePath{9}), "argmin: path 9 does not exist"));
    CHECK(contains(bytes(0, ReducePath::split), "argmin: the path 'split' needs"));
    CHECK(argmin_workspace_bytes(in.view(), 1, ReducePath::split) ==
          reduce_workspace_bytes(in.view(), {1}, ReducePath::split));
    DeviceOut<std::int64_t> index({2});
    DeviceOut<float> out({2});
    CHECK(contains(
        refusal([&] { argmin_cuda(in.view(), 1, index.view(), {.path = ReducePath::split}); }),
        "argmin: a workspace of 0 bytes"));
    CHECK(contains(refusal([&] {
                       reduce_cuda(Reduction::mean, in.view(), {1}, out.view(),
                                   {.path = ReducePath::split});
                   }),
                   "mean: a workspace of 0 bytes"));
    CHECK(refusal([&] { reduce_cuda(Reduction{5}, in.view(), {1}, out.view()); }) ==
          "reduce: reduction 5 does not exist; it must be one of: max, min, sum, mean, product");
    CHECK(index.untouched());
    CHECK(out.untouched());
}

}  // namespace
