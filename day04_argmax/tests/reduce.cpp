// max, min, sum, mean, product: the CPU references against known answers and double precision,
// every path within a bound that an inaccurate sum exceeds.
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

const std::vector<Reduction> kTwo = {Reduction::max, Reduction::sum};  // one of each operation

void check_all(const Tensor<float>& values, const Layout& layout, const Dims& dims,
               const Layout& out, std::int64_t lead = 0,
               const std::vector<Reduction>& reductions = kTwo) {
    for (const Reduction what : reductions) {
        Operation op = reduce_operation(what, values.shape(), dims);
        op.operands[0].with(taken_from(values)).placed(layout, lead);
        op.operands[1].placed(out);
        op.without_path = false;
        CHECK(computes_its_result(op));
    }
}

void check_all(const Tensor<float>& values, const Dims& dims, std::int64_t lead = 0,
               const std::vector<Reduction>& reductions = kTwo) {
    check_all(values, row_major(values.shape()), dims, row_major(without(values.shape(), dims)),
              lead, reductions);
}

// Both signs, no value near 0; products of hundreds of them stay in range.
Tensor<float> numbers(const Shape& shape, std::uint64_t seed) {
    Tensor<float> x = seeded<float>(shape, seed, 0.9, 1.1);
    const Tensor<float> sign = seeded_integers<float>(shape, seed + 1, 0, 1);
    for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] *= sign.data()[k] == 0 ? -1.0f : 1.0f;
    return x;
}

TEST_CASE("max, min, sum and mean of views equal NumPy's", "[day04][reduce][small]") {
    const Tensor<float> base = golden_numbers();
    for (const GoldenReduction& golden : golden_reductions) {
        const Layout layout(golden.shape, golden.strides);
        const auto check = [&](Reduction what, const std::vector<float>& answer) {
            Operation op = reduce_operation(what, golden.shape, {golden.dim});
            op.operands[0].placed(layout).with([=](std::int64_t k) {
                const Index at = unravel(k, layout.shape);
                return double(base.data()[golden.first + offset(layout, at)]);
            });
            // Small integers: sums are exact in any order, means rounded once.
            op.exact = [=](const Inputs&, int) {
                Expected want(without(golden.shape, golden.dim));
                std::copy(answer.begin(), answer.end(), want.value.data());
                return std::vector{want};
            };
            CHECK(computes_its_result(op));
        };
        check(Reduction::max, golden.max);
        check(Reduction::min, golden.min);
        check(Reduction::sum, golden.sum);
        check(Reduction::mean, golden.mean);
    }
}

TEST_CASE("max and min are the elements at argmax and argmin", "[day04][reduce][small]") {
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

TEST_CASE("small shapes reduce correctly over any set of dimensions", "[day04][reduce][small]") {
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

TEST_CASE("reductions are correct in every order and direction", "[day04][reduce][small]") {
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

TEST_CASE("boundary lengths at any address are within their error bounds",
          "[day04][reduce][small]") {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 31, 32, 33, 64, 65, 79, 80, 144, 145, 257, 1025}) {
        for (std::int64_t lead = 0; lead < 4; ++lead) check_all(numbers({3, n}, 5), {1}, lead);
        check_all(numbers({n, 35}, 6), {0}, n % 4);
    }
    check_all(numbers({33, 132}, 6), {0}, 0, kReductions);
    check_all(numbers({2, 9001}, 8), {1}, 1, kReductions);
    check_all(numbers({131, 6}, 8), {1}, 1, kReductions);
}

TEST_CASE("the bound is tight: a sum rounded to 16 bits, or a sequential one, exceeds it",
          "[day04][reduce][small]") {
    const std::int64_t n = 1 << 16;
    // One repeated value: then all roundings of a long sum err to one side.
    const Tensor<float> x({1, n}, std::vector<float>(n, 0.1f));
    const Second second = second_reduction<float>(Reduction::sum, x.view(), {1});
    float rounded = 0, in_turn = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        rounded += static_cast<float>(static_cast<bf16>(x.data()[i]));
        in_turn += x.data()[i];
    }
    const double bound = sum_error(second.scale(0), depth_of(LinePath::vectorized, n));
    CHECK_FALSE(close(Tensor<float>({1}, {rounded}), second.value, bound));
    CHECK_FALSE(close(Tensor<float>({1}, {in_turn}), second.value, bound));
    const DeviceIn<float> in(x);
    DeviceOut<float> got(Shape{1});
    reduce_cuda(Reduction::sum, in.view(), {1}, got.view());
    CHECK(got.close_to(second.value, bound));
}

