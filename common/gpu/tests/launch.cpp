// Grid sizes (through kernels.cu, since launch.hpp is for .cu files), single blocks of a grid, the
// arguments of a launch, and graphs.
#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <set>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/gpu/error.hpp"
#include "common/gpu/graph.hpp"
#include "common/gpu/tests/kernels.hpp"
#include "common/gpu/trace.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::testing;
using gpu::tests::blocks_at_most;
using gpu::tests::blocks_for;

TEST_CASE("blocks_for covers every item with the fewest blocks", "[gpu][small]") {
    CHECK(blocks_for(0, 256) == 0);
    CHECK(blocks_for(1, 256) == 1);
    CHECK(blocks_for(255, 256) == 1);
    CHECK(blocks_for(256, 256) == 1);
    CHECK(blocks_for(257, 256) == 2);
    CHECK(blocks_for(1000, 1) == 1000);
    bool fewest = true;
    for (std::int64_t items = 1; items < 200; ++items) {
        for (int threads = 1; threads < 50; ++threads) {
            const std::int64_t n = blocks_for(items, threads);
            fewest = fewest && n * threads >= items && (n - 1) * threads < items;
        }
    }
    CHECK(fewest);
}

TEST_CASE("blocks_for accepts up to the limit of grid.x, without overflow", "[gpu][small]") {
    const std::int64_t most = (std::int64_t{1} << 31) - 1;
    CHECK(blocks_for(most, 1) == most);
    CHECK(blocks_for(most * 256, 256) == most);
    CHECK(rejection([&] { (void)blocks_for(most * 256 + 1, 256); }) ==
          "549755813633 items in blocks of 256 threads need 2147483648 blocks, but a grid has at "
          "most 2147483647");
    CHECK(contains(rejection([] { (void)blocks_for(INT64_MAX, 1024); }),
                   "9223372036854775807 items"));
    CHECK(
        contains(rejection([] { (void)blocks_for(INT64_MAX, 1); }), "9223372036854775807 blocks"));
    CHECK(rejection([] { (void)blocks_for(-1, 256); }) ==
          "-1 items in blocks of 256 threads were asked for");
    CHECK(rejection([] { (void)blocks_for(1, 0); }) ==
          "1 items in blocks of 0 threads were asked for");
}

TEST_CASE("blocks_at_most covers all items, up to the maximum", "[gpu][small]") {
    for (const unsigned most : {1u, 7u, 65535u, 4294967295u}) {
        CAPTURE(most);
        CHECK(blocks_at_most(0, 8, most) == 0);
        CHECK(blocks_at_most(8, 8, most) == 1);
        CHECK(blocks_at_most(8 * std::int64_t{most} - 7, 8, most) == most);
        CHECK(blocks_at_most(8 * std::int64_t{most} + 1, 8, most) == most);
        CHECK(blocks_at_most(INT64_MAX, 1, most) == most);
    }
    CHECK(blocks_at_most(9, 8, 65535) == 2);
    CHECK(contains(rejection([] { (void)blocks_at_most(-1, 8, 7); }), "-1 items"));
}

TEST_CASE("run_last_block runs it alone, if each element has one thread", "[gpu][small]") {
    gpu::Buffer<float> out(1000);
    out.fill_bytes(0);
    const auto launch = [&] { gpu::tests::fill(out.view(Shape{1000}), 7); };
    CHECK_FALSE(gpu::run_last_block(1025, launch));  // four blocks of 256 threads
    CHECK_FALSE(gpu::run_last_block(768, launch));
    CHECK(out.download() == std::vector<float>(1000, 0));
    CHECK(gpu::run_last_block(769, launch) == gpu::is_emulated());
    CHECK(gpu::run_last_block(1024, launch) == gpu::is_emulated());
    std::vector<float> want(1000, 0);
    if (gpu::is_emulated()) std::fill(want.begin() + 768, want.end(), 7.0f);
    CHECK(out.download() == want);
    launch();  // all blocks again
    CHECK(out.download() == std::vector<float>(1000, 7));
}

TEST_CASE("blocks run in other orders, each exactly once", "[gpu][small]") {
    std::vector<int> in_turn(50);
    std::iota(in_turn.begin(), in_turn.end(), 0);
    std::set<std::vector<int>> orders;
    int runs = 0;
    const auto launch = [&] {
        gpu::Buffer<int> turn(50), next(1);
        next.fill_bytes(0);
        gpu::tests::number_turns(turn.view(Shape{50}), next.view(Shape{1}));
        std::vector<int> order = turn.download();
        orders.insert(order);
        ++runs;
        std::sort(order.begin(), order.end());
        CHECK(order == in_turn);
    };
    gpu::run_in_other_orders(launch);
    CHECK(runs == (gpu::is_emulated() ? 4 : 1));
    if (!gpu::is_emulated()) return;
    CHECK(orders.size() == 4);
    CHECK(orders.count(in_turn) == 0);
    CHECK_THROWS_AS(gpu::run_in_other_orders([] { throw 1; }), int);
    launch();  // forward again
    CHECK(orders.count(in_turn) == 1);
}

