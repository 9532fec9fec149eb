// What argmax accepts and rejects, which path it takes, which workspace that needs, and which
// memory its warps access.
#include "common/gpu/fill.hpp"
#include "common/gpu/trace.hpp"
#include "day04_argmax/argmax.hpp"
#include "day04_argmax/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day04_argmax;
using namespace sixdays::testing;

namespace {

// --- the contract --------------------------------------------------------------------------------

TEST_CASE("the dimension is removed or kept with extent 1, and may be counted from the end",
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
    // Kept, and with any strides: row 1 of a larger matrix.
    HostOut<std::int64_t> wide(Layout({2, 1, 4}, {16, 99, 3}));
    DeviceOut<std::int64_t> got(Layout({2, 1, 4}, {16, 99, 3}));
    argmax_cpu(x.view(), 1, wide.view());
    argmax_cuda(in.view(), 1, got.view());
    CHECK(got.matches(wide));
}

TEST_CASE("argmax_cpu and argmax_cuda reject invalid arguments with the same message",
          "[day04][argmax][small]") {
    const Tensor<float> x({2, 3});
    const DeviceIn<float> in(x);
    HostOut<std::int64_t> h({2}, Lead{2});
    DeviceOut<std::int64_t> d({2}, Lead{2});
    using In = View<const float>;
    using Out = View<std::int64_t>;
    const auto port = [](In a, int dim, Out out) { argmax_cuda(a, dim, out); };
    const auto rejected = [&](const auto& call, const char* words) {
        CHECK(both_reject([&] { call(x.view(), h.view(), argmax_cpu); },
                          [&] { call(in.view(), d.view(), port); }, words));
    };
    rejected([](In a, Out o, auto f) { f(a, 2, o); },
             "argmax: dim 2 asked for, but a tensor of rank 2 has dims 0 to 1, or -2 to -1");
    rejected([](In a, Out o, auto f) { f(a, -3, o); }, "argmax: dim -3 asked for");
    rejected(
        [](In a, Out o, auto f) {
            f({a.data, Layout()}, 0, o);
        },
        "argmax: dim 0 asked for, but a tensor of rank 0 has none");
    rejected(
        [](In a, Out o, auto f) {
            f({a.data, Shape{2, 0}}, 1, o);
        },
        "argmax over dim 1 of shape (2, 0): the dimension is empty");
    rejected(
        [](In a, Out o, auto f) {
            f({a.data, Shape{0, 0}}, 1, {o.data, Shape{0}});
        },
        "the dimension is empty");
    rejected([](In a, Out o, auto f) { f(a, 0, o); },
             "argmax: in has shape (2, 3), reduced over dimensions (0), so out has shape (3) or "
             "(1, 3), not (2)");
    rejected([](In a, Out o, auto f) { f(a, 1, {o.data, Shape{1, 2}}); }, "not (1, 2)");
    rejected(
        [](In a, Out o, auto f) {
            f(a, 1, {o.data, Layout({2}, {0})});
        },
        "writers of it would race");
    rejected(
        [](In a, Out o, auto f) {
            f(a, 1, {nullptr, o.layout});
        },
        "argmax: out is a null pointer");
    rejected(
        [](In a, Out o, auto f) {
            f({nullptr, a.layout}, 1, o);
        },
        "argmax: in is a null pointer, but its shape (2, 3) has 6 elements");
    rejected(
        [](In, Out o, auto f) {
            f({reinterpret_cast<const float*>(o.data), Shape{2, 1}}, 1, o);
        },
        "argmax: in and out overlap");
    CHECK(h.untouched());
    CHECK(d.untouched());
}

TEST_CASE("without outputs nothing is launched", "[day04][argmax][small]") {
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
        for (const LinePath path : kPaths)
            CHECK_NOTHROW(argmax_cuda(none, dim, out, {.path = path}));
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
    CHECK(chosen(row_major({4096, 50257}), 1) == P::vectorized);
    CHECK(chosen(row_major({4096, 50257}), 1, true) == P::vectorized);
    CHECK(chosen(row_major({1, 50257}), 1) == P::vectorized);
    CHECK(chosen(row_major({1, 50257}), 1, true) == P::split);
    CHECK(chosen(row_major({1, 8192}), 1, true) == P::split);
    CHECK(chosen(row_major({1, 8191}), 1, true) == P::vectorized);
    CHECK(chosen(row_major({1 << 20, 17}), 1) == P::short_lines);
    CHECK(chosen(row_major({100, 60}), 1) == P::short_lines);
    CHECK(chosen(row_major({100, 64}), 1) == P::vectorized);  // whole float4s only
    CHECK(chosen(row_major({100, 66}), 1) == P::short_lines);
    CHECK(chosen(row_major({100, 79}), 1) == P::short_lines);
    CHECK(chosen(row_major({100, 81}), 1) == P::vectorized);
    CHECK(chosen(Layout({100, 17}, {18, 1}), 1) == P::vectorized);  // a gap after each
    CHECK(chosen(Layout({100, 15}, {18, 1}), 1) == P::walk);
    CHECK(chosen(row_major({64, 4096, 4096}), 0) == P::strided);
    CHECK(chosen(row_major({64, 4096, 4096}), 1) == P::strided);
    CHECK(chosen(row_major({64, 4096, 4096}), 2) == P::vectorized);
    CHECK(chosen(column_major({100, 100}), 1) == P::strided);
    CHECK(chosen(column_major({100, 100}), 0) == P::vectorized);
    CHECK(chosen(row_major({15, 100}), 0) == P::walk);
    CHECK(chosen(row_major({16, 100}), 0) == P::strided);
    CHECK(chosen(row_major({100, 31}), 0) == P::warp);
    CHECK(chosen(row_major({100, 32}), 0) == P::strided);
    CHECK(chosen(flip(row_major({100, 100}), 1).layout, 1) == P::warp);
    CHECK(chosen(row_major({100, 1}), 1) == P::walk);
    CHECK(chosen(Layout({2, kLongestLine}, {0, 1}), 1) == P::vectorized);
    CHECK(chosen(Layout({2, kLongestLine + 1}, {0, 1}), 1) == P::one_thread);
    CHECK(chosen(Layout({kLongestLine + 1, 64}, {64, 1}), 0) == P::one_thread);
}

TEST_CASE("each path rejects lines that it does not support", "[day04][argmax][path][small]") {
    const DeviceIn<float> in(distinct<float>({32, 32}));
    DeviceOut<std::int64_t> out(Shape{32});
    const auto rejected = [&](LinePath path, const View<const float>& x, int dim) {
        return rejection([&] { argmax_cuda(x, dim, out.view(), {.path = path}); });
    };
    const View<const float> odd = slice(in.view(), 1, 0, 32, 2);
    CHECK(rejected(LinePath::vectorized, transpose(in.view()), 1) ==
          "argmax: the path 'vectorized' needs contiguous lines, of at most 2^32 - 65536 elements; "
          "the "
          "lines have shape (32), strides (32), and begin at shape (32), strides (1)");
    CHECK(
        contains(rejected(LinePath::short_lines, odd, 1), "'short lines' needs lines of at most"));
    CHECK(contains(rejected(LinePath::strided, in.view(), 1),
                   "lines that begin at adjacent elements"));
    CHECK(contains(rejected(LinePath::split, odd, 1), "contiguous lines, at most 1024 of them"));
    if (gpu::has_tile()) {
        const auto by_tile = [&](const Layout& layout, int dim) {
            return rejected(LinePath::tile, {in.view().data + 1023, layout}, dim);
        };
        const std::string none =
            "argmax: the path 'tile' needs lines of one stride, and no negative stride, for CUDA "
            "Tile C++ takes strides for sizes; the lines have shape (32), strides (";
        CHECK(contains(by_tile({{32, 32}, {-32, 1}}, 1), none + "1)"));   // lines reversed
        CHECK(contains(by_tile({{32, 32}, {32, -1}}, 1), none + "-1)"));  // elements reversed
        CHECK(contains(rejection([&] {
                           require_path("sum", LinePath::tile, {{}, Layout({3, 5}, {7, 1})});
                       }),
                       "sum: the path 'tile' needs lines of one stride"));
        // It supports everything else: any dimensions of lines, any stride including 0, and unused
        // strides below 0.
        const auto taken = [](const Layout& first, const Layout& along) {
            return takes(LinePath::tile, {{nullptr, first}, along});
        };
        CHECK(taken(row_major({2, 3, 4, 5, 6}), Layout({7}, {720})));
        CHECK(taken(Layout({5, 4}, {0, 3}), Layout({7}, {0})));
        CHECK(taken(Layout({1, 4}, {-9, 3}), Layout({1}, {-1})));
        CHECK(taken(Layout(), Layout({kLongestLine + 1}, {1})));
        CHECK(taken(row_major({std::int64_t{1} << 31}), Layout({3}, {0})));
        CHECK_FALSE(taken(Layout({2, 5, 4}, {99, -9, 3}), Layout({7}, {1})));
    }
    CHECK(contains(rejected(LinePath::split, in.view(), 1),
                   "argmax: a workspace of 0 bytes at a null pointer was given, but"));
    const Lines endless = {{}, Layout({kLongestLine + 1}, {1})};
    for (const LinePath path : {LinePath::walk, LinePath::shared_tree, LinePath::warp}) {
        CHECK(contains(rejection([&] { require_path("argmax", path, endless); }),
                       "at most 2^32 - 65536 elements; the lines have"));
    }
    const Lines too_many = {{nullptr, row_major({std::int64_t{1} << 31})}, Layout({3}, {0})};
    CHECK(contains(rejection([&] { require_path("argmax", LinePath::shared_tree, too_many); }),
                   "'shared tree' needs at most 2^31 - 1 lines of one stride"));
    CHECK(takes(LinePath::walk, too_many));
    CHECK(out.untouched());
}

TEST_CASE("a workspace has room for every part, and no more", "[day04][argmax][workspace][small]") {
    const auto bytes = [](const Shape& shape) {
        return argmax_workspace_bytes({nullptr, row_major(shape)}, 1);
    };
    CHECK(bytes({4096, 50257}) == 0);
    CHECK(bytes({1, 8191}) == 0);
    const std::int64_t counters = gpu::Carver::kCounterBytes;
    CHECK(bytes({1, 50257}) == counters + 50 * 8);  // 50 parts of 8 bytes
    // What a path needs even if it is never chosen, and paths that need nothing.
    const auto by = [](const Shape& shape, LinePath path) {
        return argmax_workspace_bytes({nullptr, row_major(shape)}, 1, path);
    };
    CHECK(by({4096, 50257}, LinePath::vectorized) == 0);
    CHECK(by({1, 50257}, LinePath::one_thread) == 0);
    CHECK(by({2, 100}, LinePath::split) == counters + 2 * 8);
    CHECK(by({8, 50257}, LinePath::split) == counters + 8 * 50 * 8);
    CHECK(by({200, 10000}, LinePath::split) == counters + 200 * 5 * 8);  // 1,024 blocks for all 200
    CHECK(by({0, 10000}, LinePath::split) == 0);  // no rows: nothing, whatever the path
    CHECK(bytes({0, 10000}) == 0);
    CHECK(reduce_workspace_bytes({nullptr, Shape{0, 10000}}, {1}, LinePath::split) == 0);
    CHECK(reduce_workspace_bytes({nullptr, Shape{3, 100}}, {1}, LinePath::split) ==
          counters + 3 * 8);
    // Rejections name the operation.
    CHECK(rejection([&] {
              (void)by({1025, 50257}, LinePath::split);
          }) ==
          "argmax: the path 'split' needs contiguous lines, at most 1024 of them; the lines have "
          "shape (50257), strides (1), and begin at shape (1025), strides (50257)");
    CHECK(rejection([&] {
              (void)bytes({3, 0});
          }) == "argmax over dim 1 of shape (3, 0): the dimension is empty");
    CHECK(contains(rejection([&] { (void)bytes({3}); }), "argmax: dim 1 asked for"));
    CHECK(contains(rejection([&] {
                       (void)reduce_workspace_bytes({nullptr, Shape{3, 4}}, {1, 1});
                   }),
                   "reduce: dim 1 is named twice in (1, 1)"));
    CHECK(parts_of(lines_of("test", {nullptr, row_major({1, 1 << 28})}, {1})) == 1024);
    CHECK(parts_of(lines_of("test", {nullptr, row_major({263, 1 << 20})}, {1})) == 3);
    CHECK(parts_of(lines_of("test", {nullptr, row_major({1, 1025})}, {1})) == 2);

    const Tensor<float> x = seeded_integers<float>({2, 9000}, 1, 0, 50);
    const DeviceIn<float> in(x);
    gpu::Buffer<std::byte> memory(argmax_workspace_bytes(in.view(), 1));
    memory.fill_bytes(0);
    for (int run = 0; run < 3; ++run) {
        DeviceOut<std::int64_t> out(Shape{2});
        argmax_cuda(in.view(), 1, out.view(), {.workspace = memory});
        CHECK(out.matches(second_formula(x.view(), 1)));
        CHECK(std::string(gpu::last_kernel()) == "split_kernel");
    }
    gpu::Buffer<std::byte> less(memory.size() - 1);
    DeviceOut<std::int64_t> untouched(Shape{2});
    CHECK(contains(
        rejection([&] { argmax_cuda(in.view(), 1, untouched.view(), {.workspace = less}); }),
        std::to_string(less.size()) + " bytes was given, but " + std::to_string(memory.size()) +
            " are needed"));
    CHECK(untouched.untouched());
}

// --- which memory the warps access ---------------------------------------------------------------

TEST_CASE("sectors of the steps equal a hand count", "[day04][argmax][trace][kernels][small]") {
    const DeviceIn<float> in(distinct<float>({64, 256}));
    const auto touched = [&](LinePath path, int dim) {
        Memory memory(lines_of("test", in.view(), {dim}));
        DeviceOut<std::int64_t> out(Shape{dim == 0 ? 256 : 64});
        return gpu::touched([&] {
            argmax_cuda(in.view(), dim, out.view(),
                        {.path = path, .workspace = memory.workspace()});
        });
    };
    const auto twin = touched(LinePath::one_thread, 1);
    CHECK(twin.has_value() == gpu::is_emulated());
    if (!twin) return;
    // Reads: 64 * 256 floats. One lane per line: each load of a warp touches 32 sectors, one
    // per lane.
    const std::int64_t writes1 = 64 * 8 / 32, writes0 = 256 * 8 / 32;
    CHECK(twin->sectors == 64 * 256 + writes1);
    CHECK(touched(LinePath::one_thread, 0)->sectors == 64 * 256 / 8 + writes0);
    for (const LinePath path : {LinePath::shared_tree, LinePath::warp}) {
        CHECK(touched(path, 1)->sectors == 64 * 256 / 8 + 64);  // each line stores separately
    }
    CHECK(touched(LinePath::strided, 0)->sectors == 64 * 256 / 8 + writes0);
    // Path vectorized: 8 lanes per line, so a warp has 4 lines: 8 loads, then the float4 that won,
    // one element after another, and the 4 indices in one sector.
    const auto vectors = touched(LinePath::vectorized, 1);
    CHECK(vectors->sectors == 64 * 256 / 8 + 64 * 4 + 64 / 4);
    CHECK(vectors->requests == 64 / 4 * (256 / 32 + 4 + 1));
}

TEST_CASE("short lines are read without bank conflicts", "[day04][argmax][trace][kernels][small]") {
    for (const std::int64_t n : {12, 16, 17, 18, 24, 32}) {
        const DeviceIn<float> in(distinct<float>({128, n}));
        DeviceOut<std::int64_t> out(Shape{128});
        const auto touched = gpu::touched(
            [&] { argmax_cuda(in.view(), 1, out.view(), {.path = LinePath::short_lines}); });
        CHECK(touched.has_value() == gpu::is_emulated());
        if (!touched) return;
        CAPTURE(n);
        CHECK(touched->sectors == 128 * n / 8 + 128 / 4);
        CHECK(touched->passes == touched->fewest_passes);
    }
}

}  // namespace