TEST_CASE("the last part of a split line may be empty", "[day04][reduce][small]") {
    // One element past a multiple of 16 bytes the line has 66,049 float4s, 257 for each of 258
    // parts: the first 257 parts have them all. The last float4 reaches past the line.
    const std::int64_t n = 258 * 1024;
    REQUIRE(parts_of(lines_of("test", {nullptr, Shape{1, n}}, {1})) == 258);
    check_all(seeded_integers<float>({1, n}, 11, 1, 60), {1}, 1, {Reduction::sum});
}

TEST_CASE("a sum has the same bits in any order of its blocks", "[day04][reduce][small]") {
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

TEST_CASE("a product depends on the order only if a partial product leaves the range",
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

TEST_CASE("without elements a sum is 0, a product is 1, and all others are rejected",
          "[day04][reduce][small]") {
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
        CHECK(computes_its_result(reduce_operation(what, {3, 0}, {1})));
    }
    for (const Reduction what : {Reduction::max, Reduction::min, Reduction::mean}) {
        HostOut<float> h(Shape{3});
        DeviceOut<float> d(Shape{3});
        const std::string words =
            std::string(name(what)) + " over dimensions (1) of shape (3, 0): there is no element";
        CHECK(both_reject([&] { reduce_cpu(what, none, {1}, h.view()); },
                          [&] { reduce_cuda(what, none, {1}, d.view()); }, words));
        for (const LinePath path : kPaths) {
            CAPTURE(name(what), name(path));
            if (argmax_only(path)) continue;
            CHECK(contains(
                rejection([&] { reduce_cuda(what, none, {1}, d.view(), {.path = path}); }), words));
        }
        CHECK(d.untouched());
    }
    // No line: nothing happens.
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

TEST_CASE("CPU references and kernels of reductions reject invalid arguments with the same message",
          "[day04][reduce][argmin][small]") {
    const Tensor<float> x({2, 3});
    const DeviceIn<float> in(x);
    HostOut<float> h({2});
    DeviceOut<float> d({2});
    HostOut<std::int64_t> hi({2});
    DeviceOut<std::int64_t> di({2});
    const auto rejected = [&](const Dims& dims, const Shape& shape, const char* words) {
        CHECK(both_reject(
            [&] {
                reduce_cpu(Reduction::sum, x.view(), dims, {h.view().data, shape});
            },
            [&] {
                reduce_cuda(Reduction::sum, in.view(), dims, {d.view().data, shape});
            },
            words));
    };
    rejected({2}, {2}, "sum: dim 2 asked for, but a tensor of rank 2 has dims 0 to 1");
    rejected({std::int64_t{1} << 32}, {3}, "sum: dim 4294967296 asked for");  // not truncated to 0
    rejected({-(std::int64_t{1} << 32) - 1}, {2}, "sum: dim -4294967297 asked for");
    rejected({1, -1}, {2}, "sum: dim 1 is named twice in (1, -1)");
    rejected({1}, {3},
             "sum: in has shape (2, 3), reduced over dimensions (1), so out has shape (2) or "
             "(2, 1), not (3)");
    rejected({0, 1}, {2}, "so out has shape () or (1, 1), not (2)");
    CHECK(both_reject([&] { argmin_cpu(x.view(), 3, hi.view()); },
                      [&] { argmin_cuda(in.view(), 3, di.view()); }, "argmin: dim 3 asked for"));
    CHECK(both_reject(
        [&] {
            argmin_cpu({nullptr, Shape{2, 0}}, 1, hi.view());
        },
        [&] {
            argmin_cuda({nullptr, Shape{2, 0}}, 1, di.view());
        },
        "argmin over dimensions (1) of shape (2, 0): there is no element"));
    CHECK(both_reject([&] { argmin_cpu(x.view(), 0, hi.view()); },
                      [&] { argmin_cuda(in.view(), 0, di.view()); },
                      "argmin: in has shape (2, 3)"));
    CHECK(both_reject(
        [&] {
            reduce_cpu(Reduction::max, x.view(), {1}, {const_cast<float*>(x.data()), Shape{2}});
        },
        [&] {
            reduce_cuda(Reduction::max, in.view(), {1},
                        {const_cast<float*>(in.view().data), Shape{2}});
        },
        "max: in and out overlap"));
    CHECK(contains(rejection([&] {
                       reduce_cuda(Reduction::mean, in.view(), {0}, {d.view().data, Shape{3}},
                                   {.path = ReducePath::vectorized});
                   }),
                   "mean: the path 'vectorized' needs contiguous lines"));
    CHECK(contains(
        rejection([&] { argmin_cuda(in.view(), 1, di.view(), {.path = ReducePath::strided}); }),
        "argmin: the path 'strided' needs lines that begin at adjacent elements"));
    const auto tree = [&] {
        argmin_cuda(in.view(), 1, di.view(), {.path = ReducePath::shared_tree});
    };
    CHECK(rejection(tree) == "argmin: the path 'shared tree' supports argmax only");
    CHECK(rejection([&] {
              reduce_cuda(Reduction::sum, in.view(), {1}, d.view(),
                          {.path = ReducePath::shared_tree});
          }) == "sum: the path 'shared tree' supports argmax only");
    CHECK(h.untouched());
    CHECK(d.untouched());
    CHECK(hi.untouched());
    CHECK(di.untouched());
}

TEST_CASE("the layout of several dimensions decides the path", "[day04][reduce][path][small]") {
    using P = ReducePath;
    const auto chosen = [](const Layout& layout, const Dims& dims, bool workspace = false) {
        return choose_reduce({nullptr, layout}, dims, workspace);
    };
    CHECK(chosen(row_major({64, 32, 32}), {1, 2}) == P::vectorized);  // one line of 1,024
    CHECK(chosen(row_major({64, 32, 32}), {0, 1}) == P::strided);     // 32 adjacent lines
    CHECK(chosen(row_major({64, 32, 32}), {0, 2}) == P::one_thread);  // two strided runs
    CHECK(chosen(row_major({64, 128, 128}), {0, 1, 2}) == P::vectorized);
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
    CHECK(std::string(gpu::last_kernel()) == "vectorized_kernel");
    reduce_cuda(Reduction::max, in.view(), {0, 1, 2}, with.view(), {.workspace = memory});
    CHECK(std::string(gpu::last_kernel()) == "split_kernel");
    CHECK(with.matches(out.values()));
    gpu::Buffer<std::byte> least(reduce_workspace_bytes(in.view(), {0, 1, 2}));
    least.fill_bytes(0);
    DeviceOut<std::int64_t> index(Shape{});
    argmin_cuda({in.view().data, Shape{64 * 128 * 4}}, 0, index.view(), {.workspace = least});
    CHECK(std::string(gpu::last_kernel()) == "split_kernel");
}

TEST_CASE("sums of larger tensors are within their error bounds", "[day04][reduce][full]") {
    check_all(numbers({4, 50257}, 31), {1}, 1);
    check_all(numbers({64, 128, 130}, 32), {1});
    check_all(numbers({64, 128, 20}, 33), {0, 2});
}

TEST_CASE("the messages of argmin and reductions name the operation, with a workspace too",
          "[day04][argmin][reduce][small]") {
    DeviceIn<float> in(distinct<float>({2, 5000}));
    const auto bytes = [&](int dim, std::optional<ReducePath> path) {
        return rejection([&] { (void)argmin_workspace_bytes(in.view(), dim, path); });
    };
    CHECK(contains(bytes(2, {}), "argmin: dim 2 asked for"));
    CHECK(contains(bytes(1, ReducePath{9}), "argmin: path 9 does not exist"));
    CHECK(contains(bytes(0, ReducePath::split), "argmin: the path 'split' needs"));
    CHECK(argmin_workspace_bytes(in.view(), 1, ReducePath::split) ==
          reduce_workspace_bytes(in.view(), {1}, ReducePath::split));
    DeviceOut<std::int64_t> index({2});
    DeviceOut<float> out({2});
    CHECK(contains(
        rejection([&] { argmin_cuda(in.view(), 1, index.view(), {.path = ReducePath::split}); }),
        "argmin: a workspace of 0 bytes"));
    CHECK(contains(rejection([&] {
                       reduce_cuda(Reduction::mean, in.view(), {1}, out.view(),
                                   {.path = ReducePath::split});
                   }),
                   "mean: a workspace of 0 bytes"));
    CHECK(rejection([&] { reduce_cuda(Reduction{5}, in.view(), {1}, out.view()); }) ==
          "reduce: reduction 5 does not exist; it must be one of: max, min, sum, mean, product");
    CHECK(index.untouched());
    CHECK(out.untouched());
}

}  // namespace
