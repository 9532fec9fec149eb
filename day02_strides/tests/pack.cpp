// pack: the CPU reference against results by hand, every path against the CPU reference.
#include "day02_strides/pack.hpp"

#include "common/gpu/buffer.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/packings.hpp"
#include "day02_strides/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;
using namespace sixdays::testing;

namespace {

using P = PackPath;

// The paths that support any layout of fewer than 2^31 elements, and the default: float4 where
// possible.
struct Step {
    const char* name;
    std::function<void(View<const float>, View<float>, gpu::Stream)> pack;
};
Step by(P path) {
    return {name(path),
            [path](auto in, auto out, auto s) { pack_cuda(in, out, {.path = path, .stream = s}); }};
}
const Step kChosen = {"pack_cuda",
                      [](auto in, auto out, auto s) { pack_cuda(in, out, {.stream = s}); }};
const Step kTile = {"tile, where it can", [](auto in, auto out, auto s) {
                        const bool can = gpu::has_tile() && can_pack(P::tile, in, out);
                        pack_cuda(in, out, {.path = can ? P::tile : P::any_size, .stream = s});
                        if (!can || out.size() == 0) return;
                        CHECK(std::string(gpu::last_kernel()) == "pack_tile");
                    }};
const Step kLadder[] = {
    by(P::any_size), by(P::fast_division), by(P::by_rank), by(P::in_flight), kChosen, kTile};

TEST_CASE("pack gives the results worked by hand", "[day02][pack][small]") {
    const Tensor<float> memory({6}, {1, 2, 3, 4, 5, 6});
    const struct {
        const char* what;
        std::int64_t first;
        Layout layout;
        Tensor<float> answer;
    } cases[] = {
        {"row-major (2, 3)", 0, row_major({2, 3}), {{2, 3}, {1, 2, 3, 4, 5, 6}}},
        {"column-major (2, 3)", 0, column_major({2, 3}), {{2, 3}, {1, 3, 5, 2, 4, 6}}},
        {"column-major (3, 2)", 0, column_major({3, 2}), {{3, 2}, {1, 4, 2, 5, 3, 6}}},
        {"rows reversed", 3, Layout({2, 3}, {-3, 1}), {{2, 3}, {4, 5, 6, 1, 2, 3}}},
        {"all reversed", 5, Layout({6}, {-1}), {{6}, {6, 5, 4, 3, 2, 1}}},
        {"a row, twice", 0, Layout({2, 3}, {0, 1}), {{2, 3}, {1, 2, 3, 1, 2, 3}}},
        {"(2, 2) with a pitch of 3", 1, Layout({2, 2}, {3, 1}), {{2, 2}, {2, 3, 5, 6}}},
        {"every second", 1, Layout({3}, {2}), {{3}, {2, 4, 6}}},
        {"rank 0", 4, Layout(), {Shape{}, {5}}},
    };
    const DeviceIn<float> device(memory);
    for (const auto& c : cases) {
        CAPTURE(c.what);
        HostOut<float> loop(c.layout.shape);
        pack_cpu(View<const float>(memory.data() + c.first, c.layout), loop.view());
        CHECK(loop.matches(c.answer));
        for (const Step& step : kLadder) {
            CAPTURE(step.name);
            DeviceOut<float> got(c.layout.shape);
            step.pack({device.view().data + c.first, c.layout}, got.view(), {});
            CHECK(got.matches(c.answer));
        }
    }
}

TEST_CASE("pack chooses its path by the number of elements or vectors", "[day02][pack][small]") {
    alignas(16) static float memory[16];
    const auto path = [&](const Layout& layout) {
        return choose_pack({memory, layout}, {memory + 8, layout.shape});
    };
    CHECK(path(Layout({2, 4, 2, 2}, {8, 16, 2, 1})) == P::vectorized);  // the last two merge to 4
    CHECK(path(row_major({3 * kTwo31})) == P::vectorized);
    CHECK(path(row_major({4 * kTwo31 - 4})) == P::vectorized);  // 2^31 - 1 of them
    CHECK(path(row_major({4 * kTwo31})) == P::any_size);
    CHECK(path(Layout({kTwo31 - 1}, {2})) == P::in_flight);
    CHECK(path(Layout({kTwo31}, {2})) == P::any_size);
    CHECK(path(Layout({3, kTwo31}, {0, 1})) == P::vectorized);  // 1.6e9 float4
    CHECK(path(Layout({4, kTwo31}, {0, 1})) == P::any_size);
}

TEST_CASE("pack: a path rejects a layout that it does not support", "[day02][pack][small]") {
    alignas(16) static float memory[48];
    const View<float> out(memory + 16, Shape{4, 8});
    CHECK(rejection([&] {
              pack_cuda({memory + 1, Layout({4, 8}, {0, 1})}, out, {.path = P::vectorized});
          }) ==
          "pack: shape (4, 8), strides (0, 1), 4 bytes past a multiple of 16, cannot be packed "
          "by the path \"vectorized\" to an address 0 bytes past one");
    const View<const float> far(memory, Layout({kTwo31}, {0}));
    const View<float> all(memory + 4, Shape{kTwo31});
    for (const P path : {P::fast_division, P::by_rank, P::in_flight, P::vectorized}) {
        CAPTURE(name(path));
        CHECK(!can_pack(path, far, all));
        CHECK(rejection([&] { pack_cuda(far, all, {.path = path}); }).find(name(path)) !=
              std::string::npos);
    }
    CHECK(can_pack(P::any_size, far, all));
    CHECK(can_pack(P::by_rank, {memory, Layout({kTwo31 - 1}, {0})}, {memory, Shape{kTwo31 - 1}}));
    const Layout five({2, 2, 2, 2, 2}, {101, 50, 21, 9, 2});
    static float apart[200];
    CHECK(rejection([&] {
              check_pack({apart, five}, {memory, five.shape}, P::tile);
          }) ==
          "pack: the path \"tile\" takes at most 4 dimensions and no negative stride, for CUDA "
          "Tile C++ takes strides for sizes; in has shape (2, 2, 2, 2, 2), strides (101, 50, "
          "21, 9, 2), simplified shape (2, 2, 2, 2, 2), strides (101, 50, 21, 9, 2)");
}

TEST_CASE("pack ignores the stride of a dimension of extent 1", "[day02][pack][small]") {
    const Tensor<float> x = distinct<float>({12});
    const DeviceIn<float> dx(x);
    for (const std::int64_t any : {std::int64_t{0}, std::int64_t{-5}, INT64_MAX, INT64_MIN}) {
        const Layout layout({3, 1, 4}, {4, any, 1}), one({1}, {any});
        CAPTURE(any);
        for (const Step& step : kLadder) {
            CAPTURE(step.name);
            DeviceOut<float> got(layout.shape), first({1});
            step.pack({dx.view().data, layout}, got.view(), {});
            CHECK(
                got.matches(Tensor<float>(layout.shape, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})));
            step.pack({dx.view().data, one}, first.view(), {});
            CHECK(first.matches(Tensor<float>({1}, {1})));
        }
    }
}