TEST_CASE("launched_with finds the arguments of the last launch", "[gpu][small]") {
    gpu::Buffer<float> out(6);
    const View<float> view = out.view(Shape{2, 3});
    gpu::tests::fill(view, 7);
    gpu::synchronize();
    const auto given = [](const auto& bytes) { return gpu::launched_with(&bytes, sizeof(bytes)); };
    const std::int64_t strides[2] = {3, 1}, other[2] = {1, 3};
    const float value = 7, no_value = 8;
    for (const auto& yes : {given(view.data), given(strides), given(value)}) {
        CHECK(yes == (gpu::is_emulated() ? std::optional<bool>(true) : std::nullopt));
    }
    for (const auto& no : {given(other), given(no_value)}) {
        CHECK(no == (gpu::is_emulated() ? std::optional<bool>(false) : std::nullopt));
    }
}

TEST_CASE("tiles of dynamic shared memory are consecutive and aligned", "[gpu][small]") {
    for (const std::int64_t n : {1, 31, 250}) {
        Tensor<float> numbers({n}), expected({n});
        Tensor<unsigned char> weights({n});
        for (std::int64_t i = 0; i < n; ++i) {
            numbers.data()[i] = static_cast<float>(i + 1);
            weights.data()[i] = static_cast<unsigned char>(i % 7 + 1);
            expected.data()[i] = static_cast<float>((i % 7 + 1) * (n - i));
        }
        const DeviceIn<float> in(numbers);
        const DeviceIn<unsigned char> by(weights);
        DeviceOut<float> out({n});
        gpu::tests::reverse_in_tiles(in.view(), by.view(), out.view());
        CHECK(out.matches(expected));
    }
}

TEST_CASE("a graph computes what its launches do, with early starts too", "[gpu][small]") {
    constexpr std::int64_t n = 100'000;  // more blocks than run at once
    constexpr int kLaunches = 41;
    const Tensor<float> zeros({n});
    Tensor<float> want({n});
    for (std::int64_t i = 0; i < n; ++i) want(i) = kLaunches;
    for (const gpu::Start start : {gpu::Start::after_end, gpu::Start::early}) {
        gpu::Buffer<float> a(zeros), b(zeros);
        const auto work = [&](gpu::Stream stream) {
            for (int i = 0; i < kLaunches; ++i) {
                auto &from = i % 2 == 0 ? a : b, &to = i % 2 == 0 ? b : a;
                gpu::tests::pass_on(from.view({n}), to.view({n}), stream);
            }
        };
        gpu::Graph graph(work, start);
        CHECK(equal(Tensor<float>({n}, b.download()).view(), zeros.view()));  // nothing ran yet
        graph.launch();
        CHECK(equal(Tensor<float>({n}, b.download()).view(), want.view()));
    }
}

TEST_CASE("during graph capture, every other device operation fails", "[gpu][small]") {
    gpu::Buffer<float> a(Tensor<float>({8})), b(Tensor<float>({8}));
    const float number = 1;
    const auto rejected = [](const std::function<void(gpu::Stream)>& work) {
        try {
            gpu::Graph graph(work);
        } catch (const gpu::Error& error) {
            return std::string(error.what());
        }
        return std::string("was not rejected");
    };
    const std::string capture = "cudaErrorStreamCapture";
    CHECK(contains(rejected([&](gpu::Stream) { a.upload(&number, 1); }), capture));
    CHECK(contains(rejected([&](gpu::Stream) { gpu::Buffer<float> more(4); }), capture));
    CHECK(contains(rejected([&](gpu::Stream) { gpu::synchronize(); }), capture));
    CHECK(
        contains(rejected([&](gpu::Stream) { gpu::tests::pass_on(a.view({8}), b.view({8}), {}); }),
                 capture));
    // Capture works again after these failures.
    gpu::Graph graph([&](gpu::Stream s) { gpu::tests::pass_on(a.view({8}), b.view({8}), s); });
    a.upload(&number, 1);
    graph.launch();
    CHECK(b.download()[7] == 2);
}

TEST_CASE("run_rejected makes launches fail until it returns", "[gpu][small]") {
    gpu::Buffer<float> a(Tensor<float>({8})), b(Tensor<float>({8}));
    const auto launch = [&] { gpu::tests::pass_on(a.view({8}), b.view({8}), {}); };
    bool noticed = false;
    const bool ran = gpu::run_rejected([&] {
        try {
            launch();
        } catch (const gpu::Error&) {
            noticed = true;
        }
    });
    CHECK(ran == gpu::is_emulated());
    CHECK(noticed == ran);
    CHECK(b.download()[7] == 0);
    REQUIRE_NOTHROW(launch());
    REQUIRE_NOTHROW(gpu::synchronize());
    CHECK(b.download()[7] == 1);
}

TEST_CASE("launching a graph whose memory was freed is reported", "[gpu][small]") {
    if (!gpu::is_emulated()) {  // a GPU would write to freed memory
        SUCCEED("only the emulator knows what was freed");
        return;
    }
    gpu::Buffer<float> a(Tensor<float>({8}));
    std::optional<gpu::Graph> graph;
    {
        gpu::Buffer<float> b(Tensor<float>({8}));
        graph.emplace([&](gpu::Stream s) { gpu::tests::pass_on(a.view({8}), b.view({8}), s); });
    }
    const auto message = [&] {
        try {
            graph->launch();
            gpu::synchronize();
        } catch (const gpu::Error& error) {
            return std::string(error.what());
        }
        return std::string("was not noticed");
    }();
    CHECK(contains(message, "freed"));
}
