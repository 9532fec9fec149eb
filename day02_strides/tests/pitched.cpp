// pitched: the CPU reference against a result by hand, every path against the CPU reference.
#include "day02_strides/pitched.hpp"

#include <cstring>

#include "common/gpu/buffer.hpp"
#include "common/gpu/tile.hpp"
#include "day02_strides/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;
using namespace sixdays::testing;

namespace {

using P = PitchedPath;

struct Step {
    const char* name;
    std::function<void(View<const float>, View<float>, gpu::Stream)> pitched;
};
const Step kTwin = {name(P::one_element), [](auto in, auto out, auto s) {
                        pitched_cuda(in, out, {.path = P::one_element, .stream = s});
                    }};
const Step kSingles = {name(P::singles), [](auto in, auto out, auto s) {
                           pitched_cuda(in, out, {.path = P::singles, .stream = s});
                       }};
const Step kChosen = {"pitched_cuda",
                      [](auto in, auto out, auto s) { pitched_cuda(in, out, {.stream = s}); }};

const Step kTile = {name(P::tile), [](auto in, auto out, auto s) {
                        const P path = gpu::has_tile() ? P::tile : P::singles;
                        pitched_cuda(in, out, {.path = path, .stream = s});
                    }};
const Step kSteps[] = {kTwin, kSingles, kChosen, kTile};

Layout pitched_layout(std::int64_t M, std::int64_t K, std::int64_t pitch) {
    return Layout({M, K}, {pitch, 1});
}

TEST_CASE("pitched gives the results worked by hand", "[day02][pitched][small]") {
    Tensor<float> from({10}, {1, 2, 3, 0, 0, 4, 5, 6, 0, 0});  // (2, 3), pitch 5
    Tensor<float> to({7}, {9, 9, 9, 9, 9, 9, 9});              // (2, 3), pitch 4
    pitched_cpu({from.data(), pitched_layout(2, 3, 5)}, {to.data(), pitched_layout(2, 3, 4)});
    CHECK(equal(to, Tensor<float>({7}, {1, 2, 3, 9, 4, 5, 6})));
    const DeviceIn<float> device(from);
    for (const Step& step : kSteps) {
        CAPTURE(step.name);
        DeviceOut<float> got(pitched_layout(2, 3, 4));
        step.pitched({device.view().data, pitched_layout(2, 3, 5)}, got.view(), {});
        CHECK(got.matches(Tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6})));
    }
}

TEST_CASE("pitched_cpu and pitched_cuda reject the same arguments", "[day02][pitched][small]") {
    Tensor<float> x({2, 3}), y({2, 3}), run({40});
    const auto both = [](View<const float> in, View<float> out, const char* words) {
        return both_reject([&] { pitched_cpu(in, out); }, [&] { pitched_cuda(in, out); }, words);
    };
    CHECK(both({run.data(), column_major({2, 3})}, y.view(),
               "in has shape (2, 3), strides (1, 2); the elements of a row must be contiguous"));
    CHECK(both({run.data(), Layout({2, 3}, {2, 1})}, y.view(),
               "pitched: in has a pitch of 2, but a row holds 3 elements"));
    CHECK(both(x.view(), {run.data() + 5, Layout({2, 3}, {-4, 1})}, "out has a pitch of -4"));
    for (const Shape& shape : {Shape{6}, Shape{2, 3, 1}}) {  // equal, but no matrices
        CHECK(both({x.data(), shape}, {y.data(), shape}, "but rank 2 is needed"));
    }
    CHECK(both(x.view(), {run.data(), Layout({2, 3}, {0, 1})}, "out has a pitch of 0"));
}

TEST_CASE("pitched: a path rejects rows that it does not support", "[day02][pitched][small]") {
    const View<float> most(nullptr, Shape{65535 * 8, 0}), tall(nullptr, Shape{65535 * 8 + 1, 0});
    CHECK_NOTHROW(pitched_cuda(most, most, {.path = P::one_element}));
    CHECK(rejection([&] { pitched_cuda(tall, tall, {.path = P::one_element}); }) ==
          "pitched: out has 524281 rows, but a grid of 65,535 blocks of 8 rows ends at 524280");
    CHECK_NOTHROW(pitched_cuda(tall, tall));
    alignas(16) static float memory[64];
    const View<const float> in(memory, pitched_layout(2, 3, 8));
    CHECK(rejection([&] {
              pitched_cuda(in, {memory + 33, pitched_layout(2, 3, 9)}, {.path = P::vectorized});
          }) ==
          "pitched: not every row begins at a multiple of 16 bytes: in has a pitch of 8 elements "
          "and begins 0 bytes past one, out has 9 and begins 4 past one");
}

TEST_CASE("one row ignores its pitch, and one column its stride", "[day02][pitched][small]") {
    // The stride of an extent of 1 is never used: no computation may depend on it.
    const Tensor<float> row = distinct<float>({1, 6}), column = distinct<float>({3, 1});
    const DeviceIn<float> drow(row), dcolumn(column);
    const std::int64_t any[] = {0, 1, 5, -7, INT64_MAX, INT64_MIN};
    for (const std::int64_t stride : any) {
        CAPTURE(stride);
        const Layout one_row({1, 6}, {stride, 1}), one_column({3, 1}, {1, stride});
        HostOut<float> loop_row({1, 6}), loop_column({3, 1});
        pitched_cpu({row.data(), one_row}, {loop_row.view().data, one_row});
        CHECK(loop_row.matches(row));
        pitched_cpu({column.data(), one_column}, {loop_column.view().data, one_column});
        CHECK(loop_column.matches(column));
        for (const Step& step : kSteps) {
            CAPTURE(step.name);
            DeviceOut<float> got_row({1, 6}), got_column({3, 1});
            step.pitched({drow.view().data, one_row}, {got_row.view().data, one_row}, {});
            CHECK(got_row.matches(row));
            step.pitched({dcolumn.view().data, one_column}, {got_column.view().data, one_column},
                         {});
            CHECK(got_column.matches(column));
        }
    }
}

