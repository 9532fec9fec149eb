// Properties of all launchers: which arguments they reject, what memory their warps access, and
// that they do nothing but launch.
#include <functional>
#include <type_traits>
#include "day01_flat_memory/tests/helpers.hpp"

#include "common/gpu/graph.hpp"
#include "common/gpu/trace.hpp"

using namespace sixdays;
using namespace sixdays::day01_flat_memory;
using namespace sixdays::testing;

namespace {

TEST_CASE("elementwise CPU references and kernels reject the same arguments with the same message",
          "[day01][elementwise][small]") {
    Tensor<float> x({2, 3}), y({2, 3}), wide({3, 2}), out({2, 3}), run({9});
    const auto both = [](View<const float> a, View<const float> b, View<float> o,
                         const char* words) {
        return both_reject([&] { add_cpu(a, b, o); }, [&] { add_cuda(a, b, o); }, words);
    };
    CHECK(both(x.view(), wide.view(), out.view(),
               "add: b has shape (3, 2), but out has shape (2, 3); they must be equal"));
    CHECK(both({nullptr, Shape{2, 3}}, y.view(), out.view(),
               "add: a is a null pointer, but its shape (2, 3) has 6 elements"));
    CHECK(
        both(x.view(), {y.data(), Layout({2, 3}, {1, 2})}, out.view(),
             "add: b has shape (2, 3), strides (1, 2), which is not contiguous; row-major strides "
             "would be (3, 1)"));
    const View<float> low(run.data(), Shape{8}), high(run.data() + 1, Shape{8});
    CHECK(both(low, low, high, "add: a and out overlap without being the same tensor"));
}

TEST_CASE("every warp access is one coalesced request with all 32 lanes active", "[day01][small]") {
    // By hand, for 1,024 aligned floats: 32 warps. A request of a warp for 32 floats is 4 sectors
    // of 32 bytes, one for 32 float4s is 16 sectors, and one for 32 bytes is 1 sector.
    const std::int64_t n = 1024;
    const Tensor<float> a = distinct<float>({n}), b = distinct<float>({n}, 7);
    const DeviceIn<float> da(a), db(b);
    DeviceOut<float> out({n});
    DeviceOut<float> matrix({16, 64}), cube({4, 8, 32}), scores({2, 2, 8, 32});
    DeviceOut<std::uint8_t> picture({16, 64}), negative({n});
    const DeviceIn<std::uint8_t> bytes(distinct<std::uint8_t>({n}));
    struct Touches {
        std::string name;
        std::function<void()> launch;
        std::int64_t requests, sectors;
    };
    std::vector<Touches> ports = {
        {"indices2", [&] { indices_cuda(64, matrix.view(), {.path = IndicesPath::one_element}); },
         32, 128},
        {"indices3", [&] { indices_cuda(32, cube.view(), {.path = IndicesPath::one_element}); }, 32,
         128},
        {"indices4", [&] { indices_cuda(32, scores.view(), {.path = IndicesPath::one_element}); },
         32, 128},
        {"indices2, vectors", [&] { indices_cuda(64, matrix.view()); }, 8, 128},
        {"indices4, vectors", [&] { indices_cuda(32, scores.view()); }, 8, 128},
        {"picture", [&] { picture_cuda({}, picture.view()); }, 32, 32},
        // 64 vectors of 16 bytes: 2 warps.
        {"invert", [&] { invert_cuda(bytes.view(), negative.view()); }, 2 * 2, 2 * 32},
    };
    const std::vector<Operation> all = operations(3);
    for (const Operation& op : all) {
        const std::int64_t arrays = op.inputs + 1;
        const auto launch = [&](AskedPath path) {
            return [&, path] { op.port(path, da.view(), db.view(), out.view(), {}); };
        };
        ports.push_back({op.name, launch(nullptr), arrays * 8, arrays * 128});
        for (const ElementwisePath& path : kElementwisePaths) {  // tile kernels have no warps
            ports.push_back({std::string(op.name) + ", " + name(path), launch(&path),
                             arrays * (needs_vectors(&path) ? 8 : 32), arrays * 128});
        }
    }
    for (const auto& port : ports) {
        CAPTURE(port.name);
        const auto touched = gpu::touched(port.launch);
        CHECK(touched.has_value() == gpu::is_emulated());  // a GPU does not count accesses
        if (!touched) continue;
        CHECK(touched->requests == port.requests);
        CHECK(touched->accesses == 32 * port.requests);
        CHECK(touched->sectors == port.sectors);
        CHECK(touched->fewest_sectors == port.sectors);
    }
}

TEST_CASE("a grid has the fewest blocks that cover the elements, or fill the device",
          "[day01][small]") {
    // By hand: 1,000,000 elements are 3,907 blocks of 256 threads with one element each, 977 with
    // four, and 489 with eight. A full device has eight such blocks per SM.
    const std::int64_t n = 1000000, full = 8 * gpu::multiprocessors();
    gpu::Buffer<float> x(n), y(n), to(n);
    gpu::Buffer<std::uint8_t> image(50 * 70);
    x.fill_bytes(0), y.fill_bytes(0);
    const auto check = [](std::int64_t blocks, const std::function<void()>& launch) {
        if (!gpu::run_only_blocks(0, 0, launch)) launch();
        CHECK(gpu::threads_launched().value_or(256 * blocks) == 256 * blocks);
    };
    for (const Operation& op : operations(3)) {
        const auto by = [&](ElementwisePath path, std::int64_t count, std::int64_t blocks) {
            CAPTURE(op.name, name(path));
            const Shape shape{count};
            check(blocks,
                  [&] { op.port(&path, x.view(shape), y.view(shape), to.view(shape), {}); });
        };
        by(ElementwisePath::one_element, n, 3907);
        by(ElementwisePath::grid_stride, n, full);
        by(ElementwisePath::grid_stride, 257, 2);
        by(ElementwisePath::vectorized, n, 977);
        by(ElementwisePath::any_address, n, op.inputs == 2 ? 977 : 489);
    }
    // 70 columns are three blocks of 32, and 50 rows seven blocks of eight.
    const auto one = IndicesPath::one_element;
    check(3 * 7, [&] { picture_cuda({}, image.view({50, 70})); });
    check(3 * 7, [&] { indices_cuda(70, to.view({50, 70}), {.path = one}); });
    check(3 * 7 * 9, [&] { indices_cuda(70, to.view({9, 50, 70}), {.path = one}); });
    check(9, [&] { indices_cuda(70, to.view({2, 2, 8, 70}), {.path = one}); });
    check(4, [&] { indices_cuda(70, to.view({50, 68})); });  // 850 float4
}

TEST_CASE("every launcher does nothing but launch, on the given stream", "[day01][small]") {
    // During capture nothing may run, allocate, copy or synchronize, on this stream or another.
    const std::int64_t n = 1000;
    const Tensor<float> a = distinct<float>({n}), b = distinct<float>({n}, 7);
    const DeviceIn<float> da(a), db(b);
    HostOut<float> want({n}), cube({7, 5, 3}), scores({2, 3, 4, 8}), matrix({9, 33});
    HostOut<std::uint8_t> pixels({9, 33});
    const auto check = [&](auto& expected, const auto& launch) {
        auto got =
            DeviceOut<std::decay_t<decltype(*expected.view().data)>>(expected.view().layout.shape);
        if (gpu::is_emulated()) {  // it has no graphs and runs kernels at once
            launch(got.view(), nullptr);
        } else {
            gpu::Graph graph([&](gpu::Stream stream) { launch(got.view(), stream); });
            CHECK(got.untouched());
            graph.launch();
        }
        CHECK(got.matches(expected));
    };
    for (const Operation& op : operations(3)) {
        op.loop(a.view(), b.view(), want.view());
        for (const ElementwisePath& path : elementwise_paths()) {
            CAPTURE(op.name, name(path));
            check(want, [&](auto out, auto stream) {
                op.port(&path, da.view(), db.view(), out, stream);
            });
        }
    }
    for (HostOut<float>* out : {&matrix, &cube, &scores}) {
        indices_cpu(64, out->view());
        check(*out, [&](auto got, auto stream) { indices_cuda(64, got, {.stream = stream}); });
    }
    picture_cpu({}, pixels.view());
    check(pixels, [&](auto out, auto stream) { picture_cuda({}, out, stream); });
    const Tensor<std::uint8_t> grey = distinct<std::uint8_t>({9, 33});
    const DeviceIn<std::uint8_t> dgrey(grey), dgrey1(grey, Lead{1});
    invert_cpu(grey.view(), pixels.view());
    check(pixels,
          [&](auto out, auto stream) { invert_cuda(dgrey.view(), out, {.stream = stream}); });
    check(pixels,
          [&](auto out, auto stream) { invert_cuda(dgrey1.view(), out, {.stream = stream}); });
}

}  // namespace
