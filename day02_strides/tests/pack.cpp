// pack: the loop against answers worked by hand, every path of the port against the loop.
#include "day02_strides/pack.hpp"

#include <set>

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

// The paths that take any layout of fewer than 2^31 elements, and the choice: quads where they can.
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

TEST_CASE("pack, worked by hand", "[day02][pack][small]") {
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

// The port equals the loop, the loop the values that were laid out.
void check_pack_port(const Step& step, const Layout& layout, Lead lead_in = {},
                     Lead lead_out = {}) {
    CAPTURE(step.name, to_string(layout), lead_in.elements, lead_out.elements);
    const Tensor<float> values = distinct<float>(layout.shape);
    const HostIn<float> in(values, layout, lead_in);
    HostOut<float> want(layout.shape);
    pack_cpu(in.view(), want.view());
    CHECK(want.matches(values));
    DeviceIn<float> din(values, layout, lead_in);
    DeviceOut<float> got(layout.shape, lead_out);
    step.pack(din.view(), got.view(), {});
    CHECK(got.matches(want));
    CHECK(din.unchanged());
}

TEST_CASE("every permutation, flip and gap of every small shape", "[day02][pack][small]") {
    for (int rank = 0; rank <= 3; ++rank) {
        for (const std::int64_t pad : {0, 1}) {
            packings::for_each_packing(rank, pad, [&](const packings::Packing& packing) {
                packings::for_each_dims(
                    rank, rank == 3 ? 1 : 0, rank == 3 ? 2 : 3, [&](const Dims& shape) {
                        const Layout layout(shape, packings::strides_of(packing, shape));
                        for (const Step& step : kLadder) {
                            check_pack_port(step, layout);
                        }
                    });
            });
        }
    }
}

// Shapes with more elements than a block has, no two extents alike, rank 1 to 8.
std::vector<Layout> larger_layouts() {
    return {
        Layout({2053}, {3}),                                  // rank 1, with gaps
        Layout({4099}, {-1}),                                 // backwards
        column_major({61, 67}),                               // rank 2
        Layout({67, 31}, {40, 1}),                            // a pitch
        Layout({5, 19, 23}, {1, 5 * 23, 5}),                  // rank 3, permuted
        Layout({2, 7, 5, 33}, {7 * 5 * 33, 33, 7 * 33, 1}),   // (B, T, H, D) as (B, H, T, D)
        Layout({3, 2, 5, 7, 4}, {1, 3, 6, 30, 210}),          // rank 5, column-major
        Layout({3, 1, 2, 5, 1, 7}, {70, 999, 35, 7, -5, 1}),  // contiguous but for two dims of 1
        column_major({2, 3, 1, 4, 5, 2, 3}),                  // rank 7
        column_major({2, 3, 2, 3, 2, 3, 2, 3}),               // rank 8
        Layout({3, 4, 5, 6}, {1000, -7, 211, -1}),            // flips and gaps
    };
}

TEST_CASE("every step of the ladder equals the loop, on ranks 1 to 8", "[day02][pack][small]") {
    for (const Layout& layout : larger_layouts()) {
        for (const Step& step : kLadder) check_pack_port(step, layout, {1}, {2});
    }
}

TEST_CASE("pack at every address: heads, tails, quads and none", "[day02][pack][small]") {
    for (const Step& step : {kChosen, kTile}) {
        // A tile has 4,096 elements: 4,097 to 12,288 lie in more than one.
        for (const std::int64_t n :
             {0, 1, 3, 4, 5, 31, 33, 1023, 2047, 2048, 2049, 4096, 4099, 5000, 12288}) {
            for (std::int64_t lead = 0; lead < 16; ++lead) {
                check_pack_port(step, row_major({n}), {lead / 4}, {lead % 4});
            }
            check_pack_port(step, Layout({n}, {3}));
        }
        for (const std::int64_t d : {3, 4, 8, 64}) {  // permuted rows of d
            const Layout layout({2, 3, 5, d}, {15 * d, d, 3 * d, 1});
            for (std::int64_t lead = 0; lead < 4; ++lead) {
                check_pack_port(step, layout, {lead}, {0});
                check_pack_port(step, layout, {0}, {lead});
            }
        }
    }
}

TEST_CASE("pack in tiles: more of them than one along every dim", "[day02][pack][small]") {
    // 64 x 64 of the last two dims. None of these dims merge; in quads, and not.
    for (const std::int64_t K : {65, 132}) {
        const std::int64_t row = K + 4, matrix = 70 * row;
        for (const std::int64_t lead : {0, 1}) {
            check_pack_port(kTile, Layout({2, 3, 66, K}, {4 * matrix, matrix, row, 1}), {lead});
            check_pack_port(kTile, Layout({3, 66, K}, {row, 3 * row, 1}), {0}, {lead});
        }
        check_pack_port(kTile, column_major({2, 3, 66, K}));
        check_pack_port(kTile, column_major({130, K}));
    }
}

TEST_CASE("pack promises whole quads only where rows, steps and addresses are such",
          "[day02][pack][small]") {
    // Each false alone, by an element and by half a quad; the emulator finds a false promise.
    for (const std::int64_t off : {0, 1, 2}) {
        CAPTURE(off);
        check_pack_port(kTile, Layout({2, 3, 5, 8}, {240, 80, 16 + off, 1}));
        check_pack_port(kTile, Layout({2, 3, 5, 8}, {240, 80 + off, 16, 1}));
        check_pack_port(kTile, Layout({2, 3, 5, 8}, {240 + off, 80, 16, 1}));
        check_pack_port(kTile, Layout({2, 3, 5, 8 - off}, {240, 80, 16, 1}));
        check_pack_port(kTile, Layout({5, 8}, {16, 1}), {off}, {0});
        check_pack_port(kTile, Layout({5, 8}, {16, 1}), {0}, {off});
        check_pack_port(kTile, row_major({5000 - off}));
    }
}

TEST_CASE("pack reads broadcast dims, whose stride is 0", "[day02][pack][small]") {
    const Tensor<float> x = distinct<float>({40});
    const DeviceIn<float> dx(x);
    for (const Layout& layout :
         {Layout({7, 40}, {0, 1}), Layout({40, 7}, {1, 0}), Layout({3, 5, 8}, {0, 8, 1}),
          Layout({3, 5, 8}, {8, 0, 1}), Layout({11, 13}, {0, 0}), Layout({5, 6}, {1, 1})}) {
        CAPTURE(to_string(layout));
        HostOut<float> want(layout.shape);
        pack_cpu(View<const float>(x.data(), layout), want.view());
        const Index last = unravel(layout.size() - 1, layout.shape);
        CHECK(want.values().data()[layout.size() - 1] ==
              x.data()[last[0] * layout.stride(0) + last[1] * layout.stride(1) +
                       (layout.rank() > 2 ? last[2] * layout.stride(2) : 0)]);
        for (const Step& step : kLadder) {
            CAPTURE(step.name);
            DeviceOut<float> got(layout.shape);
            step.pack({dx.view().data, layout}, got.view(), {});
            CHECK(got.matches(want));
        }
    }
}

TEST_CASE("pack chooses its path by layout and address", "[day02][pack][small]") {
    alignas(16) static float memory[16];
    const auto path = [&](const Layout& layout, int in = 0, int out = 0) {
        return choose_pack({memory + in, layout}, {memory + 8 + out, layout.shape});
    };
    CHECK(path(row_major({64, 12})) == P::quads);
    CHECK(path(Layout()) == P::in_flight);                   // one element is no quad
    CHECK(path(Layout({5, 1, 8}, {8, 77, 1})) == P::quads);  // strides of dims of 1 do not count
    CHECK(path(row_major({64, 12}), 1, 1) == P::in_flight);
    CHECK(path(row_major({7, 11})) == P::in_flight);  // no whole number of quads
    CHECK(path(Layout({4, 8}, {12, 1})) == P::quads);
    CHECK(path(Layout({4, 8}, {-12, 1})) == P::quads);
    CHECK(path(Layout({4, 8}, {0, 1})) == P::quads);
    CHECK(path(Layout({2, 4, 2, 2}, {8, 16, 2, 1})) == P::quads);  // the last two merge to 4
    CHECK(path(Layout({4, 8}, {13, 1})) == P::in_flight);          // rows at odd addresses
    CHECK(path(Layout({4, 8}, {14, 1})) == P::in_flight);          // or 8 bytes past a multiple
    CHECK(path(Layout({4, 6}, {12, 1})) == P::in_flight);          // half a quad
    CHECK(path(Layout({4, 8}, {12, 1}), 1) == P::in_flight);
    CHECK(path(Layout({4, 8}, {12, 1}), 0, 1) == P::in_flight);
    CHECK(path(column_major({4, 8})) == P::in_flight);
    CHECK(path(Layout({8}, {-1})) == P::in_flight);
    CHECK(path(row_major({3 * kTwo31})) == P::quads);
    CHECK(path(row_major({4 * kTwo31 - 4})) == P::quads);  // 2^31 - 1 of them
    CHECK(path(row_major({4 * kTwo31})) == P::any_size);
    CHECK(path(Layout({kTwo31 - 1}, {2})) == P::in_flight);
    CHECK(path(Layout({kTwo31}, {2})) == P::any_size);
    CHECK(path(Layout({3, kTwo31}, {0, 1})) == P::quads);  // 1.6e9 quads
    CHECK(path(Layout({4, kTwo31}, {0, 1})) == P::any_size);
    const std::string names[] = {name(P::any_size),  name(P::fast_division), name(P::by_rank),
                                 name(P::in_flight), name(P::quads),         name(P::tile)};
    CHECK(std::set<std::string>(std::begin(names), std::end(names)).size() == 6);
}

TEST_CASE("pack takes the path that it chose, and the one that it is told",
          "[day02][pack][small]") {
    const auto kernel = [](const Step& step, const Layout& layout, Lead lead) {
        const DeviceIn<float> in(distinct<float>(layout.shape), layout, lead);
        DeviceOut<float> out(layout.shape);
        step.pack(in.view(), out.view(), {});
        return std::string(gpu::last_kernel());
    };
    const Layout rows = row_major({5, 8});
    CHECK(kernel(kChosen, rows, {0}) == "pack_quads_kernel");
    CHECK(kernel(kChosen, rows, {1}) == "pack_in_flight_kernel");
    CHECK(kernel(kChosen, Layout({5, 8}, {12, 1}), {0}) == "pack_quads_kernel");
    CHECK(kernel(kChosen, column_major({5, 8}), {0}) == "pack_in_flight_kernel");
    CHECK(kernel(by(P::any_size), rows, {0}) == "pack_kernel");
    CHECK(kernel(by(P::fast_division), rows, {0}) == "pack_fast_division_kernel");
    CHECK(kernel(by(P::by_rank), rows, {0}) == "pack_by_rank_kernel");
    CHECK(kernel(by(P::in_flight), rows, {0}) == "pack_in_flight_kernel");
    CHECK(kernel(by(P::quads), rows, {0}) == "pack_quads_kernel");
}

TEST_CASE("pack in tiles takes four dims and no negative stride, and says so",
          "[day02][pack][small]") {
    alignas(16) static float memory[2048];
    const auto refused = [&](const Layout& layout) {
        return refusal([&] {
            check_pack({memory + 512, layout}, {memory + 1200, layout.shape}, P::tile);
        });
    };
    CHECK(refused(Layout({3, 3, 3, 3}, {200, 50, 11, 3})).empty());
    CHECK(refused(Layout({3, 1, 2, 5, 1, 7}, {70, -9, 35, 7, -5, 1})).empty());  // one run
    CHECK(refused(Layout({5, 6}, {0, 1})).empty());
    CHECK(refused(Layout({2, 2, 2, 2, 2}, {101, 50, 21, 9, 2})) ==
          "pack: the path \"tile\" takes 4 dims at most and no negative stride, for CUDA Tile C++ "
          "takes strides for sizes; in has shape (2, 2, 2, 2, 2), strides (101, 50, 21, 9, 2), "
          "simplified shape (2, 2, 2, 2, 2), strides (101, 50, 21, 9, 2)");
    CHECK(!refused(Layout({4, 3}, {-7, 1})).empty());
    CHECK(!refused(Layout({4, 3}, {7, -1})).empty());
    if (!gpu::has_tile()) return;
    const Tensor<float> x = distinct<float>({4, 8});
    for (const std::int64_t lead : {0, 1}) {  // with the promise, and without
        const DeviceIn<float> in(x, Layout({4, 8}, {1, 4}), Lead{lead});
        DeviceOut<float> out({4, 8});
        pack_cuda(in.view(), out.view(), {.path = P::tile});
        CHECK(std::string(gpu::last_kernel()) == "pack_tile");
        CHECK(out.matches(x));
    }
}

TEST_CASE("a path that cannot take a layout says so", "[day02][pack][small]") {
    alignas(16) static float memory[48];
    const View<float> out(memory + 16, Shape{4, 8});
    CHECK(refusal([&] {
              pack_cuda({memory + 1, Layout({4, 8}, {0, 1})}, out, {.path = P::quads});
          }) ==
          "pack: shape (4, 8), strides (0, 1), 4 bytes past a multiple of 16, cannot be packed "
          "by the path \"quads\" to an address 0 bytes past one");
    const View<const float> far(memory, Layout({kTwo31}, {0}));
    const View<float> all(memory + 4, Shape{kTwo31});
    for (const P path : {P::fast_division, P::by_rank, P::in_flight, P::quads}) {
        CAPTURE(name(path));
        CHECK(!can_pack(path, far, all));
        CHECK(refusal([&] { pack_cuda(far, all, {.path = path}); }).find(name(path)) !=
              std::string::npos);
    }
    CHECK(can_pack(P::any_size, far, all));
    CHECK(can_pack(P::by_rank, {memory, Layout({kTwo31 - 1}, {0})}, {memory, Shape{kTwo31 - 1}}));
    Tensor<float> x({2, 3});
    CHECK(refusal([&] {
              pack_cuda(x.view(), {x.data(), Shape{3, 2}}, {.path = P::quads});
          }) == refusal([&] {
              pack_cpu(x.view(), {x.data(), Shape{3, 2}});
          }));
}

TEST_CASE("pack refuses in the same words", "[day02][pack][small]") {
    Tensor<float> x({2, 3}), y({3, 2}), run({20});
    const auto both = [](View<const float> in, View<float> out, const char* words) {
        return both_refuse([&] { pack_cpu(in, out); }, [&] { pack_cuda(in, out); }, words);
    };
    CHECK(both(x.view(), y.view(), "pack: in has shape (2, 3), but out has shape (3, 2)"));
    CHECK(both(x.view(), {y.data(), column_major({2, 3})}, "not contiguous"));
    CHECK(both({nullptr, Shape{2, 3}}, {y.data(), Shape{2, 3}}, "in is a null pointer"));
    CHECK(both(x.view(), {nullptr, Shape{2, 3}}, "out is a null pointer"));
    CHECK(both({run.data() + 5, Layout({2, 3}, {-3, 1})}, {run.data(), Shape{2, 3}},
               "in and out overlap without being the same tensor"));
}

TEST_CASE("pack onto itself changes nothing, and no thread reads what another writes",
          "[day02][pack][small]") {
    for (const Shape& shape : {Shape{5, 7}, Shape{8, 8}, Shape{2051}, Shape{2052}, Shape{}}) {
        CAPTURE(to_string(shape));
        const Tensor<float> x = distinct<float>(shape);
        auto host = HostOut<float>::holding(x);
        pack_cpu(host.view(), host.view());
        CHECK(equal(host.values(), x));
        for (const Step& step : kLadder) {
            CAPTURE(step.name);
            auto device = DeviceOut<float>::holding(x);
            step.pack(device.view(), device.view(), {});
            CHECK(device.matches(x));
        }
    }
}

TEST_CASE("pack reads a dim of one index, whatever its stride", "[day02][pack][small]") {
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

TEST_CASE("pack: each warp asks once for many neighbours", "[day02][pack][small]") {
    // By hand. 1,024 floats are 128 sectors, read and written: 32 requests each for single floats,
    // 8 each for quads. A transposed (32, 32) has 32 lanes in 32 sectors when read.
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
                 {by(P::quads), full_block, 2 * 16, 2 * 256},
                 {kChosen, row_major({2048}), 2 * 16, 2 * 256},
                 {by(P::any_size), column_major({32, 32}), 2 * 32, 32 * 32 + 128}};
    for (const auto& c : cases) {
        CAPTURE(c.step.name);
        check_touched(c.requests, c.sectors, [&] {
            c.step.pack({memory.view().data, c.layout}, {out.view().data, c.layout.shape}, {});
        });
    }
}

TEST_CASE("pack only launches, and on the stream that it is given", "[day02][pack][small]") {
    const Layout layout({5, 7, 8}, {8, 48, 1});  // permuted and pitched rows of 8
    const Tensor<float> values = distinct<float>(layout.shape);
    const DeviceIn<float> in(values, layout);
    for (const Step& step : kLadder) {
        CAPTURE(step.name);
        check_only_launches(values, [&](auto out, auto s) { step.pack(in.view(), out, s); });
    }
}

TEST_CASE("pack of 0 elements needs no memory and no launch", "[day02][pack][small]") {
    const View<float> nothing(nullptr, Shape{3, 0});
    for (const Step& step : kLadder) step.pack(nothing, nothing, {});
    pack_cuda(nothing, nothing, {.path = P::quads});
    pack_cpu(nothing, nothing);
    CHECK_NOTHROW(gpu::synchronize());  // a launch with an empty grid would have thrown by now
}

TEST_CASE("a permuted tensor of a thousand heads", "[day02][pack][full]") {
    for (const Step& step : kLadder) {
        check_pack_port(step, Layout({8, 12, 65, 16}, {65 * 12 * 16, 16, 12 * 16, 1}));
        check_pack_port(step, column_major({301, 331}));
    }
}

TEST_CASE("pack reaches past 2^32 elements", "[day02][pack][huge]") {
    // One row, broadcast: 255 and 256 floats, so that both 64-bit numbers and quads are walked.
    need_device_memory(4 * (2 * kTwo31 + 4096));
    for (const std::int64_t K : {std::int64_t{255}, std::int64_t{256}}) {
        const std::int64_t M = 2 * kTwo31 / K + 3, n = M * K;
        const Tensor<float> row = distinct<float>({K});
        const gpu::Buffer<float> in(row);
        gpu::Buffer<float> out(n);
        out.fill_bytes(0xff);
        const View<const float> rows(in.data(), Layout({M, K}, {0, 1}));
        CHECK(choose_pack(rows, out.view({M, K})) == (K == 256 ? P::quads : P::any_size));
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

TEST_CASE("pack reaches rows more than 2^32 elements apart", "[day02][pack][huge]") {
    const std::int64_t apart = 2 * kTwo31 + 9;
    need_device_memory(4 * (apart + 5));
    gpu::Buffer<float> memory(apart + 5);  // two rows, the second so many elements below the first
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