TEST_CASE("pitched: requests and sectors equal a hand count", "[day02][pitched][small]") {
    // By hand: 1,024 floats are 128 sectors, read and written: 32 requests each by scalar accesses,
    // 8 by float4. Rows that do not begin at a multiple of 32 bytes touch a fifth sector.
    const DeviceIn<float> memory(distinct<float>({4096}));
    DeviceOut<float> out({1024});
    const struct {
        Step step;
        std::int64_t pitch, requests, sectors;
    } cases[] = {{kTwin, 40, 2 * 32, 2 * 128},
                 {kSingles, 40, 2 * 32, 2 * 128},
                 {kChosen, 41, 2 * 32, 4 * 4 + 28 * 5 + 128},
                 {kChosen, 40, 2 * 8, 2 * 128}};
    for (const auto& c : cases) {
        CAPTURE(c.step.name, c.pitch);
        check_touched(c.requests, c.sectors, [&] {
            c.step.pitched({memory.view().data, pitched_layout(32, 32, c.pitch)},
                           {out.view().data, Shape{32, 32}}, {});
        });
    }
}

TEST_CASE("pitched does nothing but launch, on the given stream", "[day02][pitched][small]") {
    const Tensor<float> matrix = distinct<float>({9, 33});
    const DeviceIn<float> in(matrix, pitched_layout(9, 33, 36));
    for (const Step& step : kSteps) {
        CAPTURE(step.name);
        check_only_launches(matrix, [&](auto out, auto s) { step.pitched(in.view(), out, s); });
    }
    const DeviceIn<float> aligned(distinct<float>({9, 32}), pitched_layout(9, 32, 36));
    check_only_launches(distinct<float>({9, 32}), [&](auto out, auto s) {
        pitched_cuda(aligned.view(), out, {.path = P::vectorized, .stream = s});
    });
}

TEST_CASE("pitched returns at once for 2^40 empty rows", "[day02][pitched][small]") {
    const View<float> many(nullptr, Shape{std::int64_t{1} << 40, 0});
    pitched_cpu(many, many);
    CHECK_NOTHROW(pitched_cuda(many, many));
}

TEST_CASE("pitched covers rows beyond a grid of 65,535 blocks", "[day02][pitched][full]") {
    // Width 17 makes blocks of 32 x 8 threads, 64 rows each: 65,535 of them and five rows more.
    const std::int64_t M = 65535 * 64 + 5, K = 17;
    if (!gpu::is_emulated()) need_device_memory(2 * 4 * M * K);
    gpu::Buffer<float> in(M * K), out(M * K);
    const Tensor<float> last = distinct<float>({5, K});
    in.upload(last.data(), 5 * K, (M - 5) * K);
    in.upload(std::vector<float>(64 * K, 7.0f).data(), 64 * K);
    const auto launch = [&] { pitched_cuda(in.view({M, K}), out.view({M, K})); };
    // Block (0, 0) has the first 64 rows, and the last five. A GPU runs them all.
    if (!gpu::run_only_blocks(0, 1, launch)) launch();
    const std::vector<float> got = out.download((M - 5) * K, 5 * K);
    CHECK(std::memcmp(got.data(), last.data(), got.size() * sizeof(float)) == 0);
}

TEST_CASE("pitched is correct past 2^32 elements", "[day02][pitched][huge]") {
    const std::int64_t K = 260, M = 2 * kTwo31 / K + 3;
    need_device_memory(2 * 4 * M * (K + 4));
    gpu::Buffer<float> in(M * (K + 1)), out(M * (K + 4));
    const Tensor<float> row = distinct<float>({K});
    const std::int64_t middle = kTwo31 / (K + 4) + 1;  // about where 32-bit offsets turn negative
    for (const std::int64_t in_pitch : {K, K + 1}) {   // vectors, and singles
        in.fill_bytes(0x3f);
        for (const std::int64_t m : {std::int64_t{0}, middle, M - 1}) {
            in.upload(row.data(), K, m * in_pitch);
        }
        out.fill_bytes(0xff);
        pitched_cuda(in.view(pitched_layout(M, K, in_pitch)),
                     out.view(pitched_layout(M, K, K + 4)));
        for (const std::int64_t m : {std::int64_t{0}, middle, M - 1}) {
            const std::vector<float> got = out.download(m * (K + 4), K + 4);
            CAPTURE(in_pitch, m);
            CHECK(std::memcmp(got.data(), row.data(), static_cast<std::size_t>(4 * K)) == 0);
            CHECK(got[static_cast<std::size_t>(K)] != got[static_cast<std::size_t>(K)]);  // NaN
        }
    }
}

TEST_CASE("pitched is correct for rows more than 2^32 elements apart", "[day02][pitched][huge]") {
    const std::int64_t apart = 2 * kTwo31 + 9;
    need_device_memory(4 * (apart + 5));
    gpu::Buffer<float> memory(apart + 5);
    memory.upload(std::vector<float>{6, 7, 8, 9, 10}.data(), 5, 0);
    memory.upload(std::vector<float>{1, 2, 3, 4, 5}.data(), 5, apart);
    for (const Step& step : kSteps) {
        CAPTURE(step.name);
        DeviceOut<float> rows({2, 5});
        step.pitched(memory.view(pitched_layout(2, 5, apart)), rows.view(), {});
        CHECK(rows.matches(Tensor<float>({2, 5}, {6, 7, 8, 9, 10, 1, 2, 3, 4, 5})));
    }
}

}  // namespace