TEST_CASE("pack: requests and sectors of every path equal a hand count", "[day02][pack][small]") {
    // By hand. 1,024 floats are 128 sectors, read and written: 32 requests each by scalar accesses,
    // 8 by float4. A read of a transposed (32, 32) touches 32 sectors, one per lane.
    const DeviceIn<float> memory(distinct<float>({4096}));
    DeviceOut<float> out({2048});
    const Layout permuted({4, 4, 64}, {64, 256, 1}), full_block({32, 64}, {128, 1});
    const struct {
        Step step;
        Layout layout;
        std::int64_t requests, sectors;
    } cases[] = {{by(P::any_size), permuted, 2 * 32, 2 * 128},
                 {by(P::fast_division), permuted, 2 * 32, 2 * 128},
                 {by(P::by_rank), permuted, 2 * 32, 2 * 128},
                 {by(P::in_flight), full_block, 2 * 64, 2 * 256},
                 {by(P::vectorized), full_block, 2 * 16, 2 * 256},
                 {kChosen, row_major({2048}), 2 * 16, 2 * 256},
                 {by(P::any_size), column_major({32, 32}), 2 * 32, 32 * 32 + 128}};
    for (const auto& c : cases) {
        CAPTURE(c.step.name);
        check_touched(c.requests, c.sectors, [&] {
            c.step.pack({memory.view().data, c.layout}, {out.view().data, c.layout.shape}, {});
        });
    }
}

TEST_CASE("pack does nothing but launch, on the given stream", "[day02][pack][small]") {
    const Layout layout({5, 7, 8}, {8, 48, 1});  // permuted and pitched rows of 8 elements
    const Tensor<float> values = distinct<float>(layout.shape);
    const DeviceIn<float> in(values, layout);
    for (const Step& step : kLadder) {
        CAPTURE(step.name);
        check_only_launches(values, [&](auto out, auto s) { step.pack(in.view(), out, s); });
    }
}

TEST_CASE("pack is correct past 2^32 elements", "[day02][pack][huge]") {
    // One row, broadcast: 255 and 256 floats, so that both 64-bit indices and float4 are used.
    need_device_memory(4 * (2 * kTwo31 + 4096));
    for (const std::int64_t K : {std::int64_t{255}, std::int64_t{256}}) {
        const std::int64_t M = 2 * kTwo31 / K + 3, n = M * K;
        const Tensor<float> row = distinct<float>({K});
        const gpu::Buffer<float> in(row);
        gpu::Buffer<float> out(n);
        out.fill_bytes(0xff);
        const View<const float> rows(in.data(), Layout({M, K}, {0, 1}));
        CHECK(choose_pack(rows, out.view({M, K})) == (K == 256 ? P::vectorized : P::any_size));
        pack_cuda(rows, out.view({M, K}));
        for (const std::int64_t at : {std::int64_t{0}, kTwo31 - K, 2 * kTwo31 - K, n - 2 * K}) {
            const std::vector<float> got = out.download(at, 2 * K);
            bool ok = true;
            for (std::int64_t i = 0; i < 2 * K; ++i) {
                ok &= got[static_cast<std::size_t>(i)] == row.data()[(at + i) % K];
            }
            CAPTURE(K, at);
            CHECK(ok);
        }
    }
}

TEST_CASE("pack is correct for rows more than 2^32 elements apart", "[day02][pack][huge]") {
    const std::int64_t apart = 2 * kTwo31 + 9;
    need_device_memory(4 * (apart + 5));
    gpu::Buffer<float> memory(apart + 5);  // two rows, `apart` elements from each other
    memory.upload(std::vector<float>{6, 7, 8, 9, 10}.data(), 5, 0);
    memory.upload(std::vector<float>{1, 2, 3, 4, 5}.data(), 5, apart);
    const View<const float> in = memory.view(Layout({2, 5}, {-apart, 1}), apart);
    for (const Step& step : kLadder) {
        CAPTURE(step.name);
        DeviceOut<float> got({2, 5});
        step.pack(in, got.view(), {});
        CHECK(got.matches(Tensor<float>({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})));
    }
}

}  // namespace
